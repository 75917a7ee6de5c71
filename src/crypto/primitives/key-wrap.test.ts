import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { unwrapKey, wrapKey } from './key-wrap.ts'

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')
const K = Buffer.from(Array.from({ length: 32 }, (_, index) => index))
const RFC_KEY = fromHex('5840df6e29b02af1ab493b705bf16ea1ae8338f4dcc176a8')

const VECTORS = [
  {
    name: '16 bytes',
    key: K,
    data: K.subarray(0, 16),
    wrapped: '337e07dce17686cddfa15ea637c777e760ff617b002fe46b',
  },
  {
    name: '32 bytes',
    key: K,
    data: Buffer.alloc(32, 0xaa),
    wrapped: '7779d5fced8850a6fe8bc00f229b37e66d7078dd4448e2d2ac519a9687f2e5abd5f60ecdcec4276d',
  },
  {
    name: 'PKCS #8 of an ed25519 key',
    key: K,
    data: Buffer.concat([fromHex('302e020100300506032b657004220420'), K]),
    wrapped:
      '87c43fd6ff638919215b7fa15c74583a1361b1479fffc25a48827838a44c89e7' +
      'dbbeefda48eab6d5172671b642b8279938f2d70e5907cd38',
  },
  {
    name: 'RFC 5649 section 6, 20 bytes',
    key: RFC_KEY,
    data: fromHex('c37b7e6492584340bed12207808941155068f738'),
    wrapped: '138bdeaa9b8fa7fc61f97742e72248ee5ae6ae5360d1ae6a5f54f373fa543b6a',
  },
  {
    name: 'RFC 5649 section 6, 7 bytes',
    key: RFC_KEY,
    data: fromHex('466f7250617369'),
    wrapped: 'afbeb0f07dfbf5419200f2ccb50bb24f',
  },
]

for (const { name, key, data, wrapped } of VECTORS) {
  test(`AES-KWP, ${name}`, () => {
    const wrappingKey = createSecretKey(key)
    assert.equal(wrapKey(wrappingKey, data).toString('hex'), wrapped)
    assert.deepEqual(unwrapKey(wrappingKey, fromHex(wrapped)), data)
  })
}

test('what was wrapped unwraps, and with one bit changed it does not', (t) => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(bytes, fc.nat(), (data, where) => {
      const wrappingKey = createSecretKey(K)
      const wrapped = wrapKey(wrappingKey, Buffer.from(data))
      assert.deepEqual(unwrapKey(wrappingKey, wrapped), Buffer.from(data))
      const at = where % wrapped.length
      wrapped.writeUInt8(wrapped.readUInt8(at) ^ (1 << (where % 8)), at)
      assert.equal(unwrapKey(wrappingKey, wrapped), undefined)
    }),
    { seed: testSeed(t) },
  )
})

test('C-05 every length from 0 to 80 that nobody wrapped is refused in order', () => {
  for (let length = 0; length <= 80; length++)
    assert.equal(unwrapKey(createSecretKey(K), Buffer.alloc(length, length)), undefined, String(length))
  assert.throws(() => wrapKey(createSecretKey(K), Buffer.alloc(0)), RangeError)
  assert.throws(() => wrapKey(createSecretKey(Buffer.alloc(8)), K), RangeError)
})
