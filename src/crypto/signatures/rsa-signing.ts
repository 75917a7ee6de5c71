// RSA signatures (RFC 8017): PSS and PKCS #1 v1.5, over a message or over a hash that somebody else made. Over a
// message the runtime does all of it; over a hash it is given the encoded block, since its own signing hashes again.
import { constants, type KeyObject, privateEncrypt, publicDecrypt, randomBytes, sign, verify } from 'node:crypto'
import { type SignatureOptions, type Signing, UnusableInput } from '../key-types/key-type.ts'
import { constantTimeEqual } from '../primitives/constant-time.ts'
import { encodePss, isPssOf, maxSaltBytes } from './emsa-pss.ts'
import { requireDigest, type SignatureHash, signatureHash } from './signature-hashes.ts'
import { RSA_X509 } from './x509-signatures.ts'

/** RFC 8017 section 9.2: 00 01, eight times ff or more, 00. */
const LEAST_PKCS1_BYTES = 11
const PKCS1 = constants.RSA_PKCS1_PADDING
const PSS = constants.RSA_PKCS1_PSS_PADDING
const NO_PADDING = constants.RSA_NO_PADDING

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
    // 0.25 ms with 2048 bits, 1.5 ms with 4096. The public half takes less than a tenth of a millisecond.
    signsSlowly: true,
  }
}

function signPss(modulusBytes: number, key: KeyObject, input: Buffer, options: SignatureOptions): Buffer {
  const hash = signatureHash(options.hash)
  const saltBytes = chosenSalt(modulusBytes, hash, options.saltLength) ?? maxSaltBytes(modulusBytes, hash)
  if (!options.prehashed) return sign(hash.algorithm, input, { key, padding: PSS, saltLength: saltBytes })
  requireDigest(hash, input)
  // Public once it is used: what it must be is another each time.
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
  // Section 8.2.2, note: made anew and compared, never taken apart, which is where signatures were forged.
  return encoded !== undefined && constantTimeEqual(encodePkcs1(block, modulusBytes), encoded)
}

/** RFC 8017 section 9.2. */
function encodePkcs1(block: Buffer, modulusBytes: number): Buffer {
  const encoded = Buffer.alloc(modulusBytes, 0xff)
  encoded[0] = 0x00
  encoded[1] = 0x01
  encoded[modulusBytes - block.length - 1] = 0x00
  block.copy(encoded, modulusBytes - block.length)
  return encoded
}

/** RSAVP1 (section 5.2.2): what was encoded; undefined for a signature of another length, or not below the modulus. */
function recover(modulusBytes: number, key: KeyObject, signature: Buffer): Buffer | undefined {
  if (signature.length !== modulusBytes) return undefined
  try {
    return publicDecrypt({ key, padding: NO_PADDING }, signature)
  } catch {
    return undefined
  }
}

/** Undefined for 'auto'. @throws UnusableInput for one that does not fit */
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
