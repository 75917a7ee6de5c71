import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { X25519_BYTES, x25519Key } from '../../crypto/primitives/hpke.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import {
  BundleRefused,
  decodeBundle,
  encodeBundle,
  MAX_BACKUP_BYTES,
  MAX_BUNDLE_BYTES,
  MAX_PROOF_BYTES,
  openBundle,
  type SealBundle,
  sealBundle,
  wipeBundle,
} from './seal-bundle.ts'
import { ROOT_KEY, sealedRecord } from './seal-records.ts'

const random = new SeededRandom(18)
const ROOT = random.bytes(32)
const SHARED = random.bytes(32)
const record = sealedRecord(random, ROOT_KEY, importSecret(SHARED), ROOT)
const ID = '0d3f9b64-2a55-4c1c-9d0e-6f1f6d2b7a10'
const BACKUP = { nonce: 'n', keys: { AB12: ['00', 'ff'], CD34: ['11'] } }

const shamir = (): SealBundle => ({
  id: ID,
  type: 'shamir',
  shareConfig: { shares: 5, threshold: 3 },
  rootKey: new Secret(ROOT),
  proof: { kind: 'root key', record },
  backup: BACKUP,
})
const withRecovery = (): SealBundle => ({
  ...shamir(),
  id: '',
  type: 'static',
  shareConfig: { shares: 255, threshold: 255 },
  proof: { kind: 'key', key: new Secret(SHARED) },
  backup: undefined,
})

/** What a bundle holds, secrets too. */
const clear = ({ rootKey, proof, ...rest }: SealBundle) => ({
  ...rest,
  rootKey: rootKey.reveal().toString('hex'),
  proof: (proof.kind === 'key' ? proof.key.reveal() : proof.record).toString('hex'),
})

const refused = (bytes: Buffer): BundleRefused => {
  try {
    decodeBundle(bytes)
  } catch (cause) {
    assert.ok(cause instanceof BundleRefused, String(cause))
    return cause
  }
  throw new assert.AssertionError({ message: 'The bundle was read' })
}

/** Behind the id. */
const TYPE_AT = 2 + ID.length
const PROOF_LENGTH_AT = TYPE_AT + 35
const changed = (bytes: Buffer, at: number, to: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy.writeUInt8(to, at)
  return copy
}

for (const [name, make] of Object.entries({ shamir, withRecovery })) {
  test(`S9: a seal bundle is read as it was written, ${name}`, () => {
    const encoded = encodeBundle(make())
    assert.deepEqual(clear(decodeBundle(encoded)), clear(make()))
    assert.deepEqual(encodeBundle(decodeBundle(encoded)), encoded)
  })

  test(`S9: a seal bundle that was cut anywhere, or has more, is damaged, ${name}`, () => {
    const encoded = encodeBundle(make())
    for (let length = 0; length < encoded.length; length++) {
      assert.equal(refused(encoded.subarray(0, length)).reason, 'damaged', String(length))
    }
    assert.equal(refused(Buffer.concat([encoded, Buffer.alloc(1)])).reason, 'damaged')
  })

  test(`S9: no byte of a secret is in what a bundle prints, nor in a refusal, ${name}`, () => {
    const bundle = make()
    const printed = [inspect(bundle, { depth: 9 }), JSON.stringify(bundle), `${bundle.rootKey}`].join(' ')
    for (const secret of [ROOT, SHARED]) {
      for (const form of ['hex', 'base64', 'latin1'] as const) assert.ok(!printed.includes(secret.toString(form)))
    }
    wipeBundle(bundle)
    assert.deepEqual(bundle.rootKey.reveal(), Buffer.alloc(32))
    if (bundle.proof.kind === 'key') assert.deepEqual(bundle.proof.key.reveal(), Buffer.alloc(32))
  })
}

test('S9: the layout of a seal bundle is the one that is drawn', () => {
  const encoded = encodeBundle(withRecovery())
  const head = Buffer.from(`010002ffff${ROOT.toString('hex')}0020${SHARED.toString('hex')}00000000`, 'hex')
  assert.deepEqual(encoded, head)
})

test('S9: what a newer program may have made is told apart from what is damaged', () => {
  const encoded = encodeBundle(shamir())
  const reasons = {
    format: refused(changed(encoded, 0, 2)).reason,
    type: refused(changed(encoded, TYPE_AT, 3)).reason,
    'type zero': refused(changed(encoded, TYPE_AT, 0)).reason,
    proof: refused(changed(encoded, PROOF_LENGTH_AT + 2, 3)).reason,
  }
  assert.deepEqual(new Set(Object.values(reasons)), new Set(['version']))
})

test('S9: ids, numbers, lengths and proofs out of bounds are damaged', () => {
  const encoded = encodeBundle(shamir())
  assert.match(refused(changed(encoded, 1, ID.length - 1)).message, /id is no UUID/)
  assert.match(refused(changed(encoded, 2, 0xe9)).message, /id is no UUID/)
  assert.match(refused(changed(encoded, TYPE_AT + 2, 0)).message, /threshold does not fit/)
  assert.match(refused(changed(encoded, TYPE_AT + 2, 6)).message, /threshold does not fit/)
  assert.match(refused(changed(encoded, TYPE_AT + 1, 0)).message, /threshold does not fit/)
  const longProof = Buffer.from(encoded)
  longProof.writeUInt16BE(MAX_PROOF_BYTES + 1, PROOF_LENGTH_AT)
  assert.match(refused(longProof).message, /proof is above 1024 bytes/)
  const backupAt = PROOF_LENGTH_AT + 2 + encoded.readUInt16BE(PROOF_LENGTH_AT)
  const longBackup = Buffer.from(encoded)
  longBackup.writeUInt32BE(MAX_BACKUP_BYTES + 1, backupAt)
  assert.match(refused(longBackup).message, /backup is above/)
  assert.match(refused(Buffer.alloc(MAX_BUNDLE_BYTES + 1, 1)).message, /1 to \d+ bytes/)
  assert.match(refused(changed(encoded, backupAt + 4, 0)).message, /backup of shares/)
  // The record of a root key, of term 0.
  assert.equal(refused(changed(encoded, PROOF_LENGTH_AT + 3 + 4, 1)).reason, 'damaged')
  // Whoever has unseal shares keeps no key that they give.
  assert.match(refused(changed(encodeBundle(withRecovery()), 2, 1)).message, /proof does not go with its type/)
})

test('S9: the backup of 255 shares for the longest OpenPGP keys fits', () => {
  // An RSA modulus of 8,192 bits, and the message around it; in hexadecimal.
  const message = 'ab'.repeat(1024 + 256)
  const keys = Object.fromEntries(Array.from({ length: 255 }, (_, at) => [`${at}`.padStart(40, '0'), [message]]))
  const bundle = { ...shamir(), backup: { nonce: 'n', keys } }
  assert.deepEqual(decodeBundle(encodeBundle(bundle)).backup, bundle.backup)
})

const peer = x25519Key(random.bytes(X25519_BYTES))
const context = Buffer.from('set, family, receiver')

test('S9: a sealed bundle opens for its receiver on its link, and for nobody else', () => {
  const sealed = sealBundle(shamir(), peer.publicKey, context, random)
  assert.deepEqual(clear(openBundle(peer, sealed, context)), clear(shamir()))
  const other = x25519Key(random.bytes(X25519_BYTES))
  const wrong = { name: 'BundleRefused', reason: 'damaged' }
  assert.throws(() => openBundle(other, sealed, context), wrong)
  assert.throws(() => openBundle(peer, sealed, Buffer.from('another link')), wrong)
  for (const at of [0, X25519_BYTES, sealed.length - 1]) {
    assert.throws(() => openBundle(peer, changed(sealed, at, sealed.readUInt8(at) ^ 1), context), wrong)
  }
  assert.throws(() => openBundle(peer, Buffer.alloc(0), context), wrong)
})

test('S9: sealing and opening wipe the bytes of the bundle in between', (t) => {
  const { fill } = Buffer.prototype
  const wiped: string[] = []
  t.mock.method(Buffer.prototype, 'fill', function (this: Buffer, ...given: Parameters<typeof fill>) {
    if (given[0] === 0) wiped.push(this.toString('hex'))
    return fill.apply(this, given)
  })
  const encoded = encodeBundle(withRecovery()).toString('hex')
  wiped.length = 0
  const sealed = sealBundle(withRecovery(), peer.publicKey, context, random)
  assert.equal(wiped.filter((one) => one === encoded).length, 1)
  wiped.length = 0
  openBundle(peer, sealed, context)
  assert.ok(wiped.includes(encoded))
})
