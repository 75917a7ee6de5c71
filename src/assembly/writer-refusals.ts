// Turns the failure to reach the writing thread into a refusal, here, because rooms do not know each other's errors.
// Any other error on the way to it is a defect, and must not pass for that.
import { fail } from '../api/errors.ts'
import type { CallWriter } from '../core/engine-context.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import { refusalOf } from '../core/response.ts'
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

/**
 * On the writing thread: returns what `work` answers. What storage refuses is thrown as a refusal, which reaches the
 * asking thread as it is; of any other error only the name does.
 */
export async function writeOrRefuse<T>(work: () => Promise<T>, primaryAddress: () => string): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw refusalOf(cause, primaryAddress()) ?? cause
  }
}

function refused(cause: unknown): never {
  throw cause instanceof Unreachable ? fail('writer_gone', [], cause) : cause
}
