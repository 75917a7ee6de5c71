// Signing keys in rings: tried before a caller is told of them, and usable with their public half alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotatedRing } from '../../../../test/fixtures/rotated-ring.ts'
import { spkiDer } from '../../../crypto/forms/public-keys.ts'
import { InvalidKeyMaterial, type KeyType, type SignatureOptions } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { NoncePool } from '../../../crypto/primitives/nonce-pool.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { inlineWork } from '../../../lib/slow-work.ts'
import { realWorld } from '../../../lib/world.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import { proveOrRefuse } from '../imported-material.ts'
import { decodeRing, encodeRing, type StoredRing } from '../ring/key-ring.ts'
import { LoadedRing, privateKeyOf } from '../ring/loaded-ring.ts'
import { newRing, newSecrets } from '../ring/new-key.ts'

const world = realWorld()
const maker = { world, slow: inlineWork(world), nonces: new NoncePool(world.random.bytes) }
const INPUT = Buffer.from('the quick brown fox')
const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pss',
  saltLength: 'auto',
  marshaling: 'asn1',
}
const SIGNERS = [...KEY_TYPES.values()].filter(({ signing }) => signing !== undefined)
const FLAGS = { derived: false, convergent: false, exportable: false, allowPlaintextBackup: false }

const ringOf = (type: KeyType): Promise<StoredRing> =>
  newRing({ type, ...FLAGS, autoRotatePeriodSeconds: 0, keySizeBytes: 0 }, maker)

/** Returns the ring with only the public half of version 1. */
function withoutPrivate({ header, secrets }: StoredRing): StoredRing {
  const [first, ...others] = secrets
  const type = KEY_TYPES.get(header.type) ?? assert.fail()
  assert.ok(first !== undefined)
  const half = new Secret(spkiDer(type.load(first.material.reveal())))
  const [version, ...versions] = header.versions
  assert.ok(version !== undefined)
  return {
    header: { ...header, versions: [{ ...version, isPublic: true }, ...versions] },
    secrets: [{ ...first, material: half }, ...others],
  }
}

for (const type of SIGNERS) {
  // Generated once: RSA takes its time.
  if (type.generatesSlowly === true && type.name !== 'rsa-2048') continue
  test(`${type.name}: a version of which only the public half is stored verifies, and signs nothing`, async () => {
    const first = await ringOf(type)
    const whole = rotatedRing(first, await newSecrets(type, 0, maker), world)
    const ring = new LoadedRing(decodeRing(encodeRing(withoutPrivate(whole))))
    const [one, two] = [ring.version(1), ring.version(2)]
    assert.deepEqual([one.key.type, one.isPublic, two.key.type, two.isPublic], ['public', true, 'private', false])
    const { signing } = type
    const signature = signing?.sign(new LoadedRing(first).version(1).key, INPUT, OPTIONS) ?? assert.fail()
    assert.equal(signing?.verify(one.key, INPUT, signature, OPTIONS), true)
    assert.equal(signing?.verify(two.key, INPUT, signature, OPTIONS), false)
    assert.throws(() => privateKeyOf(one), /version 1 of the key does not contain a private part/)
    assert.equal(privateKeyOf(two), two.key)
  })
}

test('P-15 a key is not made that does not verify what it signed, whether it signs here or on the pool', async () => {
  for (const name of ['ed25519', 'ecdsa-p384']) {
    const type = KEY_TYPES.get(name) ?? assert.fail()
    assert.ok(type.signing)
    const { verifiesSlowly: _1, signsSlowly: _2, ...signing } = type.signing
    const wrong: KeyType = { ...type, signing: { ...signing, sign: () => Buffer.alloc(64, 1) } }
    await assert.rejects(ringOf(wrong), { message: /ed25519 does not verify|is the DER of r and s/ })
    const deaf: KeyType = { ...type, signing: { ...signing, verify: () => false } }
    await assert.rejects(ringOf(deaf), { message: new RegExp(`${name} does not verify what it signed`) })
  }
})

test('P-15 two halves of different pairs are not stored as a key', async () => {
  for (const name of ['ecdsa-p256', 'ecdsa-p521', 'ecdsa-secp256k1']) {
    const type = KEY_TYPES.get(name) ?? assert.fail()
    const [one, other] = [await newSecrets(type, 0, maker), await newSecrets(type, 0, maker)]
    // The public point stands at the end of the material.
    const mixed = Buffer.from(one.material.reveal())
    const pointBytes = type.load(mixed).export({ format: 'raw-private' }).length * 2
    other.material.reveal().copy(mixed, mixed.length - pointBytes, mixed.length - pointBytes)
    const chimera: KeyType = { ...type, generate: () => Buffer.from(mixed) }
    await assert.rejects(ringOf(chimera), { message: new RegExp(`${name} does not verify what it signed`) })
    // From a caller it is a refusal.
    await assert.rejects(proveOrRefuse(maker, type, mixed), InvalidKeyMaterial)
  }
})

test('a public half of another type is no version of a ring', async () => {
  const type = KEY_TYPES.get('ecdsa-p256') ?? assert.fail()
  const stored = withoutPrivate(await ringOf(type))
  assert.equal(new LoadedRing(stored).version(1).isPublic, true)
  for (const other of ['ecdsa-p384', 'ed25519', 'rsa-2048', 'ml-dsa-44'])
    assert.throws(() => new LoadedRing({ ...stored, header: { ...stored.header, type: other } }), /A key of type/)
  const symmetric = { ...stored, header: { ...stored.header, type: 'aes256-gcm96' } }
  assert.throws(() => new LoadedRing(symmetric), StorageCorrupt)
})
