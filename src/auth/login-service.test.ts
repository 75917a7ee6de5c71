import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { realWorld } from '../lib/world.ts'
import { WriteNotAllowed } from '../storage/errors.ts'
import { LoginService } from './login-service.ts'

test('a token of a login lives as long as the answer says, and not a second longer', async () => {
  for (const type of ['service', 'batch']) {
    const server = await startMemoryServer()
    await server.call('POST', 'sys/auth/approle', { type: 'approle' })
    const role = { bind_secret_id: false, token_bound_cidrs: '127.0.0.0/8', token_ttl: '60s', token_type: type }
    await server.call('POST', 'auth/approle/role/r', role)
    const { role_id } = (await server.call('GET', 'auth/approle/role/r/role-id')).body.data ?? {}
    const { body } = await server.call('POST', 'auth/approle/login', { role_id }, '')
    const { client_token: token, lease_duration: seconds } = body.auth as Record<string, unknown>
    assert.equal(seconds, 60)
    const lookUp = async () => (await server.call('GET', 'auth/token/lookup-self', undefined, String(token))).status
    server.advance(59)
    assert.equal(await lookUp(), 200, type)
    server.advance(1)
    assert.equal(await lookUp(), 403, type)
  }
})

test('a login at a mount that a secondary loses meanwhile leaves no token, and finds no mount', async () => {
  const revoked: string[] = []
  const settings = { policies: [], boundCidrs: [], noDefaultPolicy: false, type: 'service', numUses: 0 }
  const parts = {
    tokens: {
      issue: async () => 'text',
      idOf: (text: string) => `id of ${text}`,
      revoke: async (id: string) => void revoked.push(id),
      newAccessor: () => 'accessor',
      namespaceOf: () => ({ path: '' }),
    },
    // A secondary removes no shared alias.
    identities: { removeMount: () => Promise.reject(new WriteNotAllowed('replicated')) },
    rights: { identityPoliciesOf: async () => [] },
    world: realWorld(),
    limits: { defaultTtlSeconds: 60, maxTtlSeconds: 60 },
    isMounted: () => false,
  }
  const service = new LoginService(parts as never)
  const login = { displayName: 'x', settings, metadata: {}, alias: undefined, groups: [], renewal: {} }
  const mount = { uuid: 'u', namespace: 'root', path: 'auth/a/', config: {} }
  const request = { path: 'auth/a/login/x', remoteAddress: '127.0.0.1' }
  await assert.rejects(service.issue(login as never, mount as never, request), { code: 'no_route' })
  assert.deepEqual(revoked, ['id of text'])
})
