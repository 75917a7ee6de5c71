// The cubbyhole of a token: values that only this token can reach, and that go with it.
//
//   root/sys/cubbyhole/TOKEN/PATH         TOKEN: the token's id in storage
//   root/sys/cubbyhole-of/TOKEN/ID/PATH   the same in another namespace than that of the token, by its id
//   root/sys/cubbyhole-size/TOKEN         {format, entries, bytes}: the totals, so that a write need not count
//
// What a token keeps in several namespaces is apart, but counts together.
import { fail } from '../api/errors.ts'
import type { Engine } from '../api/mount.ts'
import type { Page } from '../api/named-things.ts'
import { ROOT_ID } from '../api/namespace.ts'
import type { JsonObject } from '../lib/json.ts'
import { integer, object } from '../lib/member-kinds.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { decodeStored, storedRecord } from '../storage/stored-record.ts'
import { type CubbyholeOf, DEFAULT_KEPT_LIMITS, type KeptLimits, type KeptValues } from './kept-values.ts'
import { idKey } from './token-keys.ts'
import type { TokenStore } from './token-store.ts'

const FOLDER = 'cubbyhole/'
const FOLDER_ABROAD = 'cubbyhole-of/'
const SIZE_FOLDER = 'cubbyhole-size/'
/** The stored totals of one token's cubbyhole: number of entries, and bytes of values and paths. */
export const CUBBYHOLE_SIZE = storedRecord('The size of a cubbyhole', { entries: integer(), bytes: integer() })
/** Entries that one transaction deletes. */
const WIPE_PAGE = 500
/** Tokens listed at once, of those that keep something abroad. */
const TOKENS_PAGE = 100
/** Entries read at once when counting. Few, because older versions stored entries of any size. */
const COUNT_PAGE = 16

/** The engine of the mounts `cubbyhole/` of all namespaces, on every thread. It caches nothing. */
export class Cubbyhole implements Engine {
  readonly limits: KeptLimits
  readonly #tokens: Pick<TokenStore, 'view' | 'transactionIn'>
  readonly #elsewhere: Pick<KeptValues, 'keep'> | undefined

  /** `elsewhere` hands writes to the writing thread; given on threads that cannot write. */
  constructor(
    tokens: Pick<TokenStore, 'view' | 'transactionIn'>,
    limits: KeptLimits = DEFAULT_KEPT_LIMITS,
    elsewhere?: Pick<KeptValues, 'keep'>,
  ) {
    this.#tokens = tokens
    this.limits = limits
    this.#elsewhere = elsewhere
  }

  /** True if an entry exists at `path`; does not decode it. */
  async has(owner: CubbyholeOf, path: string): Promise<boolean> {
    return (await this.#tokens.view.get(keyOf(owner, path))) !== undefined
  }

  /** Returns the value at `path`, or undefined. */
  async read(owner: CubbyholeOf, path: string): Promise<JsonObject | undefined> {
    return readWith(this.#tokens.view, owner, path)
  }

  /** Returns the names below a folder, which is empty or ends in '/'. A `limit` of 0 means all. */
  list(owner: CubbyholeOf, folder: string, { after, limit }: Page): Promise<string[]> {
    return this.#tokens.view.list(keyOf(owner, folder), { after, ...(limit > 0 ? { limit } : {}) })
  }

  /**
   * Replaces the value at `path`. The size is checked here, before bytes travel to another thread.
   * @throws Refusal if the value or the cubbyhole is too large, or as `keep`.
   */
  async write(owner: CubbyholeOf, path: string, value: JsonObject): Promise<void> {
    const bytes = encode(value)
    if (bytes.length > this.limits.entryBytes) throw fail('value_too_large', [this.limits.entryBytes])
    if (this.#elsewhere === undefined) await this.keep(owner, path, bytes)
    else await this.#elsewhere.keep(owner, path, bytes)
  }

  /**
   * Stores encoded bytes; runs on the writing thread. The token is read in the same transaction: without it the value
   * would stay for ever, since only the token's removal deletes it.
   * @throws Refusal if the cubbyhole is full, or if the token has ended, or the namespace is gone.
   */
  async keep(owner: CubbyholeOf, path: string, value: Uint8Array): Promise<void> {
    const { tokenId, abroad = ROOT_ID } = owner
    // In its own namespace the token stands for that.
    const isKept = await this.#tokens.transactionIn(abroad, async (tx) => {
      if ((await tx.get(idKey(tokenId))) === undefined) throw fail('permission_denied', [])
      const held = (await heldWith(tx, tokenId)) ?? ((await isEmpty(tx, tokenId)) ? NOTHING : undefined)
      if (held === undefined) return false
      const before = await tx.get(keyOf(owner, path))
      const after = held.plus(sizeOf(path, value)).minus(sizeOf(path, before))
      this.#requireRoom(held, after)
      putWith(tx, owner, path, value)
      after.putWith(tx, tokenId)
      return true
    })
    if (isKept) return
    // Commits the count on its own: a write that is refused would roll it back.
    await this.#tokens.view.transaction((tx) => countWith(tx, tokenId))
    await this.keep(owner, path, value)
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
  async delete(owner: CubbyholeOf, path: string): Promise<void> {
    const { tokenId } = owner
    await this.#tokens.view.transaction(async (tx) => {
      const before = await tx.get(keyOf(owner, path))
      if (before === undefined) return
      tx.delete(keyOf(owner, path))
      // If the totals are not known yet, the next write counts the entries.
      const held = await heldWith(tx, tokenId)
      held?.minus(sizeOf(path, before)).putWith(tx, tokenId)
    })
  }

  /**
   * Removes what tokens of other namespaces keep in one that is being deleted; its own tokens take theirs along. Called
   * again after an interruption, it goes on with what is left.
   */
  async removeNamespace(namespaceId: string): Promise<void> {
    const { view } = this.#tokens
    for (let after = ''; ; ) {
      const names = await view.list(FOLDER_ABROAD, { after, limit: TOKENS_PAGE })
      for (const name of names) {
        const folder = `${FOLDER_ABROAD}${name}${namespaceId}/`
        if ((await view.list(folder, { limit: 1 })).length === 0) continue
        // The next write counts what is left.
        const size = SIZE_FOLDER + name.slice(0, -1)
        while (!(await view.transaction((tx) => wipeFolder(tx, folder, size))));
      }
      if (names.length < TOKENS_PAGE) return
      after = names.at(-1) ?? ''
    }
  }

  /** Nothing is cached, so there is nothing to forget. */
  changed(): void {}
  reset(): void {}
}

/** The cubbyhole of a token in the namespace that the token is of. */
export const ownCubbyhole = (tokenId: string): CubbyholeOf => ({ tokenId, abroad: undefined })

/** All folders of a token's entries. */
const foldersOf = (tokenId: string): readonly string[] => [`${FOLDER}${tokenId}/`, `${FOLDER_ABROAD}${tokenId}/`]

const keyOf = ({ tokenId, abroad }: CubbyholeOf, path: string): string =>
  abroad === undefined ? `${FOLDER}${tokenId}/${path}` : `${FOLDER_ABROAD}${tokenId}/${abroad}/${path}`

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

async function isEmpty(tx: ViewTransaction, tokenId: string): Promise<boolean> {
  for (const folder of foldersOf(tokenId)) if ((await tx.list(folder, { limit: 1 })).length > 0) return false
  return true
}

/**
 * Counts what older versions left and notes the totals. Does nothing if the token has ended or was counted meanwhile.
 */
async function countWith(tx: ViewTransaction, tokenId: string): Promise<void> {
  if ((await tx.get(idKey(tokenId))) === undefined || (await heldWith(tx, tokenId)) !== undefined) return
  const [own = '', abroad = ''] = foldersOf(tokenId)
  const ofOwn = await countBelow(tx, own, (key) => key)
  const ofAll = ofOwn.plus(await countBelow(tx, abroad, (key) => key.slice(key.indexOf('/') + 1)))
  ofAll.putWith(tx, tokenId)
}

async function countBelow(tx: ViewTransaction, folder: string, pathOf: (key: string) => string): Promise<Held> {
  let held = NOTHING
  for (let after = ''; ; ) {
    const entries = await tx.scan(folder, after, COUNT_PAGE)
    for (const { key, value } of entries) held = held.plus(sizeOf(pathOf(key.slice(folder.length)), value))
    const last = entries.at(-1)
    if (last === undefined) return held
    after = last.key
  }
}

/**
 * Reads one entry, in a transaction or from a view.
 * @throws StorageCorrupt if the stored value is not a JSON object.
 */
export async function readWith(
  from: Pick<ViewTransaction, 'get'>,
  owner: CubbyholeOf,
  path: string,
): Promise<JsonObject | undefined> {
  const bytes = await from.get(keyOf(owner, path))
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
export function putWith(tx: ViewTransaction, owner: CubbyholeOf, path: string, value: Uint8Array): void {
  tx.put(keyOf(owner, path), Buffer.from(value.buffer, value.byteOffset, value.byteLength))
}

/**
 * Deletes some entries of the token in all namespaces, and the totals. Returns false if entries may be left: the caller
 * then calls again in another transaction.
 */
export async function wipeCubbyhole(tx: ViewTransaction, tokenId: string): Promise<boolean> {
  for (const folder of foldersOf(tokenId)) if (!(await wipeFolder(tx, folder, SIZE_FOLDER + tokenId))) return false
  return true
}

/** Deletes up to `WIPE_PAGE` entries, and the totals at `size`. Returns false if entries may be left. */
async function wipeFolder(tx: ViewTransaction, folder: string, size: string): Promise<boolean> {
  const keys = await tx.keys(folder, '', WIPE_PAGE)
  for (const key of keys) tx.delete(key)
  tx.delete(size)
  return keys.length < WIPE_PAGE
}
