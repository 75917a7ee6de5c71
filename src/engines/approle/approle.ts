// Logins of machines by a role id, which says what they are, and a secret id, which proves it.
import { fail } from '../../api/errors.ts'
import { Lockout } from '../../api/lockout.ts'
import type { Login, TokenSettings } from '../../api/login.ts'
import type { LoginMethod } from '../../api/login-method.ts'
import type { MountableType } from '../../api/mount.ts'
import type { RequestInfo } from '../../api/request.ts'
import { Router } from '../../api/router.ts'
import { intersectCidrs, isInCidrs } from '../../lib/cidr.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { World } from '../../lib/world.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { APPROLE_LOGIN_ENDPOINTS } from './login-endpoints.ts'
import { APPROLE_ROLE_ENDPOINTS } from './role-endpoints.ts'
import { ROLE_FIELD_ENDPOINTS } from './role-field-endpoints.ts'
import { type AppRole, AppRoles } from './roles.ts'
import type { SecretId } from './secret-id.ts'
import { SECRET_ID_ENDPOINTS } from './secret-id-endpoints.ts'

/** What a mount of this type is made with. */
export type ApproleContext = { readonly storage: View; readonly world: World }

/** One refusal for everything that can be wrong with credentials, so that it reveals nothing of what exists. */
const refused = () => fail('invalid_credentials', ['invalid role or secret ID']) // Wire text.

/** A mount of AppRole: its roles, their secret ids, and the lock against guessing. */
export class Approle implements LoginMethod {
  readonly roles: AppRoles
  readonly world: World
  readonly lockout: Lockout

  constructor({ storage, world }: ApproleContext) {
    this.roles = new AppRoles(storage, world)
    this.world = world
    this.lockout = new Lockout(world.clock)
  }

  /**
   * Checks the credentials and describes the token of the login; spends one use of the secret id. Writes, so it runs on
   * the writing thread.
   * @throws Refusal
   */
  async logIn(
    roleId: string,
    secretId: string,
    { remoteAddress, guardLogin }: Pick<RequestInfo, 'remoteAddress' | 'guardLogin'>,
  ): Promise<Login> {
    const bound = (await this.roles.findByRoleId(roleId))?.role.settings.boundCidrs ?? []
    // The address is checked before the secret id. So the answer tells nothing of the secret id, no use of it is spent,
    // and callers from other addresses cannot lock the role.
    if (!isInCidrs(remoteAddress, bound)) throw fail('permission_denied', [])
    return guardLogin(roleId, async () => {
      const found = await this.roles.findByRoleId(roleId)
      if (found === undefined) throw refused()
      const { name, role } = found
      if (!isInCidrs(remoteAddress, role.secretIdBoundCidrs)) throw refused()
      const secret = role.bindSecretId ? await this.#use(name, secretId, remoteAddress) : undefined
      return loginOf(name, role, secret)
    })
  }

  /** Spends one use of a secret id that may be used from this address. @throws Refusal otherwise. */
  async #use(name: string, secretId: string, remoteAddress: string): Promise<SecretId> {
    if (secretId === '') throw fail('field_missing', ['secret_id', 'missing secret_id']) // Wire text.
    const secret = await this.roles.useSecret(name, secretId, ({ cidrs }) => {
      if (!isInCidrs(remoteAddress, cidrs)) throw refused()
    })
    if (secret === undefined) throw refused()
    return secret
  }

  /**
   * Returns the role's present settings, which bound a renewal (Interface 2.2).
   * @throws Refusal if the role is gone.
   */
  async renewLogin(renewal: JsonObject): Promise<{ readonly settings: TokenSettings }> {
    const role = await this.roles.find(String(renewal.role_name))
    if (role === undefined) throw fail('not_renewable', ['the role does not exist any more, cannot renew'])
    return { settings: role.settings }
  }

  /** Returns the role that a login is for, so that quotas of roles can count it. */
  async roleOf({ role_id: roleId }: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    return typeof roleId === 'string' ? (await this.roles.findByRoleId(roleId))?.name : undefined
  }

  /** Roles are read for each login: nothing else of them is cached. */
  changed(path: string): void {
    this.roles.changed(path)
  }

  reset(): void {
    this.roles.reset()
  }
}

function loginOf(name: string, role: AppRole, secret: SecretId | undefined): Login {
  return {
    displayName: '',
    settings: { ...role.settings, boundCidrs: tokenCidrs(role.settings.boundCidrs, secret?.tokenBoundCidrs ?? []) },
    metadata: { ...secret?.metadata, role_name: name },
    alias: { name: role.roleId, metadata: {} },
    groups: [],
    renewal: { role_name: name },
  }
}

/**
 * Joins the addresses of role and secret id. A secret id narrows what the role says now, and never widens it.
 * @throws Refusal if no address is left, since an empty list would allow all.
 */
function tokenCidrs(ofRole: readonly string[], ofSecret: readonly string[]): readonly string[] {
  if (ofRole.length === 0 || ofSecret.length === 0) return ofRole.length === 0 ? ofSecret : ofRole
  const both = intersectCidrs(ofRole, ofSecret)
  if (both.length === 0) throw refused()
  return both
}

/** The mount type `approle`, for the table of engines. */
export const APPROLE: MountableType<ApproleContext> = {
  type: 'approle',
  kind: 'auth',
  summary: 'Logs in machines with role id and secret id',
  page: { title: 'AppRole: login of machines with role id and secret id' },
  router: new Router<Approle>([
    ...APPROLE_ROLE_ENDPOINTS,
    ...ROLE_FIELD_ENDPOINTS,
    ...SECRET_ID_ENDPOINTS,
    ...APPROLE_LOGIN_ENDPOINTS,
  ]),
  create: (context) => new Approle(context),
}
