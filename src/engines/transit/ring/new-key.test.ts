import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotatedRing } from '../../../../test/fixtures/rotated-ring.ts'
import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { NoncePool } from '../../../crypto/primitives/nonce-pool.ts'
import { inlineWork } from '../../../lib/slow-work.ts'
import { realWorld, type World } from '../../../lib/world.ts'
import { newRing, newSecrets } from './new-key.ts'
import { MADE_HERE } from './ring-header.ts'

const FLAGS = { derived: true, convergent: true, exportable: true, allowPlaintextBackup: true }
const wanted = (type: KeyType) => ({ type, ...FLAGS, autoRotatePeriodSeconds: 7200, keySizeBytes: 0 })

/** Keeps every buffer that it drew. */
function watchedWorld(drawn: Buffer[]): World {
  const real = realWorld()
  const bytes = (count: number) => {
    const buffer = real.random.bytes(count)
    drawn.push(buffer)
    return buffer
  }
  return { ...real, clock: { ...real.clock, nowMs: () => 5000 }, random: { ...real.random, bytes } }
}

for (const type of KEY_TYPES.values()) {
  test(`a new ${type.name} key has version 1, and what was drawn for it is wiped`, async () => {
    const drawn: Buffer[] = []
    const world = watchedWorld(drawn)
    // The proof draws a nonce, which is no secret: it is not watched.
    const nonces = new NoncePool(realWorld().random.bytes)
    const maker = { world, slow: inlineWork(world), nonces }
    const ring = await newRing(wanted(type), maker)
    assert.deepEqual(ring.header, {
      type: type.name,
      ...FLAGS,
      deletionAllowed: false,
      autoRotatePeriodSeconds: 7200,
      keySizeBytes: type.sizes?.usual ?? 0,
      ...MADE_HERE,
      latestVersion: 1,
      minDecryptionVersion: 1,
      minEncryptionVersion: 0,
      minAvailableVersion: 0,
      versions: [{ createdAtMs: 5000, convergentVersion: 3 }],
    })
    const fresh = await newSecrets(type, 0, maker)
    const next = rotatedRing(ring, fresh, world)
    assert.equal(next.header.latestVersion, 2)
    assert.equal(next.header.versions.length, 2)
    assert.deepEqual(next.secrets[0], ring.secrets[0])
    for (const { material, hmac } of next.secrets) {
      assert.equal(hmac.length, 32)
      const isWiped = (bytes: Buffer) => bytes.every((byte) => byte === 0)
      assert.ok(!isWiped(material.reveal()))
      assert.ok(!isWiped(hmac.reveal()))
      for (const bytes of drawn) assert.ok(isWiped(bytes))
    }
  })
}

test('P-15 a key is not made that does not open what it sealed', async () => {
  const type = KEY_TYPES.get('aes256-gcm96') ?? assert.fail()
  assert.ok(type.cipher)
  const broken: KeyType = { ...type, cipher: { ...type.cipher, openWithNonce: () => Buffer.from('else') } }
  const world = realWorld()
  const maker = { world, slow: inlineWork(world), nonces: new NoncePool(world.random.bytes) }
  await assert.rejects(newRing(wanted(broken), maker), /aes256-gcm96 does not open what it sealed/)
  const mute: KeyType = { ...type, cipher: { ...type.cipher, sealWithNonce: () => Buffer.alloc(60) } }
  await assert.rejects(newRing(wanted(mute), maker), /authentication failed/)
})
