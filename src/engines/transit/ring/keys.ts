// The keys of one mount on one thread: found in a cache, changed in transactions.
import { fail } from '../../../api/errors.ts'
import { CoherentCache, type Lookups } from '../../../lib/coherent-cache.ts'
import type { ListOptions } from '../../../storage/contract.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { CLUSTER_USE_FOLDER } from '../budget/cluster-use.ts'
import { identityOf } from '../budget/counted-version.ts'
import type { CountReader } from '../budget/encryption-counts.ts'
import type { MessageCounter } from '../budget/message-counter.ts'
import { type CountedSince, type Ledger, readLedger, type Standing, USE_FOLDER } from '../budget/message-ledger.ts'
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

/** Used when the mount does not set a number. A ring with one version has about 1 KB. */
const USUAL_CACHED_RINGS = 10_000
/** Storage bounds the length of a whole path, and the name is the last part of it. */
export const MAX_NAME_CHARACTERS = 512

type Standings = (header: CountedSince, ledger: Ledger) => Standing

/** A mount with keys; `M` are the methods that its user calls. */
export type WithKeys<M extends keyof Keys = keyof Keys> = { readonly keys: Pick<Keys, M> }

/** Finds, adds, changes and removes keys by name. Methods that change run on the thread that writes. */
export class Keys {
  readonly #storage: View
  readonly #budgets: MessageCounter
  readonly #counts: Pick<CountReader, 'standings'>
  readonly #cache = new CoherentCache<LoadedRing>(USUAL_CACHED_RINGS)
  /** Rings as they were loaded last: a changed ring reuses the parsed keys of the one before it. */
  readonly #loaded = new LoadedBefore()
  /** The reading of the cache's size: with the first key, and again after a reset. */
  #sizing: Promise<void> | undefined

  constructor(storage: View, budgets: MessageCounter, counts: Pick<CountReader, 'standings'>) {
    this.#storage = storage
    this.#budgets = budgets
    this.#counts = counts
  }

  /** Look-ups in the cache since the mount was loaded, for metrics. */
  get lookups(): Lookups {
    return this.#cache
  }

  /**
   * Returns the ring: at once if it is cached, so that the caller need not await it; undefined if no key has the name.
   * @throws StorageCorrupt
   */
  find(name: string): LoadedRing | Promise<LoadedRing | undefined> {
    return this.#cache.get(name, this.#load)
  }

  readonly #load = async (name: string): Promise<LoadedRing | undefined> => {
    // A name in a body has not passed the checks of a path.
    if (name.length > MAX_NAME_CHARACTERS || !name.isWellFormed()) return undefined
    await this.#size()
    const last = this.#loaded.find(name)
    const grown = await readGrown(this.#storage, name, last && { header: last.ring.header, mark: last.mark })
    if (grown === undefined) return undefined
    try {
      const before = (): Before | undefined => last && this.#beforeOf(name, grown, last)
      const isCounting = isCounted(keyTypeOf(grown.ring.header))
      const ledgers = isCounting ? await this.#ledgersOf(grown, before) : NONE
      const standing = isCounting ? await this.#standings() : NOT_COUNTED
      const { beginnings } = this.#budgets
      const ring = new LoadedRing(grown.ring, this.#budgetsOf(name, ledgers, standing), before())
      this.#budgets.heldBy(name)
      this.#loaded.keep(name, { ring, mark: grown.mark, beginnings })
      if (isCounting) this.#budgets.beginAhead()
      return ring
    } finally {
      wipeRing(grown.ring)
    }
  }

  /** Returns the ring as it was loaded last, if the stored ring begins with its versions; else undefined. */
  #beforeOf(name: string, { known, unchanged }: GrownRing, last: Last): Before | undefined {
    if (known === 0) return undefined
    // If the ring was loaded again meanwhile, what `last` says of budgets is outdated.
    const isLatest = this.#loaded.find(name)?.ring === last.ring
    return { ring: last.ring, count: known, same: isLatest && this.#holdsAll(name, last) ? unchanged : 0 }
  }

  #holdsAll(name: string, { ring, beginnings }: Last): boolean {
    return !isCounted(ring.type) || this.#budgets.holdsAll(name, beginnings)
  }

  /**
   * Returns what the ledger has of usable versions, by identity. Versions whose budgets still hold are left out.
   * @throws StorageCorrupt
   */
  async #ledgersOf(
    { ring: { header, secrets }, known }: GrownRing,
    before: () => Before | undefined,
  ): Promise<ReadonlyMap<string, Ledger>> {
    const unused = header.minDecryptionVersion - firstStoredVersion(header)
    const fresh = secrets.slice(Math.max(0, unused - known)).map(identityOf)
    const ledgers = new Map<string, Ledger>()
    const missing = (): string[] => {
      const loaded = usedAgain(before(), header).filter(({ budget }) => {
        return budget === undefined || !this.#budgets.holds(budget)
      })
      return [...loaded.map(({ identity }) => identity), ...fresh].filter((one) => !ledgers.has(one))
    }
    // A loop, since counts that are stored during the wait make budgets stale, which are then asked for as well.
    for (let asked = missing(); asked.length > 0; asked = missing())
      await Promise.all(asked.map(async (one) => ledgers.set(one, await readLedger(this.#storage, one))))
    return ledgers
  }

  /** Returns how versions stand. If the thread becomes a life meanwhile, the cluster may have got its blocks. */
  async #standings(): Promise<Standings> {
    for (;;) {
      const { isBegun } = this.#budgets
      const standings = await this.#counts.standings()
      if (isBegun === this.#budgets.isBegun) return standings
    }
  }

  #budgetsOf(name: string, ledgers: ReadonlyMap<string, Ledger>, standing: Standings): Budgets {
    return {
      of: (version, header, identity) => {
        const ledger = ledgers.get(identity) ?? NOTHING_GRANTED
        return this.#budgets.of({ name, version, identity, standing: standing(header, ledger) })
      },
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

  /** Returns the names of keys, in order. */
  list(options: ListOptions): Promise<string[]> {
    return this.#storage.list(FOLDER, options)
  }

  /**
   * Stores the ring if the name is free, and returns the ring that has the name then. It is not cached: other threads
   * serve it, and of a thousand new keys few would be used on this thread before they left the cache.
   * @throws StorageReadOnly if this thread does not write, so that the request travels
   */
  async add(name: string, ring: StoredRing): Promise<LoadedRing> {
    const taken = await this.#storeWhereFree(name, ring)
    if (taken !== undefined) return taken
    const stored = await readGrown(this.#storage, name)
    // Read back: a ring that does not parse shows before the caller is told of success (threats P-15). If the key is
    // gone already, another request removed it after this one.
    const added =
      stored === undefined ? new LoadedRing(ring) : await useRing(stored.ring, (read) => new LoadedRing(read))
    if (isCounted(added.type)) this.#budgets.beginAhead()
    return added
  }

  /**
   * Stores the ring if the name is free, and caches it, since it is used here at once. `check` runs in the transaction
   * before a free name is taken. Returns undefined if the ring was stored, else the ring that has the name.
   * @throws StorageReadOnly if this thread does not write, so that the request travels
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
   * Stores a ring that came from elsewhere. If the name is taken, the ring replaces the other one if `replaces` is
   * true. Messages that either ring sealed stay counted, since counts belong to versions, not to names.
   * @throws Refusal if the name is taken and `replaces` is false
   * @throws StorageReadOnly if this thread does not write, so that the request travels
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
   * Stores what `change` makes of the ring, and returns the ring as it is then; undefined if no key has the name. If
   * `change` returns the same ring, or throws, nothing is stored. It may run several times: transactions are optimistic
   * (docs/decisions/0003).
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
   * Adds a version with the secrets `fresh`, and returns the ring as it is then; undefined if no key has the name.
   * `change` makes the new header; the stored one may list the newest versions alone. If it throws, nothing is stored.
   * Other secrets are not decoded, and blocks are not read: a key with thousands of versions rotates as quickly as one
   * with few (docs/decisions/0012).
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
    // Read back: a ring that does not parse shows before the caller is told of success (threats P-15).
    return after && (await this.find(name))
  }

  /** Returns the header, which may list the newest versions alone; undefined if no key has the name. */
  headIn(tx: ViewTransaction, name: string): Promise<RingHead | undefined> {
    return readRingHead(tx, name)
  }

  /** Returns what `read` makes of one version; it must keep nothing of it. Undefined if there is no such version. */
  versionIn<T>(tx: ViewTransaction, name: string, number: number, read: ReadVersion<T>): Promise<T | undefined> {
    return readRingVersion(tx, name, number, read)
  }

  /** Drops the key from the cache: it is read again when it is next asked for. */
  forget(name: string): void {
    this.#cache.forget(name)
  }

  /** Removes the key unless `refuse` throws. Returns false if no key has the name. */
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

  /** Loads the key: one that does not parse shows now, not with its first decryption (threats P-15). */
  async #readBack(name: string): Promise<void> {
    await this.find(name)
  }

  /** Forgets the keys that an entry of storage belongs to; `path` is relative to the mount. */
  changed(path: string): void {
    const key = nameAt(path)
    if (key !== undefined) this.#cache.forget(key)
    if (path.startsWith(USE_FOLDER))
      for (const name of this.#budgets.takeNames(path.slice(USE_FOLDER.length))) this.#cache.forget(name)
  }

  /** Forgets everything, the size of the cache included. */
  reset(): void {
    this.#cache.clear()
    this.#loaded.clear()
    this.#sizing = undefined
  }
}

const NONE: ReadonlyMap<string, Ledger> = new Map()
const NOTHING_GRANTED: Ledger = { granted: 0 }
const NOT_COUNTED: Standings = () => ({ reserved: 0, granted: 0, hasFirst: false, number: 0, from: 0 })

/**
 * Returns the identities of versions that are deleted for good: those before `first`, or with 0 all. None if the key
 * was ever backed up or restored: a restore may bring its versions back, and their messages must still count.
 */
function gone({ header, secrets }: StoredRing, first: number): string[] {
  if (header.backup !== undefined || header.restore !== undefined) return []
  const before = first === 0 ? secrets.length : first - firstStoredVersion(header)
  return secrets.slice(0, Math.max(0, before)).map(identityOf)
}

async function forgetCounts(tx: ViewTransaction, identities: readonly string[]): Promise<void> {
  for (const identity of identities)
    for (const path of [USE_FOLDER + identity, CLUSTER_USE_FOLDER + identity])
      if ((await tx.get(path)) !== undefined) tx.delete(path)
}

function requireNameLength(name: string): void {
  if (name.length > MAX_NAME_CHARACTERS)
    throw fail('name_invalid', [`The name of a key has at most ${MAX_NAME_CHARACTERS} characters`])
}

/** Returns versions that were loaded before, can still be used, and may have changed: their budgets are checked. */
function usedAgain(before: Before | undefined, header: RingHeader): readonly LoadedVersion[] {
  if (before === undefined) return []
  const { ring, same } = before
  const first = Math.max(header.minDecryptionVersion, firstStoredVersion(header) + same)
  return ring.versions.slice(first - ring.header.minDecryptionVersion)
}

/** Runs `use` with the ring, and wipes the ring afterwards. */
async function useRing<T>(ring: StoredRing, use: (ring: StoredRing) => T | Promise<T>): Promise<T> {
  try {
    return await use(ring)
  } finally {
    wipeRing(ring)
  }
}
