// ECDSA keys (FIPS 186-5). The material is PKCS #8 in DER that names the curve. The choice of curves is explained in
// docs/decisions/0008-curves-and-ciphers.md.
import { type KeyObject, sign, verify } from 'node:crypto'
import { type Curve, orderBits, P256, P384, P521, SECP256K1, scalarBytes } from '../forms/ec-curves.ts'
import { ecForm } from '../forms/ec-form.ts'
import { generateEcKey } from '../forms/ec-private-key.ts'
import { loadPkcs8 } from '../forms/private-keys.ts'
import { loadSpki, spkiPem } from '../forms/public-keys.ts'
import { agreedKey } from '../primitives/agreement.ts'
import { requireEcdsaDigest } from '../signatures/ecdsa-digest.ts'
import { signDigest, verifyDigest } from '../signatures/ecdsa-over-digest.ts'
import { readEcdsaDer, writeEcdsaDer } from '../signatures/ecdsa-signature.ts'
import { signatureHash } from '../signatures/signature-hashes.ts'
import { x509Signature } from '../signatures/x509-signatures.ts'
import {
  InvalidKeyMaterial,
  type ListedKeyType,
  type SignatureOptions,
  type Signing,
  type X509Signature,
} from './key-type.ts'

/** The runtime has special code for P-256 (0.03 and 0.07 ms); the other curves take ten to seventy times as long. */
const SLOW: Pick<Signing, 'signsSlowly' | 'verifiesSlowly'> = { signsSlowly: true, verifiesSlowly: true }

/** The rows at the end of this file. */
type EcdsaType = {
  readonly name: string
  readonly backupId: number
  readonly curve: Curve
  /** RFC 5758 section 3.2. The hash is as strong as the curve. */
  readonly x509: X509Signature
  /** True if devices have keys on the curve. */
  readonly isInDevices: boolean
}

/** A type that signs, and agrees on keys, with pairs on one curve. */
export function ecdsaKeyType({ name, backupId, curve, x509, isInDevices }: EcdsaType): ListedKeyType {
  return {
    name,
    backupId,
    form: ecForm(curve),
    generate: (random, slow) => generateEcKey(curve, random, slow),
    load: (material) => requireCurve(name, curve, loadPkcs8(name, material)),
    signing: {
      sign: (key, input, options) => signEcdsa(curve, key, input, options),
      verify: (key, input, signature, options) => verifyEcdsa(curve, key, input, signature, options),
      x509: () => x509,
      ...(isInDevices ? { device: { kind: `ec ${curve.opensslName}`, bits: orderBits(curve) } } : {}),
      ...(curve === P256 ? { prehashedSlowly: true } : SLOW),
    },
    agree: agreedKey,
    publicPart: {
      name: curve.name,
      text: spkiPem,
      load: (spki) => requireCurve(name, curve, loadSpki(name, spki)),
    },
  }
}

function signEcdsa(curve: Curve, key: KeyObject, input: Buffer, options: SignatureOptions): Buffer {
  const isDer = options.marshaling === 'asn1'
  if (options.prehashed) {
    requireEcdsaDigest(input, options)
    const rs = signDigest(curve, key, input)
    return isDer ? writeEcdsaDer(rs) : rs
  }
  return sign(signatureHash(options.hash).algorithm, input, { key, dsaEncoding: isDer ? 'der' : 'ieee-p1363' })
}

function verifyEcdsa(
  curve: Curve,
  key: KeyObject,
  input: Buffer,
  signature: Buffer,
  options: SignatureOptions,
): boolean {
  // Checked first: an unknown hash, or input that is no digest, is a mistake whatever the signature is.
  if (options.prehashed) requireEcdsaDigest(input, options)
  const hash = options.prehashed ? undefined : signatureHash(options.hash)
  const bytes = scalarBytes(curve)
  const rs = options.marshaling === 'jws' ? signature : readEcdsaDer(signature, bytes)
  if (rs?.length !== 2 * bytes) return false
  if (hash === undefined) return verifyDigest(curve, key, input, rs)
  return verify(hash.algorithm, input, { key, dsaEncoding: 'ieee-p1363' }, rs)
}

function requireCurve(name: string, curve: Curve, key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== curve.opensslName)
    throw new InvalidKeyMaterial(`A key of type ${name} is an elliptic-curve key on ${curve.name}`)
  return key
}

const WITH_SHA256 = x509Signature('1.2.840.10045.4.3.2', { hash: 'sha2-256' })
const WITH_SHA384 = x509Signature('1.2.840.10045.4.3.3', { hash: 'sha2-384' })
const WITH_SHA512 = x509Signature('1.2.840.10045.4.3.4', { hash: 'sha2-512' })

/**
 * P-256 with SHA-256 in certificates. Signing a message is fast enough for the thread that serves; a digest goes to the
 * pool.
 */
export const ecdsaP256 = ecdsaKeyType({
  name: 'ecdsa-p256',
  backupId: 1,
  curve: P256,
  x509: WITH_SHA256,
  isInDevices: true,
})
/** P-384 with SHA-384 in certificates. */
export const ecdsaP384 = ecdsaKeyType({
  name: 'ecdsa-p384',
  backupId: 6,
  curve: P384,
  x509: WITH_SHA384,
  isInDevices: true,
})
/** P-521 with SHA-512 in certificates. */
export const ecdsaP521 = ecdsaKeyType({
  name: 'ecdsa-p521',
  backupId: 7,
  curve: P521,
  x509: WITH_SHA512,
  isInDevices: true,
})
/** secp256k1 (SEC 2), which the reference products lack: hence its number in backups. */
export const ecdsaSecp256k1 = ecdsaKeyType({
  name: 'ecdsa-secp256k1',
  backupId: 20_001,
  curve: SECP256K1,
  x509: WITH_SHA256,
  isInDevices: false,
})
