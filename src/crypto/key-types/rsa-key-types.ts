// RSA keys. The material is PKCS #8 (RFC 5208) in DER. A client that may read a key sees its public half.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Job } from '../../lib/slow-work.ts'
import { pkcs8Of } from '../forms/pkcs8.ts'
import { loadPkcs8 } from '../forms/private-keys.ts'
import { loadSpki, spkiPem } from '../forms/public-keys.ts'
import { rsaForm } from '../forms/rsa-form.ts'
import { AuthenticationFailed } from '../primitives/aead.ts'
import { maxOaepPlaintextBytes, OPEN_OAEP, openOaep, sealOaep } from '../primitives/rsa-oaep.ts'
import type { RsaOpening } from '../primitives/rsa-opening.ts'
import { maxPkcs1PlaintextBytes, OPEN_PKCS1, openPkcs1, sealPkcs1 } from '../primitives/rsa-pkcs1.ts'
import { rsaSigning } from '../signatures/rsa-signing.ts'
import { type Cipher, InvalidKeyMaterial, type ListedKeyType } from './key-type.ts'

/** FIPS 186-5 appendix A.1.1 allows others; this is the one that every other program takes. */
const PUBLIC_EXPONENT = 65_537
/** Bounds of the same appendix: above 2^16, and below 2^256, so that no imported key makes verifying slow. */
const EXPONENTS = { least: 65_537n, below: 1n << 256n }

/** Makes a key pair; takes seconds with 4096 bits. The key comes back as a handle, so its bytes are not copied. */
export const GENERATE_RSA: Job<number, KeyObject> = {
  name: 'rsa-generate',
  takes: 'long',
  run: (modulusLength) => generateKeyPairSync('rsa', { modulusLength, publicExponent: PUBLIC_EXPONENT }).privateKey,
}

/** A type that encrypts with two paddings and signs. Its work with the private half is done on the pool. */
export function rsaKeyType(modulusBits: number, backupId: number): ListedKeyType {
  const name = `rsa-${modulusBits}`
  const cipher = rsaCipher(modulusBits, OAEP)
  return {
    name,
    backupId,
    form: rsaForm(modulusBits),
    generate: async (_random, slow) => {
      const key = await slow.run(GENERATE_RSA, modulusBits)
      return pkcs8Of(key)
    },
    generatesSlowly: true,
    load: (material) => requireRsa(name, modulusBits, loadPkcs8(name, material)),
    cipher,
    paddings: { oaep: cipher, pkcs1v15: rsaCipher(modulusBits, PKCS1) },
    signing: rsaSigning(modulusBits),
    publicPart: {
      name,
      text: spkiPem,
      load: (spki) => requireRsa(name, modulusBits, loadSpki(name, spki)),
    },
  }
}

/** An encryption padding; `name` is for messages. */
type Padding = {
  readonly name: string
  readonly maxBytes: (modulusBits: number) => number
  readonly seal: (key: KeyObject, plaintext: Buffer) => Buffer
  readonly open: (key: KeyObject, sealed: Buffer) => Buffer
  readonly job: Job<RsaOpening, ArrayBuffer | undefined>
}

const OAEP: Padding = { name: 'OAEP', maxBytes: maxOaepPlaintextBytes, seal: sealOaep, open: openOaep, job: OPEN_OAEP }
const PKCS1: Padding = {
  name: 'PKCS1-v1_5',
  maxBytes: maxPkcs1PlaintextBytes,
  seal: sealPkcs1,
  open: openPkcs1,
  job: OPEN_PKCS1,
}

function rsaCipher(modulusBits: number, padding: Padding): Cipher {
  const seal = (key: KeyObject, nonce: Buffer, plaintext: Buffer, associatedData?: Buffer): Buffer => {
    // Silently ignored, associated data would not be authenticated, and no caller would notice.
    if (nonce.length > 0 || (associatedData !== undefined && associatedData.length > 0))
      throw new RangeError(`RSA with ${padding.name} takes neither nonce nor associated data`)
    return padding.seal(key, plaintext)
  }
  return {
    nonceBytes: 0,
    maxPlaintextBytes: padding.maxBytes(modulusBits),
    takesAssociatedData: false,
    seal,
    sealWithNonce: seal,
    open: (key, _nonce, sealed) => padding.open(key, sealed),
    openWithNonce: padding.open,
    openSlowly: async (slow, key, sealed) => {
      // A copy: a view would send along all the memory behind it.
      const opened = await slow.run(padding.job, { key, sealed: new Uint8Array(sealed) })
      if (opened === undefined) throw new AuthenticationFailed()
      return Buffer.from(opened)
    },
  }
}

function requireRsa(name: string, modulusBits: number, key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'rsa' || key.asymmetricKeyDetails?.modulusLength !== modulusBits)
    throw new InvalidKeyMaterial(`A key of type ${name} is an RSA key with a modulus of ${modulusBits} bits`)
  const { publicExponent = 0n } = key.asymmetricKeyDetails
  if (publicExponent < EXPONENTS.least || publicExponent >= EXPONENTS.below)
    throw new InvalidKeyMaterial(`A key of type ${name} has a public exponent of 65537 or more, with at most 256 bits`)
  return key
}

/** RSA with 2,048 bits. */
export const rsa2048 = rsaKeyType(2048, 3)
/** RSA with 3,072 bits. */
export const rsa3072 = rsaKeyType(3072, 9)
/** RSA with 4,096 bits, which wrapping keys have too (forms/wrapped-key.ts). */
export const rsa4096 = rsaKeyType(4096, 4)
