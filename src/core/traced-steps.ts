// The steps of a traced request, with a span for each that may take time. Requests that are not traced never come here.

import { own } from '../lib/own.ts'
import { StorageReadOnly } from '../storage/errors.ts'
import type { RequestTrace, SpanName } from '../telemetry/request-trace.ts'
import { tracing } from '../telemetry/traced-store.ts'
import type { Exchange } from './exchange.ts'
import type { Step } from './pipeline.ts'
import type { PipelineServices } from './pipeline-services.ts'
import { refusalOf } from './response.ts'

/** The steps that get a span, and its name. */
const SPANS: Readonly<Record<string, SpanName>> = {
  authenticate: 'authenticate',
  authorise: 'authorise',
  handle: 'handle',
  'issue the token of a login': 'issue token',
}

/** Runs the step in a span. Commits made below it find the trace through `tracing`. */
export async function runTraced(step: Step, exchange: Exchange, services: PipelineServices, trace: RequestTrace) {
  const name = own(SPANS, step.name)
  if (name === undefined || isNothing(step, exchange)) return step.run(exchange, services)
  const end = trace.begin(name)
  try {
    await tracing.run(trace, async () => step.run(exchange, services))
    end(false)
  } catch (cause) {
    // A refusal is an answer, not a failure; so is a write on a thread that cannot write, which is then forwarded.
    end(refusalOf(cause) === undefined && !(cause instanceof StorageReadOnly))
    throw cause
  }
}

/** True for a step that has nothing to do in this request, so that it gets no span. */
const isNothing = ({ name }: Step, { answer }: Exchange): boolean =>
  name === 'issue the token of a login' && answer?.login === undefined
