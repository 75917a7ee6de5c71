// Shares and tokens that leave the server encrypted to OpenPGP keys.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { decrypt, generateKey, type PrivateKey, readMessage } from 'openpgp'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { ENCRYPT_TO_PGP } from '../../crypto/pgp.ts'
import { inlineWork, type SlowWork } from '../../lib/slow-work.ts'
import { realWorld } from '../../lib/world.ts'

const MADE = new Date(Date.UTC(2025, 11, 1))

async function holder(): Promise<{ readonly own: PrivateKey; readonly pub: string; readonly fingerprint: string }> {
  const { privateKey: own } = await generateKey({
    userIDs: [{ name: 'holder' }],
    type: 'ecc',
    curve: 'curve25519Legacy',
    date: MADE,
    format: 'object',
  })
  const pub = Buffer.from(own.toPublic().write()).toString('base64')
  return { own, pub, fingerprint: own.getFingerprint() }
}

async function read(own: PrivateKey, message: Buffer): Promise<string> {
  const parsed = await readMessage({ binaryMessage: message })
  return (await decrypt({ message: parsed, decryptionKeys: own, date: new Date(Date.UTC(2026, 0, 2)) })).data
}

const [a, b] = [await holder(), await holder()]
const INIT = 'sys/rekey/init'

async function rekeyed(stage: MemoryServer, extra: object) {
  const { call, shares } = stage
  const wanted = { secret_shares: 2, secret_threshold: 2, pgp_keys: [a.pub, b.pub], ...extra }
  const started = (await call('PUT', INIT, wanted, '')).body
  assert.deepEqual(started.pgp_fingerprints, [a.fingerprint, b.fingerprint])
  const key = shares[0]?.toString('hex')
  return (await call('PUT', 'sys/rekey/update', { key, nonce: started.nonce }, '')).body
}

test('init gives each holder a message with the hexadecimal text of a share, and the token to another', async () => {
  const { call, node } = await startMemoryServer({ shares: 0 })
  const wanted = { secret_shares: 2, secret_threshold: 2, pgp_keys: [a.pub, b.pub], root_token_pgp_key: b.pub }
  const { body } = await call('PUT', 'sys/init', wanted, '')
  const messages = (body.keys as string[]).map((key) => Buffer.from(key, 'hex'))
  assert.deepEqual(
    messages.map((message) => message.toString('base64')),
    body.keys_base64,
  )
  const keys = [await read(a.own, messages[0] as Buffer), await read(b.own, messages[1] as Buffer)]
  for (const key of keys) {
    assert.match(key, /^[0-9a-f]{66}$/)
    await call('PUT', 'sys/unseal', { key }, '')
  }
  assert.equal(node.seal.status().sealed, false)
  const token = await read(b.own, Buffer.from(String(body.root_token), 'base64'))
  assert.equal((await call('GET', 'sys/mounts', undefined, token)).status, 200)
})

test('generate-root to a key: base64 of a message that has the token', async () => {
  const { call, shares } = await startMemoryServer()
  const started = (await call('PUT', 'sys/generate-root/attempt', { pgp_key: a.pub }, '')).body
  assert.deepEqual([started.pgp_fingerprint, started.otp], [a.fingerprint, ''])
  const given = { key: shares[0]?.toString('hex'), nonce: started.nonce }
  const { body } = await call('PUT', 'sys/generate-root/update', given, '')
  assert.equal(body.pgp_fingerprint, a.fingerprint)
  const token = await read(a.own, Buffer.from(String(body.encoded_token), 'base64'))
  assert.equal((await call('GET', 'sys/mounts', undefined, token)).status, 200)
})

test('rekey to keys, with a backup given to sudo only, gone when asked and with the next rekey', async () => {
  const stage = await startMemoryServer()
  const { call } = stage
  const done = await rekeyed(stage, { backup: true })
  assert.deepEqual(done.pgp_fingerprints, [a.fingerprint, b.fingerprint])
  const messages = (done.keys as string[]).map((key) => Buffer.from(key, 'hex'))
  const keys = [await read(a.own, messages[0] as Buffer), await read(b.own, messages[1] as Buffer)]
  const { body } = await call('GET', 'sys/rekey/backup')
  const [first, second] = done.keys as string[]
  assert.deepEqual(body.keys, { [a.fingerprint]: [first], [b.fingerprint]: [second] })
  assert.equal((await call('GET', 'sys/rekey/backup', undefined, '')).status, 403)
  const { nonce } = (await call('PUT', INIT, { secret_shares: 1, secret_threshold: 1 }, '')).body
  for (const key of keys) await call('PUT', 'sys/rekey/update', { key, nonce }, '')
  assert.equal((await call('GET', 'sys/rekey/backup')).status, 404)
  assert.equal((await call('DELETE', 'sys/rekey/backup')).status, 204)
})

test('S-04: a backup of shares that were not verified is not kept', async () => {
  const stage = await startMemoryServer()
  await rekeyed(stage, { backup: true, require_verification: true })
  assert.equal((await stage.call('GET', 'sys/rekey/backup')).status, 404)
})

test('as many keys as shares, and each a key', async () => {
  const { call } = await startMemoryServer({ shares: 0 })
  for (const pgp_keys of [[a.pub], [a.pub, 'nonsense'], [a.pub, 'bm9uc2Vuc2U=']]) {
    const refused = await call('PUT', 'sys/init', { secret_shares: 2, secret_threshold: 2, pgp_keys }, '')
    assert.equal(refused.status, 400)
    assert.match(JSON.stringify(refused.body), /pgp_keys/)
  }
  const token = { secret_shares: 1, secret_threshold: 1, root_token_pgp_key: 'nonsense' }
  assert.match(JSON.stringify((await call('PUT', 'sys/init', token, '')).body), /root_token_pgp_key/)
  assert.equal((await call('GET', 'sys/init', undefined, '')).body.initialized, false)
})

for (const verification of [false, true]) {
  test(`S-04: a rekey that encrypts its shares at seal comes to nothing (verification: ${verification})`, async () => {
    const inline = inlineWork(realWorld())
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow: SlowWork = {
      ...inline,
      run: async (job, input) => {
        if (job.name === ENCRYPT_TO_PGP.name) {
          reached.resolve()
          await released.promise
        }
        return inline.run(job, input)
      },
    }
    const stage = await startMemoryServer({ slow })
    const { call, shares } = stage
    const given = rekeyed(stage, { require_verification: verification })
    await reached.promise
    const old = shares[0]?.toString('hex')
    assert.equal((await call('PUT', 'sys/seal')).status, 204)
    assert.equal((await call('PUT', 'sys/unseal', { key: old }, '')).body.sealed, false)
    released.resolve()
    assert.deepEqual(await given, { errors: ['no rekey in progress'] })
    assert.equal((await call('GET', INIT, undefined, '')).body.started, false)
    await call('PUT', 'sys/seal')
    assert.equal((await call('PUT', 'sys/unseal', { key: old }, '')).body.sealed, false)
  })
}

test('init that cannot encrypt its shares makes nothing: it can be asked for again', async () => {
  const inline = inlineWork(realWorld())
  let fails = true
  let encryptions = 0
  const slow: SlowWork = {
    ...inline,
    run: (job, input) => {
      if (job.name === ENCRYPT_TO_PGP.name && fails && ++encryptions > 1) return Promise.reject(new Error('no memory'))
      return inline.run(job, input)
    },
  }
  const { call } = await startMemoryServer({ slow, shares: 0 })
  const wanted = { secret_shares: 2, secret_threshold: 2, pgp_keys: [a.pub, b.pub] }
  assert.equal((await call('PUT', 'sys/init', wanted, '')).status, 500)
  assert.deepEqual((await call('GET', 'sys/init', undefined, '')).body, { initialized: false })
  fails = false
  const { status, body } = await call('PUT', 'sys/init', wanted, '')
  assert.deepEqual([status, (body.keys as unknown[]).length], [200, 2])
})
