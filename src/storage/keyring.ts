// The barrier's data keys, each with the number of its term. The active term encrypts, all of them open, and rotation
// adds one. None is ever removed: records of older terms stay as they are.
//
// Numbers of terms are drawn at random. Two clusters that both add a term while they cannot reach each other then add
// two terms, which one barrier can hold. With numbers in sequence both would have the same number for different keys.
// Clients see the place of a term in the order of addition: 1, 2, 3 (`ordinalOf`).
//
// Where the keyring of another cluster replaces this one, the terms that only this one has become former keys. They
// open what was sealed before, and never seal. Two of them may have one number, each with a key of its own.
//
//   stored, each inside an envelope sealed by the root key (barrier.ts):
//   keyring       format 1 | active term u32 | count u32 | count × term
//   former keys   format 1 | count u32 | count × term
//   term          number u32 | installed at, ms u64 | key 32
import type { KeyObject } from 'node:crypto'
import { freshBytes, RandomnessFailed } from '../crypto/primitives/random-bytes.ts'
import { exportSecret, importSecret } from '../crypto/primitives/secret-key.ts'
import type { Random } from '../lib/world.ts'
import { StorageCorrupt } from './errors.ts'

/** An AES-256 key, and when rotation added it. */
export type DataKey = { readonly key: KeyObject; readonly installedAtMs: number }
/**
 * All data keys by their terms, in the order in which they were added; `activeTerm` is one of them. Threads share the
 * key objects without a copy.
 */
export type Keyring = {
  readonly activeTerm: number
  readonly terms: ReadonlyMap<number, DataKey>
  /** Tried after `terms`. */
  readonly former?: FormerKeys
}
/** Keys that only open, by the numbers of their terms. */
export type FormerKeys = ReadonlyMap<number, readonly DataKey[]>

const FORMAT = 1
const HEADER_BYTES = 9
const FORMER_HEADER_BYTES = 5
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
  const term = drawTerm(random, (drawn) => keyring.terms.has(drawn) || keyring.former?.has(drawn) === true)
  const added = { key: importSecret(material), installedAtMs: nowMs }
  return { ...keyring, activeTerm: term, terms: new Map([...keyring.terms, [term, added]]) }
}

/** The place of the active term in the order of addition, from 1 on. */
export function ordinalOf({ activeTerm, terms }: Keyring): number {
  return [...terms.keys()].indexOf(activeTerm) + 1
}

/**
 * The keyring `theirs`, with what only `ours` can open as former keys. Nothing is ever dropped: what was sealed under a
 * term of ours opens after its replacement too.
 */
export function replacedBy(ours: Keyring, theirs: Keyring): Keyring {
  const former = new Map<number, DataKey[]>()
  const add = (term: number, key: DataKey): void => {
    const known = [...(former.get(term) ?? []), theirs.terms.get(term)]
    if (!known.some((other) => other?.key.equals(key.key))) former.set(term, [...(former.get(term) ?? []), key])
  }
  for (const keys of [theirs.former, ours.former]) {
    for (const [term, list] of keys ?? []) for (const key of list) add(term, key)
  }
  for (const [term, key] of ours.terms) add(term, key)
  return { activeTerm: theirs.activeTerm, terms: theirs.terms, former }
}

/**
 * The keyring with its former keys among its terms, for a cluster that others are to follow: its secondaries open what
 * its terms open, and former keys stay where they are. A key whose number a term has stays a former one: numbers are
 * random, so hardly any does.
 */
export function withFormerTerms({ activeTerm, terms, former = new Map() }: Keyring): Keyring {
  const all = new Map(terms)
  const left = new Map<number, readonly DataKey[]>()
  for (const [term, keys] of former) {
    const [first, ...others] = keys
    const isFree = first !== undefined && !all.has(term)
    if (isFree) all.set(term, first)
    const rest = isFree ? others : keys
    if (rest.length > 0) left.set(term, rest)
  }
  return { activeTerm, terms: all, former: left }
}

/** True if `ours` has an active or older term that `theirs` has not: the two went apart. */
export function hasTermsBeside(ours: Keyring, theirs: Keyring): boolean {
  return [...ours.terms].some(([term, { key }]) => theirs.terms.get(term)?.key.equals(key) !== true)
}

/** True if both seal under one key: the number of a term alone does not say so. */
export function hasSameActive(one: Keyring, other: Keyring): boolean {
  const [key, same] = [one.terms.get(one.activeTerm)?.key, other.terms.get(other.activeTerm)?.key]
  return one.activeTerm === other.activeTerm && key !== undefined && same !== undefined && key.equals(same)
}

/** Encodes the keyring as drawn above, without former keys. The caller wipes the result: it holds every data key. */
export function encodeKeyring({ activeTerm, terms }: Keyring): Buffer {
  const out = Buffer.alloc(HEADER_BYTES + terms.size * TERM_BYTES)
  out.writeUInt8(FORMAT, 0)
  out.writeUInt32BE(activeTerm, 1)
  out.writeUInt32BE(terms.size, 5)
  writeTerms([...terms], out, HEADER_BYTES)
  return out
}

/** Encodes former keys as drawn above; the caller wipes the result. */
export function encodeFormerKeys(former: FormerKeys): Buffer {
  const terms = [...former].flatMap(([term, keys]) => keys.map((key) => [term, key] as const))
  const out = Buffer.alloc(FORMER_HEADER_BYTES + terms.length * TERM_BYTES)
  out.writeUInt8(FORMAT, 0)
  out.writeUInt32BE(terms.length, 1)
  writeTerms(terms, out, FORMER_HEADER_BYTES)
  return out
}

function writeTerms(terms: readonly (readonly [number, DataKey])[], out: Buffer, at: number): void {
  for (const [index, [term, { key, installedAtMs }]] of terms.entries()) {
    const start = at + index * TERM_BYTES
    const material = exportSecret(key)
    out.writeUInt32BE(term, start)
    out.writeBigUInt64BE(BigInt(installedAtMs), start + 4)
    material.copy(out, start + 12)
    material.fill(0)
  }
}

/** Reads an encoded keyring; the caller wipes `bytes`. @throws StorageCorrupt if they are no keyring */
export function decodeKeyring(bytes: Buffer): Keyring {
  if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw new StorageCorrupt('The keyring has an unknown format')
  const activeTerm = bytes.readUInt32BE(1)
  const terms = new Map(readTerms('The keyring has', bytes, HEADER_BYTES, bytes.readUInt32BE(5)))
  if (!terms.has(activeTerm)) throw new StorageCorrupt('The keyring lacks its active term')
  return { activeTerm, terms }
}

/** Reads encoded former keys; the caller wipes `bytes`. @throws StorageCorrupt if they are none */
export function decodeFormerKeys(bytes: Buffer): FormerKeys {
  if (bytes.length < FORMER_HEADER_BYTES || bytes[0] !== FORMAT)
    throw new StorageCorrupt('The former keys have an unknown format')
  const former = new Map<number, DataKey[]>()
  for (const [term, key] of readTerms('The former keys have', bytes, FORMER_HEADER_BYTES, bytes.readUInt32BE(1))) {
    former.set(term, [...(former.get(term) ?? []), key])
  }
  return former
}

function readTerms(what: string, bytes: Buffer, start: number, count: number): (readonly [number, DataKey])[] {
  if (bytes.length !== start + count * TERM_BYTES) throw new StorageCorrupt(`${what} a wrong length`)
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * TERM_BYTES
    const key = importSecret(bytes.subarray(at + 12, at + TERM_BYTES))
    return [bytes.readUInt32BE(at), { key, installedAtMs: Number(bytes.readBigUInt64BE(at + 4)) }] as const
  })
}
