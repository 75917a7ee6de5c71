// Keys and signatures computed once, outside this program: what a server of this API must give and accept for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spkiDer } from '../forms/public-keys.ts'
import { ecdsaP256, ecdsaP384, ecdsaP521 } from '../key-types/ecdsa-key-types.ts'
import { ed25519 } from '../key-types/ed25519.ts'
import { type KeyType, type SignatureOptions, UnusableInput } from '../key-types/key-type.ts'

const SEED = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const INPUT = Buffer.from('the quick brown fox')
const CONTEXT = Buffer.from('my-cool-context')
const PUBLIC = 'A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg='

const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pss',
  saltLength: 'auto',
  marshaling: 'asn1',
}

const loadSeed = () => ed25519.load(Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), SEED]))
const signed = (key: ReturnType<typeof loadSeed>) => ed25519.signing?.sign(key, INPUT, OPTIONS).toString('base64')

test('ed25519 of a fixed seed: public key, its SubjectPublicKeyInfo, signature', () => {
  const key = loadSeed()
  assert.equal(ed25519.publicPart?.text(key), PUBLIC)
  assert.equal(spkiDer(key).toString('base64'), `MCowBQYDK2VwAyEA${PUBLIC}`)
  const signature = 'OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA=='
  assert.equal(signed(key), signature)
})

test('ed25519 derived from a fixed seed: seed, public key, signature', () => {
  const derived = ed25519.derivation?.derive(loadSeed(), CONTEXT) ?? assert.fail()
  const seed = 'e60d139768abd1b51fa6089a5c441888007ba7ad33b309d581c1af120b76c793'
  assert.equal(derived.export({ format: 'raw-private' }).toString('hex'), seed)
  assert.equal(ed25519.publicPart?.text(derived), 'YVIOd52Da7nBed1vxZ2XAYoCeGNbTWYt3W8LlO17hXk=')
  const signature = 'jcA+ipB1NfHPWhc3GfVIWnPKt1cStd0+p4NJ4l/I5DMtAhJZafqMn3K+RaHqvaen9ojJN8GXiX/XUgpelhkUCg=='
  assert.equal(signed(derived), signature)
})

test('ed25519: each context has its key, and the public half has none', () => {
  const key = loadSeed()
  const { derive } = ed25519.derivation ?? assert.fail()
  const texts = ['a', 'b', 'ab', ''].map((context) => ed25519.publicPart?.text(derive(key, Buffer.from(context))))
  assert.equal(new Set([...texts, PUBLIC]).size, 5)
  assert.equal(ed25519.publicPart?.text(derive(key, Buffer.from('a'))), texts[0])
  const half = ed25519.publicPart?.load(spkiDer(key)) ?? assert.fail()
  assert.throws(() => derive(half, CONTEXT), UnusableInput)
})

type Case = {
  readonly type: KeyType
  readonly scalar: string
  readonly hash: string
  readonly asn1: string
  readonly jws: string
}

/** Keys and message of RFC 6979 appendix A.2. With P-521, r needs leading zeros and s is shorter by a byte. */
const ECDSA: readonly Case[] = [
  {
    type: ecdsaP256,
    scalar: 'c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721',
    hash: 'sha2-256',
    asn1: 'MEYCIQDv1IsqrLao/RFA3ZzUXoHWnSyHe1aq+ZHDTQ6oTq83FgIhAPfLHJQtZXxB1DbHobbin2Xz6QDbua/0Bk3Eqy+EOs2o',
    jws: '79SLKqy2qP0RQN2c1F6B1p0sh3tWqvmRw00OqE6vNxb3yxyULWV8QdQ2x6G24p9l8-kA27mv9AZNxKsvhDrNqA',
  },
  {
    type: ecdsaP384,
    scalar: '6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5',
    hash: 'sha2-384',
    asn1:
      'MGYCMQCU7buSpey4qtRzblbGkZFrP4gUBmbOn6c9ZMTqla0TPIGmSBUuRKz5bjbdHoD6vkYCMQCZ70rrFfF4zqH+QNsmAxOPEw50' +
      'ChliRSYgO2NR0KOpT6MpwUV4bmeee4LHGjhiisg=',
    jws:
      'lO27kqXsuKrUc25WxpGRaz-IFAZmzp-nPWTE6pWtEzyBpkgVLkSs-W423R6A-r5Gme9K6xXxeM6h_kDbJgMTjxMOdAoZYkUmIDtj' +
      'UdCjqU-jKcFFeG5nnnuCxxo4YorI',
  },
  {
    type: ecdsaP521,
    scalar:
      '00fad06daa62ba3b25d2fb40133da757205de67f5bb0018fee8c86e1b68c7e75caa896eb32f1f47c70855836a6d16fcc1466' +
      'f6d8fbec67db89ec0c08b0e996b83538',
    hash: 'sha2-512',
    asn1:
      'MIGHAkIAwyj6/L153XeFA3DEYyXZh8tSVWn7Y8XTvFOVDm1MXxdOJaHukBe11FBgat0VK1NJMdfU6EVcyR+bFb8F7Dbjd/oCQWF8' +
      'znz1BkgGxGf2eNO0CA1vHMUK8myiCUFzCCgbaK8oJiPqpj5bXAcj2LjDf/B3exog+Myx3MxDmX8e4ORNpKZ6',
    jws:
      'AMMo-vy9ed13hQNwxGMl2YfLUlVp-2PF07xTlQ5tTF8XTiWh7pAXtdRQYGrdFStTSTHX1OhFXMkfmxW_Bew243f6AGF8znz1BkgG' +
      'xGf2eNO0CA1vHMUK8myiCUFzCCgbaK8oJiPqpj5bXAcj2LjDf_B3exog-Myx3MxDmX8e4ORNpKZ6',
  },
]

/** PKCS #8 without the public point, as some programs write it. */
function bareKey(type: KeyType, scalar: string): Buffer {
  const number = Buffer.from(scalar, 'hex')
  const oid = { 'ecdsa-p256': '06082a8648ce3d030107', 'ecdsa-p384': '06052b81040022', 'ecdsa-p521': '06052b81040023' }
  const wrap = (tag: number, ...parts: Buffer[]) => {
    const value = Buffer.concat(parts)
    return Buffer.concat([Buffer.of(tag, ...(value.length > 127 ? [0x81] : []), value.length), value])
  }
  const algorithm = Buffer.from(`06072a8648ce3d0201${oid[type.name as keyof typeof oid]}`, 'hex')
  const inner = wrap(0x30, Buffer.from('020101', 'hex'), wrap(0x04, number))
  return wrap(0x30, Buffer.from('020100', 'hex'), wrap(0x30, algorithm), wrap(0x04, inner))
}

for (const { type, scalar, hash, asn1, jws } of ECDSA) {
  test(`${type.name}: a fixed signature in both forms, and neither is the other`, () => {
    const { signing } = type
    assert.ok(signing !== undefined)
    const key = type.load(bareKey(type, scalar))
    const input = Buffer.from('sample')
    const [der, both] = [Buffer.from(asn1, 'base64'), Buffer.from(jws, 'base64url')]
    const asDer = { ...OPTIONS, hash }
    const asBoth = { ...asDer, marshaling: 'jws' as const }
    assert.equal(signing.verify(key, input, der, asDer), true)
    assert.equal(signing.verify(key, input, both, asBoth), true)
    assert.equal(signing.verify(key, input, der, asBoth), false)
    assert.throws(() => signing.verify(key, input, both, asDer), UnusableInput)
    assert.throws(() => signing.verify(key, input, Buffer.concat([der, Buffer.of(0)]), asDer), UnusableInput)
    assert.throws(() => signing.verify(key, input, der.subarray(0, -1), asDer), UnusableInput)
    assert.equal(signing.verify(key, input, Buffer.concat([both, Buffer.of(0)]), asBoth), false)
    assert.throws(() => signing.sign(key, input, { ...asDer, hash: 'none' }), UnusableInput)
    assert.equal(signing.sign(key, input, asBoth).length, both.length)
  })
}

test('P-521: the form of r and s alone is padded, the DER is not', () => {
  const { asn1 = '', jws = '' } = ECDSA[2] ?? {}
  assert.equal(Buffer.from(jws, 'base64url').length, 132)
  assert.equal(Buffer.from(asn1, 'base64').length, 138)
})
