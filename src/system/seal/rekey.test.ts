// sys/rekey through the pipeline: new shares for those who hold the old ones.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'

const INIT = 'sys/rekey/init'
const hex = (shares: readonly Buffer[]): string[] => shares.map((share) => share.toString('hex'))

const NOT_WRAPPED = 'X-Vault-Wrap-TTL: the answer of this endpoint cannot be wrapped'

const IDLE = {
  nonce: '',
  started: false,
  t: 0,
  n: 0,
  progress: 0,
  required: 2,
  pgp_fingerprints: null,
  backup: false,
  verification_required: false,
}

const server = (): Promise<MemoryServer> => startMemoryServer({ shares: 3, threshold: 2 })

/** Gives all shares and returns the last answer. */
async function giveAll({ call }: MemoryServer, path: string, keys: readonly string[], nonce: unknown) {
  let last = await call('PUT', path, { key: keys[0], nonce }, '')
  for (const key of keys.slice(1)) last = await call('PUT', path, { key, nonce }, '')
  return last
}

async function opensWith({ call }: MemoryServer, keys: readonly string[]): Promise<boolean> {
  await call('PUT', 'sys/seal')
  for (const key of keys) await call('PUT', 'sys/unseal', { key }, '')
  const { body } = await call('GET', 'sys/seal-status', undefined, '')
  await call('PUT', 'sys/unseal', { reset: true }, '')
  return body.sealed === false
}

test('a key that is wiped while it is being put in force opens the server all the same', async () => {
  const { call, node } = await server()
  const key = Buffer.alloc(32, 7)
  const replaced = node.seal.replaceSharedKey(key, { shares: 1, threshold: 1 }, () => {})
  key.fill(0)
  await replaced
  await call('PUT', 'sys/seal')
  await node.unsealWith(Buffer.alloc(32, 7))
  assert.equal((await call('GET', 'sys/mounts')).status, 200)
})

test('enough old shares give new ones, which open the server; the old ones no longer do', async () => {
  const stage = await server()
  const { call, shares } = stage
  assert.deepEqual((await call('GET', INIT, undefined, '')).body, IDLE)
  const started = (await call('PUT', INIT, { secret_shares: 5, secret_threshold: 3 }, '')).body
  const { nonce } = started
  assert.deepEqual(started, { ...IDLE, nonce, started: true, t: 3, n: 5 })
  assert.equal((await call('PUT', INIT, { secret_shares: 1, secret_threshold: 1 }, '')).status, 400)
  const first = await call('PUT', 'sys/rekey/update', { key: hex(shares)[0], nonce }, '')
  assert.deepEqual(first.body, { ...IDLE, nonce, started: true, t: 3, n: 5, progress: 1 })
  const { body } = await call('PUT', 'sys/rekey/update', { key: hex(shares)[2], nonce }, '')
  const keys = body.keys as string[]
  const asBase64 = keys.map((key) => Buffer.from(key, 'hex').toString('base64'))
  const rest = { pgp_fingerprints: null, backup: false, verification_required: false }
  assert.deepEqual(body, { nonce, complete: true, keys, keys_base64: asBase64, ...rest })
  assert.equal(new Set(keys).size, 5)
  const status = (await call('GET', 'sys/seal-status', undefined, '')).body
  assert.deepEqual([status.t, status.n], [3, 5])
  assert.equal(await opensWith(stage, hex(shares)), false)
  assert.equal(await opensWith(stage, keys.slice(2)), true)
  assert.equal((await call('GET', 'sys/mounts')).status, 200)
})

test('from one share to several, and back to one', async () => {
  const stage = await startMemoryServer()
  const { call } = stage
  let keys = hex(stage.shares)
  for (const [n, t] of [
    [7, 2],
    [1, 1],
  ] as const) {
    const { nonce } = (await call('PUT', INIT, { secret_shares: n, secret_threshold: t }, '')).body
    const { body } = await giveAll(stage, 'sys/rekey/update', keys.slice(0, 2), nonce)
    keys = body.keys as string[]
    assert.equal(keys.length, n)
    assert.equal(await opensWith(stage, keys.slice(-t)), true)
  }
})

test('S-04: with verification the old shares work until the new ones were given back', async () => {
  const stage = await server()
  const { call, shares } = stage
  const wanted = { secret_shares: 4, secret_threshold: 3, require_verification: true }
  const { nonce } = (await call('PUT', INIT, wanted, '')).body
  const { body } = await giveAll(stage, 'sys/rekey/update', hex(shares).slice(0, 2), nonce)
  assert.equal(body.verification_required, true)
  const keys = body.keys as string[]
  const waiting = (await call('GET', INIT, undefined, '')).body
  const waits = { nonce, started: true, t: 3, n: 4, verification_required: true }
  assert.deepEqual(waiting, { ...IDLE, ...waits, verification_nonce: body.verification_nonce })
  assert.equal((await call('PUT', INIT, wanted, '')).status, 400)
  const status = (await call('GET', 'sys/seal-status', undefined, '')).body
  assert.deepEqual([status.t, status.n], [2, 3])

  const verify = 'sys/rekey/verify'
  const began = (await call('GET', verify, undefined, '')).body
  assert.deepEqual(began, { nonce: body.verification_nonce, started: true, t: 3, n: 4, progress: 0 })
  const wrong = await giveAll(stage, verify, [...keys.slice(0, 2), hex(shares)[2] ?? ''], began.nonce)
  assert.equal(wrong.status, 400)
  const again = (await call('DELETE', verify, undefined, '')).body
  assert.notEqual(again.nonce, began.nonce)
  assert.equal((await call('PUT', verify, { key: keys[0], nonce: began.nonce }, '')).status, 400)
  const one = (await call('PUT', verify, { key: keys[0], nonce: again.nonce }, '')).body
  assert.equal(one.progress, 1)
  const done = await giveAll(stage, verify, keys.slice(1, 3), again.nonce)
  assert.deepEqual(done.body, { nonce: again.nonce, complete: true })
  assert.deepEqual((await call('GET', INIT, undefined, '')).body, { ...IDLE, required: 3 })
  assert.equal(await opensWith(stage, hex(shares)), false)
  assert.equal(await opensWith(stage, keys.slice(1)), true)
})

test('S-04: new shares that were not given back are nothing; the old ones go on', async () => {
  for (const drop of ['cancel', 'idle', 'seal'] as const) {
    const stage = await server()
    const { call, shares, advance } = stage
    const wanted = { secret_shares: 1, secret_threshold: 1, require_verification: true }
    const { nonce } = (await call('PUT', INIT, wanted, '')).body
    const { body } = await giveAll(stage, 'sys/rekey/update', hex(shares).slice(0, 2), nonce)
    if (drop === 'cancel') assert.equal((await call('DELETE', INIT, undefined, '')).status, 204)
    if (drop === 'idle') advance(600)
    if (drop === 'seal') assert.equal(await opensWith(stage, hex(shares)), true)
    const [key] = body.keys as string[]
    assert.equal((await call('PUT', 'sys/rekey/verify', { key, nonce: body.verification_nonce }, '')).status, 400, drop)
    assert.equal(await opensWith(stage, [key ?? '']), false, drop)
    assert.equal(await opensWith(stage, hex(shares).slice(1)), true, drop)
  }
})

test('T-19: a share given twice is refused, and one of an earlier split gives nothing', async () => {
  const stage = await server()
  const { call, shares } = stage
  const { nonce } = (await call('PUT', INIT, { secret_shares: 3, secret_threshold: 2 }, '')).body
  const first = hex(shares)[0] ?? ''
  assert.equal((await giveAll(stage, 'sys/rekey/update', [first, first], nonce)).status, 400)
  const { body } = await call('PUT', 'sys/rekey/update', { key: hex(shares)[1], nonce }, '')
  const next = (await call('PUT', INIT, { secret_shares: 3, secret_threshold: 2 }, '')).body
  const mixed = [(body.keys as string[])[0] ?? '', first]
  const refused = await giveAll(stage, 'sys/rekey/update', mixed, next.nonce)
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.body), /rekey aborted/)
  assert.equal((await call('GET', INIT, undefined, '')).body.progress, 0)
})

test('numbers and fields that make no sense are refused by name', async () => {
  const { call } = await server()
  for (const [body, name] of [
    [{}, 'secret_shares'],
    [{ secret_shares: 3, secret_threshold: 4 }, 'secret_threshold'],
    [{ secret_shares: 3, secret_threshold: 1 }, 'secret_threshold'],
    [{ secret_shares: 3, secret_threshold: 2, backup: true }, 'backup'],
    [{ secret_shares: 3, secret_threshold: 2, pgp_keys: ['AAAA'] }, 'pgp_keys'],
  ] as const) {
    const refused = await call('PUT', INIT, body, '')
    assert.equal(refused.status, 400)
    assert.ok(JSON.stringify(refused.body).includes(name), name)
  }
  const recovery = await call('GET', 'sys/rekey-recovery-key/init', undefined, '')
  assert.match(JSON.stringify(recovery.body), /recovery rekeying not supported/)
  assert.equal((await call('DELETE', INIT, undefined, '')).status, 204)
})

test('S-02: the switch asks for a token with sudo', async () => {
  const { call } = await startMemoryServer({ listener: { tokenAskedFor: { generateRoot: false, rekey: true } } })
  assert.equal((await call('GET', INIT, undefined, '')).status, 403)
  assert.equal((await call('GET', INIT)).status, 200)
})

test('S-07: shares given at the same time each get the state that they made', async () => {
  const { call, shares } = await startMemoryServer({ shares: 5, threshold: 4 })
  const { nonce } = (await call('PUT', INIT, { secret_shares: 1, secret_threshold: 1 }, '')).body
  const given = hex(shares.slice(0, 4)).map((key) => call('PUT', 'sys/rekey/update', { key, nonce }, ''))
  const answers = (await Promise.all(given)).map(({ body }) => body.progress ?? body.complete)
  assert.deepEqual(answers, [1, 2, 3, true])
})

test('new shares are not wrapped, which could lose them: it is refused before anything is done', async () => {
  const { call, shares } = await startMemoryServer()
  const [key] = hex(shares)
  for (const [place, token] of [
    ['sys/rekey', ''],
    ['sys/rotate/root', 'root'],
  ] as const) {
    const wanted = { secret_shares: 1, secret_threshold: 1 }
    const { body } = await call('PUT', `${place}/init`, wanted, token)
    const nonce = body.data?.nonce ?? body.nonce
    const refused = await call('PUT', `${place}/update`, { key, nonce }, token, { wrapTtl: '60' })
    assert.deepEqual([refused.status, refused.body.errors], [400, [NOT_WRAPPED]], place)
    assert.equal((await call('GET', INIT, undefined, '')).body.started, true)
    assert.equal((await call('DELETE', INIT, undefined, '')).status, 204)
  }
})

test('new shares are given though a thread could not be told of them', async () => {
  let isFailing = false
  const announce = async (): Promise<void> => {
    if (isFailing) throw new Error('A thread is gone')
  }
  const stage = await startMemoryServer({ announce })
  const { call, shares } = stage
  const { nonce } = (await call('PUT', INIT, { secret_shares: 1, secret_threshold: 1 }, '')).body
  isFailing = true
  const { status, body } = await call('PUT', 'sys/rekey/update', { key: hex(shares)[0], nonce }, '')
  isFailing = false
  assert.equal(status, 200)
  assert.equal(await opensWith(stage, body.keys as string[]), true)
})
