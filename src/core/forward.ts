// Sends a request, as it came, to the thread that writes.
import type { Exchange } from './exchange.ts'
import type { PipelineServices } from './pipeline-services.ts'

/** Sends the request, as it came, to the writing thread. Sets what comes back as the response. */
export async function forward(exchange: Exchange, to: NonNullable<PipelineServices['forward']>): Promise<void> {
  // `recordedBy` is empty if no audit device took the first entry here. If the writing thread has one by then, that
  // device gets both entries.
  const recordedBy = exchange.record?.set.uuids ?? []
  const passedOn = { id: exchange.id, trace: exchange.trace?.context, recordedBy }
  const end = exchange.trace?.begin('forward')
  try {
    exchange.response = await to({ ...exchange.request, passedOn })
    exchange.isForwarded = true
  } finally {
    end?.(!exchange.isForwarded)
  }
}
