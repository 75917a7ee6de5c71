// Vectors of Project Wycheproof through our own code, not only through node:crypto.
import assert from 'node:assert/strict'
import { createSecretKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { aes128Gcm96, aes256Gcm96 } from '../../src/crypto/key-types/aead-key-types.ts'
import { InvalidKeyMaterial, type KeyType } from '../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { AEADS, type AeadAlgorithm, AuthenticationFailed, open, seal } from '../../src/crypto/primitives/aead.ts'
import { aesCmac } from '../../src/crypto/primitives/cmac.ts'
import { constantTimeEqual } from '../../src/crypto/primitives/constant-time.ts'
import { hkdfExpand, hkdfExtract, hkdfSha256 } from '../../src/crypto/primitives/derivation.ts'
import { namedHmac } from '../../src/crypto/primitives/named-hmac.ts'
import { fromHex, type OaepGroup, readGroups, withVectors } from '../fixtures/wycheproof.ts'

type AeadCase = {
  readonly tcId: number
  readonly key: string
  readonly iv: string
  readonly aad: string
  readonly msg: string
  readonly ct: string
  readonly tag: string
  readonly result: 'valid' | 'invalid'
}
type AeadGroup = {
  readonly ivSize: number
  readonly keySize: number
  readonly tagSize: number
  readonly tests: readonly AeadCase[]
}
type HkdfCase = {
  readonly tcId: number
  readonly ikm: string
  readonly salt: string
  readonly info: string
  readonly size: number
  readonly okm: string
  readonly result: 'valid' | 'invalid'
}

function runAead(algorithm: AeadAlgorithm, vector: AeadCase): void {
  const key = createSecretKey(fromHex(vector.key))
  const nonce = fromHex(vector.iv)
  const sealed = fromHex(vector.ct + vector.tag)
  const associatedData = fromHex(vector.aad)
  if (vector.result === 'invalid') {
    assert.throws(() => open(algorithm, key, nonce, sealed, associatedData), AuthenticationFailed, `${vector.tcId}`)
    return
  }
  const plaintext = fromHex(vector.msg)
  assert.deepEqual(open(algorithm, key, nonce, sealed, associatedData), plaintext, `${vector.tcId}`)
  assert.deepEqual(seal(algorithm, key, nonce, plaintext, associatedData), sealed, `${vector.tcId}`)
}

/** Runs the cases with a whole tag and, where `nonceBits` is given, that nonce; returns how many those are. */
function runAeadFile(file: string, algorithm: AeadAlgorithm, nonceBits?: number): number {
  let count = 0
  for (const group of readGroups<AeadGroup>(file)) {
    if (group.keySize !== algorithm.keyBytes * 8 || group.tagSize !== 128) continue
    if (nonceBits !== undefined && group.ivSize !== nonceBits) continue
    for (const vector of group.tests) runAead(algorithm, vector)
    count += group.tests.length
  }
  return count
}

function assertNoKey(type: KeyType, material: Buffer): void {
  assert.throws(() => type.load(material), InvalidKeyMaterial)
}

/** With a label, which we never have, nothing opens. Returns how many cases there were. */
function runOaepFile(bits: number): number {
  let count = 0
  const type = KEY_TYPES.get(`rsa-${bits}`) ?? assert.fail()
  for (const { privateKeyPkcs8, tests } of readGroups<OaepGroup>(`rsa_oaep_${bits}_sha256_mgf1sha256`)) {
    const key = type.load(fromHex(privateKeyPkcs8))
    for (const { tcId, msg, ct, label, result } of tests) {
      const open = () => type.cipher?.openWithNonce(key, fromHex(ct))
      if (result === 'valid' && label === '') assert.deepEqual(open(), fromHex(msg), `${tcId}`)
      else assert.throws(open, AuthenticationFailed, `${tcId}`)
      count++
    }
  }
  return count
}

function runHkdf(vector: HkdfCase): void {
  const key = createSecretKey(fromHex(vector.ikm))
  const extracted = hkdfExtract(key, createSecretKey(fromHex(vector.salt)))
  const info = fromHex(vector.info)
  if (vector.result === 'invalid') {
    assert.throws(() => hkdfExpand(extracted, info, vector.size), RangeError, `${vector.tcId}`)
    return
  }
  assert.equal(hkdfExpand(extracted, info, vector.size).toString('hex'), vector.okm, `${vector.tcId}`)
  if (vector.salt === '') assert.equal(hkdfSha256(key, info, vector.size).toString('hex'), vector.okm)
}

type MacCase = {
  readonly tcId: number
  readonly key: string
  readonly msg: string
  readonly tag: string
  readonly result: 'valid' | 'invalid'
}
type MacGroup = { readonly keySize: number; readonly tagSize: number; readonly tests: readonly MacCase[] }

/** Tags may be shortened, as the group says. Returns how many cases had a key that is taken. */
function runMacFile(
  file: string,
  compute: (key: KeyObject, message: Buffer) => Buffer | undefined,
  takes: (keyBits: number) => boolean = () => true,
): number {
  let count = 0
  for (const { keySize, tagSize, tests } of readGroups<MacGroup>(file)) {
    if (!takes(keySize)) continue
    for (const { tcId, key, msg, tag, result } of tests) {
      const mac = compute(createSecretKey(fromHex(key)), fromHex(msg))?.subarray(0, tagSize / 8) ?? assert.fail()
      assert.equal(constantTimeEqual(mac, fromHex(tag)), result === 'valid', `${tcId}`)
      count++
    }
  }
  return count
}

const HMAC_FILES = [
  { file: 'hmac_sha1', hash: 'sha1', cases: 170 },
  { file: 'hmac_sha224', hash: 'sha2-224', cases: 172 },
  { file: 'hmac_sha256', hash: 'sha2-256', cases: 174 },
  { file: 'hmac_sha384', hash: 'sha2-384', cases: 174 },
  { file: 'hmac_sha512', hash: 'sha2-512', cases: 174 },
  { file: 'hmac_sha3_224', hash: 'sha3-224', cases: 172 },
  { file: 'hmac_sha3_256', hash: 'sha3-256', cases: 174 },
  { file: 'hmac_sha3_384', hash: 'sha3-384', cases: 174 },
  { file: 'hmac_sha3_512', hash: 'sha3-512', cases: 174 },
]

withVectors('Q-03 Wycheproof', () => {
  test('Q-03 Wycheproof aes_cmac, with keys of AES', () => {
    assert.equal(
      runMacFile('aes_cmac', aesCmac, (bits) => [128, 192, 256].includes(bits)),
      306,
    )
  })
  for (const { file, hash, cases } of HMAC_FILES) {
    test(`Q-03 Wycheproof ${file}`, () => {
      assert.equal(
        runMacFile(`${file}`, (key, message) => namedHmac(hash, key, message)),
        cases,
      )
    })
  }
  test('Q-03 Wycheproof aes_gcm, 128-bit keys, 96-bit nonces', () => {
    assert.equal(runAeadFile('aes_gcm', AEADS.aes128Gcm, 96), 67)
  })
  test('Q-03 Wycheproof aes_gcm, 256-bit keys, 96-bit nonces', () => {
    assert.equal(runAeadFile('aes_gcm', AEADS.aes256Gcm, 96), 66)
  })
  test('Q-03 Wycheproof chacha20_poly1305, with its wrong nonce lengths', () => {
    assert.equal(runAeadFile('chacha20_poly1305', AEADS.chacha20Poly1305), 325)
  })
  test('Q-03 Wycheproof xchacha20_poly1305, with its wrong nonce lengths', () => {
    assert.equal(runAeadFile('xchacha20_poly1305', AEADS.xchacha20Poly1305), 315)
  })
  test('N-03 Wycheproof aes_gcm: nonces of other lengths and 192-bit keys, which are not offered, open nothing', () => {
    const others = readGroups<AeadGroup>('aes_gcm').filter(({ ivSize, keySize }) => ivSize !== 96 || keySize === 192)
    let count = 0
    for (const { keySize, tests } of others) {
      for (const vector of tests) {
        if (keySize === 192) for (const type of [aes128Gcm96, aes256Gcm96]) assertNoKey(type, fromHex(vector.key))
        else runAead(keySize === 128 ? AEADS.aes128Gcm : AEADS.aes256Gcm, { ...vector, result: 'invalid' })
        count += 1
      }
    }
    assert.equal(count + 67 + 66, 316)
  })
  for (const bits of [2048, 3072, 4096]) {
    test(`Q-03 Wycheproof rsa_oaep_${bits}_sha256_mgf1sha256`, () => {
      assert.ok(runOaepFile(bits) >= 30)
    })
  }
  test('Q-03 Wycheproof hkdf_sha256', () => {
    const cases = readGroups<{ readonly tests: readonly HkdfCase[] }>('hkdf_sha256').flatMap(({ tests }) => tests)
    for (const vector of cases) runHkdf(vector)
    assert.equal(cases.length, 86)
  })
})
