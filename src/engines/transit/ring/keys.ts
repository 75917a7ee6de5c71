// The keys of one mount: found in a cache, changed in transactions.
import { fail } from '../../../api/errors.ts'
import { CoherentCache, type Lookups } from '../../../lib/coherent-cache.ts'
import type { ListOptions } from '../../../storage/contract.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { identityOf } from '../budget/counted-version.ts'
import { readGranted, USE_FOLDER } from '../budget/message-count-store.ts'
import type { MessageCounter } from '../budget/message-counter.ts'
import { cacheSize } from './cache-setting.ts'
import { decodeHead, layOutGrown, type StoredRing, type VersionSecrets, wipeRing } from './key-ring.ts'
import { type Last, LoadedBefore } from './loaded-before.ts'
import { type Before, type Budgets, isCounted, keyTypeOf, LoadedRing, type LoadedVersion } from './loaded-ring.ts'
import { assertSuccessor, firstStoredVersion, type RingHead, type RingHeader } from './ring-header.ts'
import {
  deleteRing,
  FOLDER,
  type GrownRing,
  nameAt,
  putLaidOut,
  type ReadVersion,
  readGrown,
  readRing,
  readRingHead,
  readRingVersion,
  replaceRing,
  storeRing,
  type WholeRing,
  withEntry,
} from './ring-store.ts'
import { reschedule } from './rotation-schedule.ts'

/** Where the setting of the mount names no number. About 1 KB each with one version. */
const USUAL_CACHED_RINGS = 10_000
/** Storage bounds the whole stored key, of which the name is the last part. */
export const MAX_NAME_CHARACTERS = 512

/** A mount with keys; `M` is what is done with them. */
export type WithKeys<M extends keyof Keys = keyof Keys> = { readonly keys: Pick<Keys, M> }

export class Keys {
  readonly #storage: View
  readonly #budgets: MessageCounter
  readonly #cache = new CoherentCache<LoadedRing>(USUAL_CACHED_RINGS)
  /** What a ring was loaded as, for the time after it is forgotten and before it is asked for again. */
  readonly #loaded = new LoadedBefore()
  /** Of the setting: read with the first key, and again after a reset. */
  #sizing: Promise<void> | undefined

  constructor(storage: View, budgets: MessageCounter) {
    this.#storage = storage
    this.#budgets = budgets
  }

  /** Look-ups in the cache, since the beginning. */
  get lookups(): Lookups {
    return this.#cache
  }

  /** The ring at once where it is cached, so that the caller need not wait; undefined where no key has the name. */
  find(name: string): LoadedRing | Promise<LoadedRing | undefined> {
    return this.#cache.get(name, this.#load)
  }

  readonly #load = async (name: string): Promise<LoadedRing | undefined> => {
    // Names in bodies are not held to what a path may be.
    if (name.length > MAX_NAME_CHARACTERS || !name.isWellFormed()) return undefined
    await this.#size()
    const last = this.#loaded.find(name)
    const grown = await readGrown(this.#storage, name, last && { header: last.ring.header, mark: last.mark })
    if (grown === undefined) return undefined
    try {
      const before = (): Before | undefined => last && this.#beforeOf(name, grown, last)
      const isCounting = isCounted(keyTypeOf(grown.ring.header))
      const granted = isCounting ? await this.#grantedOf(grown, before) : NONE
      const { beginnings } = this.#budgets
      const ring = new LoadedRing(grown.ring, this.#budgetsOf(name, granted), before())
      this.#budgets.heldBy(name)
      this.#loaded.keep(name, { ring, mark: grown.mark, beginnings })
      if (isCounting) this.#budgets.beginAhead()
      return ring
    } finally {
      wipeRing(grown.ring)
    }
  }

  /** The ring as it was loaded the last time, where what is stored is this one with more versions, or with as many. */
  #beforeOf(name: string, { known, unchanged }: GrownRing, last: Last): Before | undefined {
    if (known === 0) return undefined
    // Else what is known of its budgets is of another one.
    const isLatest = this.#loaded.find(name)?.ring === last.ring
    return { ring: last.ring, count: known, same: isLatest && this.#holdsAll(name, last) ? unchanged : 0 }
  }

  #holdsAll(name: string, { ring, beginnings }: Last): boolean {
    return !isCounted(ring.type) || this.#budgets.holdsAll(name, beginnings)
  }

  /** Of the versions that can be used, by their identities, but of those whose budgets hold. @throws StorageCorrupt */
  async #grantedOf(
    { ring: { header, secrets }, known }: GrownRing,
    before: () => Before | undefined,
  ): Promise<ReadonlyMap<string, number>> {
    const unused = header.minDecryptionVersion - firstStoredVersion(header)
    const fresh = secrets.slice(Math.max(0, unused - known)).map(identityOf)
    const granted = new Map<string, number>()
    const missing = (): string[] => {
      const loaded = usedAgain(before(), header).filter(({ budget }) => {
        return budget === undefined || !this.#budgets.holds(budget)
      })
      return [...loaded.map(({ identity }) => identity), ...fresh].filter((one) => !granted.has(one))
    }
    // What was stored meanwhile is asked for, too: then fewer hold.
    for (let asked = missing(); asked.length > 0; asked = missing())
      await Promise.all(asked.map(async (one) => granted.set(one, await readGranted(this.#storage, one))))
    return granted
  }

  #budgetsOf(name: string, granted: ReadonlyMap<string, number>): Budgets {
    return {
      of: (version, { countedFrom = 0 }, identity) =>
        this.#budgets.of({ name, version, identity, granted: granted.get(identity) ?? 0, countedFrom }),
      holds: (budget) => this.#budgets.holds(budget),
    }
  }

  #size(): Promise<void> {
    this.#sizing ??= cacheSize(this.#storage).then(
      (size) => {
        this.#cache.capacity = size === 0 ? USUAL_CACHED_RINGS : size
      },
      (cause: unknown) => {
        this.#sizing = undefined
        throw cause
      },
    )
    return this.#sizing
  }

  /** Names in order. */
  list(options: ListOptions): Promise<string[]> {
    return this.#storage.list(FOLDER, options)
  }

  /**
   * Stores the ring where the name is free, and gives what has the name then. This thread does not keep it: others
   * serve it, and of a thousand new keys most are not used here before they go.
   * @throws StorageReadOnly where the request has to travel
   */
  async add(name: string, ring: StoredRing): Promise<LoadedRing> {
    const taken = await this.#storeWhereFree(name, ring)
    if (taken !== undefined) return taken
    const stored = await readGrown(this.#storage, name)
    // What does not parse shows before the caller is told of success (threats P-15). Who removed it came later.
    const added =
      stored === undefined ? new LoadedRing(ring) : await useRing(stored.ring, (read) => new LoadedRing(read))
    if (isCounted(added.type)) this.#budgets.beginAhead()
    return added
  }

  /**
   * The same for a key that is used here at once. `check` runs in the same transaction, before a free name is taken.
   * Undefined where the ring was stored, else what had the name before.
   * @throws StorageReadOnly where the request has to travel
   */
  async addForUse(
    name: string,
    ring: StoredRing,
    check: (tx: ViewTransaction) => Promise<void>,
  ): Promise<LoadedRing | undefined> {
    const taken = await this.#storeWhereFree(name, ring, check)
    if (taken === undefined) await this.#readBack(name)
    return taken
  }

  async #storeWhereFree(
    name: string,
    ring: StoredRing,
    check?: (tx: ViewTransaction) => Promise<void>,
  ): Promise<LoadedRing | undefined> {
    requireNameLength(name)
    return this.#storage.transaction(async (tx) => {
      const existing = await readRing(tx, name)
      if (existing !== undefined) return useRing(existing, (before) => new LoadedRing(before))
      await check?.(tx)
      await storeRing(tx, name, ring, undefined)
      reschedule(tx, name, undefined, ring.header)
      return undefined
    })
  }

  /**
   * Stores the ring as a key of its own. Where the name is taken it takes the place of the other, or, unless it
   * `replaces`, nothing happens. What either had sealed stays counted.
   * @throws Refusal where the name is taken, StorageReadOnly where the request has to travel
   */
  async place(name: string, ring: StoredRing, replaces: boolean): Promise<void> {
    requireNameLength(name)
    await this.#storage.transaction(async (tx) => {
      const before = await readRingHead(tx, name)
      if (before !== undefined && !replaces) throw fail('already_exists', [`key "${name}" already exists`])
      await storeRing(tx, name, ring, before)
      reschedule(tx, name, before?.header, ring.header)
    })
    await this.#readBack(name)
  }

  /**
   * Stores what `change` makes of the ring and gives it as it is then; where it makes nothing of it, or throws, all
   * stays as it was. `change` may run several times. Undefined where no key has the name.
   */
  async update(name: string, change: (ring: StoredRing) => StoredRing): Promise<LoadedRing | undefined> {
    const stored = await this.#storage.transaction(async (tx) => {
      const before = await readRing(tx, name)
      return before && useRing(before, () => this.#replace(tx, name, before, change(before)))
    })
    if (stored !== undefined) await this.#readBack(name)
    return stored
  }

  async #replace(tx: ViewTransaction, name: string, before: WholeRing, after: StoredRing): Promise<LoadedRing> {
    if (after === before) return new LoadedRing(before)
    try {
      assertSuccessor(before.header, after.header)
      await replaceRing(tx, name, before, after)
      reschedule(tx, name, before.header, after.header)
      await forgetCounts(tx, gone(before, firstStoredVersion(after.header)))
      return new LoadedRing(after)
    } finally {
      wipeRing(after)
    }
  }

  /**
   * Adds a version of `fresh`, with the header that `change` makes of the one that is stored, whose list may have the
   * newest versions alone; where it throws, all stays as it was. The secrets of other versions are not looked at, and
   * what stands in blocks is not read, so that a key with thousands of versions is rotated as quickly as one with few.
   * The ring as it is then; undefined where no key has the name.
   */
  async grow(
    name: string,
    fresh: VersionSecrets,
    change: (header: RingHeader) => RingHeader,
  ): Promise<LoadedRing | undefined> {
    const after = await this.#storage.transaction((tx) =>
      withEntry(tx, name, (bytes) => {
        const { header: before, older } = decodeHead(bytes)
        const header = change(before)
        assertSuccessor(before, header)
        putLaidOut(tx, name, layOutGrown(bytes, { header, older }, fresh))
        reschedule(tx, name, before, header)
        return header
      }),
    )
    // What does not parse shows before the caller is told of success (threats P-15).
    return after && (await this.find(name))
  }

  /** What is known of the key besides its older versions; undefined where no key has the name. */
  headIn(tx: ViewTransaction, name: string): Promise<RingHead | undefined> {
    return readRingHead(tx, name)
  }

  /** What `read` makes of one version, of which it must keep nothing; undefined where there is none. */
  versionIn<T>(tx: ViewTransaction, name: string, number: number, read: ReadVersion<T>): Promise<T | undefined> {
    return readRingVersion(tx, name, number, read)
  }

  /** The key is read anew when it is asked for. */
  forget(name: string): void {
    this.#cache.forget(name)
  }

  /** Removes the key unless `refuse` throws. False where no key has the name. */
  delete(name: string, refuse: (header: RingHeader) => void): Promise<boolean> {
    return this.#storage.transaction(async (tx) => {
      const stored = await readRing(tx, name)
      if (stored === undefined) return false
      const deleted = await useRing(stored, () => gone(stored, 0))
      refuse(stored.header)
      await deleteRing(tx, name, stored)
      reschedule(tx, name, stored.header, undefined)
      await forgetCounts(tx, deleted)
      return true
    })
  }

  /** What does not parse shows before the caller is told of success, not with the first decryption (threats P-15). */
  async #readBack(name: string): Promise<void> {
    await this.find(name)
  }

  /** `path` is relative to the mount. */
  changed(path: string): void {
    const key = nameAt(path)
    if (key !== undefined) this.#cache.forget(key)
    if (path.startsWith(USE_FOLDER))
      for (const name of this.#budgets.takeNames(path.slice(USE_FOLDER.length))) this.#cache.forget(name)
  }

  reset(): void {
    this.#cache.clear()
    this.#loaded.clear()
    this.#sizing = undefined
  }
}

const NONE: ReadonlyMap<string, number> = new Map()

/**
 * Versions before `first`, or with 0 all, whose counts are of no use: the key was never in a backup, so that no restore
 * brings them back.
 */
function gone({ header, secrets }: StoredRing, first: number): string[] {
  if (header.backup !== undefined || header.restore !== undefined) return []
  const before = first === 0 ? secrets.length : first - firstStoredVersion(header)
  return secrets.slice(0, Math.max(0, before)).map(identityOf)
}

async function forgetCounts(tx: ViewTransaction, identities: readonly string[]): Promise<void> {
  for (const identity of identities)
    if ((await tx.get(USE_FOLDER + identity)) !== undefined) tx.delete(USE_FOLDER + identity)
}

function requireNameLength(name: string): void {
  if (name.length > MAX_NAME_CHARACTERS)
    throw fail('name_invalid', [`The name of a key has at most ${MAX_NAME_CHARACTERS} characters`])
}

/** Of the versions that were loaded before and can be used: those that are not the very same. */
function usedAgain(before: Before | undefined, header: RingHeader): readonly LoadedVersion[] {
  if (before === undefined) return []
  const { ring, same } = before
  const first = Math.max(header.minDecryptionVersion, firstStoredVersion(header) + same)
  return ring.versions.slice(first - ring.header.minDecryptionVersion)
}

/** Gives the ring to `use`, and wipes it when that is done. */
async function useRing<T>(ring: StoredRing, use: (ring: StoredRing) => T | Promise<T>): Promise<T> {
  try {
    return await use(ring)
  } finally {
    wipeRing(ring)
  }
}
