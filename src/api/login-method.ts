// An engine that callers log in at: its further methods, and the rules that every login has to pass.
import type { JsonObject } from '../lib/json.ts'
import type { Lockout } from './lockout.ts'
import type { Login } from './login.ts'
import type { Engine, MountEntry } from './mount.ts'

/**
 * A rule that must hold before a caller whom a method recognised gets a token; the same for all methods. `run` returns
 * what it found, changes nothing, and throws the Refusal that the login would get.
 */
export type LoginRule = {
  readonly name: string
  readonly run: (login: Login, mount: MountEntry) => string | Promise<string>
}

/** An engine whose endpoints log callers in. */
export interface LoginMethod extends Engine {
  /** Locks names against guessing. The count that matters is on the thread that writes, which serves logins. */
  readonly lockout?: Lockout
  /**
   * Returns the settings as they are now, which bound what a renewal grants.
   * @throws Refusal if the caller would no longer be let in
   */
  renewLogin(renewal: JsonObject): Promise<Pick<Login, 'settings'> & { readonly groups?: readonly string[] }>
  /** Returns the role of a login from its decoded fields, for quotas of roles; missing on methods without roles. */
  roleOf?(args: Readonly<Record<string, unknown>>): Promise<string | undefined>
}
