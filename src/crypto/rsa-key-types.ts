// RSA keys: the material is PKCS #8 (RFC 5208) in DER. Whoever may read a key sees its public half.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { Job } from '../lib/slow-work.ts'
import { AuthenticationFailed } from './aead.ts'
import { type Cipher, InvalidKeyMaterial, type KeyType } from './key-type.ts'
import { pkcs8Of } from './pkcs8.ts'
import { loadSpki, spkiPem } from './public-keys.ts'
import { maxOaepPlaintextBytes, OPEN_OAEP, openOaep, sealOaep } from './rsa-oaep.ts'

/** FIPS 186-5 appendix A.1.1 allows others; this is the one that every other program takes. */
const PUBLIC_EXPONENT = 65_537

/** Seconds, with 4096 bits. The key comes back as a handle: its material is nowhere as bytes. */
export const GENERATE_RSA: Job<number, KeyObject> = {
  name: 'rsa-generate',
  takes: 'long',
  run: (modulusLength) => generateKeyPairSync('rsa', { modulusLength, publicExponent: PUBLIC_EXPONENT }).privateKey,
}

export function rsaKeyType(modulusBits: number): KeyType {
  const name = `rsa-${modulusBits}`
  return {
    name,
    generate: async (_random, slow) => {
      const key = await slow.run(GENERATE_RSA, modulusBits)
      return pkcs8Of(key)
    },
    generatesSlowly: true,
    load: (material) => loadRsa(name, modulusBits, material),
    cipher: rsaCipher(modulusBits),
    publicPart: {
      name,
      text: spkiPem,
      load: (spki) => requireRsa(name, modulusBits, loadSpki(name, spki)),
    },
  }
}

function rsaCipher(modulusBits: number): Cipher {
  const seal = (key: KeyObject, nonce: Buffer, plaintext: Buffer, associatedData?: Buffer): Buffer => {
    // Left out it would not be authenticated, and nobody would notice.
    if (nonce.length > 0 || (associatedData !== undefined && associatedData.length > 0))
      throw new RangeError('RSA-OAEP takes neither nonce nor associated data')
    return sealOaep(key, plaintext)
  }
  return {
    nonceBytes: 0,
    maxPlaintextBytes: maxOaepPlaintextBytes(modulusBits),
    takesAssociatedData: false,
    seal,
    sealWithNonce: seal,
    open: (key, _nonce, sealed) => openOaep(key, sealed),
    openWithNonce: openOaep,
    openSlowly: async (slow, key, sealed) => {
      // A copy: a view would take all the memory along that it is a view of.
      const opened = await slow.run(OPEN_OAEP, { key, sealed: new Uint8Array(sealed) })
      if (opened === undefined) throw new AuthenticationFailed()
      return Buffer.from(opened)
    },
  }
}

function loadRsa(name: string, modulusBits: number, material: Buffer): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey({ key: material, format: 'der', type: 'pkcs8' })
  } catch {
    // The cause could quote the material.
    throw new InvalidKeyMaterial(`A key of type ${name} is a private key in PKCS #8 (DER)`)
  }
  return requireRsa(name, modulusBits, key)
}

function requireRsa(name: string, modulusBits: number, key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== 'rsa' || key.asymmetricKeyDetails?.modulusLength !== modulusBits)
    throw new InvalidKeyMaterial(`A key of type ${name} is an RSA key with a modulus of ${modulusBits} bits`)
  return key
}

export const rsa2048 = rsaKeyType(2048)
export const rsa3072 = rsaKeyType(3072)
export const rsa4096 = rsaKeyType(4096)
