// Turns the failure to reach the writing thread into a refusal, here, because rooms do not know each other's errors.
// Any other error on the way to it is a defect, and must not pass for that.
import { fail } from '../api/errors.ts'
import type { CallWriter } from '../core/engine-context.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import { Unreachable } from '../rpc/errors.ts'

type Forward = (request: WireRequest) => Promise<WireResponse>

/** Returns `forward` with a refusal `writer_gone` in the place of `Unreachable`. */
export function forwardOrRefuse(forward: Forward): Forward {
  return (request) => forward(request).catch(refused)
}

/** Returns `ask` with a refusal `writer_gone` in the place of `Unreachable`. */
export function callOrRefuse(ask: CallWriter): CallWriter {
  return (mount, question) => ask(mount, question).catch(refused)
}

function refused(cause: unknown): never {
  throw cause instanceof Unreachable ? fail('writer_gone', [], cause) : cause
}
