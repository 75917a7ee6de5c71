// The keys of one mount: found in a cache, changed in transactions.
import { fail } from '../../api/errors.ts'
import { CoherentCache, type Lookups } from '../../lib/coherent-cache.ts'
import type { ListOptions } from '../../storage/contract.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import type { BudgetBook } from './budget-book.ts'
import { type Granting, readGranted, USE_FOLDER } from './budget-ledger.ts'
import { cacheSize } from './cache-setting.ts'
import { identityOf, isCounted } from './counted-version.ts'
import { decodeRing, encodeRing, type StoredRing, wipeRing } from './key-ring.ts'
import { type FindBudget, LoadedRing } from './loaded-ring.ts'
import { assertSuccessor, type RingHeader } from './ring-header.ts'
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
    if (name.length > MAX_NAME_CHARACTERS) return undefined
    await this.#size()
    const bytes = await this.#storage.get(FOLDER + name)
    if (bytes === undefined) return undefined
    const granted = await readGranted(this.#storage, name)
    return useStored(bytes, (stored) => {
      const ring = new LoadedRing(stored, this.#budgetsOf(name, granted))
      if (isCounted(ring.type)) this.#budgets.beginAhead()
      return ring
    })
  }

  #budgetsOf(name: string, granted: Granting): FindBudget {
    return (version, { countedFrom = 0 }, secrets) =>
      this.#budgets.of({ name, version, identity: identityOf(secrets), granted: granted[version] ?? 0, countedFrom })
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
   * Stores the ring where the name is free, and gives what has the name then. `check` runs in the same
   * transaction, before a free name is taken.
   * @throws StorageReadOnly where the request has to travel
   */
  async add(name: string, ring: StoredRing, check?: (tx: ViewTransaction) => Promise<void>): Promise<LoadedRing> {
    requireNameLength(name)
    const stored = await this.#storage.transaction(async (tx) => {
      const existing = await tx.get(FOLDER + name)
      if (existing !== undefined) return useStored(existing, (before) => new LoadedRing(before))
      await check?.(tx)
      store(tx, name, ring)
      reschedule(tx, name, undefined, ring.header)
      return new LoadedRing(ring)
    })
    await this.#readBack(name)
    return stored
  }

  /**
   * Stores the ring as a key of its own. Where the name is taken it takes the place of the other, or, unless it
   * `replaces`, nothing happens.
   * @throws Refusal where the name is taken, StorageReadOnly where the request has to travel
   */
  async place(name: string, ring: StoredRing, replaces: boolean): Promise<void> {
    requireNameLength(name)
    await this.#storage.transaction(async (tx) => {
      const bytes = await tx.get(FOLDER + name)
      if (bytes !== undefined && !replaces) throw fail('bad_request', [`key "${name}" already exists`])
      const before =
        bytes && useStored(bytes, (other) => ({ header: other.header, isSame: shareVersions(other, ring) }))
      store(tx, name, ring)
      reschedule(tx, name, before?.header, ring.header)
      // What another key had sealed is none of this one's; what this one had sealed before stays counted.
      const isCounted = (await tx.get(USE_FOLDER + name)) !== undefined
      if (isCounted && before?.isSame !== true) tx.delete(USE_FOLDER + name)
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
      return bytes && useStored(bytes, (before) => replace(tx, name, before, change(before)))
    })
    if (stored !== undefined) await this.#readBack(name)
    return stored
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
      const header = useStored(bytes, (stored) => stored.header)
      refuse(header)
      tx.delete(FOLDER + name)
      reschedule(tx, name, header, undefined)
      if ((await tx.get(USE_FOLDER + name)) !== undefined) tx.delete(USE_FOLDER + name)
      return true
    })
  }

  /** What does not parse shows before the caller is told of success, not with the first decryption (threats P-15). */
  async #readBack(name: string): Promise<void> {
    await this.find(name)
  }

  /** `path` is relative to the mount. */
  changed(path: string): void {
    for (const folder of [FOLDER, USE_FOLDER])
      if (path.startsWith(folder)) this.#cache.forget(path.slice(folder.length))
  }

  reset(): void {
    this.#cache.clear()
    this.#sizing = undefined
  }
}

/** Whether one is the other at another time: the latest version of one is a version of the other. */
function shareVersions(a: StoredRing, b: StoredRing): boolean {
  const [last, other] = [a, b].map(({ secrets }) => secrets.at(-1))
  if (last === undefined || other === undefined) return false
  return (
    b.secrets.some((one) => identityOf(one) === identityOf(last)) ||
    a.secrets.some((one) => identityOf(one) === identityOf(other))
  )
}

function requireNameLength(name: string): void {
  if (name.length > MAX_NAME_CHARACTERS)
    throw fail('bad_request', [`The name of a key has at most ${MAX_NAME_CHARACTERS} characters`])
}

/** Gives what was decoded to `use` and wipes it afterwards. */
function useStored<T>(bytes: Buffer, use: (stored: StoredRing) => T): T {
  try {
    const stored = decodeRing(bytes)
    try {
      return use(stored)
    } finally {
      wipeRing(stored)
    }
  } finally {
    bytes.fill(0)
  }
}

function replace(tx: ViewTransaction, name: string, before: StoredRing, after: StoredRing): LoadedRing {
  if (after === before) return new LoadedRing(before)
  assertSuccessor(before.header, after.header)
  try {
    store(tx, name, after)
    reschedule(tx, name, before.header, after.header)
    return new LoadedRing(after)
  } finally {
    wipeRing(after)
  }
}

/** `put` seals at once, so the bytes in clear are needed no longer. */
function store(tx: ViewTransaction, name: string, ring: StoredRing): void {
  const bytes = encodeRing(ring)
  try {
    tx.put(FOLDER + name, bytes)
  } finally {
    bytes.fill(0)
  }
}
