// The endpoints of users.

import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string, strings } from '../../api/fields.ts'
import { namedThings, pageOf } from '../../api/named-things.ts'
import { DecisionOutdated, DONE } from '../../api/request.ts'
import { keptPolicyName } from '../../api/spelling.ts'
import {
  changedSettings,
  OLD_TOKEN_FIELDS,
  oldNamesUsed,
  settingsBody,
  TOKEN_FIELDS,
  TOKEN_SETTINGS_SHAPE,
} from '../../api/token-settings.ts'
import { hashPassword } from '../../crypto/password.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { World } from '../../lib/world.ts'
import type { Users } from './users.ts'
import { keptUsername, type User } from './users.ts'

/** The part of the mount that these endpoints use. */
type Userpass = { readonly users: Users; readonly world: World; readonly slow: SlowWork }

/** Characters of a password. Bounds what hashing one can cost. */
export const MAX_PASSWORD_CHARACTERS = 1_024

const nameField = {
  username: string('Username, case-insensitive', { required: true, canonical: keptUsername }),
}
const passwordField = {
  password: string('Password; required for a new user', { secret: true, default: '', max: MAX_PASSWORD_CHARACTERS }),
}
/** Wire text. */
const PASSWORD_MISSING = 'must provide either password or password_hash'
const PASSWORD_HASH = 'bcrypt hashes are not taken over: set "password"'

const hashed = ({ world, slow }: Userpass, password: string): Promise<string> =>
  hashPassword(password, world.random.bytes, slow)

const users = namedThings({
  id: 'userpass-users',
  path: 'users',
  name: nameField,
  summaries: {
    list: 'Lists all usernames',
    read: 'Returns the token settings of a user, never the password',
    write: 'Creates a user, or updates the given fields',
    delete: 'Deletes a user; issued tokens stay valid until they expire, but cannot be renewed',
  },
  response: TOKEN_SETTINGS_SHAPE,
  fields: {
    ...passwordField,
    password_hash: string('Not supported: leave it empty', { secret: true, default: '' }),
    ...TOKEN_FIELDS,
    ...OLD_TOKEN_FIELDS,
  },
  tellsNew: true,
  names: async (userpass: Userpass, page) => pageOf(await userpass.users.list(), page),
  find: (userpass: Userpass, name) => userpass.users.find(name),
  body: ({ settings, oldNames }) => settingsBody(settings, oldNames),
  write: async (userpass: Userpass, name, args, { operation }) => {
    if (args.password_hash !== '') throw fail('field_invalid', ['password_hash', PASSWORD_HASH])
    const isNew = operation === 'create'
    if (isNew && args.password === '') throw fail('field_missing', ['password', PASSWORD_MISSING])
    // Hashed before the transaction, which must not wait for it.
    const given = args.password === '' ? undefined : await hashed(userpass, args.password)
    await userpass.users.change(name, (user) => {
      const password = given ?? user?.password
      if (isNew !== (user === undefined) || password === undefined) throw new DecisionOutdated()
      const settings = changedSettings(args, user?.settings)
      return { password, settings, oldNames: oldNamesUsed(args, user?.oldNames) }
    })
    return DONE
  },
  remove: (userpass: Userpass, name) => userpass.users.delete(name),
})

function mustExist(user: User | undefined): User {
  if (user === undefined) throw fail('no_such_entry', ['username does not exist'])
  return user
}

const password = endpoint({
  id: 'userpass-users-password',
  operation: 'update',
  path: 'users/:username/password',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Changes the password of a user',
  fields: {
    ...nameField,
    password: string('New password', { secret: true, default: '', max: MAX_PASSWORD_CHARACTERS }),
    password_hash: string('Not supported: leave it empty', { secret: true, default: '' }),
  },
  handler: async (userpass: Userpass, args) => {
    if (args.password_hash !== '') throw fail('field_invalid', ['password_hash', PASSWORD_HASH])
    if (args.password === '') throw fail('field_missing', ['password', PASSWORD_MISSING])
    const given = await hashed(userpass, args.password)
    await userpass.users.change(args.username, (user) => ({ ...mustExist(user), password: given }))
    return DONE
  },
})

const policies = endpoint({
  id: 'userpass-users-policies',
  operation: 'update',
  path: 'users/:username/policies',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Sets the policies of a user',
  fields: {
    ...nameField,
    token_policies: TOKEN_FIELDS.token_policies,
    policies: strings('Deprecated: use token_policies', { aliasOf: 'token_policies', canonical: keptPolicyName }),
  },
  handler: async (userpass: Userpass, args) => {
    await userpass.users.change(args.username, (found) => {
      const user = mustExist(found)
      const { token_policies, policies = [] } = args
      const settings = changedSettings({ token_policies, policies }, user.settings)
      return { ...user, settings, oldNames: oldNamesUsed({ policies: args.policies }, user.oldNames) }
    })
    return DONE
  },
})

/** Endpoints that manage users. Password and policies can be changed alone, under a permission of their own. */
export const USER_ENDPOINTS: readonly Endpoint<Userpass>[] = [...users, password, policies]
