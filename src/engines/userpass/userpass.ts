// Logins of people by name and password.
import { fail } from '../../api/errors.ts'
import { DEFAULT_LOCKOUT, Lockout } from '../../api/lockout.ts'
import type { Login, TokenSettings } from '../../api/login.ts'
import type { LoginMethod } from '../../api/login-method.ts'
import { newLoginQueue, queued } from '../../api/login-queue.ts'
import type { MountableType, MountEntry } from '../../api/mount.ts'
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

export type UserpassContext = {
  readonly mount: () => MountEntry
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  readonly loginQueue?: FairQueue
}

export class Userpass implements LoginMethod {
  readonly users: Users
  readonly world: World
  readonly slow: SlowWork
  readonly lockout: Lockout
  readonly #mount: () => MountEntry
  readonly #turns: FairQueue

  constructor({ mount, storage, world, slow, loginQueue = newLoginQueue() }: UserpassContext) {
    this.users = new Users(storage)
    this.world = world
    this.slow = slow
    this.#mount = mount
    this.lockout = new Lockout(world.clock, keptUsername)
    this.#turns = loginQueue
  }

  /** @throws Refusal that says the same, after the same time, for a wrong name and a wrong password */
  async logIn(name: string, password: string, remoteAddress: string): Promise<Login> {
    const username = keptUsername(name)
    await this.#requireAddress(username, remoteAddress)
    // A login that got no turn was not tried, so it is no failure of its name.
    return queued(this.#turns, remoteAddress, () => this.#try(username, password))
  }

  #try(username: string, password: string): Promise<Login> {
    return this.lockout.guard(username, this.#mount().config.lockout ?? DEFAULT_LOCKOUT, async () => {
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
    })
  }

  /**
   * Before the password is looked at, so that the answer tells nothing of it, and whoever may not log in from there
   * cannot lock the name either.
   */
  async #requireAddress(username: string, remoteAddress: string): Promise<void> {
    const user = await this.users.find(username)
    if (!isInCidrs(remoteAddress, user?.settings.boundCidrs ?? [])) throw fail('permission_denied', [])
  }

  async renewLogin(renewal: JsonObject): Promise<{ readonly settings: TokenSettings }> {
    const user = await this.users.find(String(renewal.username))
    if (user === undefined) throw fail('not_renewable', ['the user does not exist any more, cannot renew'])
    // The token keeps the policies of its login, so it must not live on where the user lost some.
    if (JSON.stringify(renewal.policies) !== JSON.stringify(user.settings.policies))
      throw fail('not_renewable', ['policies have changed, not renewing']) // Wire text.
    return { settings: user.settings }
  }

  changed(): void {}
  reset(): void {}
}

export const USERPASS: MountableType<UserpassContext> = {
  type: 'userpass',
  kind: 'auth',
  summary: 'Logs in people by name and password',
  page: { title: 'Logins by name and password' },
  router: new Router<Userpass>([...USER_ENDPOINTS, loginEndpoint]),
  create: (context) => new Userpass(context),
}
