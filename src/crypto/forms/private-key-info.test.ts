// Forms of PKCS #8 (RFC 5208, RFC 5958) that callers bring.
import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { DER, der, derNatural, derOid } from '../encoding/der.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { KEY_TYPES } from '../key-types/key-types.ts'

const EC_OID = '1.2.840.10045.2.1'
const seed = Buffer.from(Array.from({ length: 32 }, (_, index) => index))
const ED25519_PKCS8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])

const pkcs8Of = (key: KeyObject): Buffer => key.export({ type: 'pkcs8', format: 'der' })
const formOf = (type: string) => KEY_TYPES.get(type)?.form ?? assert.fail(type)

function wrap(algorithm: readonly Buffer[], inner: Buffer, ...rest: readonly Buffer[]): Buffer {
  return der(DER.sequence, derNatural(0n), der(DER.sequence, ...algorithm), der(DER.octetString, inner), ...rest)
}

for (const curve of ['1.3.101.110', '1.3.6.1.4.1.11591.15.1']) {
  test(`an ed25519 key in the container of other curves, as ${curve}, is one`, () => {
    const inner = der(DER.sequence, derNatural(1n), der(DER.octetString, seed))
    const bytes = wrap([derOid(EC_OID), derOid(curve)], inner)
    assert.throws(() => createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' }))
    assert.deepEqual(formOf('ed25519').fromImport(bytes), ED25519_PKCS8)
  })
}

/** The seed above as NSS writes it: on its curve, with the public half of X25519 after 0x40. */
const NSS_ED25519 = Buffer.from(
  '3068020100301406072a8648ce3d020106092b06010401da470f01044d304b0201010420' +
    '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fa12403220040' +
    '8f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f',
  'hex',
)

test('C3: an ed25519 key as NSS writes it is one, whichever public half it comes with', () => {
  assert.deepEqual(formOf('ed25519').fromImport(NSS_ED25519), ED25519_PKCS8)
  const halves = (['ed25519', 'x25519'] as const).map((asymmetricKeyType) =>
    createPublicKey(createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType })).export({
      format: 'raw-public',
    }),
  )
  const points = halves.flatMap((half) => [half, Buffer.concat([Buffer.from([0x40]), half])])
  for (const point of points) assert.deepEqual(formOf('ed25519').fromImport(onNssCurve(seed, point)), ED25519_PKCS8)
  const [ed25519, x25519] = halves as [Buffer, Buffer]
  const wrong = [
    Buffer.alloc(0),
    Buffer.from([0x40]),
    x25519.subarray(1),
    Buffer.concat([Buffer.from([0x04]), x25519]),
    Buffer.concat([Buffer.from([0x40, 0x40]), x25519]),
    changed(ed25519),
    changed(x25519),
  ]
  for (const point of wrong) {
    assert.throws(
      () => formOf('ed25519').fromImport(onNssCurve(seed, point)),
      (cause) => cause instanceof InvalidKeyMaterial && /does not belong to its private one/.test(cause.message),
    )
  }
  for (const short of [Buffer.alloc(0), seed.subarray(1), Buffer.concat([seed, seed])]) {
    assert.throws(
      () => formOf('ed25519').fromImport(onNssCurve(short, x25519)),
      (cause) => cause instanceof InvalidKeyMaterial && /has 32 bytes/.test(cause.message),
    )
  }
})

test('C3: outside the container of NSS the public half of X25519 is none of ed25519', () => {
  const half = createPublicKey(createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: 'x25519' }))
  const bits = der(DER.contextPrimitive(1), Buffer.from([0]), half.export({ format: 'raw-public' }))
  const bytes = wrap([derOid('1.3.101.112')], der(DER.octetString, seed), bits)
  assert.throws(
    () => formOf('ed25519').fromImport(bytes),
    (cause) => cause instanceof InvalidKeyMaterial && /does not belong/.test(cause.message),
  )
})

function onNssCurve(scalar: Buffer, point: Buffer): Buffer {
  const half = der(DER.context(1), der(DER.bitString, Buffer.from([0]), point))
  const inner = der(DER.sequence, derNatural(1n), der(DER.octetString, scalar), half)
  return wrap([derOid(EC_OID), derOid('1.3.6.1.4.1.11591.15.1')], inner)
}

const changed = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte, at) => (at === 0 ? byte ^ 1 : byte)))

test('an RSA key under the name of RSASSA-PSS is an ordinary one', () => {
  const key = generateKeyPairSync('rsa-pss', { modulusLength: 2048, hashAlgorithm: 'sha256' }).privateKey
  const material = formOf('rsa-2048').fromImport(pkcs8Of(key))
  assert.equal(KEY_TYPES.get('rsa-2048')?.load(material).asymmetricKeyType, 'rsa')
})

test('a key on a curve comes with the curve outside, inside or at both places, and with or without its point', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const material = pkcs8Of(privateKey)
  const scalar = der(DER.octetString, privateKey.export({ format: 'raw-private' }))
  const curve = derOid('1.2.840.10045.3.1.7')
  const inside = der(DER.context(0), curve)
  const forms = [
    wrap([derOid(EC_OID), curve], der(DER.sequence, derNatural(1n), scalar)),
    wrap([derOid(EC_OID), curve], der(DER.sequence, derNatural(1n), scalar, inside)),
    wrap([derOid(EC_OID)], der(DER.sequence, derNatural(1n), scalar, inside)),
    material,
  ]
  for (const form of forms) assert.deepEqual(formOf('ecdsa-p256').fromImport(form), material)
})

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const otherPoint = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'raw-public' })
const scalarOf = (bytes: Buffer): Buffer =>
  wrap([derOid(EC_OID), derOid('1.2.840.10045.3.1.7')], der(DER.sequence, derNatural(1n), der(DER.octetString, bytes)))

function withOtherPoint(): Buffer {
  const point = der(DER.context(1), der(DER.bitString, Buffer.from([0]), otherPoint))
  const scalar = der(DER.octetString, p256.privateKey.export({ format: 'raw-private' }))
  return wrap([derOid(EC_OID), derOid('1.2.840.10045.3.1.7')], der(DER.sequence, derNatural(1n), scalar, point))
}

function rsaWith(index: number, change: (value: bigint) => bigint): Buffer {
  const jwk = rsa.export({ format: 'jwk' })
  const names = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const
  const numbers = names.map((name) => BigInt(`0x${Buffer.from(jwk[name] ?? '', 'base64url').toString('hex')}`))
  const changed = numbers.map((value, at) => (at === index ? change(value) : value))
  const pkcs1 = der(DER.sequence, derNatural(0n), ...changed.map(derNatural))
  return wrap([derOid('1.2.840.113549.1.1.1'), der(DER.null)], pkcs1)
}

const REFUSED: { readonly name: string; readonly type: string; readonly bytes: Buffer; readonly says: RegExp }[] = [
  { name: 'nothing', type: 'ed25519', bytes: Buffer.alloc(0), says: /PKCS #8/ },
  { name: 'PEM', type: 'ed25519', bytes: Buffer.from('-----BEGIN PRIVATE KEY-----'), says: /PEM/ },
  { name: 'a raw seed', type: 'ed25519', bytes: seed, says: /PKCS #8/ },
  { name: 'PKCS #8 cut off', type: 'ed25519', bytes: ED25519_PKCS8.subarray(0, 47), says: /PKCS #8/ },
  {
    name: 'PKCS #8 and a byte',
    type: 'ed25519',
    bytes: Buffer.concat([ED25519_PKCS8, seed.subarray(0, 1)]),
    says: /more/,
  },
  { name: 'a key of another kind', type: 'ed25519', bytes: pkcs8Of(rsa), says: /another kind/ },
  { name: 'a key of another kind', type: 'rsa-2048', bytes: ED25519_PKCS8, says: /another kind/ },
  { name: 'a key on another curve', type: 'ecdsa-p384', bytes: pkcs8Of(p256.privateKey), says: /P-256, not on P-384/ },
  { name: 'the point of another key', type: 'ecdsa-p256', bytes: withOtherPoint(), says: /does not belong/ },
  { name: 'the private number 0', type: 'ecdsa-p256', bytes: scalarOf(Buffer.alloc(32)), says: /range/ },
  {
    name: 'a private number beyond the order',
    type: 'ecdsa-p256',
    bytes: scalarOf(Buffer.alloc(32, 255)),
    says: /range/,
  },
  {
    name: 'a private number that is too long',
    type: 'ecdsa-p256',
    bytes: scalarOf(Buffer.alloc(33, 1)),
    says: /range/,
  },
  { name: 'another modulus', type: 'rsa-2048', bytes: rsaWith(0, (n) => n + 2n), says: /product/ },
  { name: 'the exponent 3', type: 'rsa-2048', bytes: rsaWith(1, () => 3n), says: /65537/ },
  { name: 'another private exponent', type: 'rsa-2048', bytes: rsaWith(2, (d) => d + 2n), says: /private exponent/ },
  { name: 'another precomputed number', type: 'rsa-2048', bytes: rsaWith(7, (q) => q + 1n), says: /precomputed/ },
]
for (const { name, type, bytes, says } of REFUSED) {
  test(`P-15 ${name} is no key of type ${type}`, () => {
    assert.throws(
      () => formOf(type).fromImport(bytes),
      (cause) => cause instanceof InvalidKeyMaterial && says.test(cause.message),
    )
  })
}
