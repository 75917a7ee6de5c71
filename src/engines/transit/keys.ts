// The keys of one mount: found in a cache, changed in transactions.
import { fail } from '../../api/errors.ts'
import { CoherentCache, type Lookups } from '../../lib/coherent-cache.ts'
import type { ListOptions } from '../../storage/contract.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import type { BudgetBook } from './budget-book.ts'
import { readGranted, USE_FOLDER } from './budget-ledger.ts'
import { cacheSize } from './cache-setting.ts'
import { identityOf, isCounted } from './counted-version.ts'
import {
  decodeGrown,
  decodeHeader,
  decodeRing,
  encodeGrown,
  encodeRing,
  type GrownRing,
  type StoredRing,
  type VersionSecrets,
  wipeRing,
} from './key-ring.ts'
import { LoadedBefore } from './loaded-before.ts'
import { type Budgets, keyTypeOf, LoadedRing } from './loaded-ring.ts'
import { assertSuccessor, firstStoredVersion, type RingHeader } from './ring-header.ts'
import { reschedule } from './rotation-schedule.ts'

/** One stored entry per key. */
const FOLDER = 'key/'
/** Where the setting of the mount names no number. About 1 KB each with one version. */
const USUAL_CACHED_RINGS = 10_000
/** Storage bounds the whole stored key, of which the name is the last part. */
export const MAX_NAME_CHARACTERS = 512

export class Keys {
  readonly #storage: View
  readonly #budgets: BudgetBook
  readonly #cache = new CoherentCache<LoadedRing>(USUAL_CACHED_RINGS)
  /** What a ring was loaded as, for the time after it is forgotten and before it is asked for again. */
  readonly #loaded = new LoadedBefore()
  /** Of the setting: read with the first key, and again after a reset. */
  #sizing: Promise<void> | undefined

  constructor(storage: View, budgets: BudgetBook) {
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
    const bytes = await this.#storage.get(FOLDER + name)
    if (bytes === undefined) return undefined
    const { ring: stored, known, mark, before } = this.#takeGrown(name, bytes)
    try {
      const granted = isCounted(keyTypeOf(stored.header)) ? await this.#grantedOf(stored, known, before) : NONE
      const ring = new LoadedRing(stored, this.#budgetsOf(name, granted), before && { ring: before, count: known })
      this.#loaded.keep(name, ring, mark)
      if (isCounted(ring.type)) this.#budgets.beginAhead()
      return ring
    } finally {
      wipeRing(stored)
    }
  }

  /** `before`: the ring as it was loaded the last time, where it is this one with fewer versions. */
  #takeGrown(name: string, bytes: Buffer): GrownRing & { readonly before: LoadedRing | undefined } {
    try {
      const last = this.#loaded.find(name)
      const grown = decodeGrown(bytes, last && { header: last.ring.header, mark: last.mark })
      return { ...grown, before: grown.known === 0 ? undefined : last?.ring }
    } finally {
      bytes.fill(0)
    }
  }

  /** Of the versions that can be used, by their identities, but of those whose budgets hold. @throws StorageCorrupt */
  async #grantedOf(
    { header, secrets }: StoredRing,
    known: number,
    before: LoadedRing | undefined,
  ): Promise<ReadonlyMap<string, number>> {
    const unused = header.minDecryptionVersion - firstStoredVersion(header)
    const fresh = secrets.slice(Math.max(0, unused - known)).map(identityOf)
    const granted = new Map<string, number>()
    const missing = (): string[] => {
      const loaded = before?.versions.filter(({ number, budget }) => {
        return number >= header.minDecryptionVersion && (budget === undefined || !this.#budgets.holds(budget))
      })
      return [...(loaded ?? []).map(({ identity }) => identity), ...fresh].filter((one) => !granted.has(one))
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
    const bytes = await this.#storage.get(FOLDER + name)
    // What does not parse shows before the caller is told of success (threats P-15). Who removed it came later.
    const added = bytes === undefined ? new LoadedRing(ring) : useStored(bytes, (stored) => new LoadedRing(stored))
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
      const existing = await tx.get(FOLDER + name)
      if (existing !== undefined) return useStored(existing, (before) => new LoadedRing(before))
      await check?.(tx)
      store(tx, name, ring)
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
      const bytes = await tx.get(FOLDER + name)
      if (bytes !== undefined && !replaces) throw fail('bad_request', [`key "${name}" already exists`])
      const before = bytes && useStored(bytes, (other) => other.header)
      store(tx, name, ring)
      reschedule(tx, name, before, ring.header)
    })
    await this.#readBack(name)
  }

  /**
   * Stores what `change` makes of the ring and gives it as it is then; where it makes nothing of it, or throws, all
   * stays as it was. `change` may run several times. Undefined where no key has the name.
   */
  async update(name: string, change: (ring: StoredRing) => StoredRing): Promise<LoadedRing | undefined> {
    const stored = await this.#storage.transaction(async (tx) => {
      const bytes = await tx.get(FOLDER + name)
      if (bytes === undefined) return undefined
      const replaced = useStored(bytes, (before) => replace(tx, name, before, change(before)))
      await forgetCounts(tx, replaced.gone)
      return replaced.after
    })
    if (stored !== undefined) await this.#readBack(name)
    return stored
  }

  /**
   * Adds a version of `fresh`, with the header that `change` makes of the one that is stored; where it throws, all
   * stays as it was. The secrets of the other versions are not looked at, so that a key with thousands of them is
   * rotated as quickly as storage takes it. The ring as it is then; undefined where no key has the name.
   */
  async grow(
    name: string,
    fresh: VersionSecrets,
    change: (header: RingHeader) => RingHeader,
  ): Promise<LoadedRing | undefined> {
    const after = await this.#storage.transaction(async (tx) => {
      const bytes = await tx.get(FOLDER + name)
      if (bytes === undefined) return undefined
      try {
        const before = decodeHeader(bytes)
        const header = change(before)
        assertSuccessor(before, header)
        put(tx, name, encodeGrown(bytes, header, fresh))
        reschedule(tx, name, before, header)
        return header
      } finally {
        bytes.fill(0)
      }
    })
    // What does not parse shows before the caller is told of success (threats P-15).
    return after && (await this.find(name))
  }

  /** What `read` makes of the ring, which it must not keep; undefined where no key has the name. */
  async readIn<T>(tx: ViewTransaction, name: string, read: (ring: StoredRing) => T): Promise<T | undefined> {
    const bytes = await tx.get(FOLDER + name)
    return bytes && useStored(bytes, read)
  }

  /** The key is read anew when it is asked for. */
  forget(name: string): void {
    this.#cache.forget(name)
  }

  /** Removes the key unless `refuse` throws. False where no key has the name. */
  delete(name: string, refuse: (header: RingHeader) => void): Promise<boolean> {
    return this.#storage.transaction(async (tx) => {
      const bytes = await tx.get(FOLDER + name)
      if (bytes === undefined) return false
      const { header, deleted } = useStored(bytes, (stored) => ({ header: stored.header, deleted: gone(stored, 0) }))
      refuse(header)
      tx.delete(FOLDER + name)
      reschedule(tx, name, header, undefined)
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
    if (path.startsWith(FOLDER)) this.#cache.forget(path.slice(FOLDER.length))
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
    throw fail('bad_request', [`The name of a key has at most ${MAX_NAME_CHARACTERS} characters`])
}

/** The caller wipes it. */
function takeStored(bytes: Buffer): StoredRing {
  try {
    return decodeRing(bytes)
  } finally {
    bytes.fill(0)
  }
}

/** Gives what was decoded to `use` and wipes it afterwards. */
function useStored<T>(bytes: Buffer, use: (stored: StoredRing) => T): T {
  const stored = takeStored(bytes)
  try {
    return use(stored)
  } finally {
    wipeRing(stored)
  }
}

type Replaced = { readonly after: LoadedRing; readonly gone: readonly string[] }

function replace(tx: ViewTransaction, name: string, before: StoredRing, after: StoredRing): Replaced {
  if (after === before) return { after: new LoadedRing(before), gone: [] }
  assertSuccessor(before.header, after.header)
  try {
    store(tx, name, after)
    reschedule(tx, name, before.header, after.header)
    return { after: new LoadedRing(after), gone: gone(before, firstStoredVersion(after.header)) }
  } finally {
    wipeRing(after)
  }
}

function store(tx: ViewTransaction, name: string, ring: StoredRing): void {
  put(tx, name, encodeRing(ring))
}

/** Storage seals at once, so the bytes in clear are needed no longer. */
function put(tx: ViewTransaction, name: string, bytes: Buffer): void {
  try {
    tx.put(FOLDER + name, bytes)
  } finally {
    bytes.fill(0)
  }
}
