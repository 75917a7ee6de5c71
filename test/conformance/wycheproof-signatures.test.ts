// Signatures of Project Wycheproof (Apache 2.0) through our own key types: over the message, and over its digest, where
// most of the code is ours. They are not part of the repository; where the folder is not there, this says so.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { SignatureOptions } from '../../src/crypto/key-type.ts'
import { InvalidKeyMaterial } from '../../src/crypto/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types.ts'
import { digestOf, hashesItself, isValid, OPTIONS, type TypeOfPair } from './signing.ts'

const FOLDER = new URL('../../../shared/vectors/wycheproof/', import.meta.url)

type Case = {
  readonly tcId: number
  readonly comment: string
  readonly flags: readonly string[]
  readonly msg: string
  readonly sig: string
  readonly ctx?: string
  readonly result: 'valid' | 'invalid' | 'acceptable'
}
type Group = {
  readonly sha?: string
  readonly mgfSha?: string
  readonly sLen?: number
  readonly publicKeyDer?: string
  readonly publicKey: string
  readonly privateKeyPkcs8?: string
  readonly tests: readonly Case[]
}

/** File, key type, how many cases, how many of them are run over the digest too: those that are not slow. */
type Row = { readonly file: string; readonly type: string; readonly cases: number; readonly options: Options }
type Options = Partial<SignatureOptions>

const ASN1 = {}
const JWS: Options = { marshaling: 'jws' }
const PKCS1: Options = { padding: 'pkcs1v15' }

const ROWS: readonly Row[] = [
  { file: 'ed25519', type: 'ed25519', cases: 151, options: ASN1 },
  { file: 'ecdsa_secp256r1_sha256', type: 'ecdsa-p256', cases: 484, options: ASN1 },
  { file: 'ecdsa_secp256r1_sha256_p1363', type: 'ecdsa-p256', cases: 262, options: JWS },
  { file: 'ecdsa_secp256r1_sha512', type: 'ecdsa-p256', cases: 554, options: ASN1 },
  { file: 'ecdsa_secp384r1_sha256', type: 'ecdsa-p384', cases: 472, options: ASN1 },
  { file: 'ecdsa_secp384r1_sha384', type: 'ecdsa-p384', cases: 504, options: ASN1 },
  { file: 'ecdsa_secp384r1_sha384_p1363', type: 'ecdsa-p384', cases: 280, options: JWS },
  { file: 'ecdsa_secp521r1_sha512', type: 'ecdsa-p521', cases: 542, options: ASN1 },
  { file: 'ecdsa_secp521r1_sha512_p1363', type: 'ecdsa-p521', cases: 318, options: JWS },
  { file: 'ecdsa_secp256k1_sha256', type: 'ecdsa-secp256k1', cases: 476, options: ASN1 },
  { file: 'ecdsa_secp256k1_sha256_p1363', type: 'ecdsa-secp256k1', cases: 252, options: JWS },
  { file: 'rsa_pss_2048_sha256_mgf1_0', type: 'rsa-2048', cases: 103, options: ASN1 },
  { file: 'rsa_pss_2048_sha256_mgf1_32', type: 'rsa-2048', cases: 108, options: ASN1 },
  { file: 'rsa_pss_2048_sha384_mgf1_48', type: 'rsa-2048', cases: 141, options: ASN1 },
  { file: 'rsa_pss_3072_sha256_mgf1_32', type: 'rsa-3072', cases: 108, options: ASN1 },
  { file: 'rsa_pss_4096_sha256_mgf1_32', type: 'rsa-4096', cases: 108, options: ASN1 },
  { file: 'rsa_pss_4096_sha384_mgf1_48', type: 'rsa-4096', cases: 141, options: ASN1 },
  { file: 'rsa_pss_4096_sha512_mgf1_32', type: 'rsa-4096', cases: 177, options: ASN1 },
  { file: 'rsa_pss_4096_sha512_mgf1_64', type: 'rsa-4096', cases: 179, options: ASN1 },
  { file: 'rsa_signature_2048_sha224', type: 'rsa-2048', cases: 258, options: PKCS1 },
  { file: 'rsa_signature_2048_sha256', type: 'rsa-2048', cases: 259, options: PKCS1 },
  { file: 'rsa_signature_2048_sha384', type: 'rsa-2048', cases: 258, options: PKCS1 },
  { file: 'rsa_signature_2048_sha3_256', type: 'rsa-2048', cases: 257, options: PKCS1 },
  { file: 'rsa_signature_2048_sha512', type: 'rsa-2048', cases: 259, options: PKCS1 },
  { file: 'rsa_signature_3072_sha256', type: 'rsa-3072', cases: 259, options: PKCS1 },
  { file: 'rsa_signature_4096_sha256', type: 'rsa-4096', cases: 258, options: PKCS1 },
  { file: 'rsa_signature_4096_sha512', type: 'rsa-4096', cases: 259, options: PKCS1 },
  { file: 'mldsa_44_verify', type: 'ml-dsa-44', cases: 180, options: ASN1 },
  { file: 'mldsa_65_verify', type: 'ml-dsa-65', cases: 210, options: ASN1 },
  { file: 'mldsa_87_verify', type: 'ml-dsa-87', cases: 241, options: ASN1 },
]

const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

function pairOf(name: string): TypeOfPair {
  const type = KEY_TYPES.get(name)
  assert.ok(type?.signing !== undefined && type.publicPart !== undefined)
  return { ...type, signing: type.signing, publicPart: type.publicPart }
}

function readGroups(file: string): readonly Group[] {
  return JSON.parse(readFileSync(new URL(`${file}_test.json`, FOLDER), 'utf8')).testGroups
}

/**
 * Whether we say valid. The one acceptable case of each PKCS #1 file lacks the NULL of DigestInfo: RFC 8017 allows to
 * take it, we do not. A signature of ML-DSA under a context is none for us, who have the empty one.
 */
function isExpected({ result, ctx }: Case): boolean {
  return result === 'valid' && (ctx ?? '') === ''
}

/** SHA-256 as sha2-256, SHA3-256 as sha3-256. */
const hashName = (sha: string): string => sha.replace(/^SHA-/, 'sha2-').replace(/^SHA3-/, 'sha3-')

/** In the short form one case in eight over the digest on curves, where it takes milliseconds. */
const IS_LONG = process.env.WYCHEPROOF === 'all'
const isTried = (type: TypeOfPair, index: number): boolean =>
  IS_LONG || !type.name.startsWith('ecdsa-') || index % (type.name === 'ecdsa-p521' ? 16 : 8) === 0

function runGroup(type: TypeOfPair, group: Group, base: Options, first: number): void {
  const { publicPart } = type
  const load = () => publicPart.load(fromHex(group.publicKeyDer ?? ''))
  if (group.publicKeyDer === undefined) {
    // Public keys of a wrong length have no DER there: nothing to load.
    assert.ok(group.tests.every(({ result }) => result === 'invalid'))
    return
  }
  const key = load()
  const hash = group.sha === undefined ? 'sha2-256' : hashName(group.sha)
  const salt = group.sLen === undefined ? {} : { saltLength: group.sLen }
  const options: SignatureOptions = { ...OPTIONS, hash, ...salt, ...base }
  group.tests.forEach((vector, index) => {
    const [message, signature] = [fromHex(vector.msg), fromHex(vector.sig)]
    const expected = isExpected(vector)
    const label = `tcId ${vector.tcId}: ${vector.comment}`
    assert.equal(isValid(type, key, message, signature, options), expected, label)
    if (hashesItself(type) || !isTried(type, first + index)) return
    const digest = digestOf(type, message, options)
    assert.equal(isValid(type, key, digest, signature, { ...options, prehashed: true }), expected, `digest, ${label}`)
  })
}

if (existsSync(FOLDER)) {
  for (const { file, type: name, cases, options } of ROWS) {
    test(`Q-03 Wycheproof ${file}`, () => {
      const type = pairOf(name)
      let count = 0
      for (const group of readGroups(file)) {
        runGroup(type, group, options, count)
        count += group.tests.length
      }
      assert.equal(count, cases)
    })
  }

  for (const { name, cases } of [
    { name: '44', cases: 86 },
    { name: '65', cases: 105 },
    { name: '87', cases: 96 },
  ]) {
    test(`Q-03 Wycheproof mldsa_${name}_sign_seed: keys load, published signatures verify, ours too`, () => {
      const type = pairOf(`ml-dsa-${name}`)
      let count = 0
      for (const { privateKeyPkcs8, publicKey, tests } of readGroups(`mldsa_${name}_sign_seed`)) {
        count += tests.length
        const load = () => type.load(fromHex(privateKeyPkcs8 ?? ''))
        if (privateKeyPkcs8 === undefined || tests.every(({ flags }) => flags.includes('IncorrectPrivateKeyLength'))) {
          assert.throws(load, InvalidKeyMaterial)
          continue
        }
        const key = load()
        assert.equal(type.publicPart.text(key), fromHex(publicKey).toString('base64'))
        for (const vector of tests) {
          const message = fromHex(vector.msg)
          const isOurs = isValid(type, key, message, fromHex(vector.sig), OPTIONS)
          assert.equal(isOurs, isExpected(vector), `tcId ${vector.tcId}: ${vector.comment}`)
        }
        const [{ msg } = assert.fail()] = tests
        const signature = type.signing.sign(key, fromHex(msg), OPTIONS)
        assert.equal(isValid(type, key, fromHex(msg), signature, OPTIONS), true)
      }
      assert.equal(count, cases)
    })
  }
} else {
  test('Q-03 Wycheproof', (t) => t.diagnostic('The folder of Wycheproof vectors is not there, nothing was run'))
}
