import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { rotatedRing } from '../../../../test/fixtures/rotated-ring.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { NoncePool } from '../../../crypto/primitives/nonce-pool.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { inlineWork } from '../../../lib/slow-work.ts'
import { realWorld } from '../../../lib/world.ts'
import { MAX_TRANSACTION_BYTES, MAX_VALUE_BYTES } from '../../../storage/contract.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import { BLOCK_VERSIONS, decodeRing, encodeRing, layOut, type StoredRing, wipeRing } from './key-ring.ts'
import { LoadedRing } from './loaded-ring.ts'
import { newRing, newSecrets } from './new-key.ts'
import { assertSuccessor, type RingHeader } from './ring-header.ts'

const world = realWorld()
const maker = { world, slow: inlineWork(world), nonces: new NoncePool(world.random.bytes) }
const type = KEY_TYPES.get('aes256-gcm96') ?? assert.fail()

async function makeRing(versions: number): Promise<StoredRing> {
  let ring = await newRing(
    {
      type,
      derived: true,
      convergent: true,
      exportable: true,
      allowPlaintextBackup: false,
      autoRotatePeriodSeconds: 0,
      keySizeBytes: 0,
    },
    maker,
  )
  for (let count = 1; count < versions; count += 1) ring = rotatedRing(ring, await newSecrets(type, 0, maker), world)
  return ring
}

function revealed(ring: StoredRing): Buffer[] {
  return ring.secrets.flatMap(({ material, hmac }) => [material.reveal(), hmac.reveal()])
}

/** Bytes of one version: length, material, HMAC secret. */
const SECRETS_BYTES = 4 + 32 + 32

const ONE_VERSION = await makeRing(1)

/** The stored bytes of a ring of one version, with another header. */
function withHeader(change: (header: Record<string, unknown>) => unknown): Buffer {
  const ring = ONE_VERSION
  const secrets = encodeRing(ring).subarray(-SECRETS_BYTES)
  const header = Buffer.from(JSON.stringify(change({ ...ring.header })))
  const bytes = Buffer.alloc(5)
  bytes.writeUInt8(1)
  bytes.writeUInt32BE(header.length, 1)
  return Buffer.concat([bytes, header, secrets])
}

test('a stored ring is decoded as it was encoded', async () => {
  for (const versions of [1, 2, 7]) {
    const ring = await makeRing(versions)
    const decoded = decodeRing(encodeRing(ring))
    assert.deepEqual(decoded.header, ring.header)
    assert.equal(decoded.header.latestVersion, versions)
    assert.deepEqual(revealed(decoded), revealed(ring))
  }
})

test('every version has secrets of its own', async () => {
  const all = revealed(await makeRing(5)).map((bytes) => bytes.toString('hex'))
  assert.equal(new Set(all).size, 10)
})

test('N-10 N-11 no secret of a ring is in its header, prints itself, or is left after wiping', async () => {
  const ring = await makeRing(3)
  const encoded = encodeRing(ring)
  const printed = JSON.stringify(ring) + inspect(ring, { depth: 9 }) + inspect(new LoadedRing(ring), { depth: 9 })
  for (const secret of revealed(ring)) {
    for (const form of ['hex', 'base64', 'base64url', 'latin1'] as const) {
      assert.ok(!printed.includes(secret.toString(form)), form)
    }
    assert.ok(encoded.includes(secret))
  }
  wipeRing(ring)
  for (const secret of revealed(ring)) assert.ok(secret.every((byte) => byte === 0))
})

test('C-05 a stored ring that was cut or lengthened anywhere is corrupt, not misread', async () => {
  const encoded = encodeRing(await makeRing(2))
  for (let length = 0; length < encoded.length; length += 1) {
    assert.throws(() => decodeRing(encoded.subarray(0, length)), StorageCorrupt, `${length} bytes`)
  }
  assert.throws(() => decodeRing(Buffer.concat([encoded, Buffer.alloc(1)])), StorageCorrupt)
})

test('C-05 a stored ring with any byte changed is refused as corrupt or is a ring', async () => {
  const encoded = encodeRing(await makeRing(1))
  for (let at = 0; at < encoded.length; at += 1) {
    const changed = Buffer.from(encoded)
    changed[at] = (changed[at] ?? 0) ^ 0x15
    try {
      assert.equal(decodeRing(changed).secrets.length, decodeRing(changed).header.versions.length)
    } catch (cause) {
      assert.ok(cause instanceof StorageCorrupt, String(cause))
    }
  }
})

const WRONG_HEADERS: readonly { name: string; change: (header: Record<string, unknown>) => unknown }[] = [
  { name: 'not an object', change: () => [] },
  { name: 'a type that is a number', change: (header) => ({ ...header, type: 1 }) },
  { name: 'no flag', change: ({ exportable: _, ...header }) => header },
  { name: 'a flag as text', change: (header) => ({ ...header, derived: 'true' }) },
  { name: 'a negative version', change: (header) => ({ ...header, minEncryptionVersion: -1 }) },
  { name: 'a version that is no integer', change: (header) => ({ ...header, latestVersion: 1.5 }) },
  { name: 'fewer versions than listed', change: (header) => ({ ...header, latestVersion: 0 }) },
  { name: 'a minimum below the first version', change: (header) => ({ ...header, minDecryptionVersion: 0 }) },
  { name: 'a minimum above the latest version', change: (header) => ({ ...header, minDecryptionVersion: 2 }) },
  { name: 'versions that are no list', change: (header) => ({ ...header, versions: 1 }) },
  { name: 'a version without a time', change: (header) => ({ ...header, versions: [{ convergentVersion: 3 }] }) },
]
for (const { name, change } of WRONG_HEADERS) {
  test(`a stored ring is corrupt whose header has ${name}`, async () => {
    assert.equal(decodeRing(withHeader((header) => header)).header.latestVersion, 1)
    assert.throws(() => decodeRing(withHeader(change)), StorageCorrupt)
  })
}

test('a stored ring of another format is refused by number', async () => {
  const encoded = encodeRing(await makeRing(1))
  encoded[0] = 4
  assert.throws(() => decodeRing(encoded), /format 4, known are 1 to 3/)
})

test('part 4: a key of 10,000 versions of RSA-4096 is written anew within the bounds of one transaction', () => {
  // A private key in PKCS #8 has 2,376 bytes at most.
  const secrets = { material: new Secret(Buffer.alloc(2_376, 1)), hmac: new Secret(Buffer.alloc(32, 2)) }
  const version = { createdAtMs: 1_700_000_000_123, createdNanos: 456_789, convergentVersion: 0, countedFrom: 99_999 }
  const versions = 10_000
  const { entry, blocks } = layOut({
    header: { ...ONE_VERSION.header, latestVersion: versions, versions: Array(versions).fill(version) },
    secrets: Array(versions).fill(secrets),
  })
  const sizes = [entry, ...blocks.values()].map(({ length }) => length)
  assert.equal(blocks.size, Math.floor((versions - 1) / BLOCK_VERSIONS))
  const all = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(Math.max(...sizes) < 200_000 && 200_000 < MAX_VALUE_BYTES)
  assert.ok(all < MAX_TRANSACTION_BYTES / 4, `${all}`)
})

test('C-02 a ring is not loaded whose versions have another convergent algorithm or type', async () => {
  const ring = await makeRing(1)
  for (const convergentVersion of [0, 4]) {
    const header: RingHeader = { ...ring.header, versions: [{ createdAtMs: 0, convergentVersion }] }
    assert.throws(() => new LoadedRing({ ...ring, header }), /convergent version/)
  }
  const counting: RingHeader = { ...ring.header, kdf: 'counter' }
  assert.throws(() => new LoadedRing({ ...ring, header: counting }), /a kdf that it cannot have/)
  assert.throws(() => new LoadedRing({ ...ring, header: { ...ring.header, type: 'aes512' } }), /"aes512", which is not/)
})

test('P-19 what is fixed at creation, or cannot be disabled, is not stored otherwise', async () => {
  const before = { ...(await makeRing(2)).header, allowPlaintextBackup: true }
  assertSuccessor(before, before)
  assertSuccessor(before, { ...before, latestVersion: 3, minAvailableVersion: 1, deletionAllowed: true })
  const wrong: Partial<RingHeader>[] = [
    { type: 'aes128-gcm96' },
    { derived: false },
    { convergent: false },
    { exportable: false },
    { allowPlaintextBackup: false },
    { latestVersion: 1 },
  ]
  for (const change of wrong) assert.throws(() => assertSuccessor(before, { ...before, ...change }), /a key|versions/)
})
