// Messages to OpenPGP keys, read by the library itself.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { decrypt, generateKey, type PrivateKey, readMessage, reformatKey, revokeKey } from 'openpgp'
import { keyWithoutPoint } from '../../test/fixtures/hostile-pgp-keys.ts'
import { inlineWork } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { MAX_PGP_KEY_BYTES, PgpKeyError, readPgpKey } from './pgp.ts'

const START_MS = Date.UTC(2026, 0, 1)
const clock = { nowMs: () => START_MS + 10_000, monotonicMs: () => 0 }
const date = new Date(START_MS)
const slow = inlineWork(realWorld())
const user = { userIDs: [{ name: 'holder' }], date, format: 'object' as const }
const publicBytes = (key: PrivateKey): Buffer => Buffer.from(key.toPublic().write())

for (const type of ['curve25519', 'ecc', 'rsa'] as const) {
  test(`a message to a key of the kind ${type} opens with its private key`, async () => {
    const made =
      type === 'curve25519'
        ? generateKey({ ...user, type: 'ecc', curve: 'curve25519Legacy' })
        : type === 'ecc'
          ? generateKey({ ...user, type, curve: 'nistP256' })
          : generateKey({ ...user, type, rsaBits: 2048 })
    const { privateKey } = await made
    const key = await readPgpKey(publicBytes(privateKey), clock, slow)
    assert.match(key.fingerprint, /^[0-9a-f]{40}$/)
    assert.equal(key.fingerprint, privateKey.getFingerprint())
    const message = await readMessage({ binaryMessage: await key.encrypt('the text') })
    const opened = await decrypt({ message, decryptionKeys: privateKey, date: new Date(clock.nowMs()) })
    assert.equal(opened.data, 'the text')
  })
}

test('keys that must not be encrypted to are refused, without a word of them', async () => {
  const { privateKey } = await generateKey({ ...user, type: 'ecc', curve: 'curve25519Legacy' })
  const expiring = await reformatKey({
    privateKey,
    userIDs: user.userIDs,
    date,
    keyExpirationTime: 5,
    format: 'object',
  })
  const revoked = await revokeKey({ key: privateKey, date: new Date(START_MS + 1000), format: 'object' })
  const { privateKey: newer } = await generateKey({ ...user, type: 'curve25519', config: { v6Keys: true } })
  const good = publicBytes(privateKey)
  const refused: readonly { readonly name: string; readonly bytes: Buffer; readonly says: RegExp }[] = [
    { name: 'nothing', bytes: Buffer.alloc(0), says: /1 to 65536 bytes/ },
    { name: 'too much', bytes: Buffer.alloc(MAX_PGP_KEY_BYTES + 1), says: /1 to 65536 bytes/ },
    { name: 'nonsense', bytes: Buffer.from('nonsense'), says: /not a binary OpenPGP public key/ },
    { name: 'half a key', bytes: good.subarray(0, 40), says: /./ },
    { name: 'two keys', bytes: Buffer.concat([good, good]), says: /one key, not 2/ },
    { name: 'a private key', bytes: Buffer.from(privateKey.write()), says: /private key/ },
    { name: 'an expired one', bytes: publicBytes(expiring.privateKey), says: /has expired/ },
    { name: 'a revoked one', bytes: Buffer.from(revoked.publicKey.write()), says: /revoked/ },
    { name: 'one of version 6', bytes: publicBytes(newer), says: /version 4/ },
  ]
  for (const { name, bytes, says } of refused) {
    await assert.rejects(readPgpKey(bytes, clock, slow), (cause: unknown) => {
      assert.ok(cause instanceof PgpKeyError, name)
      assert.match(cause.message, says, name)
      return true
    })
  }
})

test('a key that nothing can be encrypted to is refused when it is read', async () => {
  for (const curve of ['nistP256', 'curve25519Legacy'] as const) {
    const { privateKey } = await generateKey({ ...user, type: 'ecc', curve })
    const bytes = await keyWithoutPoint(privateKey, date)
    await assert.rejects(readPgpKey(bytes, clock, slow), { name: 'PgpKeyError', message: /nothing can be encrypted/ })
  }
})

test('a key that expires after it was read still takes what it was read for', async () => {
  const { privateKey } = await generateKey({ ...user, type: 'ecc', curve: 'nistP256', keyExpirationTime: 60 })
  let nowMs = START_MS + 10_000
  const key = await readPgpKey(publicBytes(privateKey), { ...clock, nowMs: () => nowMs }, slow)
  nowMs += 120_000
  assert.ok((await key.encrypt('the text')).length > 0)
})
