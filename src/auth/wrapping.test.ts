import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { Faults, faultyBackend } from '../../test/conformance/faulty-backend.ts'
import { type Called, LIMITS, type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { realWorld } from '../lib/world.ts'
import { HISTORY_ID_BYTES } from '../storage/backend.ts'
import { openStore } from '../storage/commit/transactional-store.ts'
import { MemoryBackend } from '../storage/memory-backend.ts'

const wrapped = (server: MemoryServer, method: string, path: string, body?: unknown, ttl = '60') =>
  server.call(method, path, body, 'root', { wrapTtl: ttl })
const tokenOf = ({ body }: Called): string => String((body.wrap_info as { readonly token: string }).token)
const unwrap = (server: MemoryServer, token: string) => server.call('POST', 'sys/wrapping/unwrap', { token })

const TOO_LARGE = 'What the request would store is too large, the limit is 1048576 bytes'

async function stage() {
  const server = await startMemoryServer()
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k')
  return server
}

test('an answer goes to whoever has the token, whole', async () => {
  const server = await stage()
  const token = tokenOf(await wrapped(server, 'GET', 'transit/keys/k'))
  const plain = await server.call('GET', 'transit/keys/k')
  const opened = await unwrap(server, token)
  // The count may have grown between the two reads.
  const withoutCounts = ({ encryption_counts, ...data }: Record<string, unknown>) => data
  assert.deepEqual(withoutCounts(opened.body.data ?? {}), withoutCounts(plain.body.data ?? {}))
  assert.equal(opened.body.mount_type, 'transit')
})

test('a long answer is wrapped whole, too', async () => {
  const server = await stage()
  const plaintext = Buffer.alloc(100_000, 'x').toString('base64')
  const opened = await unwrap(server, tokenOf(await wrapped(server, 'POST', 'transit/encrypt/k', { plaintext })))
  const { ciphertext } = opened.body.data ?? {}
  const decrypted = await server.call('POST', 'transit/decrypt/k', { ciphertext })
  assert.equal(decrypted.body.data?.plaintext, plaintext)
})

test('P-32: of callers that unwrap at once exactly one gets the answer', async () => {
  const server = await stage()
  for (let round = 0; round < 20; round++) {
    const token = tokenOf(await wrapped(server, 'GET', 'transit/keys/k'))
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        i % 2 === 0 ? unwrap(server, token) : server.call('POST', 'sys/wrapping/unwrap', {}, token),
      ),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    assert.ok(answers.every(({ status }) => status === 200 || status === 400))
  }
})

test('T-21: after unwrapping neither the token nor the answer is there any more', async () => {
  const server = await stage()
  const token = tokenOf(await wrapped(server, 'GET', 'transit/keys/k'))
  await unwrap(server, token)
  assert.equal((await unwrap(server, token)).status, 400)
  assert.equal((await server.call('POST', 'sys/wrapping/lookup', { token }, '')).status, 400)
  assert.equal((await server.call('GET', 'cubbyhole/response', undefined, token)).status, 403)
  const left = await server.store.scan('root/sys/cubbyhole/', '', 10)
  assert.deepEqual(left, [])
})

test('a wrapping token does nothing else, and a look at it does not spend it', async () => {
  const server = await stage()
  const token = tokenOf(await wrapped(server, 'GET', 'transit/keys/k', undefined, '5m'))
  for (const how of ['GET', 'POST'])
    assert.equal((await server.call(how, 'sys/wrapping/lookup', undefined, token)).body.data?.creation_ttl, 300)
  const { status, body } = await server.call('GET', 'transit/keys/k', undefined, token)
  // The token is refused for its policies, not because it is gone.
  assert.equal(status, 403)
  assert.match(JSON.stringify(body.errors), /this token needs the capability/)
})

test('an answer is there as long as was asked, and not longer', async () => {
  const server = await stage()
  const token = tokenOf(await wrapped(server, 'GET', 'transit/keys/k', undefined, '10s'))
  server.advance(9)
  assert.equal((await server.call('POST', 'sys/wrapping/lookup', { token }, '')).status, 200)
  server.advance(1)
  assert.equal((await unwrap(server, token)).status, 400)
})

test('rewrapping spends the old token and keeps lifetime and path', async () => {
  const server = await stage()
  const first = tokenOf(await wrapped(server, 'POST', 'auth/token/create', { policies: ['default'] }))
  server.advance(30)
  const second = await server.call('POST', 'sys/wrapping/rewrap', { token: first })
  const info = second.body.wrap_info as Record<string, unknown>
  assert.deepEqual([info.ttl, info.creation_path, typeof info.wrapped_accessor], [60, 'auth/token/create', 'string'])
  assert.equal((await unwrap(server, first)).status, 400)
  const auth = (await unwrap(server, tokenOf(second))).body.auth as { readonly accessor: string }
  assert.equal(auth.accessor, info.wrapped_accessor)
})

test('a refusal is not wrapped, nor is an answer without content', async () => {
  const server = await stage()
  assert.equal((await wrapped(server, 'GET', 'transit/keys/none')).status, 404)
  assert.equal((await wrapped(server, 'POST', 'sys/policies/acl/p', { policy: 'path "a" {}' })).status, 204)
})

test('a batch of which some items failed is wrapped too: what succeeded is secret', async () => {
  const server = await stage()
  const good = (await server.call('POST', 'transit/encrypt/k', { plaintext: 'YQ==' })).body.data?.ciphertext
  const answer = await wrapped(server, 'POST', 'transit/decrypt/k', {
    batch_input: [{ ciphertext: good }, { ciphertext: 'vault:v1:AAAA' }],
  })
  assert.equal(answer.body.data, null)
  const results = (await unwrap(server, tokenOf(answer))).body.data?.batch_results as { readonly plaintext?: string }[]
  assert.equal(results[0]?.plaintext, 'YQ==')
})

test('what cannot be wrapped is refused, but for the state of the server', async () => {
  const server = await stage()
  assert.equal((await wrapped(server, 'GET', 'sys/seal-status')).status, 200)
  assert.equal((await wrapped(server, 'POST', 'sys/generate-root/attempt', {})).status, 400)
  assert.equal((await wrapped(server, 'GET', 'transit/keys/k', undefined, 'soon')).status, 400)
  assert.equal((await wrapped(server, 'GET', 'transit/keys/k', undefined, '-1')).status, 400)
})

test('an answer that is more than is kept is refused as such', async () => {
  const server = await stage()
  const { status, body } = await wrapped(server, 'POST', 'sys/wrapping/wrap', { a: '"'.repeat(2 ** 24) })
  assert.deepEqual([status, String(body.errors)], [413, TOO_LARGE])
})

test('P-41: without a token only the answer to a login is kept', async () => {
  const server = await stage()
  await server.call('POST', 'sys/auth/people', { type: 'userpass' })
  await server.call('POST', 'auth/people/users/ada', { password: 'correct horse' })
  const strange = (method: string, path: string, body: unknown, wrapFormat: string, token = '') =>
    server.call(method, path, body, token, { wrapTtl: '60', wrapFormat })
  const paths = ['sys/wrapping/pubkey', 'sys/internal/ui/mounts', 'sys/internal/ui/namespaces']
  for (const path of paths) {
    for (const [format = '', token = ''] of [[], ['jwt'], ['jwt', 'no such token']]) {
      const { status, body } = await strange('GET', path, undefined, format, token)
      assert.deepEqual([status, (body.errors as readonly string[])[0]?.includes('X-Vault-Wrap-TTL')], [400, true], path)
    }
    assert.equal((await strange('GET', path, undefined, '', 'root')).status, 200)
  }
  const login = await strange('POST', 'auth/people/login/ada', { password: 'correct horse' }, '')
  const opened = await unwrap(server, tokenOf(login))
  assert.equal(typeof (opened.body.auth as { readonly client_token: string }).client_token, 'string')
})

test('a wrapping lives no longer than any lease of the system', async () => {
  const server = await stage()
  const { body } = await wrapped(server, 'GET', 'transit/keys/k', undefined, '2562047h')
  assert.equal((body.wrap_info as { readonly ttl: number }).ttl, LIMITS.maxTtlSeconds)
})

test('a policy of wrappings longer than any lease is met by what is asked for', async () => {
  const server = await stage()
  const seconds = LIMITS.maxTtlSeconds + 60
  const rule = `capabilities = ["read"] min_wrapping_ttl = "${seconds}s"`
  await server.call('POST', 'sys/policies/acl/long', { policy: `path "transit/keys/k" { ${rule} }` })
  const made = await server.call('POST', 'auth/token/create', { policies: ['long'] })
  const token = String((made.body.auth as { readonly client_token: string }).client_token)
  const ask = (wrapTtl: number) => server.call('GET', 'transit/keys/k', undefined, token, { wrapTtl: `${wrapTtl}` })
  assert.equal((await ask(seconds - 1)).status, 403)
  const { status, body } = await ask(seconds)
  assert.equal(status, 200)
  assert.equal((body.wrap_info as { readonly ttl: number }).ttl, LIMITS.maxTtlSeconds)
})

test('a token keeps things for itself alone', async () => {
  const server = await stage()
  const made = await server.call('POST', 'auth/token/create', { policies: ['default'] })
  const token = String((made.body.auth as { readonly client_token: string }).client_token)
  assert.equal((await server.call('POST', 'cubbyhole/a/b', { x: 1 }, token)).status, 204)
  assert.deepEqual((await server.call('GET', 'cubbyhole/a/b', undefined, token)).body.data, { x: 1 })
  assert.equal((await server.call('GET', 'cubbyhole/a/b')).status, 404)
  assert.deepEqual((await server.call('LIST', 'cubbyhole/a', undefined, token)).body.data, { keys: ['b'] })
  assert.equal((await server.call('POST', `cubbyhole/${'x'.repeat(900)}`, { x: 1 }, token)).status, 400)
  await server.call('POST', 'auth/token/revoke', { token })
  assert.deepEqual(await server.store.scan('root/sys/cubbyhole/', '', 10), [])
})

test('a wrapping shorter than a second lives a second: cut to nothing it would be an answer in clear', async () => {
  const server = await stage()
  for (const ttl of ['1ms', '999ms', '1ns', '0.5s']) {
    const { status, body } = await wrapped(server, 'GET', 'transit/keys/k', undefined, ttl)
    assert.deepEqual([status, body.data, (body.wrap_info as { readonly ttl: number }).ttl], [200, null, 1], ttl)
  }
  for (const ttl of ['0', '0ms', '0s'])
    assert.equal((await wrapped(server, 'GET', 'transit/keys/k', undefined, ttl)).body.wrap_info, null)
})

test('T-07: a write that was under way when its token ended leaves nothing', async () => {
  const server = await stage()
  for (let round = 0; round < 10; round++) {
    const made = await server.call('POST', 'auth/token/create', { id: `mine-${round}`, policies: ['default'] })
    const token = String((made.body.auth as { readonly client_token: string }).client_token)
    const write = (i: number) => server.call('POST', `cubbyhole/x${i}`, { x: 1 }, token)
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => write(i)),
      server.call('POST', 'auth/token/revoke', { token }),
      ...Array.from({ length: 10 }, (_, i) => write(10 + i)),
    ])
    for (const { status } of answers) assert.ok(status === 204 || status === 403, String(status))
    assert.deepEqual(await server.store.scan('root/sys/cubbyhole/', '', 10), [])
  }
})

test('T-21: an answer that storage does not let out is still under its token', async () => {
  const { random, clock } = realWorld()
  const faults = new Faults()
  const backend = faultyBackend(new MemoryBackend(random.bytes(HISTORY_ID_BYTES)), faults)
  const store = await openStore(backend, { clock })
  const empty = await startMemoryServer({ store, threshold: 0 })
  const made = await empty.node.initialise({ shares: 1, threshold: 1 }, '', { rootToken: 'root' })
  for (const share of made.shares) await empty.node.operations.unseal(share)
  const uses = [
    { path: 'sys/wrapping/unwrap', headers: {} },
    { path: 'sys/wrapping/unwrap', headers: { wrapTtl: '60' } },
    { path: 'sys/wrapping/rewrap', headers: {} },
  ]
  for (const { path, headers } of uses) {
    for (let step = 0, isDone = false; !isDone; step++) {
      const token = tokenOf(await wrapped(empty, 'GET', 'sys/mounts'))
      faults.passing = step
      const { status } = await empty.call('POST', path, { token }, 'root', headers)
      isDone = faults.passing !== undefined
      faults.passing = undefined
      assert.equal(status, isDone ? 200 : 507, `${path}, step ${step}`)
      assert.equal((await unwrap(empty, token)).status, isDone ? 400 : 200, `${path}, step ${step}`)
    }
  }
})

test('what is unwrapped to be wrapped again goes under a token of the wanted lifetime', async () => {
  const server = await stage()
  const first = tokenOf(await wrapped(server, 'GET', 'transit/keys/k'))
  const second = await server.call('POST', 'sys/wrapping/unwrap', { token: first }, 'root', { wrapTtl: '10m' })
  assert.deepEqual([second.status, second.body.data], [200, null])
  assert.equal((second.body.wrap_info as { readonly ttl: number }).ttl, 600)
  assert.equal((await unwrap(server, first)).status, 400)
  const opened = await unwrap(server, tokenOf(second))
  assert.equal(opened.body.data?.name, 'k')
})
