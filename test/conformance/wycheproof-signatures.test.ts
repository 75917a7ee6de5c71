// Signatures of Project Wycheproof through our own key types: over the message, and over its digest, where most of the
// code is ours.
import assert from 'node:assert/strict'
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { InvalidKeyMaterial, type SignatureOptions } from '../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { fromHex, readGroups, withVectors } from '../fixtures/wycheproof.ts'
import { digestOf, hashesItself, isValid, OPTIONS, type TypeOfPair } from './signing.ts'

type Case = {
  readonly tcId: number
  readonly comment: string
  readonly flags: readonly string[]
  readonly msg?: string
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
  readonly privateSeed?: string
  readonly tests: readonly Case[]
}

type Row = {
  readonly file: string
  readonly type: string
  readonly cases: number
  readonly options: Options
  /** Valid signatures of RSA keys with the exponent 3, which we do not load (P-15). */
  readonly smallExponents?: number
}
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
  { file: 'rsa_signature_2048_sha256', type: 'rsa-2048', cases: 259, options: PKCS1, smallExponents: 2 },
  { file: 'rsa_signature_2048_sha384', type: 'rsa-2048', cases: 258, options: PKCS1 },
  { file: 'rsa_signature_2048_sha3_256', type: 'rsa-2048', cases: 257, options: PKCS1 },
  { file: 'rsa_signature_2048_sha512', type: 'rsa-2048', cases: 259, options: PKCS1, smallExponents: 1 },
  { file: 'rsa_signature_3072_sha256', type: 'rsa-3072', cases: 259, options: PKCS1, smallExponents: 1 },
  { file: 'rsa_signature_4096_sha256', type: 'rsa-4096', cases: 258, options: PKCS1 },
  { file: 'rsa_signature_4096_sha512', type: 'rsa-4096', cases: 259, options: PKCS1 },
  { file: 'mldsa_44_verify', type: 'ml-dsa-44', cases: 180, options: ASN1 },
  { file: 'mldsa_65_verify', type: 'ml-dsa-65', cases: 210, options: ASN1 },
  { file: 'mldsa_87_verify', type: 'ml-dsa-87', cases: 241, options: ASN1 },
]

function pairOf(name: string): TypeOfPair {
  const type = KEY_TYPES.get(name)
  assert.ok(type?.signing !== undefined && type.publicPart !== undefined)
  return { ...type, signing: type.signing, publicPart: type.publicPart }
}

/**
 * Whether we say valid. The one acceptable case of each PKCS #1 file lacks the NULL of DigestInfo: RFC 8017 allows to
 * take it, we do not. A signature of ML-DSA under a context is none for us, who have the empty one.
 */
function isExpected({ result, ctx }: Case): boolean {
  return result === 'valid' && (ctx ?? '') === ''
}

/** The public key; undefined where we refuse it. */
function loaded({ publicPart }: TypeOfPair, { publicKeyDer = '' }: Group): KeyObject | undefined {
  try {
    return publicPart.load(fromHex(publicKeyDer))
  } catch (cause) {
    assert.ok(cause instanceof InvalidKeyMaterial)
    return undefined
  }
}

/** SHA-256 as sha2-256, SHA3-256 as sha3-256. */
const hashName = (sha: string): string => sha.replace(/^SHA-/, 'sha2-').replace(/^SHA3-/, 'sha3-')

/** In the short form one case in sixteen over the digest on curves, where it takes milliseconds. */
const IS_LONG = process.env.WYCHEPROOF === 'all'
const isTried = (type: TypeOfPair, index: number): boolean =>
  IS_LONG || !type.name.startsWith('ecdsa-') || index % 16 === 0

/** `first`: how many cases there were before. Returns how many valid ones we did not take with their key. */
function runGroup(type: TypeOfPair, group: Group, base: Options, first: number): number {
  const key = loaded(type, group)
  if (key === undefined) return group.tests.filter(({ result }) => result === 'valid').length
  const hash = group.sha === undefined ? 'sha2-256' : hashName(group.sha)
  const salt = group.sLen === undefined ? {} : { saltLength: group.sLen }
  const options: SignatureOptions = { ...OPTIONS, hash, ...salt, ...base }
  group.tests.forEach((vector, index) => {
    const [message, signature] = [fromHex(vector.msg ?? ''), fromHex(vector.sig)]
    const expected = isExpected(vector)
    const label = `tcId ${vector.tcId}: ${vector.comment}`
    assert.equal(isValid(type, key, message, signature, options), expected, label)
    if (hashesItself(type) || !isTried(type, first + index)) return
    const digest = digestOf(type, message, options)
    assert.equal(isValid(type, key, digest, signature, { ...options, prehashed: true }), expected, `digest, ${label}`)
  })
  return 0
}

withVectors('Q-03 Wycheproof', () => {
  for (const { file, type: name, cases, options, smallExponents = 0 } of ROWS) {
    test(`Q-03 Wycheproof ${file}`, () => {
      const type = pairOf(name)
      let count = 0
      let refused = 0
      for (const group of readGroups<Group>(file)) {
        refused += runGroup(type, group, options, count)
        count += group.tests.length
      }
      assert.deepEqual({ count, refused }, { count: cases, refused: smallExponents })
    })
  }

  for (const { name, cases, overMu } of [
    { name: 'ml-dsa-44', cases: 86, overMu: 8 },
    { name: 'ml-dsa-65', cases: 105, overMu: 17 },
    { name: 'ml-dsa-87', cases: 96, overMu: 17 },
  ]) {
    test(`Q-03 Wycheproof ${name}, signing: seeds give their public keys, and published signatures verify`, () => {
      const type = pairOf(name)
      const head = createPrivateKey({
        key: Buffer.alloc(32),
        format: 'raw-seed',
        asymmetricKeyType: name as 'ml-dsa-44',
      })
        .export({ format: 'der', type: 'pkcs8' })
        .subarray(0, -32)
      let count = 0
      let skipped = 0
      for (const { privateSeed = '', publicKey, tests } of readGroups<Group>(
        `${name.replace('ml-dsa-', 'mldsa_')}_sign_seed`,
      )) {
        count += tests.length
        const material = Buffer.concat([head, fromHex(privateSeed)])
        if (privateSeed.length !== 64) {
          assert.throws(() => type.load(material), InvalidKeyMaterial)
          continue
        }
        const key = type.load(material)
        assert.equal(type.publicPart.text(key), fromHex(publicKey).toString('base64'))
        for (const vector of tests) {
          // Signed over mu, the hash of key and message, which nobody hands in here.
          if (vector.msg === undefined) {
            skipped += 1
            continue
          }
          const message = fromHex(vector.msg)
          const isOurs = isValid(type, key, message, fromHex(vector.sig), OPTIONS)
          assert.equal(isOurs, isExpected(vector), `tcId ${vector.tcId}: ${vector.comment}`)
          const signature = type.signing.sign(key, message, OPTIONS)
          assert.equal(isValid(type, key, message, signature, OPTIONS), true)
        }
      }
      assert.deepEqual({ count, skipped }, { count: cases, skipped: overMu })
    })
  }
})
