// What a token keeps for itself: nobody else can reach it, and it goes with the token.
//
//   root/sys/cubbyhole/TOKEN/PATH      TOKEN: the token's name in storage
//   root/sys/cubbyhole-size/TOKEN      {format, entries, bytes}: of all that, so that no write has to count it
import { fail } from '../api/errors.ts'
import type { Engine } from '../api/mount.ts'
import type { Page } from '../api/named-things.ts'
import type { JsonObject } from '../lib/json.ts'
import { integer, object } from '../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { decodeStored, storedRecord } from '../storage/stored-record.ts'
import { DEFAULT_KEPT_LIMITS, type KeptLimits, type KeptValues } from './kept-values.ts'
import { idKey } from './token-keys.ts'

const FOLDER = 'cubbyhole/'
const SIZE_FOLDER = 'cubbyhole-size/'
/** Of all that a token keeps. */
export const CUBBYHOLE_SIZE = storedRecord('The size of a cubbyhole', { entries: integer(), bytes: integer() })
const WIPE_PAGE = 500
/** Of an older version each may have any size. */
const COUNT_PAGE = 16

export class Cubbyhole implements Engine {
  readonly limits: KeptLimits
  readonly #view: View
  readonly #elsewhere: Pick<KeptValues, 'keep'> | undefined

  /**
   * `view` is of root/sys/, as those of all functions here; `elsewhere` is given where this thread writes nothing.
   */
  constructor(view: View, limits: KeptLimits = DEFAULT_KEPT_LIMITS, elsewhere?: Pick<KeptValues, 'keep'>) {
    this.#view = view
    this.limits = limits
    this.#elsewhere = elsewhere
  }

  /** Whether there is something; does not look into it. */
  async has(tokenId: string, path: string): Promise<boolean> {
    return (await this.#view.get(keyOf(tokenId, path))) !== undefined
  }

  async read(tokenId: string, path: string): Promise<JsonObject | undefined> {
    return readWith(this.#view, tokenId, path)
  }

  /** Names below a folder, which is empty or ends in '/'; `limit` 0: all. */
  list(tokenId: string, folder: string, { after, limit }: Page): Promise<string[]> {
    return this.#view.list(keyOf(tokenId, folder), { after, ...(limit > 0 ? { limit } : {}) })
  }

  /** @throws Refusal where it is too much, or the token is gone meanwhile */
  async write(tokenId: string, path: string, value: JsonObject): Promise<void> {
    const bytes = encode(value)
    if (bytes.length > this.limits.entryBytes) throw fail('value_too_large', [this.limits.entryBytes])
    if (this.#elsewhere === undefined) await this.keep(tokenId, path, bytes)
    else await this.#elsewhere.keep(tokenId, path, bytes)
  }

  /**
   * @throws Refusal where the cubbyhole is full, or the token is gone meanwhile: nobody would ever remove what it
   * leaves now
   */
  async keep(tokenId: string, path: string, value: Uint8Array): Promise<void> {
    const isKept = await this.#view.transaction(async (tx) => {
      if ((await tx.get(idKey(tokenId))) === undefined) throw fail('permission_denied', [])
      const held = (await heldWith(tx, tokenId)) ?? ((await isEmpty(tx, tokenId)) ? NOTHING : undefined)
      if (held === undefined) return false
      const before = await tx.get(keyOf(tokenId, path))
      const after = held.plus(sizeOf(path, value)).minus(sizeOf(path, before))
      this.#requireRoom(held, after)
      putWith(tx, tokenId, path, value)
      after.putWith(tx, tokenId)
      return true
    })
    if (isKept) return
    // Noted first, by itself: a write that is refused would forget it.
    await this.#view.transaction((tx) => countWith(tx, tokenId))
    await this.keep(tokenId, path, value)
  }

  /** What becomes no more than it was is written in any case: also where the bounds were lowered. */
  #requireRoom(held: Held, after: Held): void {
    const { entries, bytes } = this.limits
    if (after.entries > held.entries && after.entries > entries)
      throw fail('cubbyhole_full', [`${entries} entries at most (max_cubbyhole_entries)`])
    if (after.bytes > held.bytes && after.bytes > bytes)
      throw fail('cubbyhole_full', [`${bytes} bytes at most, paths included (max_cubbyhole_size)`])
  }

  async delete(tokenId: string, path: string): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const before = await tx.get(keyOf(tokenId, path))
      if (before === undefined) return
      tx.delete(keyOf(tokenId, path))
      // Where nobody has counted them, the next write does.
      const held = await heldWith(tx, tokenId)
      held?.minus(sizeOf(path, before)).putWith(tx, tokenId)
    })
  }

  changed(): void {}
  reset(): void {}
}

const keyOf = (tokenId: string, path: string): string => `${FOLDER}${tokenId}/${path}`

/** What a cubbyhole holds. */
class Held {
  readonly entries: number
  readonly bytes: number

  constructor(entries: number, bytes: number) {
    this.entries = entries
    this.bytes = bytes
  }

  plus({ entries, bytes }: Held): Held {
    return new Held(this.entries + entries, this.bytes + bytes)
  }

  minus({ entries, bytes }: Held): Held {
    return new Held(this.entries - entries, this.bytes - bytes)
  }

  putWith(tx: ViewTransaction, tokenId: string): void {
    const { entries, bytes } = this
    tx.put(SIZE_FOLDER + tokenId, CUBBYHOLE_SIZE.encode({ entries, bytes }))
  }
}

const NOTHING = new Held(0, 0)

/** Of one entry, or of none. */
function sizeOf(path: string, value: Uint8Array | undefined): Held {
  return value === undefined ? NOTHING : new Held(1, Buffer.byteLength(path) + value.length)
}

/** As it was noted with the last write. */
async function heldWith(tx: ViewTransaction, tokenId: string): Promise<Held | undefined> {
  const bytes = await tx.get(SIZE_FOLDER + tokenId)
  if (bytes === undefined) return undefined
  const size = CUBBYHOLE_SIZE.decode(bytes)
  return new Held(size.entries, size.bytes)
}

const isEmpty = async (tx: ViewTransaction, tokenId: string): Promise<boolean> =>
  (await tx.list(keyOf(tokenId, ''), { limit: 1 })).length === 0

/** Notes what older versions left there: once. */
async function countWith(tx: ViewTransaction, tokenId: string): Promise<void> {
  if ((await tx.get(idKey(tokenId))) === undefined || (await heldWith(tx, tokenId)) !== undefined) return
  const folder = keyOf(tokenId, '')
  let held = NOTHING
  for (let after = ''; ; ) {
    const entries = await tx.scan(folder, after, COUNT_PAGE)
    for (const { key, value } of entries) held = held.plus(sizeOf(key.slice(folder.length), value))
    const last = entries.at(-1)
    if (last === undefined) break
    after = last.key
  }
  held.putWith(tx, tokenId)
}

export async function readWith(
  from: Pick<ViewTransaction, 'get'>,
  tokenId: string,
  path: string,
): Promise<JsonObject | undefined> {
  const bytes = await from.get(keyOf(tokenId, path))
  return bytes === undefined ? undefined : decodeStored('An entry of a cubbyhole', object, bytes)
}

/** In memory of its own, so that no other thread gets what lies beside it. */
export function encode(value: JsonObject): Buffer {
  const text = JSON.stringify(value)
  const bytes = Buffer.alloc(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

export function putWith(tx: ViewTransaction, tokenId: string, path: string, value: Uint8Array): void {
  tx.put(keyOf(tokenId, path), Buffer.from(value.buffer, value.byteOffset, value.byteLength))
}

/** Removes what the token kept, or a page of it; whether that was all. */
export async function wipeCubbyhole(tx: ViewTransaction, tokenId: string): Promise<boolean> {
  const keys = await tx.keys(keyOf(tokenId, ''), '', WIPE_PAGE)
  for (const key of keys) tx.delete(key)
  tx.delete(SIZE_FOLDER + tokenId)
  return keys.length < WIPE_PAGE
}
