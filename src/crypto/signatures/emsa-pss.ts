// EMSA-PSS (RFC 8017 section 9.1) around a digest that the caller made, with MGF1 of the same hash. The runtime has PSS
// only for a message that it hashes itself.
import { hash } from 'node:crypto'
import { constantTimeEqual } from '../primitives/constant-time.ts'
import type { SignatureHash } from './signature-hashes.ts'

const TRAILER = 0xbc
const SALT_FOLLOWS = 0x01
const ZEROS = Buffer.alloc(8)

/** The longest salt, for a modulus of whole bytes: emLen - hLen - 2 (section 9.1.1 step 3). Negative if none fits. */
export const maxSaltBytes = (modulusBytes: number, hash: SignatureHash): number => modulusBytes - hash.bytes - 2

/** Encodes a digest (section 9.1.1 from step 5) for a modulus of whole bytes. The salt has at most `maxSaltBytes`. */
export function encodePss(digest: Buffer, salt: Buffer, modulusBytes: number, hash: SignatureHash): Buffer {
  const encoded = Buffer.alloc(modulusBytes)
  const dbBytes = modulusBytes - hash.bytes - 1
  const db = encoded.subarray(0, dbBytes)
  db[dbBytes - salt.length - 1] = SALT_FOLLOWS
  salt.copy(db, dbBytes - salt.length)
  const h = hashOf(digest, salt, hash)
  xorInto(db, mgf1(h, dbBytes, hash))
  db[0] = (db[0] ?? 0) & 0x7f
  h.copy(encoded, dbBytes)
  encoded[modulusBytes - 1] = TRAILER
  return encoded
}

/** True if the encoding is one of the digest (section 9.1.2 from step 4). `saltBytes` undefined allows any salt. */
export function isPssOf(digest: Buffer, encoded: Buffer, saltBytes: number | undefined, hash: SignatureHash): boolean {
  const dbBytes = encoded.length - hash.bytes - 1
  if (encoded[encoded.length - 1] !== TRAILER || ((encoded[0] ?? 0) & 0x80) !== 0) return false
  const h = encoded.subarray(dbBytes, -1)
  const db = Buffer.from(encoded.subarray(0, dbBytes))
  xorInto(db, mgf1(h, dbBytes, hash))
  db[0] = (db[0] ?? 0) & 0x7f
  const marked = db.findIndex((byte) => byte !== 0)
  if (marked === -1 || db[marked] !== SALT_FOLLOWS) return false
  const salt = db.subarray(marked + 1)
  if (saltBytes !== undefined && salt.length !== saltBytes) return false
  return constantTimeEqual(hashOf(digest, salt, hash), h)
}

/** The hash of M' (section 9.1.1 steps 5 and 6). */
function hashOf(digest: Buffer, salt: Buffer, { algorithm }: SignatureHash): Buffer {
  return hash(algorithm, Buffer.concat([ZEROS, digest, salt]), 'buffer')
}

/** The mask generation function (appendix B.2.1). */
function mgf1(seed: Buffer, bytes: number, { algorithm, bytes: hashBytes }: SignatureHash): Buffer {
  const mask = Buffer.alloc(Math.ceil(bytes / hashBytes) * hashBytes)
  const input = Buffer.alloc(seed.length + 4)
  seed.copy(input)
  for (let counter = 0; counter * hashBytes < bytes; counter += 1) {
    input.writeUInt32BE(counter, seed.length)
    hash(algorithm, input, 'buffer').copy(mask, counter * hashBytes)
  }
  return mask.subarray(0, bytes)
}

function xorInto(target: Buffer, mask: Buffer): void {
  for (let at = 0; at < target.length; at += 1) target[at] = (target[at] ?? 0) ^ (mask[at] ?? 0)
}
