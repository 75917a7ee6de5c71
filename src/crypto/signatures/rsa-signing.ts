// RSA signatures (RFC 8017): PSS and PKCS #1 v1.5, over a message or over a digest that the caller made. For a message
// the runtime does everything. For a digest it gets the encoded block, since its own signing would hash again.
import { constants, type KeyObject, privateEncrypt, publicDecrypt, randomBytes, sign, verify } from 'node:crypto'
import { type SignatureOptions, type Signing, UnusableInput } from '../key-types/key-type.ts'
import { constantTimeEqual } from '../primitives/constant-time.ts'
import { encodePss, isPssOf, maxSaltBytes } from './emsa-pss.ts'
import { requireDigest, type SignatureHash, signatureHash } from './signature-hashes.ts'
import { RSA_X509 } from './x509-signatures.ts'

/** The shortest padding: 00 01, eight times ff or more, 00 (RFC 8017 section 9.2). */
const LEAST_PKCS1_BYTES = 11
const PKCS1 = constants.RSA_PKCS1_PADDING
const PSS = constants.RSA_PKCS1_PSS_PADDING
const NO_PADDING = constants.RSA_NO_PADDING

/** The signatures of RSA keys with a modulus of so many bits, which is a multiple of 8. */
export function rsaSigning(modulusBits: number): Signing {
  const modulusBytes = modulusBits / 8
  return {
    sign: (key, input, options) =>
      options.padding === 'pss'
        ? signPss(modulusBytes, key, input, options)
        : signPkcs1(modulusBytes, key, input, options),
    verify: (key, input, signature, options) =>
      options.padding === 'pss'
        ? verifyPss(modulusBytes, key, input, signature, options)
        : verifyPkcs1(modulusBytes, key, input, signature, options),
    x509: () => RSA_X509,
    device: { kind: `rsa ${modulusBits}`, bits: modulusBits },
    // Signing takes 0.25 ms with 2048 bits, 1.5 ms with 4096. Verifying takes less than a tenth of a millisecond.
    signsSlowly: true,
  }
}

function signPss(modulusBytes: number, key: KeyObject, input: Buffer, options: SignatureOptions): Buffer {
  const hash = signatureHash(options.hash)
  const saltBytes = chosenSalt(modulusBytes, hash, options.saltLength) ?? maxSaltBytes(modulusBytes, hash)
  if (!options.prehashed) return sign(hash.algorithm, input, { key, padding: PSS, saltLength: saltBytes })
  requireDigest(hash, input)
  // A salt is public once it is used. It only has to be a new one each time.
  const encoded = encodePss(input, randomBytes(saltBytes), modulusBytes, hash)
  return privateEncrypt({ key, padding: NO_PADDING }, encoded)
}

function verifyPss(
  modulusBytes: number,
  key: KeyObject,
  input: Buffer,
  signature: Buffer,
  options: SignatureOptions,
): boolean {
  const hash = signatureHash(options.hash)
  const saltBytes = chosenSalt(modulusBytes, hash, options.saltLength)
  if (!options.prehashed) {
    const saltLength = saltBytes ?? constants.RSA_PSS_SALTLEN_AUTO
    return verify(hash.algorithm, input, { key, padding: PSS, saltLength }, signature)
  }
  if (input.length !== hash.bytes) return false
  const encoded = recover(modulusBytes, key, signature)
  return encoded !== undefined && isPssOf(input, encoded, saltBytes, hash)
}

function signPkcs1(modulusBytes: number, key: KeyObject, input: Buffer, options: SignatureOptions): Buffer {
  if (options.hash === 'none') {
    const most = modulusBytes - LEAST_PKCS1_BYTES
    if (input.length > most)
      throw new UnusableInput(`"input": without a hash this key signs at most ${most} bytes, not ${input.length}`)
    return privateEncrypt({ key, padding: PKCS1 }, input)
  }
  const hash = signatureHash(options.hash)
  if (!options.prehashed) return sign(hash.algorithm, input, { key, padding: PKCS1 })
  requireDigest(hash, input)
  return privateEncrypt({ key, padding: PKCS1 }, Buffer.concat([hash.digestInfo, input]))
}

function verifyPkcs1(
  modulusBytes: number,
  key: KeyObject,
  input: Buffer,
  signature: Buffer,
  options: SignatureOptions,
): boolean {
  const hash = options.hash === 'none' ? undefined : signatureHash(options.hash)
  if (hash !== undefined && !options.prehashed) return verify(hash.algorithm, input, { key, padding: PKCS1 }, signature)
  if (hash === undefined ? input.length > modulusBytes - LEAST_PKCS1_BYTES : input.length !== hash.bytes) return false
  const block = hash === undefined ? input : Buffer.concat([hash.digestInfo, input])
  const encoded = recover(modulusBytes, key, signature)
  // The block is made anew and compared, never parsed: parsers of it let forged signatures through (section 8.2.2,
  // note).
  return encoded !== undefined && constantTimeEqual(encodePkcs1(block, modulusBytes), encoded)
}

/** EMSA-PKCS1-v1_5 from step 4 on (RFC 8017 section 9.2). */
function encodePkcs1(block: Buffer, modulusBytes: number): Buffer {
  const encoded = Buffer.alloc(modulusBytes, 0xff)
  encoded[0] = 0x00
  encoded[1] = 0x01
  encoded[modulusBytes - block.length - 1] = 0x00
  block.copy(encoded, modulusBytes - block.length)
  return encoded
}

/**
 * The encoded block (RSAVP1, section 5.2.2); undefined if the signature has another length or is not below the modulus.
 */
function recover(modulusBytes: number, key: KeyObject, signature: Buffer): Buffer | undefined {
  if (signature.length !== modulusBytes) return undefined
  try {
    return publicDecrypt({ key, padding: NO_PADDING }, signature)
  } catch {
    return undefined
  }
}

/** The wanted length of the salt; undefined for 'auto'. @throws UnusableInput for one that does not fit */
function chosenSalt(modulusBytes: number, hash: SignatureHash, wanted: SignatureOptions['saltLength']) {
  if (wanted === 'auto') return undefined
  const most = maxSaltBytes(modulusBytes, hash)
  const bytes = wanted === 'hash' ? hash.bytes : wanted
  if (bytes < 0 || bytes > most || !Number.isInteger(bytes))
    throw new UnusableInput(
      `"salt_length": requested salt length ${bytes} is invalid, with ${hash.name} this key takes 0 to ${most} bytes`,
    )
  return bytes
}
