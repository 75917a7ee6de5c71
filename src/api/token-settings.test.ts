import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { NO_TOKEN_SETTINGS } from './login.ts'
import { changedSettings } from './token-settings.ts'

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `p${at}`)
const LONG = 'a'.repeat(129)

/** Everything that sets policies of tokens, with the fields that it takes them by. */
const WRITES: readonly (readonly [string, readonly string[], object?])[] = [
  ['auth/approle/role/r', ['token_policies', 'policies']],
  ['auth/approle/role/there/policies', ['token_policies', 'policies']],
  ['auth/userpass/users/u', ['token_policies', 'policies'], { password: 'x' }],
  ['auth/userpass/users/there/policies', ['token_policies', 'policies']],
  ['auth/cloud/role/r', ['token_policies', 'policies'], { bound_locations: 'westeurope' }],
  ['auth/token/roles/r', ['allowed_policies', 'disallowed_policies']],
]

test('more policies than a token can have are refused where they are written, by the name of the field', async () => {
  const server = await startMemoryServer()
  for (const type of ['approle', 'userpass', 'cloud']) await server.call('POST', `sys/auth/${type}`, { type })
  assert.equal((await server.call('POST', 'auth/approle/role/there', {})).status, 204)
  assert.equal((await server.call('POST', 'auth/userpass/users/there', { password: 'x' })).status, 204)
  for (const [path, fields, more] of WRITES)
    for (const field of fields) {
      for (const [names, said] of [
        [numbered(257), 'must be at most 256'],
        [[LONG], 'a name has at most 128 characters'],
      ] as const) {
        const { status, body } = await server.call('POST', path, { ...more, [field]: names })
        assert.equal(status, 400, `${path} ${field}`)
        assert.ok(String(body.errors).endsWith(` for field "${field}": ${said}`), `${path} ${body.errors}`)
      }
      const taken = await server.call('POST', path, { ...more, [field]: [...numbered(256), ' P0 '] })
      assert.equal(taken.status, 204, `${path} ${field} ${JSON.stringify(taken.body)}`)
    }
})

test('the policies of a role or user that has more already stay until they are written', () => {
  const before = { ...NO_TOKEN_SETTINGS, policies: numbered(300) }
  assert.deepEqual(changedSettings({ token_ttl: 5 }, before), { ...before, ttlSeconds: 5 })
  assert.throws(() => changedSettings({ token_policies: before.policies }, before), { code: 'out_of_range' })
})
