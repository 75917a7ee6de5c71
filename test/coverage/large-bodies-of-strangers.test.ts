// A8: what comes of a request whose body was too long for a caller without a live token, and who counts as one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_OPEN_BODY_BYTES } from '../../src/api/body-limits.ts'
import { type MemoryServer, startMemoryServer, wireRequest } from '../fixtures/memory-server.ts'

const cut = async ({ node }: MemoryServer, method: string, path: string, token?: string): Promise<number> =>
  (await node.core.handle({ ...wireRequest(method, path, undefined, token), isBodyCut: true })).status

const isKnown = ({ node }: MemoryServer, token: string | undefined, address = '127.0.0.1'): Promise<boolean> =>
  node.core.hasLiveToken(wireRequest('POST', 'x', {}, token).headers, address)

test('A8: without its body a request is refused as one without a token is, and 413 where none is needed', async () => {
  const memory = await startMemoryServer()
  assert.equal(await cut(memory, 'POST', 'transit/encrypt/x'), 403)
  assert.equal(await cut(memory, 'POST', 'sys/mounts/x', 'unknown'), 403)
  await memory.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  assert.equal(await cut(memory, 'POST', 'auth/userpass/login/ann'), 413)
  assert.equal(await cut(memory, 'POST', 'sys/unseal'), 413)
  assert.equal(await cut(memory, 'GET', 'sys/health'), 200, 'a body means nothing there')
  assert.equal(await cut(memory, 'POST', 'sys/tools/hash', 'root'), 413, 'nothing is carried out without its body')
})

test('A8: a whole body of a caller without a token has the same bound', async () => {
  const { node } = await startMemoryServer()
  const json = (bytes: number): Buffer => Buffer.from(`{"key":"${'x'.repeat(bytes - 10)}"}`)
  const status = async (bytes: number) =>
    (await node.core.handle({ ...wireRequest('POST', 'sys/unseal'), body: json(bytes) })).status
  assert.equal(json(MAX_OPEN_BODY_BYTES).length, MAX_OPEN_BODY_BYTES)
  assert.equal(await status(MAX_OPEN_BODY_BYTES), 400)
  assert.equal(await status(MAX_OPEN_BODY_BYTES + 1), 413)
})

test('A8: a token that may not be used now is none', async () => {
  const memory = await startMemoryServer()
  const make = async (fields: object): Promise<string> => {
    const { body } = await memory.call('POST', 'auth/token/create', { policies: ['default'], ...fields })
    return (body.auth as { client_token: string }).client_token
  }
  const short = await make({ ttl: '1m' })
  const revoked = await make({})
  const batch = await make({ type: 'batch' })
  assert.deepEqual(
    await Promise.all(
      [undefined, '', 'hvs.nobody', 'root', short, revoked, batch].map((token) => isKnown(memory, token)),
    ),
    [false, false, false, true, true, true, true],
  )
  await memory.call('POST', 'auth/token/revoke', { token: revoked })
  memory.advance(61)
  assert.deepEqual(await Promise.all([short, revoked, batch].map((token) => isKnown(memory, token))), [
    false,
    false,
    true,
  ])
  await memory.call('POST', 'sys/seal')
  assert.equal(await isKnown(memory, 'root'), false)
})

test('A8: a token counts where it may be used from, for who has access, and no use of it is spent', async () => {
  const memory = await startMemoryServer()
  await memory.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  const user = { password: 'secret-word', token_bound_cidrs: '127.0.0.0/8', token_num_uses: 1 }
  await memory.call('POST', 'auth/userpass/users/ann', user)
  const login = await memory.call('POST', 'auth/userpass/login/ann', { password: 'secret-word' }, '')
  const auth = login.body.auth as { client_token: string; entity_id: string }
  for (const [address, expected] of [
    ['127.0.0.1', true],
    ['127.0.0.1', true],
    ['10.0.0.1', false],
  ] as const) {
    assert.equal(await isKnown(memory, auth.client_token, address), expected, address)
  }
  await memory.call('POST', `identity/entity/id/${auth.entity_id}`, { disabled: true })
  assert.equal(await isKnown(memory, auth.client_token), false)
})
