// Sealing and opening many messages under one key: a part of a batch, for another thread to do.
import type { KeyObject } from 'node:crypto'
import type { Job } from '../lib/slow-work.ts'
import { AuthenticationFailed } from './aead.ts'
import type { KeyType } from './key-type.ts'
import { KEY_TYPES } from './key-types.ts'
import { NoncePool } from './nonce-pool.ts'
import { type Packed, pack, unpack, wipePacked } from './packed.ts'

export type ManyInput = {
  /** Name of a key type with a cipher. */
  readonly type: string
  readonly key: KeyObject
  /** 'none': the key itself is used; the others: the key that is derived for the context of each message. */
  readonly derivation: 'none' | 'derived' | 'convergent'
  /** One for each message, where the key is derived. */
  readonly contexts: Packed | undefined
  /** One for each message; undefined where none has any. */
  readonly associatedData: Packed | undefined
  /** To seal: the plaintexts. To open: nonce ‖ ciphertext ‖ tag of each. */
  readonly messages: Packed
}

/** Gives nonce ‖ ciphertext ‖ tag of each message. The plaintexts are wiped. */
export const SEAL_MANY: Job<ManyInput, Packed> = {
  name: 'seal-many',
  takes: 'short',
  run: (input, { random }) => {
    const type = typeOf(input)
    const plaintexts = unpack(input.messages)
    // A pool of its own: no other thread draws from it.
    const nonces = new NoncePool(random.bytes, plaintexts.length * type.cipher.nonceBytes)
    const [contexts, associatedData] = [piecesOf(input.contexts), piecesOf(input.associatedData)]
    try {
      return pack(
        plaintexts.map((plaintext, index) => {
          if (plaintext === undefined) throw new RangeError('A message has no plaintext')
          const sealer = sealerFor(type, input, contexts[index], plaintext)
          const nonce = sealer.nonce ?? nonces.take(type.cipher.nonceBytes)
          return type.cipher.sealWithNonce(sealer.key, nonce, plaintext, associatedData[index])
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
  run: (input) => {
    const type = typeOf(input)
    const [contexts, associatedData] = [piecesOf(input.contexts), piecesOf(input.associatedData)]
    const plaintexts = unpack(input.messages).map((sealed, index) => {
      const key =
        input.derivation === 'none' ? input.key : type.derivation?.derive(input.key, required(contexts[index]))
      return openOrNone(type, required(key), required(sealed), associatedData[index])
    })
    const packed = pack(plaintexts)
    for (const plaintext of plaintexts) plaintext?.fill(0)
    return packed
  },
  moves: ({ bytes, lengths }) => [bytes, lengths],
}

type CipherType = KeyType & Required<Pick<KeyType, 'cipher'>>

function typeOf({ type: name }: ManyInput): CipherType {
  const type = KEY_TYPES.get(name)
  if (type?.cipher === undefined) throw new RangeError(`Keys of type ${name} do not encrypt`)
  return { ...type, cipher: type.cipher }
}

function piecesOf(packed: Packed | undefined): readonly (Buffer | undefined)[] {
  return packed === undefined ? [] : unpack(packed)
}

type Sealer = { readonly key: KeyObject; readonly nonce?: Buffer }

function sealerFor(type: CipherType, input: ManyInput, context: Buffer | undefined, plaintext: Buffer): Sealer {
  if (input.derivation === 'none') return { key: input.key }
  const { derive, convergent } = required(type.derivation)
  if (input.derivation === 'derived') return { key: derive(input.key, required(context)) }
  const { deriveV3, nonce } = required(convergent)
  const keys = deriveV3(input.key, required(context))
  return { key: keys.encryptionKey, nonce: nonce(keys, plaintext) }
}

function openOrNone(type: CipherType, key: KeyObject, sealed: Buffer, associatedData: Buffer | undefined) {
  try {
    return type.cipher.openWithNonce(key, sealed, associatedData)
  } catch (cause) {
    if (cause instanceof AuthenticationFailed) return undefined
    throw cause
  }
}

function required<T>(part: T | undefined): T {
  if (part === undefined) throw new RangeError('A part of the job is missing')
  return part
}
