// The keys of a token: found by label and id, made, and described by their public halves.
import { createPublicKey } from 'node:crypto'
import * as ck from './cryptoki.ts'
import { DeviceFault } from './device-fault.ts'
import type { DeviceKeySelector, KeyFamily, KeyFound, NewDeviceKey } from './orders.ts'
import type { TokenSession } from './token-session.ts'

const TYPES: Readonly<Record<KeyFamily, { readonly of: number; readonly secret: number }>> = {
  aes: { of: ck.CKK_AES, secret: ck.CKO_SECRET_KEY },
  rsa: { of: ck.CKK_RSA, secret: ck.CKO_PRIVATE_KEY },
  ec: { of: ck.CKK_EC, secret: ck.CKO_PRIVATE_KEY },
}

/** Curves by name. `oid`: the object identifier in DER (RFC 5480 section 2.1.1.1), as CKA_EC_PARAMS has it. */
const CURVES: readonly { readonly name: string; readonly oid: Buffer; readonly jwk: string; readonly bits: number }[] =
  [
    { name: 'p256', oid: Buffer.from('06082a8648ce3d030107', 'hex'), jwk: 'P-256', bits: 256 },
    { name: 'p384', oid: Buffer.from('06052b81040022', 'hex'), jwk: 'P-384', bits: 384 },
    { name: 'p521', oid: Buffer.from('06052b81040023', 'hex'), jwk: 'P-521', bits: 521 },
  ]

/** Returns the secret key or private half. @throws DeviceFault if there is none, or more than one */
export function findKey(token: TokenSession, key: DeviceKeySelector): ck.ObjectHandle {
  return token.key(cacheName(key), () => only(token, key, TYPES[key.family].secret) ?? missing())
}

const cacheName = ({ family, label, id }: DeviceKeySelector): string => JSON.stringify([family, label, id])

function missing(): never {
  throw new DeviceFault('no-key', '"key_label" or "key_id": the token has no such key for this mechanism')
}

/** Returns the only object of this class that fits; undefined if there is none. @throws DeviceFault for several */
function only(token: TokenSession, key: DeviceKeySelector, objectClass: number): ck.ObjectHandle | undefined {
  const { cryptoki, session } = token
  const template: ck.Attribute[] = [
    { type: ck.CKA_CLASS, value: objectClass },
    { type: ck.CKA_KEY_TYPE, value: TYPES[key.family].of },
    ...names(key),
  ]
  cryptoki.C_FindObjectsInit(session, template)
  try {
    const [first, second] = cryptoki.C_FindObjects(session, 2)
    if (second !== undefined) {
      throw new DeviceFault('several-keys', '"key_label": several keys of the token match, name key_id as well')
    }
    return first
  } finally {
    cryptoki.C_FindObjectsFinal(session)
  }
}

function names({ label, id }: DeviceKeySelector): ck.Attribute[] {
  return [
    ...(label === '' ? [] : [{ type: ck.CKA_LABEL, value: label }]),
    ...(id === '' ? [] : [{ type: ck.CKA_ID, value: Buffer.from(id, 'hex') }]),
  ]
}

/** Describes the key. If there is none and `create` is given, the key is made first. @throws DeviceFault */
export function describeDeviceKey(
  token: TokenSession,
  key: DeviceKeySelector,
  create: NewDeviceKey | undefined,
): KeyFound {
  // Looked up again: another key may have this name since the handle was found.
  token.forgetKey(cacheName(key))
  try {
    findKey(token, key)
  } catch (cause) {
    if (create === undefined || !(cause instanceof DeviceFault) || cause.kind !== 'no-key') throw cause
    makeKey(token, key, create)
  }
  if (key.family === 'aes') return { bits: aesBits(token, findKey(token, key)), publicKey: undefined }
  return key.family === 'rsa' ? describeRsa(token, key) : describeEc(token, key)
}

function aesBits(token: TokenSession, handle: ck.ObjectHandle): number {
  const [bytes] = read(token, handle, ck.CKA_VALUE_LEN)
  return (bytes?.readUIntLE(0, Math.min(bytes.length, 6)) ?? 0) * 8
}

/** Reads modulus and exponent from the private half (PKCS #11 section 2.1.3), so that no public object is needed. */
function describeRsa(token: TokenSession, key: DeviceKeySelector): KeyFound {
  const [n, e] = read(token, findKey(token, key), ck.CKA_MODULUS, ck.CKA_PUBLIC_EXPONENT)
  if (n === undefined || e === undefined)
    throw new DeviceFault('unfit', 'the token does not show the public half of the key')
  const jwk = { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') }
  return { bits: bitsOf(n), publicKey: spkiOf(jwk) }
}

/**
 * Reads curve and point from the public object: private objects of EC keys do not have the point.
 * @throws DeviceFault
 */
function describeEc(token: TokenSession, key: DeviceKeySelector): KeyFound {
  const publicObject = only(token, key, ck.CKO_PUBLIC_KEY)
  if (publicObject === undefined) {
    throw new DeviceFault('no-key', 'the token has no public key with the same names: signatures could not be checked')
  }
  const [params, stored] = read(token, publicObject, ck.CKA_EC_PARAMS, ck.CKA_EC_POINT)
  const curve = CURVES.find(({ oid }) => params?.equals(oid) === true)
  const names = CURVES.map(({ name }) => name).join(', ')
  if (curve === undefined) throw new DeviceFault('unfit', `the key is on another curve than ${names}`)
  const coordinate = Math.ceil(curve.bits / 8)
  // PKCS #11 wraps the point into an OCTET STRING of DER, some devices do not: it stands at the end in either case.
  const point = stored?.subarray(-(1 + 2 * coordinate))
  if (point?.length !== 1 + 2 * coordinate || point[0] !== 0x04) {
    throw new DeviceFault('unfit', 'the token shows a point that is not written as both coordinates')
  }
  const part = (at: number): string => point.subarray(at, at + coordinate).toString('base64url')
  return { bits: curve.bits, publicKey: spkiOf({ kty: 'EC', crv: curve.jwk, x: part(1), y: part(1 + coordinate) }) }
}

function spkiOf(jwk: object): Uint8Array {
  try {
    const key = createPublicKey({ key: jwk as never, format: 'jwk' })
    return new Uint8Array(key.export({ type: 'spki', format: 'der' }))
  } catch (cause) {
    throw new DeviceFault('unfit', 'the token shows a public key that is none', cause)
  }
}

function bitsOf(modulus: Buffer): number {
  const first = modulus.findIndex((byte) => byte !== 0)
  return first === -1 ? 0 : (modulus.length - first) * 8 - Math.clz32(modulus[first] ?? 0) + 24
}

function read(
  { cryptoki, session }: TokenSession,
  handle: ck.ObjectHandle,
  ...types: number[]
): (Buffer | undefined)[] {
  return cryptoki
    .C_GetAttributeValue(
      session,
      handle,
      types.map((type) => ({ type })),
    )
    .map(({ value }) => value)
}

/** Makes the key with attributes by which its secret can never leave the token. @throws what the binding throws */
function makeKey(token: TokenSession, key: DeviceKeySelector, { bits, curve, uses }: NewDeviceKey): void {
  const { cryptoki } = token
  const stays: ck.Attribute[] = [
    { type: ck.CKA_TOKEN, value: true },
    { type: ck.CKA_PRIVATE, value: true },
    { type: ck.CKA_SENSITIVE, value: true },
    { type: ck.CKA_EXTRACTABLE, value: false },
    ...names(key),
  ]
  const may = (type: number, use: string): ck.Attribute => ({ type, value: uses.includes(use) })
  const shown: ck.Attribute[] = [
    { type: ck.CKA_TOKEN, value: true },
    { type: ck.CKA_PRIVATE, value: false },
    ...names(key),
    may(ck.CKA_VERIFY, 'sign'),
  ]
  token.writing((session) => {
    if (key.family === 'aes') {
      const template = [...stays, { type: ck.CKA_VALUE_LEN, value: bits / 8 }, may(ck.CKA_ENCRYPT, 'encrypt')]
      cryptoki.C_GenerateKey(session, { mechanism: ck.CKM_AES_KEY_GEN }, [...template, may(ck.CKA_DECRYPT, 'decrypt')])
    } else if (key.family === 'rsa') {
      cryptoki.C_GenerateKeyPair(
        session,
        { mechanism: ck.CKM_RSA_PKCS_KEY_PAIR_GEN },
        [
          ...shown,
          may(ck.CKA_ENCRYPT, 'decrypt'),
          { type: ck.CKA_MODULUS_BITS, value: bits },
          { type: ck.CKA_PUBLIC_EXPONENT, value: Buffer.from([1, 0, 1]) },
        ],
        [...stays, may(ck.CKA_DECRYPT, 'decrypt'), may(ck.CKA_SIGN, 'sign')],
      )
    } else {
      const oid = CURVES.find(({ name }) => name === curve)?.oid
      if (oid === undefined) throw new DeviceFault('unfit', '"curve": unknown to the device')
      const template = [...shown, { type: ck.CKA_EC_PARAMS, value: oid }]
      cryptoki.C_GenerateKeyPair(session, { mechanism: ck.CKM_EC_KEY_PAIR_GEN }, template, [
        ...stays,
        may(ck.CKA_SIGN, 'sign'),
      ])
    }
  })
}
