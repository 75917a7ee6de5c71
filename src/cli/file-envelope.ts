// Files of any size, encrypted where they are: a key that only the server can open stands in front of segments that are
// authenticated one by one, so that the whole never has to be in memory. docs/file-format.md says it byte by byte.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { AEADS, AuthenticationFailed, open, seal } from '../crypto/primitives/aead.ts'
import { hkdfExpand, hkdfExtract } from '../crypto/primitives/derivation.ts'
import type { ByteReader } from './byte-reader.ts'
import { CliError } from './cli-error.ts'

const { aes256Gcm } = AEADS
const MAGIC = Buffer.from('KWFILE\0\u0001', 'latin1')
const ALGORITHM = 1
const SEGMENT_BITS = 16
/** Of content; each is followed by its tag. */
export const SEGMENT_BYTES = 1 << SEGMENT_BITS
const LENGTH_AT = MAGIC.length + 2
/** Magic, algorithm, segments, length of the wrapped key. */
export const FIXED_BYTES = LENGTH_AT + 2
export const SALT_BYTES = 32
const MAX_WRAPPED_BYTES = 8_192
const LAST = 1

export type EnvelopeHeader = {
  /** The data key as the server gave it: `vault:vN:` and base64. */
  readonly wrappedKey: string
  /** Fresh for each file. */
  readonly salt: Buffer
}

/** Whether the beginning of a file is that of an envelope, of whatever format. */
export function isFileEnvelope(beginning: Buffer): boolean {
  return beginning.subarray(0, MAGIC.length - 1).equals(MAGIC.subarray(0, -1))
}

/** What binds format, algorithm and length of segments to the key of the file. */
const PARAMETERS = Buffer.from([...MAGIC, ALGORITHM, SEGMENT_BITS])

export function encodeEnvelopeHeader({ wrappedKey, salt }: EnvelopeHeader): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(wrappedKey.length)
  return Buffer.concat([PARAMETERS, length, Buffer.from(wrappedKey, 'latin1'), salt])
}

/** `fixed` are the first FIXED_BYTES, which `reader` has given already. @throws CliError */
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

/** The key of one file. `dataKey` stays the caller's to wipe. */
export function fileKey(dataKey: Buffer, salt: Buffer): KeyObject {
  const bytes = hkdfExpand(hkdfExtract(createSecretKey(dataKey), createSecretKey(salt)), PARAMETERS, aes256Gcm.keyBytes)
  try {
    return createSecretKey(bytes)
  } finally {
    bytes.fill(0)
  }
}

/** The segments of the content, one after another. */
export async function* sealSegments(key: KeyObject, content: ByteReader): AsyncGenerator<Buffer> {
  for (let index = 0; ; index++) {
    const segment = await content.take(SEGMENT_BYTES)
    const isLast = await content.isAtEnd()
    yield seal(aes256Gcm, key, nonceOf(index, isLast), segment)
    if (isLast) return
  }
}

/**
 * The content, as far as it is authenticated.
 * @throws CliError for a segment that was changed, moved or of another file, and where the last one is not the end
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

/** Never twice under one key: the number of the segment, and whether it is the last one. */
function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(aes256Gcm.nonceBytes)
  nonce.writeUIntBE(index, nonce.length - 7, 6)
  nonce[nonce.length - 1] = isLast ? LAST : 0
  return nonce
}
