// Ciphertexts computed once, outside this program, under a key of the bytes 00 to 1f: what a server of this API must
// give and read back for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aes128Gcm96, aes256Gcm96, chacha20Poly1305, xchacha20Poly1305 } from './key-types/aead-key-types.ts'
import type { Cipher, Derivation, KeyType } from './key-types/key-type.ts'
import { hkdfSha256 } from './primitives/derivation.ts'

const MATERIAL = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const PLAINTEXT = Buffer.from('the quick brown fox')
const NOTHING = Buffer.alloc(0)
const CONTEXT = Buffer.from('my-cool-context')
const ASSOCIATED_DATA = Buffer.from('associated')
const NONCE = Buffer.from('101112131415161718191a1b', 'hex')

function loaded(type: KeyType) {
  const { cipher, derivation } = type
  assert.ok(cipher !== undefined && derivation?.convergent !== undefined)
  const key = type.load(MATERIAL.subarray(0, type === aes128Gcm96 ? 16 : 32))
  return { key, cipher, derivation, convergent: derivation.convergent }
}

const wire = (sealed: Buffer): string => `vault:v1:${sealed.toString('base64')}`
const payload = (text: string): Buffer => Buffer.from(text.slice('vault:v1:'.length), 'base64')

const FIXED_NONCE = [
  {
    name: 'aes256-gcm96, fixed nonce',
    type: aes256Gcm96,
    text: 'vault:v1:EBESExQVFhcYGRobCZb9Nji8U9ChVWpvYA4Hc7E/Ni51DqgTNbHUv31z+5em9oU=',
  },
  {
    name: 'aes256-gcm96, fixed nonce, with associated data',
    type: aes256Gcm96,
    associatedData: ASSOCIATED_DATA,
    text: 'vault:v1:EBESExQVFhcYGRobCZb9Nji8U9ChVWpvYA4Hc7E/NkuD0DphBDfNTnaW7v+e87Y=',
  },
  {
    name: 'aes256-gcm96, fixed nonce, empty plaintext',
    type: aes256Gcm96,
    plaintext: NOTHING,
    text: 'vault:v1:EBESExQVFhcYGRobAY9enWbm++wDiW7ksejQMA==',
  },
  {
    name: 'aes128-gcm96, fixed nonce',
    type: aes128Gcm96,
    text: 'vault:v1:EBESExQVFhcYGRobsEZmj34634x8/T+HqFCFHlzTDN2n19bXITscHMYYxoR5dx8=',
  },
  {
    name: 'chacha20-poly1305, fixed nonce',
    type: chacha20Poly1305,
    text: 'vault:v1:EBESExQVFhcYGRobKqIgJ3dsrwpw5lERttzbVRwJjf6XiFvNRTM298TuiYC2/C8=',
  },
  {
    name: 'xchacha20-poly1305, fixed nonce',
    type: xchacha20Poly1305,
    nonce: Buffer.from('101112131415161718191a1b1c1d1e1f2021222324252627', 'hex'),
    text: 'vault:v1:EBESExQVFhcYGRobHB0eHyAhIiMkJSYnUJRm1iX9SLD9okC/kudNLGnkj7qM0V/QfrUHN85Nji5IoC4=',
  },
]

for (const { name, type, nonce = NONCE, plaintext = PLAINTEXT, associatedData, text } of FIXED_NONCE) {
  test(name, () => {
    const { key, cipher } = loaded(type)
    assert.equal(wire(cipher.sealWithNonce(key, nonce, plaintext, associatedData)), text)
    assert.deepEqual(cipher.openWithNonce(key, payload(text), associatedData), plaintext)
  })
}

const HKDF_32 = 'f20497b9ccdcc0c5a76856a2b8e06fa8266eefcce7b6af80a13f5bf62114ab64'
const HKDF = [
  { name: 'HKDF of a 32-byte key to 32 bytes', type: aes256Gcm96, output: HKDF_32 },
  { name: 'HKDF of a 16-byte key to 16 bytes', type: aes128Gcm96, output: '1d6563215d2de6e45c9b73df1e55b437' },
  {
    name: 'HKDF of a 32-byte key to 64 bytes',
    type: aes256Gcm96,
    output: `${HKDF_32}682a152153007b9e13b4d3b98ba9d39113aee2ad1f33d27c52bc7031193cf0ad`,
  },
]

for (const { name, type, output } of HKDF) {
  test(name, () => assert.equal(hkdfSha256(loaded(type).key, CONTEXT, output.length / 2).toString('hex'), output))
}

test('aes256-gcm96, derived, fixed nonce', () => {
  const { key, cipher, derivation } = loaded(aes256Gcm96)
  const text = 'vault:v1:EBESExQVFhcYGRobPRaFJ/ogFEMZ4r2XvXOHlgqmqUzk98B7iy7m3QT193u/KHg='
  const derived = derivation.derive(key, CONTEXT)
  assert.equal(wire(cipher.sealWithNonce(derived, NONCE, PLAINTEXT)), text)
  assert.deepEqual(cipher.openWithNonce(derived, payload(text)), PLAINTEXT)
})

/** Opens as every decryption does: with the key of the context alone, however the nonce was made. */
function assertOpens(cipher: Cipher, derivation: Derivation, type: KeyType, text: string): void {
  const derived = derivation.derive(loaded(type).key, CONTEXT)
  assert.deepEqual(cipher.openWithNonce(derived, payload(text)), PLAINTEXT)
}

const CONVERGENT = [
  {
    type: aes256Gcm96,
    nonce: '50da1ec0899e4872309eea9f',
    text: 'vault:v1:UNoewImeSHIwnuqfMkfoehkDX0/zACwaaqEodO3gx1VY9LLZZKJgkP+8oT0Jw94=',
  },
  {
    type: aes128Gcm96,
    nonce: '91151811cb50f3b20cd4b7ae',
    text: 'vault:v1:kRUYEctQ87IM1Leu+qwbBnCqdimflCtb8EUr4wp5kkxq57YvlhbEfWIopPlYnjk=',
  },
  {
    type: chacha20Poly1305,
    nonce: '50da1ec0899e4872309eea9f',
    text: 'vault:v1:UNoewImeSHIwnuqf9xzYi1CeSUCXPYIbkER3FJ8QMGXWAYnk3W3kua2CubSmJNo=',
  },
  {
    type: xchacha20Poly1305,
    nonce: '50da1ec0899e4872309eea9fdd26cb3035061f9df9bb82e3',
    text: 'vault:v1:UNoewImeSHIwnuqf3SbLMDUGH535u4LjqzaFg7u61Q3jtB3RhviDRL5n8KSjvgskCeTe1w4o6sHGMaE=',
  },
]

for (const { type, nonce, text } of CONVERGENT) {
  test(`${type.name}, convergent version 3`, () => {
    const { key, cipher, derivation, convergent } = loaded(type)
    const keys = convergent.deriveV3(key, CONTEXT)
    const computed = convergent.nonce(keys, PLAINTEXT)
    assert.equal(computed.toString('hex'), nonce)
    assert.equal(wire(cipher.sealWithNonce(keys.encryptionKey, computed, PLAINTEXT)), text)
    assertOpens(cipher, derivation, type, text)
  })
}

test('aes256-gcm96, convergent version 2', () => {
  const { key, cipher, derivation, convergent } = loaded(aes256Gcm96)
  const text = 'vault:v1:5mE5nEYTz3Kyd/elyoySLJho25MvyWOX4+KHirAV0Lb4oU+gbVoQ76aCZGtXnIE='
  const keys = convergent.deriveV2(key, CONTEXT)
  const nonce = convergent.nonce(keys, PLAINTEXT)
  assert.equal(nonce.toString('hex'), 'e661399c4613cf72b277f7a5')
  assert.equal(wire(cipher.sealWithNonce(keys.encryptionKey, nonce, PLAINTEXT)), text)
  assertOpens(cipher, derivation, aes256Gcm96, text)
})

test('aes256-gcm96, convergent version 1: the nonce is the caller’s and is not stored', () => {
  const { key, cipher, derivation } = loaded(aes256Gcm96)
  const text = 'vault:v1:PRaFJ/ogFEMZ4r2XvXOHlgqmqUzk98B7iy7m3QT193u/KHg='
  const derived = derivation.derive(key, CONTEXT)
  assert.equal(wire(cipher.seal(derived, NONCE, PLAINTEXT)), text)
  assert.deepEqual(cipher.open(derived, NONCE, payload(text)), PLAINTEXT)
})

test('the counter KDF of old keys', () => {
  const { key, derivation } = loaded(aes256Gcm96)
  const derived = derivation.deriveByCounter?.(key, CONTEXT)
  const expected = '9439954f35d2461de9bbdc9c6c5a8f7be62eb0de017a0f70db99885048a14dd6'
  assert.equal(derived?.export().toString('hex'), expected)
})
