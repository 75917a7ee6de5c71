// The lock against guessing, around the logins of a mount. A name is counted and locked where its caller is: a
// secondary does it for the logins that its primary carries out, and the primary for none that it was handed. Otherwise
// whoever reaches one cluster of a set could lock a name out of all of them.
import { Refusal } from '../api/errors.ts'
import { DEFAULT_LOCKOUT, type Lockout, type LockoutSettings } from '../api/lockout.ts'
import type { LoginMethod } from '../api/login-method.ts'
import type { RequestInfo } from '../api/request.ts'
import type { Exchange } from './exchange.ts'

const UNGUARDED: RequestInfo['guardLogin'] = (_name, attempt) => attempt()

/** What runs the attempts of a handler. Most requests log nobody in, and need no function of their own. */
export const loginGuardOf = (exchange: Exchange): RequestInfo['guardLogin'] =>
  exchange.endpoint?.givesToken === true ? (name, attempt) => guardLogin(exchange, name, attempt) : UNGUARDED

function guardLogin<T>(exchange: Exchange, name: string, attempt: () => Promise<T>): Promise<T> {
  const guard = guardOf(exchange)
  if (guard === undefined || exchange.handedBy !== undefined) return attempt()
  exchange.guardedName = name
  return guard.lockout.guard(name, guard.settings, attempt)
}

/**
 * Has the primary carry out the request, and counts what it says of the credentials of a login. The attempt here is
 * over by then. It found them right, so no other attempt has to wait for the primary.
 */
export async function countingOutcome<T>(exchange: Exchange, carryOut: () => Promise<T>): Promise<T> {
  const guard = guardOf(exchange)
  const { guardedName } = exchange
  if (guard === undefined || guardedName === undefined) return carryOut()
  const { lockout, settings } = guard
  try {
    const result = await carryOut()
    lockout.count(guardedName, settings, 'right')
    return result
  } catch (cause) {
    // Any other refusal, as that of a primary out of reach, tells nothing of the credentials.
    if (cause instanceof Refusal && cause.code === 'invalid_credentials') lockout.count(guardedName, settings, 'wrong')
    throw cause
  }
}

function guardOf({ mounted }: Exchange): { readonly lockout: Lockout; readonly settings: LockoutSettings } | undefined {
  if (mounted?.entry.kind !== 'auth') return undefined
  const { lockout } = mounted.engine as LoginMethod
  return lockout && { lockout, settings: mounted.entry.config.lockout ?? DEFAULT_LOCKOUT }
}
