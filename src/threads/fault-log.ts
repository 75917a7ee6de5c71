import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'

/** Says in the log of this thread what it could not answer another one, which hears of a defect and no more. */
export function faultLog(log: Log): (call: string, cause: unknown) => void {
  return (call, cause) =>
    log('error', 'What this thread was asked it could not answer', { call, cause: describeCause(cause) })
}

/** Where a thread has no log: a defect ends it, as does any other that nobody catches. */
export function faultEndsThread(_call: string, cause: unknown): never {
  throw cause
}
