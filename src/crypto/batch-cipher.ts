// Seals and opens many messages under one key: a part of a batch, for a thread of the pool.
import type { KeyObject } from 'node:crypto'
import { type Job, magnitude } from '../lib/slow-work.ts'
import { type Packed, pack, unpack, wipePacked } from './encoding/packed.ts'
import { type PaddingScheme, paddedCipher } from './key-types/key-type.ts'
import { KEY_TYPES } from './key-types/key-types.ts'
import { type KeyUse, type MessageParts, openMessage, type Sealing, sealMessage } from './message.ts'
import { AuthenticationFailed } from './primitives/aead.ts'
import { NoncePool } from './primitives/nonce-pool.ts'

/** Messages under one key version. All lists have the same length. */
export type ManyInput = {
  /** Name of a key type with a cipher. */
  readonly type: string
  readonly key: KeyObject
  readonly use: KeyUse
  /** Only for a type with several paddings. */
  readonly padding: PaddingScheme | undefined
  /** A context for each message, if the use takes one. */
  readonly contexts: Packed | undefined
  /** The caller's nonce for each message, if the use takes one. */
  readonly nonces: Packed | undefined
  /** Associated data for each message; undefined if no message has any. */
  readonly associatedData: Packed | undefined
  /** To seal: the plaintexts. To open: what sealing returned for each. */
  readonly messages: Packed
}

/** This many bytes take as long as the fixed work of a message. */
const BYTES_OF_A_MESSAGE = 3_000

/** Returns for each message what `sealMessage` returns. Wipes the plaintexts that it was sent. */
export const SEAL_MANY: Job<ManyInput, Packed> = {
  name: 'seal-many',
  takes: 'short',
  kind: kindOf,
  run: (input, { random }) => {
    const sealing = sealingOf(input)
    const plaintexts = unpack(input.messages)
    // A pool of its own: no other thread draws from it.
    const nonces = new NoncePool(random.bytes, plaintexts.length * sealing.cipher.nonceBytes)
    const partsOf = partsByIndex(input)
    try {
      return pack(
        plaintexts.map((plaintext, index) => {
          if (plaintext === undefined) throw new RangeError('A message has no plaintext')
          return sealMessage(sealing, nonces, plaintext, partsOf(index))
        }),
      )
    } finally {
      wipePacked(input.messages)
    }
  },
  moves: ({ bytes, lengths }) => [bytes, lengths],
}

/** Returns the plaintexts; that of a message that does not open is missing. */
export const OPEN_MANY: Job<ManyInput, Packed> = {
  name: 'open-many',
  takes: 'short',
  kind: kindOf,
  run: (input) => {
    const sealing = sealingOf(input)
    const partsOf = partsByIndex(input)
    const plaintexts = unpack(input.messages).map((sealed, index) => openOrNone(sealing, sealed, partsOf(index)))
    const packed = pack(plaintexts)
    for (const plaintext of plaintexts) plaintext?.fill(0)
    return packed
  },
  moves: ({ bytes, lengths }) => [bytes, lengths],
}

function kindOf({ type, messages: { bytes, lengths } }: ManyInput): string {
  const count = lengths.byteLength / Uint32Array.BYTES_PER_ELEMENT
  return `${type} ${magnitude(count + bytes.byteLength / BYTES_OF_A_MESSAGE)}`
}

function sealingOf({ type: name, key, use, padding }: ManyInput): Sealing {
  const type = KEY_TYPES.get(name)
  const cipher = type && paddedCipher(type, padding)
  if (type === undefined || cipher === undefined) throw new RangeError(`Keys of type ${name} do not encrypt like this`)
  return { type, cipher, key, use }
}

function partsByIndex(input: ManyInput): (index: number) => MessageParts {
  const [contexts, nonces, associatedData] = [input.contexts, input.nonces, input.associatedData].map(piecesOf)
  return (index) => ({
    context: contexts?.[index],
    nonce: nonces?.[index],
    associatedData: associatedData?.[index],
  })
}

function piecesOf(packed: Packed | undefined): readonly (Buffer | undefined)[] {
  return packed === undefined ? [] : unpack(packed)
}

function openOrNone(sealing: Sealing, sealed: Buffer | undefined, parts: MessageParts): Buffer | undefined {
  if (sealed === undefined) throw new RangeError('A message is missing')
  try {
    return openMessage(sealing, sealed, parts)
  } catch (cause) {
    if (cause instanceof AuthenticationFailed) return undefined
    throw cause
  }
}
