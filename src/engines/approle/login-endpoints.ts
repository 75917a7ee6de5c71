import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import type { Login } from '../../api/login.ts'
import type { RequestInfo } from '../../api/request.ts'
import type { AppRoles } from './roles.ts'

/** The part of the mount that these endpoints use. */
type Approle = {
  readonly roles: Pick<AppRoles, 'tidy'>
  logIn(roleId: string, secretId: string, request: RequestInfo): Promise<Login>
}

const login = endpoint({
  id: 'approle-login',
  operation: 'update',
  path: 'login',
  capability: 'none',
  runsOn: 'writer',
  writes: 'both',
  summary: 'Logs in with role id and secret id',
  fields: {
    role_id: string('Role id', { default: '', max: 4_096 }),
    secret_id: string('Secret id; required if the role has bind_secret_id', { secret: true, default: '', max: 4_096 }),
  },
  givesToken: true,
  handler: async (approle: Approle, { role_id, secret_id }, request) => {
    if (role_id === '') throw fail('field_missing', ['role_id', 'missing role_id']) // Wire text.
    return { login: await approle.logIn(role_id, secret_id, request) }
  },
})

const tidy = endpoint({
  id: 'approle-tidy-secret-id',
  operation: 'update',
  path: 'tidy/secret-id',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Removes expired secret ids',
  fields: {},
  handler: async (approle: Approle) => {
    await approle.roles.tidy()
    return { status: 202, warnings: ['Tidy operation successfully started. It is done: what was over is removed.'] }
  },
})

/** The endpoints that log in and clean up; approle.ts joins them with the others. */
export const APPROLE_LOGIN_ENDPOINTS: readonly Endpoint<Approle>[] = [login, tidy]
