// The authenticated twins of endpoints that shares alone open: one attempt, two paths.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { GENERATE_ROOT_ENDPOINTS } from '../endpoints/generate-root-endpoints.ts'
import { REKEY_ENDPOINTS } from '../endpoints/rekey-endpoints.ts'

const TWINS = [
  { open: 'generate-root/', twin: 'generate-root-token/', endpoints: GENERATE_ROOT_ENDPOINTS },
  { open: 'rekey/', twin: 'rotate/root/', endpoints: REKEY_ENDPOINTS },
  { open: 'rekey-recovery-key/', twin: 'rotate/recovery/', endpoints: REKEY_ENDPOINTS },
]

for (const { open, twin, endpoints } of TWINS) {
  test(`sys/${open} has twins at sys/${twin} that need sudo and take the same fields`, () => {
    const opened = endpoints.filter(({ path, capability }) => path.startsWith(open) && capability === 'none')
    assert.ok(opened.length >= 4)
    for (const { path, operation, fields, response } of opened) {
      const found = endpoints.find((other) => other.operation === operation && other.path === path.replace(open, twin))
      assert.deepEqual([found?.capability, found?.sudo, found?.body], [operation, true, undefined], path)
      assert.deepEqual([found?.fields, found?.response], [fields, response])
    }
  })
}

test('without sudo a twin is refused, also while the open place needs no token', async () => {
  const { call } = await startMemoryServer()
  const policy = 'path "sys/rotate/*" { capabilities = ["read", "update", "delete"] }'
  await call('POST', 'sys/policies/acl/almost', { policy })
  const made = await call('POST', 'auth/token/create', { policies: ['almost'] })
  const token = String((made.body.auth as Record<string, unknown>).client_token)
  for (const used of ['', token]) {
    assert.equal((await call('GET', 'sys/rotate/root/init', undefined, used)).status, 403)
    assert.equal(
      (await call('PUT', 'sys/rotate/root/init', { secret_shares: 1, secret_threshold: 1 }, used)).status,
      403,
    )
  }
  assert.equal((await call('GET', 'sys/rekey/init', undefined, '')).body.started, false)
})

test('a rekey that was begun at one place is seen and finished at the other, in an envelope there', async () => {
  const { call, shares } = await startMemoryServer()
  const begun = await call('POST', 'sys/rotate/root/init', { secret_shares: 2, secret_threshold: 2 })
  const { nonce } = begun.body.data as { nonce: string }
  assert.deepEqual([begun.status, begun.body.started], [200, undefined])
  assert.equal((await call('GET', 'sys/rekey/init', undefined, '')).body.nonce, nonce)
  const second = await call('PUT', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 }, '')
  assert.match(JSON.stringify(second.body), /already in progress/)
  const key = shares[0]?.toString('hex')
  const done = await call('POST', 'sys/rotate/root/update', { key, nonce })
  const { complete, keys } = done.body.data as { complete: boolean; keys: string[] }
  assert.deepEqual([complete, keys.length], [true, 2])
  assert.deepEqual((await call('GET', 'sys/seal-status')).body.n, 2)
  assert.equal((await call('GET', 'sys/rotate/root/backup')).status, 404)
  assert.match(JSON.stringify((await call('GET', 'sys/rotate/recovery/init')).body), /not supported/)
})

test('a root token is made at the authenticated place, where the open one asks for a token as well', async () => {
  const listener = { tokenAskedFor: { generateRoot: true, rekey: true } }
  const { call, shares } = await startMemoryServer({ listener })
  assert.equal((await call('PUT', 'sys/generate-root/attempt', {}, '')).status, 403)
  const { nonce, otp } = (await call('PUT', 'sys/generate-root-token/attempt', {})).body.data as Record<string, string>
  const key = shares[0]?.toString('hex')
  const { data } = (await call('PUT', 'sys/generate-root-token/update', { key, nonce })).body
  const bytes = Buffer.from(String(data?.encoded_token), 'base64').map((byte, at) => byte ^ (otp ?? '').charCodeAt(at))
  const token = Buffer.from(bytes).toString('latin1')
  assert.equal((await call('GET', 'sys/mounts', undefined, token)).status, 200)
  assert.equal((await call('DELETE', 'sys/generate-root-token/attempt')).status, 204)
})
