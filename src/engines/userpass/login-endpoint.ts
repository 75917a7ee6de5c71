import { endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import type { Login } from '../../api/login.ts'
import type { RequestInfo } from '../../api/request.ts'
import { MAX_PASSWORD_CHARACTERS } from './user-endpoints.ts'
import { keptUsername } from './users.ts'

/** The part of the mount that this endpoint uses. */
type Userpass = { logIn(name: string, password: string, request: RequestInfo): Promise<Login> }

/** The endpoint that logs in, open to everyone. */
export const loginEndpoint = endpoint({
  id: 'userpass-login',
  operation: 'update',
  path: 'login/:username',
  capability: 'none',
  // A login makes a token. The password itself is checked on the threads for slow work.
  runsOn: 'writer',
  writes: 'both',
  summary: 'Logs in with username and password',
  fields: {
    username: string('Username, case-insensitive', { required: true, canonical: keptUsername }),
    password: string('Password', { secret: true, default: '' }),
  },
  givesToken: true,
  handler: async (userpass: Userpass, { username, password }, request) => {
    if (password === '') throw fail('field_missing', ['password', 'missing password']) // Wire text.
    if (password.length > MAX_PASSWORD_CHARACTERS)
      throw fail('out_of_range', ['password', `must have at most ${MAX_PASSWORD_CHARACTERS} characters`])
    return { login: await userpass.logIn(username, password, request) }
  },
})
