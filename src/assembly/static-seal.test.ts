// A server that opens itself by a static key: its recovery shares authorise, and open nothing.
import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Faults, faultyBackend } from '../../test/conformance/faulty-backend.ts'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import type { StaticSealConfig } from '../config/seal.ts'
import { realWorld } from '../lib/world.ts'
import { HISTORY_ID_BYTES } from '../storage/backend.ts'
import { openStore } from '../storage/commit/transactional-store.ts'
import type { Store } from '../storage/contract.ts'
import { StorageFull } from '../storage/errors.ts'
import { MemoryBackend } from '../storage/memory-backend.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import { Seal } from '../system/seal/seal.ts'
import { staticSeal } from './static-seal.ts'

const KEY_A = Buffer.alloc(32, 0xa1)
const KEY_B = Buffer.alloc(32, 0xb2)
const config = (keyId: string, key: Buffer, previous?: StaticSealConfig['previous']): StaticSealConfig => ({
  keyId,
  key: key.toString('hex'),
  previous,
})
const A = config('a', KEY_A)

type Logged = { level: string; message: string }

async function start(seal: StaticSealConfig, store?: Store): Promise<MemoryServer & { logged: Logged[] }> {
  const logged: Logged[] = []
  const stage = await startMemoryServer({
    shares: 3,
    threshold: 2,
    autoSeal: staticSeal(seal, {}),
    log: (level, message) => logged.push({ level, message }),
    ...(store === undefined ? {} : { store }),
  })
  return { ...stage, logged }
}

const sealed = async ({ call }: MemoryServer) => (await call('GET', 'sys/seal-status', undefined, '')).body.sealed

test('it opens by itself, also after a restart, and shows its recovery shares', async () => {
  const first = await start(A)
  const { body } = await first.call('GET', 'sys/seal-status')
  assert.deepEqual([body.type, body.sealed, body.recovery_seal, body.t, body.n], ['static', false, true, 2, 3])
  await first.call('POST', 'sys/policies/acl/p', { policy: 'path "a" { capabilities = ["read"] }' })
  const second = await start(A, first.store)
  assert.equal((await second.call('GET', 'sys/policies/acl/p')).status, 200)
})

test('recovery shares open nothing', async () => {
  const { call, shares } = await start(A)
  await call('PUT', 'sys/seal')
  for (const share of shares) {
    const refused = await call('PUT', 'sys/unseal', { key: share.toString('hex') }, '')
    assert.equal(refused.status, 400)
    assert.match(JSON.stringify(refused.body), /recovery shares open nothing/)
  }
  assert.equal((await call('GET', 'sys/seal-status')).body.sealed, true)
})

test('recovery shares give a root token; shares of another server do not', async () => {
  const [stage, other] = [await start(A), await start(A)]
  const { call } = stage
  const give = async ({ shares }: MemoryServer) => {
    const { nonce } = (await call('PUT', 'sys/generate-root/attempt', {}, '')).body
    await call('PUT', 'sys/generate-root/update', { key: shares[0]?.toString('hex'), nonce }, '')
    const last = await call('PUT', 'sys/generate-root/update', { key: shares[2]?.toString('hex'), nonce }, '')
    await call('DELETE', 'sys/generate-root/attempt')
    return last
  }
  assert.equal((await give(stage)).body.complete, true)
  assert.equal((await give(other)).status, 400)
})

test('recovery shares are changed by enough of them; the unseal key has none', async () => {
  const { call, shares, store } = await start(A)
  assert.match(JSON.stringify((await call('GET', 'sys/rekey/init')).body), /barrier rekeying not supported/)
  const path = 'sys/rekey-recovery-key'
  const { nonce } = (await call('PUT', `${path}/init`, { secret_shares: 1, secret_threshold: 1 }, '')).body
  await call('PUT', `${path}/update`, { key: shares[0]?.toString('hex'), nonce }, '')
  const { body } = await call('PUT', `${path}/update`, { key: shares[1]?.toString('hex'), nonce }, '')
  assert.equal((body.keys as string[]).length, 1)
  assert.deepEqual((await call('GET', 'sys/seal-status')).body.n, 1)
  assert.equal(await sealed(await start(A, store)), false)
  const started = (await call('PUT', 'sys/generate-root/attempt', {}, '')).body
  const key = (body.keys as string[])[0]
  const done = await call('PUT', 'sys/generate-root/update', { key, nonce: started.nonce }, '')
  assert.equal(done.body.complete, true)
})

test('the static key is changed by naming the old one as the previous; then only the new one opens', async () => {
  const { store } = await start(A)
  const both = config('b', KEY_B, { keyId: 'a', key: KEY_A.toString('base64') })
  assert.equal(await sealed(await start(both, store)), false)
  assert.equal(await sealed(await start(config('b', KEY_B), store)), false)
  const old = await start(A, store)
  assert.equal(await sealed(old), true)
  assert.deepEqual(old.logged, [
    {
      level: 'error',
      message:
        'The server stays sealed. ' +
        'The store is sealed by the static key "b", which is neither current_key_id nor previous_key_id',
    },
  ])
})

test('where the new static key cannot be stored the server stays sealed, with nothing left open', async () => {
  const { store } = await start(A)
  const seal = new Seal(store, realWorld(), staticSeal(config('b', KEY_B, { keyId: 'a', key: A.key }), {}))
  await seal.load()
  store.transaction = () => Promise.reject(new StorageFull('no room'))
  await assert.rejects(seal.openByItself(), StorageFull)
  assert.equal(seal.status().sealed, true)
  assert.throws(() => seal.rootKey, { name: 'Refusal', code: 'sealed' })
})

test('S-03: a wrong key leaves the server sealed, with one sentence that has no byte of it', async () => {
  const { store } = await start(A)
  const wrong = await start(config('a', KEY_B), store)
  assert.equal(await sealed(wrong), true)
  assert.deepEqual(wrong.logged, [
    {
      level: 'error',
      message: 'The server stays sealed. The static key "a" is not the one that this store was sealed with',
    },
  ])
})

test('init with a static key takes recovery shares only, and opens at once', async () => {
  const { call, node } = await startUninitialised()
  for (const body of [{ secret_shares: 1, secret_threshold: 1 }, {}, { recovery_shares: 2, recovery_threshold: 1 }]) {
    assert.equal((await call('PUT', 'sys/init', body, '')).status, 400, JSON.stringify(body))
  }
  const { body } = await call('PUT', 'sys/init', { recovery_shares: 3, recovery_threshold: 2 }, '')
  assert.deepEqual([body.keys, (body.recovery_keys as string[]).length], [[], 3])
  assert.equal((body.recovery_keys_base64 as string[]).length, 3)
  assert.equal(node.seal.status().sealed, false)
  assert.equal((await call('GET', 'sys/mounts', undefined, String(body.root_token))).status, 200)
})

test('D-05: keys that were made are given, whatever hinders the opening behind it', async () => {
  const { random, clock } = realWorld()
  let step = 0
  for (let isOver = false; !isOver; step++) {
    const faults = new Faults()
    const backend = faultyBackend(new MemoryBackend(random.bytes(HISTORY_ID_BYTES)), faults)
    const store = await openStore(backend, { clock })
    const options = { store, threshold: 0, autoSeal: staticSeal(A, {}) }
    const stage = await startMemoryServer(options)
    faults.passing = step
    const { status, body } = await stage.call('PUT', 'sys/init', { recovery_shares: 1, recovery_threshold: 1 }, '')
    isOver = faults.passing !== undefined
    faults.passing = undefined
    const isMade = (await stage.call('GET', 'sys/init', undefined, '')).body.initialized
    assert.deepEqual([status, isMade], step === 0 ? [507, false] : [200, true], `step ${step}`)
    if (step === 0) continue
    const restarted = await startMemoryServer(options)
    assert.equal((await restarted.call('GET', 'sys/mounts', undefined, String(body.root_token))).status, 200)
  }
  assert.ok(step > 2, 'the opening writes nothing, so the test shows nothing')
})

test('keys that were made are given, though a thread could not be told of them', async () => {
  const announce = () => Promise.reject(new Error('A thread is gone'))
  const { call } = await startMemoryServer({ shares: 0, announce })
  const { status, body } = await call('PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 }, '')
  assert.deepEqual([status, (body.keys as string[]).length], [200, 1])
})

async function startUninitialised(): Promise<MemoryServer> {
  return startMemoryServer({ autoSeal: staticSeal(A, {}), shares: 0 })
}

test('a store of shares does not start with a static seal, and the reverse', async () => {
  const shamir = await startMemoryServer()
  await assert.rejects(start(A, shamir.store), AutoSealFailed)
  const { store } = await start(A)
  await assert.rejects(startMemoryServer({ store, key: Buffer.alloc(32) }), AutoSealFailed)
})

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'keywright-seal-'))
  context.after(() => rmSync(path, { recursive: true }))
  return path
}

test('keys come from the text, a file or a variable, and what is wrong is named', (context) => {
  const path = join(folder(context), 'key')
  writeFileSync(path, `${KEY_A.toString('base64')}\n`)
  const from = (key: string, env = {}) => staticSeal({ keyId: 'a', key, previous: undefined }, env).key('a')
  for (const [key, env] of [
    [KEY_A.toString('hex'), {}],
    [`file://${path}`, {}],
    ['env://K', { K: KEY_A.toString('base64') }],
  ] as const) {
    assert.deepEqual(from(key, env)?.export(), KEY_A)
  }
  assert.equal(staticSeal(A, {}).key('z'), undefined)
  const wrong = [
    ['x'.repeat(40), /"a" is not 32 bytes/],
    [`file://${path}x`, /cannot be read from .*keyx \(ENOENT\)/],
    ['env://MISSING', /the variable MISSING is not set/],
  ] as const
  for (const [key, says] of wrong) assert.throws(() => from(key), { name: 'AutoSealFailed', message: says })
})
