// Sealing and opening many messages under one key: a part of a batch, for another thread to do.
import type { KeyObject } from 'node:crypto'
import { type Job, magnitude } from '../lib/slow-work.ts'
import { type Packed, pack, unpack, wipePacked } from './encoding/packed.ts'
import { type PaddingScheme, paddedCipher } from './key-types/key-type.ts'
import { KEY_TYPES } from './key-types/key-types.ts'
import { type KeyUse, type MessageParts, openMessage, type Sealing, sealMessage } from './message.ts'
import { AuthenticationFailed } from './primitives/aead.ts'
import { NoncePool } from './primitives/nonce-pool.ts'

export type ManyInput = {
  /** Name of a key type with a cipher. */
  readonly type: string
  readonly key: KeyObject
  readonly use: KeyUse
  /** Only of a type that has several. */
  readonly padding: PaddingScheme | undefined
  /** One for each message, where the use takes one. */
  readonly contexts: Packed | undefined
  /** One for each message, where the use takes the caller's. */
  readonly nonces: Packed | undefined
  /** One for each message; undefined where none has any. */
  readonly associatedData: Packed | undefined
  /** To seal: the plaintexts. To open: what sealing gave of each. */
  readonly messages: Packed
}

/** As many bytes take as long as a message itself. */
const BYTES_OF_A_MESSAGE = 3_000

/** Gives what `sealMessage` gives of each message. The plaintexts are wiped. */
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

/** Gives the plaintexts; a message that does not open has none. */
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
