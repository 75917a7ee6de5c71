// RSA keys whose numbers fit together and are far longer than those of any key: arithmetic with them would stop all
// other requests (threats P-42).
import assert from 'node:assert/strict'
import { createPrivateKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { DER, der, derNatural, derOid } from '../../../src/crypto/encoding/der.ts'
import { PemError, readPem } from '../../../src/crypto/encoding/pem.ts'
import { wrapForRsa } from '../../../src/crypto/forms/wrapped-key.ts'
import { InvalidKeyMaterial } from '../../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../src/crypto/key-types/key-types.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { publishedRsa } from '../../fixtures/known-material.ts'
import { leastMs, processCpuMs } from '../../fixtures/measured.ts'
import { base64, mountTransit } from '../../fixtures/mounted-transit.ts'

const E = 65_537n
/** The arithmetic took seconds with the shorter one, and minutes with the longer one. */
const CPU_MS = 1_000

function longNumber(bits: number): bigint {
  return BigInt(`0x${randomBytes(bits / 8).toString('hex')}`) | (1n << BigInt(bits - 1))
}

/** The x of 1 to E - 1 with a·x = 1 modulo E, which is prime. */
function inverseModuloE(a: bigint): bigint {
  let [result, base, exponent] = [1n, a % E, E - 2n]
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent % 2n === 1n) result = (result * base) % E
    base = (base * base) % E
  }
  return result
}

/** PKCS #8 with "primes" of so many bits: odd numbers to which the private exponent belongs. */
function longKey(primeBits: number): Buffer {
  const [a, b] = [longNumber(primeBits), longNumber(primeBits)]
  const [p, q] = [2n * a + 1n, 2n * b + 1n]
  const multiple = 2n * a * b
  const d = (1n + (E - inverseModuloE(multiple)) * multiple) / E
  const pkcs1 = der(DER.sequence, ...[0n, p * q, E, d, p, q, 1n, 1n, 1n].map(derNatural))
  const algorithm = der(DER.sequence, derOid('1.2.840.113549.1.1.1'), der(DER.null))
  return der(DER.sequence, derNatural(0n), algorithm, der(DER.octetString, pkcs1))
}

const LENGTHS = [
  { name: '75 KB', key: longKey(150_000) },
  { name: '225 KB', key: longKey(450_000) },
]
for (const { name, key } of LENGTHS) {
  test(`P-42 an RSA key of ${name} is refused before any arithmetic`, async () => {
    assert.ok(key.length > Number.parseInt(name, 10) * 1_000, `${key.length} bytes`)
    const cpuMs = await processCpuMs(() => {
      const read = () => KEY_TYPES.get('rsa-2048')?.form.fromImport(key)
      assert.throws(read, (cause) => cause instanceof InvalidKeyMaterial && /longer than one/.test(cause.message))
    })
    assert.ok(cpuMs < CPU_MS, `${cpuMs} ms`)
  })

  test(`P-42 an import of ${name} is refused before it is unwrapped`, async () => {
    const wrappingKey = publishedRsa('rsa-4096')
    const { client, view } = mountTransit()
    view.plant('wrapping-key', Buffer.concat([Buffer.from([1]), wrappingKey]))
    const privateKey = createPrivateKey({ key: wrappingKey, format: 'der', type: 'pkcs8' })
    const ciphertext = base64(wrapForRsa(privateKey, 'SHA256', key, realWorld().random.bytes))
    const cpuMs = await processCpuMs(async () => {
      const { status, errors } = await client.write('keys/k/import', { type: 'rsa-2048', ciphertext })
      assert.equal(status, 400)
      assert.match(errors.join(), /"ciphertext": no key is so long, at most 8704 bytes/)
    })
    assert.ok(cpuMs < CPU_MS, `${cpuMs} ms`)
  })
}

test('P-42 numbers of an RSA key that are in bounds have the lengths that its type says', () => {
  const form = KEY_TYPES.get('rsa-3072')?.form ?? assert.fail()
  assert.throws(() => form.fromImport(longKey(1_024)), /modulus of 3072 bits/)
  assert.throws(() => form.fromImport(longKey(2_000)), /modulus of 3072 bits/)
  const parts = { n: 1n << 3_071n, e: E, d: 5n, p: 1n << 3_000n, q: (1n << 71n) + 1n }
  assert.throws(() => form.fromBackup({ rsa: parts, publicText: '' }), /about half as long/)
  const even = { ...parts, p: 1n << 1_535n, q: 1n << 1_536n }
  assert.throws(() => form.fromBackup({ rsa: { ...even, d: 1n << 3_072n }, publicText: '' }), /longer than its modulus/)
  assert.throws(() => form.fromBackup({ rsa: { ...even, n: 1n << 8_191n }, publicText: '' }), /modulus of 3072 bits/)
})

test('P-42 PEM of millions of empty lines is refused', async () => {
  const pem = `-----BEGIN PUBLIC KEY-----${'\n'.repeat(5e6)}-----END PUBLIC KEY-----`
  const mostMs = CPU_MS / 10
  const cpuMs = await leastMs(mostMs, () => processCpuMs(() => assert.throws(() => readPem(pem), PemError)))
  assert.ok(cpuMs < mostMs, `${cpuMs} ms`)
})
