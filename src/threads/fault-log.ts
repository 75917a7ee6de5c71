// Handlers for a defect in an answer to another thread.
import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'

/** Returns a handler that logs the defect here. The thread that asked only hears that there was one. */
export function faultLog(log: Log): (call: string, cause: unknown) => void {
  return (call, cause) => log('error', 'An internal call to this thread failed', { call, cause: describeCause(cause) })
}

/** For a thread without a log: the defect ends it, as does any other that is not caught. */
export function faultEndsThread(_call: string, cause: unknown): never {
  throw cause
}
