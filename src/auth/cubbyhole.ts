// The cubbyhole of a token: values that only this token can reach, and that go with it.
//
//   root/sys/cubbyhole/TOKEN/PATH      TOKEN: the token's id in storage
//   root/sys/cubbyhole-size/TOKEN      {format, entries, bytes}: the totals, so that a write need not count
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
/** The stored totals of one token's cubbyhole: number of entries, and bytes of values and paths. */
export const CUBBYHOLE_SIZE = storedRecord('The size of a cubbyhole', { entries: integer(), bytes: integer() })
/** Entries that one transaction deletes. */
const WIPE_PAGE = 500
/** Entries read at once when counting. Few, because older versions stored entries of any size. */
const COUNT_PAGE = 16

/** The engine of the mount `cubbyhole/`, on every thread. It caches nothing. */
export class Cubbyhole implements Engine {
  readonly limits: KeptLimits
  readonly #view: View
  readonly #elsewhere: Pick<KeptValues, 'keep'> | undefined

  /**
   * `view` is the folder root/sys/, as in all functions of this file. `elsewhere` hands writes to the writing thread;
   * given on threads that cannot write.
   */
  constructor(view: View, limits: KeptLimits = DEFAULT_KEPT_LIMITS, elsewhere?: Pick<KeptValues, 'keep'>) {
    this.#view = view
    this.limits = limits
    this.#elsewhere = elsewhere
  }

  /** True if an entry exists at `path`; does not decode it. */
  async has(tokenId: string, path: string): Promise<boolean> {
    return (await this.#view.get(keyOf(tokenId, path))) !== undefined
  }

  /** Returns the value at `path`, or undefined. */
  async read(tokenId: string, path: string): Promise<JsonObject | undefined> {
    return readWith(this.#view, tokenId, path)
  }

  /** Returns the names below a folder, which is empty or ends in '/'. A `limit` of 0 means all. */
  list(tokenId: string, folder: string, { after, limit }: Page): Promise<string[]> {
    return this.#view.list(keyOf(tokenId, folder), { after, ...(limit > 0 ? { limit } : {}) })
  }

  /**
   * Replaces the value at `path`. The size is checked here, before bytes travel to another thread.
   * @throws Refusal if the value or the cubbyhole is too large, or if the token has ended.
   */
  async write(tokenId: string, path: string, value: JsonObject): Promise<void> {
    const bytes = encode(value)
    if (bytes.length > this.limits.entryBytes) throw fail('value_too_large', [this.limits.entryBytes])
    if (this.#elsewhere === undefined) await this.keep(tokenId, path, bytes)
    else await this.#elsewhere.keep(tokenId, path, bytes)
  }

  /**
   * Stores encoded bytes; runs on the writing thread. The token is read in the same transaction: without it the value
   * would stay for ever, since only the token's removal deletes it.
   * @throws Refusal if the cubbyhole is full, or if the token has ended.
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
    // Commits the count on its own: a write that is refused would roll it back.
    await this.#view.transaction((tx) => countWith(tx, tokenId))
    await this.keep(tokenId, path, value)
  }

  /** Checks only what grows, so a token can still shrink its cubbyhole after an operator lowered the limits. */
  #requireRoom(held: Held, after: Held): void {
    const { entries, bytes } = this.limits
    if (after.entries > held.entries && after.entries > entries)
      throw fail('cubbyhole_full', [`${entries} entries at most (max_cubbyhole_entries)`])
    if (after.bytes > held.bytes && after.bytes > bytes)
      throw fail('cubbyhole_full', [`${bytes} bytes at most, paths included (max_cubbyhole_size)`])
  }

  /** Deletes the entry at `path`; does nothing if there is none. */
  async delete(tokenId: string, path: string): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const before = await tx.get(keyOf(tokenId, path))
      if (before === undefined) return
      tx.delete(keyOf(tokenId, path))
      // If the totals are not known yet, the next write counts the entries.
      const held = await heldWith(tx, tokenId)
      held?.minus(sizeOf(path, before)).putWith(tx, tokenId)
    })
  }

  /** Nothing is cached, so there is nothing to forget. */
  changed(): void {}
  reset(): void {}
}

const keyOf = (tokenId: string, path: string): string => `${FOLDER}${tokenId}/${path}`

/** The totals of a cubbyhole, or what one entry adds to them. */
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

/** Returns the size of one entry, or nothing if there is no value. */
function sizeOf(path: string, value: Uint8Array | undefined): Held {
  return value === undefined ? NOTHING : new Held(1, Buffer.byteLength(path) + value.length)
}

/** Returns the totals noted by the last write; undefined if there was none, or by an older version only. */
async function heldWith(tx: ViewTransaction, tokenId: string): Promise<Held | undefined> {
  const bytes = await tx.get(SIZE_FOLDER + tokenId)
  if (bytes === undefined) return undefined
  const size = CUBBYHOLE_SIZE.decode(bytes)
  return new Held(size.entries, size.bytes)
}

const isEmpty = async (tx: ViewTransaction, tokenId: string): Promise<boolean> =>
  (await tx.list(keyOf(tokenId, ''), { limit: 1 })).length === 0

/**
 * Counts what older versions left and notes the totals. Does nothing if the token has ended or was counted meanwhile.
 */
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

/**
 * Reads one entry, in a transaction or from a view.
 * @throws StorageCorrupt if the stored value is not a JSON object.
 */
export async function readWith(
  from: Pick<ViewTransaction, 'get'>,
  tokenId: string,
  path: string,
): Promise<JsonObject | undefined> {
  const bytes = await from.get(keyOf(tokenId, path))
  return bytes === undefined ? undefined : decodeStored('An entry of a cubbyhole', object, bytes)
}

/**
 * Encodes a value into memory of its own. A pooled buffer would take its neighbours along when it moves to another
 * thread.
 */
export function encode(value: JsonObject): Buffer {
  const text = JSON.stringify(value)
  const bytes = Buffer.alloc(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

/** Stores `value` as it is. The caller has checked the limits and that the token still exists. */
export function putWith(tx: ViewTransaction, tokenId: string, path: string, value: Uint8Array): void {
  tx.put(keyOf(tokenId, path), Buffer.from(value.buffer, value.byteOffset, value.byteLength))
}

/**
 * Deletes up to `WIPE_PAGE` entries, and the totals. Returns false if entries may be left: the caller then calls again
 * in another transaction.
 */
export async function wipeCubbyhole(tx: ViewTransaction, tokenId: string): Promise<boolean> {
  const keys = await tx.keys(keyOf(tokenId, ''), '', WIPE_PAGE)
  for (const key of keys) tx.delete(key)
  tx.delete(SIZE_FOLDER + tokenId)
  return keys.length < WIPE_PAGE
}
