// Files of any size, encrypted where they are. In front stands a key that only the server can open. Segments follow
// that are authenticated one by one, so the whole is never in memory. docs/file-format.md says it in full.
//
//   offset  bytes
//   0       8       magic, whose last byte is the format, 1
//   8       1       algorithm
//   9       1       length of a segment, as a power of two
//   10      2       W, length of the wrapped data key
//   12      W       wrapped data key
//   12 + W  32      salt
//   44 + W          segments, each with its tag
import { createSecretKey, type KeyObject } from 'node:crypto'
import { AEADS, AuthenticationFailed, open, seal } from '../crypto/primitives/aead.ts'
import { hkdfExpand, hkdfExtract } from '../crypto/primitives/derivation.ts'
import type { ByteReader } from './byte-reader.ts'
import { CliError } from './cli-error.ts'

const { aes256Gcm } = AEADS
const MAGIC = Buffer.from('KWFILE\0\u0001', 'latin1')
const ALGORITHM = 1
const SEGMENT_BITS = 16
/** Content bytes of a segment; 16 bytes of tag follow. */
export const SEGMENT_BYTES = 1 << SEGMENT_BITS
const LENGTH_AT = MAGIC.length + 2
/** Length of the part of the header that is always there: up to the length of the wrapped key. */
export const FIXED_BYTES = LENGTH_AT + 2
/** The length of the output of SHA-256, as RFC 5869 section 3.1 recommends. */
export const SALT_BYTES = 32
/** Far above any wrapped key of 32 bytes: a larger number is a damaged length. */
const MAX_WRAPPED_BYTES = 8_192
/** The last byte of the nonce of the last segment. */
const LAST = 1

/** The parts of a header that differ from file to file. */
export type EnvelopeHeader = {
  /** The data key as the server gave it: `vault:vN:` and base64. */
  readonly wrappedKey: string
  /** Random, for each file anew. */
  readonly salt: Buffer
}

/** True if a file begins as an envelope of any format: a newer one is named, and not taken for a ciphertext. */
export function isFileEnvelope(beginning: Buffer): boolean {
  return beginning.subarray(0, MAGIC.length - 1).equals(MAGIC.subarray(0, -1))
}

/** The `info` of HKDF: it binds format, algorithm and segment length to the key, so changing one opens no segment. */
const PARAMETERS = Buffer.from([...MAGIC, ALGORITHM, SEGMENT_BITS])

/** Returns the bytes in front of the segments. */
export function encodeEnvelopeHeader({ wrappedKey, salt }: EnvelopeHeader): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(wrappedKey.length)
  return Buffer.concat([PARAMETERS, length, Buffer.from(wrappedKey, 'latin1'), salt])
}

/**
 * Reads the rest of a header, after `fixed`, the first FIXED_BYTES. Nothing in it is authenticated here: after a change
 * the server opens no key, or the key opens no segment. @throws CliError if it is cut short, or of a newer format
 */
export async function readHeader(fixed: Buffer, reader: ByteReader, file: string): Promise<EnvelopeHeader> {
  const [format, algorithm, bits] = fixed.subarray(MAGIC.length - 1, LENGTH_AT)
  if (format !== 1 || algorithm !== ALGORITHM || bits !== SEGMENT_BITS) {
    throw new CliError(`${file} has format ${format}.${algorithm}.${bits}, known here is 1.1.16: use a newer keywright`)
  }
  const wrappedBytes = fixed.length === FIXED_BYTES ? fixed.readUInt16BE(LENGTH_AT) : 0
  if (wrappedBytes === 0 || wrappedBytes > MAX_WRAPPED_BYTES) throw new CliError(`${file} ends inside its header`)
  const wrapped = await reader.take(wrappedBytes)
  const salt = await reader.take(SALT_BYTES)
  if (salt.length !== SALT_BYTES) throw new CliError(`${file} ends inside its header`)
  return { wrappedKey: wrapped.toString('latin1'), salt }
}

/** Derives the key of one file: HKDF-SHA-256 (RFC 5869). The caller still wipes `dataKey`. */
export function fileKey(dataKey: Buffer, salt: Buffer): KeyObject {
  const bytes = hkdfExpand(hkdfExtract(createSecretKey(dataKey), createSecretKey(salt)), PARAMETERS, aes256Gcm.keyBytes)
  try {
    return createSecretKey(bytes)
  } finally {
    bytes.fill(0)
  }
}

/** Yields the sealed segments. An empty content has one too, so that cutting a file to nothing is noticed. */
export async function* sealSegments(key: KeyObject, content: ByteReader): AsyncGenerator<Buffer> {
  for (let index = 0; ; index++) {
    const segment = await content.take(SEGMENT_BYTES)
    const isLast = await content.isAtEnd()
    yield seal(aes256Gcm, key, nonceOf(index, isLast), segment)
    if (isLast) return
  }
}

/**
 * Yields the content, each segment once it is authenticated; what came before an error is the true beginning.
 * @throws CliError if a segment was changed, moved or is of another file, or if the file does not end with its last one
 */
export async function* openSegments(key: KeyObject, sealed: ByteReader, file: string): AsyncGenerator<Buffer> {
  for (let index = 0; ; index++) {
    const segment = await sealed.take(SEGMENT_BYTES + aes256Gcm.tagBytes)
    const isLast = await sealed.isAtEnd()
    try {
      yield open(aes256Gcm, key, nonceOf(index, isLast), segment)
    } catch (cause) {
      if (!(cause instanceof AuthenticationFailed)) throw cause
      throw new CliError(
        `${file} cannot be decrypted from byte ${index * SEGMENT_BYTES} of its content on: it was changed or cut short`,
      )
    }
    if (isLast) return
  }
}

/**
 * Returns the nonce: number of the segment, then 1 in the last one. It never repeats under a key, which has one file.
 * Without the last byte a file that is cut between segments would open (STREAM, IACR ePrint 2015/189).
 */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(aes256Gcm.nonceBytes)
  nonce.writeUIntBE(index, nonce.length - 7, 6)
  nonce[nonce.length - 1] = isLast ? LAST : 0
  return nonce
}
