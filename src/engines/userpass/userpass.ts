// Logins of people by name and password.
import { fail } from '../../api/errors.ts'
import { Lockout } from '../../api/lockout.ts'
import type { Login, TokenSettings } from '../../api/login.ts'
import type { LoginMethod } from '../../api/login-method.ts'
import { newLoginQueue, queued } from '../../api/login-queue.ts'
import type { MountableType } from '../../api/mount.ts'
import type { RequestInfo } from '../../api/request.ts'
import { Router } from '../../api/router.ts'
import { verifyPassword } from '../../crypto/password.ts'
import { isInCidrs } from '../../lib/cidr.ts'
import type { FairQueue } from '../../lib/fair-queue.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { World } from '../../lib/world.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { loginEndpoint } from './login-endpoint.ts'
import { USER_ENDPOINTS } from './user-endpoints.ts'
import { keptUsername, Users } from './users.ts'

/** What a mount of this type is made with. `loginQueue` is shared by all mounts; without it the mount has its own. */
export type UserpassContext = {
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  readonly loginQueue?: FairQueue
}

/** A mount of userpass: its users, the lock against guessing, and the queue of password checks. */
export class Userpass implements LoginMethod {
  readonly users: Users
  readonly world: World
  readonly slow: SlowWork
  readonly lockout: Lockout
  readonly #queue: FairQueue

  constructor({ storage, world, slow, loginQueue = newLoginQueue() }: UserpassContext) {
    this.users = new Users(storage)
    this.world = world
    this.slow = slow
    this.lockout = new Lockout(world.clock, keptUsername)
    this.#queue = loginQueue
  }

  /**
   * Checks the password and describes the token of the login. A wrong name and a wrong password get the same refusal
   * after the same time.
   * @throws Refusal
   */
  async logIn(
    name: string,
    password: string,
    { remoteAddress, guardLogin }: Pick<RequestInfo, 'remoteAddress' | 'guardLogin'>,
  ): Promise<Login> {
    const username = keptUsername(name)
    await this.#requireAddress(username, remoteAddress)
    // The queue may refuse a login before it is tried; that is no failure of its name, so the lock is inside.
    return queued(this.#queue, remoteAddress, () => guardLogin(username, () => this.#try(username, password)))
  }

  async #try(username: string, password: string): Promise<Login> {
    const user = await this.users.find(username)
    const isRight = await verifyPassword(password, user?.password, this.slow)
    // Wire text.
    if (user === undefined || !isRight) throw fail('invalid_credentials', ['invalid username or password'])
    return {
      displayName: username,
      settings: user.settings,
      metadata: { username },
      alias: { name: username, metadata: {} },
      groups: [],
      renewal: { username, policies: [...user.settings.policies] },
    }
  }

  /**
   * Checks the address before the password. So the answer tells nothing of the password, and callers from other
   * addresses cannot lock the name.
   * @throws Refusal
   */
  async #requireAddress(username: string, remoteAddress: string): Promise<void> {
    const user = await this.users.find(username)
    if (!isInCidrs(remoteAddress, user?.settings.boundCidrs ?? [])) throw fail('permission_denied', [])
  }

  /**
   * Returns the user's present settings, which bound a renewal (Interface 2.2).
   * @throws Refusal if the user is gone or its policies changed.
   */
  async renewLogin(renewal: JsonObject): Promise<{ readonly settings: TokenSettings }> {
    const user = await this.users.find(String(renewal.username))
    if (user === undefined) throw fail('not_renewable', ['the user does not exist any more, cannot renew'])
    // The token keeps the policies of its login, so it must not live on after the user lost some.
    if (JSON.stringify(renewal.policies) !== JSON.stringify(user.settings.policies))
      throw fail('not_renewable', ['policies have changed, not renewing']) // Wire text.
    return { settings: user.settings }
  }

  /** Users are read for each login, so there is nothing to forget. */
  changed(): void {}
  reset(): void {}
}

/** The mount type `userpass`, for the table of engines. */
export const USERPASS: MountableType<UserpassContext> = {
  type: 'userpass',
  kind: 'auth',
  summary: 'Logs in users with username and password',
  page: { title: 'Userpass: login with username and password' },
  router: new Router<Userpass>([...USER_ENDPOINTS, loginEndpoint]),
  create: (context) => new Userpass(context),
}
