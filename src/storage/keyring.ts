// The barrier's data keys, each with the number of its term. The active term encrypts, all of them open, and rotation
// adds one. None is ever removed: records of older terms stay as they are.
//
// Numbers of terms are drawn at random. Two clusters that both add a term while they cannot reach each other then add
// two terms, which one barrier can hold. With numbers in sequence both would have the same number for different keys.
// Clients see the place of a term in the order of addition: 1, 2, 3 (`ordinalOf`).
//
//   stored (inside an envelope sealed by the root key, barrier.ts):
//   format 1 | active term u32 | count u32 | count × ( term u32 | installed at, ms u64 | key 32 )
import type { KeyObject } from 'node:crypto'
import { freshBytes, RandomnessFailed } from '../crypto/primitives/random-bytes.ts'
import { exportSecret, importSecret } from '../crypto/primitives/secret-key.ts'
import type { Random } from '../lib/world.ts'
import { StorageCorrupt } from './contract.ts'

/** An AES-256 key, and when rotation added it. */
export type DataKey = { readonly key: KeyObject; readonly installedAtMs: number }
/**
 * All data keys by their terms, in the order in which they were added; `activeTerm` is one of them. Threads share the
 * key objects without a copy.
 */
export type Keyring = { readonly activeTerm: number; readonly terms: ReadonlyMap<number, DataKey> }

const FORMAT = 1
const HEADER_BYTES = 9
/** AES-256. */
export const DATA_KEY_BYTES = 32
const TERM_NUMBER_BYTES = 4
const TERM_BYTES = TERM_NUMBER_BYTES + 8 + DATA_KEY_BYTES
/** The shortest encoded keyring: it has one term. */
export const LEAST_KEYRING_BYTES = HEADER_BYTES + TERM_BYTES

/** Of 2^32 numbers a few are taken. A source that hits one of them so often in a row is not random. */
const MOST_DRAWS = 16

/** Draws the number of a new term, from 1 on. @throws RandomnessFailed for a source that gives only taken numbers */
export function drawTerm(random: Random, isTaken: (term: number) => boolean): number {
  for (let draw = 0; draw < MOST_DRAWS; draw++) {
    const term = freshBytes((count) => random.bytes(count), TERM_NUMBER_BYTES).readUInt32BE(0)
    if (term !== 0 && !isTaken(term)) return term
  }
  throw new RandomnessFailed('The random source gave no number for a new term of the keyring')
}

/** A keyring of one new term. The caller wipes `material`. */
export function firstKeyring(random: Random, material: Buffer, nowMs: number): Keyring {
  const term = drawTerm(random, () => false)
  return { activeTerm: term, terms: new Map([[term, { key: importSecret(material), installedAtMs: nowMs }]]) }
}

/** The keyring with one more term, which is the active one. The caller wipes `material`. */
export function withNewTerm(keyring: Keyring, random: Random, material: Buffer, nowMs: number): Keyring {
  const term = drawTerm(random, (drawn) => keyring.terms.has(drawn))
  const added = { key: importSecret(material), installedAtMs: nowMs }
  return { ...keyring, activeTerm: term, terms: new Map([...keyring.terms, [term, added]]) }
}

/** The place of the active term in the order of addition, from 1 on. */
export function ordinalOf({ activeTerm, terms }: Keyring): number {
  return [...terms.keys()].indexOf(activeTerm) + 1
}

/** Encodes the keyring as drawn above. The caller wipes the result: it holds every data key. */
export function encodeKeyring(keyring: Keyring): Buffer {
  const out = Buffer.alloc(HEADER_BYTES + keyring.terms.size * TERM_BYTES)
  out.writeUInt8(FORMAT, 0)
  out.writeUInt32BE(keyring.activeTerm, 1)
  out.writeUInt32BE(keyring.terms.size, 5)
  let at = HEADER_BYTES
  for (const [term, { key, installedAtMs }] of keyring.terms) {
    const material = exportSecret(key)
    out.writeUInt32BE(term, at)
    out.writeBigUInt64BE(BigInt(installedAtMs), at + 4)
    material.copy(out, at + 12)
    material.fill(0)
    at += TERM_BYTES
  }
  return out
}

/** Reads an encoded keyring; the caller wipes `bytes`. @throws StorageCorrupt if they are no keyring */
export function decodeKeyring(bytes: Buffer): Keyring {
  if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw new StorageCorrupt('The keyring has an unknown format')
  const activeTerm = bytes.readUInt32BE(1)
  const count = bytes.readUInt32BE(5)
  if (bytes.length !== HEADER_BYTES + count * TERM_BYTES) throw new StorageCorrupt('The keyring has a wrong length')
  const terms = new Map<number, DataKey>()
  for (let at = HEADER_BYTES; at < bytes.length; at += TERM_BYTES) {
    terms.set(bytes.readUInt32BE(at), {
      key: importSecret(bytes.subarray(at + 12, at + TERM_BYTES)),
      installedAtMs: Number(bytes.readBigUInt64BE(at + 4)),
    })
  }
  if (!terms.has(activeTerm)) throw new StorageCorrupt('The keyring lacks its active term')
  return { activeTerm, terms }
}
