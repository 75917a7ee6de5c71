import assert from 'node:assert/strict'
import { createHmac, createPublicKey, diffieHellman, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { AEADS, AuthenticationFailed, open } from './aead.ts'
import { hpkeOpen, hpkeSeal, X25519_BYTES, x25519Key } from './hpke.ts'
import { importSecret } from './secret-key.ts'

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

/** RFC 9180 appendix A.1.1, mode base with AES-128-GCM; its first encryption has this associated data. */
const A_1_1 = {
  info: fromHex('4f6465206f6e2061204772656369616e2055726e'),
  privateOnce: fromHex('52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736'),
  publicOnce: '37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431',
  privateReceiver: fromHex('4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8'),
  publicReceiver: '3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d',
  key: fromHex('4531685d41d65f03dc48f6b8302c05b0'),
  nonce: fromHex('56d890e5accaaf011cff4b7d'),
  plaintext: fromHex('4265617574792069732074727574682c20747275746820626561757479'),
}

const info = Buffer.from('what both sides know')
const random = new SeededRandom(18)
const receiver = x25519Key(random.bytes(X25519_BYTES))
const sealed = (plaintext: Buffer): Buffer =>
  hpkeSeal(receiver.publicKey, random.bytes(X25519_BYTES), plaintext, { info })

test('S9: the agreed key, the schedule and the message are those of RFC 9180, appendix A.1.1', () => {
  const { privateOnce, privateReceiver, plaintext, key, nonce } = A_1_1
  const to = x25519Key(privateReceiver)
  assert.equal(to.publicKey.toString('hex'), A_1_1.publicReceiver)
  const options = { info: A_1_1.info, aead: AEADS.aes128Gcm }
  const message = hpkeSeal(to.publicKey, privateOnce, plaintext, options)
  assert.equal(message.subarray(0, X25519_BYTES).toString('hex'), A_1_1.publicOnce)
  // The RFC's own key and nonce open it, so they are the ones that the schedule gave.
  assert.deepEqual(open(AEADS.aes128Gcm, importSecret(key), nonce, message.subarray(X25519_BYTES)), plaintext)
  assert.deepEqual(hpkeOpen(to, message, options), plaintext)
})

test('S9: the message for AES-256-GCM is the one that the RFC prescribes, written out step by step', () => {
  const seed = random.bytes(X25519_BYTES)
  const once = x25519Key(seed)
  const message = hpkeSeal(receiver.publicKey, seed, A_1_1.plaintext, { info })
  const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])
  const suites = {
    kem: Buffer.concat([Buffer.from('KEM'), u16(0x20)]),
    all: Buffer.concat([Buffer.from('HPKE'), u16(0x20), u16(1), u16(2)]),
  }
  const extract = (suite: Buffer, salt: Buffer, label: string, material: Buffer): Buffer =>
    createHmac('sha256', salt).update('HPKE-v1').update(suite).update(label).update(material).digest()
  const expand = (suite: Buffer, key: Buffer, label: string, context: Buffer, length: number): Buffer => {
    const labelled = Buffer.concat([u16(length), Buffer.from('HPKE-v1'), suite, Buffer.from(label), context])
    // One block is enough for every length here.
    return createHmac('sha256', key)
      .update(labelled)
      .update(Buffer.from([1]))
      .digest()
      .subarray(0, length)
  }
  const none = Buffer.alloc(0)
  const publicKey = createPublicKey({ key: once.publicKey, format: 'raw-public', asymmetricKeyType: 'x25519' })
  const point = diffieHellman({ privateKey: receiver.privateKey, publicKey })
  const kemContext = Buffer.concat([once.publicKey, receiver.publicKey])
  const shared = expand(suites.kem, extract(suites.kem, none, 'eae_prk', point), 'shared_secret', kemContext, 32)
  const hashes = [extract(suites.all, none, 'psk_id_hash', none), extract(suites.all, none, 'info_hash', info)]
  const context = Buffer.concat([Buffer.from([0]), ...hashes])
  const secret = extract(suites.all, shared, 'secret', none)
  const key = expand(suites.all, secret, 'key', context, 32)
  const nonce = expand(suites.all, secret, 'base_nonce', context, 12)
  const opened = open(AEADS.aes256Gcm, importSecret(key), nonce, message.subarray(X25519_BYTES))
  assert.deepEqual(opened, A_1_1.plaintext)
  assert.deepEqual(hpkeOpen(receiver, message, { info }), A_1_1.plaintext)
  assert.notDeepEqual(Buffer.from(hkdfSync('sha256', point, none, none, 32)), key)
})

test('S9: each message has a key of its own, and an empty one is sealed too', () => {
  const plaintext = Buffer.from('the same')
  assert.notDeepEqual(sealed(plaintext), sealed(plaintext))
  assert.equal(hpkeOpen(receiver, sealed(Buffer.alloc(0)), { info }).length, 0)
})

test('S9: a message opens with its own receiver and info alone, and with no bit changed or byte cut', () => {
  const message = sealed(Buffer.from('short'))
  const other = x25519Key(random.bytes(X25519_BYTES))
  assert.throws(() => hpkeOpen(other, message, { info }), AuthenticationFailed)
  assert.throws(() => hpkeOpen(receiver, message, { info: Buffer.from('another') }), AuthenticationFailed)
  const mixed = { privateKey: receiver.privateKey, publicKey: other.publicKey }
  assert.throws(() => hpkeOpen(mixed, message, { info }), AuthenticationFailed)
  for (let length = 0; length < message.length; length++) {
    assert.throws(() => hpkeOpen(receiver, message.subarray(0, length), { info }), AuthenticationFailed, `${length}`)
  }
  for (let bit = 0; bit < message.length * 8; bit++) {
    // X25519 ignores the highest bit of a public key (RFC 7748 section 5); the context of the agreement does not.
    const changed = Buffer.from(message)
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    assert.throws(() => hpkeOpen(receiver, changed, { info }), AuthenticationFailed, `bit ${bit}`)
  }
})

test('S9: a public key of small order or of another length seals nothing and opens nothing', () => {
  const zero = Buffer.alloc(X25519_BYTES)
  const seed = random.bytes(X25519_BYTES)
  assert.throws(() => hpkeSeal(zero, seed, info, { info }), AuthenticationFailed)
  assert.throws(() => hpkeOpen(receiver, Buffer.concat([zero, Buffer.alloc(48)]), { info }), AuthenticationFailed)
  for (const bytes of [0, 31, 33]) {
    assert.throws(() => hpkeSeal(Buffer.alloc(bytes, 9), seed, info, { info }), RangeError)
    assert.throws(() => x25519Key(Buffer.alloc(bytes, 9)), RangeError)
  }
  assert.throws(() => hpkeSeal(receiver.publicKey, seed, info, { info, aead: AEADS.xchacha20Poly1305 }), RangeError)
})
