// The steps of a request that is traced, with a span for each that may take time. One that is not traced never comes
// here.

import { own } from '../lib/own.ts'
import { StorageReadOnly } from '../storage/contract.ts'
import type { RequestTrace, SpanName } from '../telemetry/request-trace.ts'
import { tracing } from '../telemetry/traced-store.ts'
import type { Exchange } from './exchange.ts'
import type { Step } from './pipeline.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { refusalOf } from './response.ts'

const SPANS: Readonly<Record<string, SpanName>> = {
  authenticate: 'authenticate',
  authorise: 'authorise',
  handle: 'handle',
  'issue the token of a login': 'issue token',
}

/** As the step itself; commits below it find their trace. */
export async function runTraced(step: Step, exchange: Exchange, services: PipelineServices, trace: RequestTrace) {
  const name = own(SPANS, step.name)
  if (name === undefined || isNothing(step, exchange)) return step.run(exchange, services)
  const end = trace.begin(name)
  try {
    await tracing.run(trace, async () => step.run(exchange, services))
    end(false)
  } catch (cause) {
    // A refusal is an answer like others; what cannot be written here travels.
    end(refusalOf(cause) === undefined && !(cause instanceof StorageReadOnly))
    throw cause
  }
}

/** Steps that have nothing to do for most requests. */
const isNothing = ({ name }: Step, { answer }: Exchange): boolean =>
  name === 'issue the token of a login' && answer?.login === undefined
