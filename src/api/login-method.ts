// What an engine offers besides its endpoints where callers log in at it, and what every login has to pass.
import type { JsonObject } from '../lib/json.ts'
import type { Lockout } from './lockout.ts'
import type { Login } from './login.ts'
import type { Engine, MountEntry } from './mount.ts'

/**
 * What must hold for a token to be made for whoever a method recognised, the same for all methods. `run` says what was
 * found, changes nothing, and throws the Refusal that the login would get.
 */
export type LoginRule = {
  readonly name: string
  readonly run: (login: Login, mount: MountEntry) => string | Promise<string>
}

/** An engine at whose endpoints callers log in. */
export interface LoginMethod extends Engine {
  /** Where guessing locks names. It counts where logins are served: in the thread that writes. */
  readonly lockout?: Lockout
  /**
   * The settings as they are now: they bound what a renewal gives.
   * @throws Refusal where the caller would not be let in
   */
  renewLogin(renewal: JsonObject): Promise<Pick<Login, 'settings'> & { readonly groups?: readonly string[] }>
  /** The role that a login is for, by its decoded fields, for quotas of roles; missing where there are no roles. */
  roleOf?(args: Readonly<Record<string, unknown>>): Promise<string | undefined>
}
