// What each secondary for performance gets, as of a place of the log: the filters, the namespaces and the mounts that
// the set shares are read from one snapshot of the store.
//
// A read goes through all mounts, in steps between which the thread does other things. Links ask for it all at once,
// when a mount is made: those that come before the snapshot is opened share it.
import { decodeMountEntry } from '../../core/mount-entries.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { Ticks } from '../../lib/world.ts'
import { LEAVING_FOLDER, NAMESPACE, NAMESPACE_FOLDER, type StoredNamespace } from '../../namespaces/records.ts'
import { NO_ENTRY } from '../../replication/reach.ts'
import { type Filtered, filteredBy, type PlacedMount, type PlacedNamespace } from '../../replication/set/filtered.ts'
import { PATHS_FILTER, type PathsFilter } from '../../replication/set/paths-filter.ts'
import { peerSegment } from '../../replication/set/peer-name.ts'
import {
  FILTERS_FOLDER,
  filterPath,
  registryFolder,
  SECONDARY_ENTRY,
  SETS_FOLDER,
} from '../../replication/set/records.ts'
import type { Barrier } from '../../storage/barrier.ts'
import { type Entry, ROOT_NAMESPACE, type Snapshot, type Store } from '../../storage/contract.ts'
import { StorageRefused } from '../../storage/errors.ts'

/** The parts that it works with. */
export type ReadingReachParts = {
  readonly store: Pick<Store, 'snapshot'>
  readonly barrier: Pick<Barrier, 'open'>
  readonly ticks: Pick<Ticks, 'next'>
}

/** What is filtered, and the index of the change up to which it is so. */
export type FilteredAt = Filtered & { readonly index: number }

/** Entries after which other things come first: to open and read them takes a few milliseconds. */
const STEP = 128
/** Folders of which an entry of each secondary is read. */
const REGISTRY = SETS_FOLDER + registryFolder('performance')
const OF_SECONDARIES = [SETS_FOLDER + FILTERS_FOLDER, REGISTRY]

/** What a snapshot has that decides what is filtered. */
type Read = {
  readonly index: number
  readonly namespaces: readonly PlacedNamespace[]
  readonly mounts: readonly PlacedMount[]
  /** As they are stored, by their keys. */
  readonly ofSecondaries: ReadonlyMap<string, Buffer>
}

/** A mount, and its entry as it was stored. */
type KnownMount = { readonly mount: PlacedMount; readonly stored: Buffer }

/** Reads on the thread that writes. */
export class ReadingReach {
  readonly #parts: ReadingReachParts
  readonly #reads = new OneAtATime()
  /** The read whose snapshot is not open yet. */
  #next: Promise<Read> | undefined
  /** The mounts of the last read, by the keys of their entries: most are the same at the next one. */
  #known: ReadonlyMap<string, KnownMount> = new Map()

  constructor(parts: ReadingReachParts) {
    this.#parts = parts
  }

  /**
   * What the links send a secondary, at the moment of the call or later.
   * @throws StorageRefused unless it is let in: a filter goes with its secondary, so without one nothing is known
   * @throws Sealed, and StorageCorrupt for an entry that cannot be read: what it would keep back is not known either
   */
  async reachAsOfNow(id: string): Promise<FilteredAt> {
    const read = await this.#read()
    const key = REGISTRY + peerSegment(id)
    const stored = read.ofSecondaries.get(key)
    const entry = stored && SECONDARY_ENTRY.decode(this.#parts.barrier.open(key, stored))
    if (entry?.state !== 'active') throw new StorageRefused('The secondary is not let in: it gets nothing')
    return { index: read.index, ...filteredBy(this.#filterOf(read, id), read) }
  }

  /** What the filter of an id keeps from its secondary now, and what another would. @throws as `reachAsOfNow` */
  async filteredNow(
    id: string,
    wanted?: Pick<PathsFilter, 'mode' | 'paths'>,
  ): Promise<{ readonly now: Filtered; readonly instead: Filtered }> {
    const read = await this.#read()
    return { now: filteredBy(this.#filterOf(read, id), read), instead: filteredBy(wanted, read) }
  }

  /** Nothing is kept in clear: the server is being sealed. */
  forget(): void {
    this.#known = new Map()
  }

  #filterOf({ ofSecondaries }: Read, id: string): PathsFilter | undefined {
    const key = SETS_FOLDER + filterPath(id)
    const stored = ofSecondaries.get(key)
    return stored && PATHS_FILTER.decode(this.#parts.barrier.open(key, stored))
  }

  #read(): Promise<Read> {
    this.#next ??= this.#reads.run(() => {
      this.#next = undefined
      return this.#readNow()
    })
    return this.#next
  }

  /** To open and read an entry costs far more than to compare it. */
  #mountIn({ key, value }: Entry, namespace: string, before: KnownMount | undefined): KnownMount {
    if (before?.stored.equals(value) === true) return before
    const { uuid, path, type } = decodeMountEntry(this.#parts.barrier.open(key, value))
    return { mount: { uuid, namespace, path, type }, stored: value }
  }

  async #readNow(): Promise<Read> {
    const { store, barrier, ticks } = this.#parts
    const before = this.#known
    const snapshot = await store.snapshot()
    try {
      const steps = new Steps(snapshot, ticks)
      const ofSecondaries = new Map<string, Buffer>()
      for (const folder of OF_SECONDARIES)
        for await (const { key, value } of steps.below(folder)) ofSecondaries.set(key, value)
      const namespaces = await namespacesOf(steps, barrier)
      const found = new Map<string, KnownMount>()
      for (const id of [ROOT_NAMESPACE, ...namespaces.map((one) => one.id)])
        for await (const entry of steps.below(`${id}/core/mounts/`))
          found.set(entry.key, this.#mountIn(entry, id, before.get(entry.key)))
      // What was forgotten meanwhile stays forgotten.
      if (this.#known === before) this.#known = found
      const mounts = [...found.values()].map(({ mount }) => mount)
      return { index: snapshot.index, namespaces, mounts, ofSecondaries }
    } finally {
      await snapshot.close()
    }
  }
}

/** Goes through folders of a snapshot, some entries at a time. */
class Steps {
  readonly #snapshot: Snapshot
  readonly #ticks: ReadingReachParts['ticks']
  #work = 0

  constructor(snapshot: Snapshot, ticks: ReadingReachParts['ticks']) {
    this.#snapshot = snapshot
    this.#ticks = ticks
  }

  async *below(folder: string): AsyncGenerator<Entry> {
    for (let after = ''; ; ) {
      const page = await this.#snapshot.scan(folder, after, STEP)
      yield* page
      // An empty folder is work as well.
      this.#work += 1 + page.length
      if (this.#work >= STEP) {
        this.#work = 0
        await this.#ticks.next()
      }
      if (page.length < STEP) return
      after = page.at(-1)?.key ?? ''
    }
  }
}

/**
 * All namespaces with their paths, from the root on. One that is being deleted is there until it is gone; one whose
 * parent is not there is reached by nobody.
 */
async function namespacesOf(steps: Steps, barrier: ReadingReachParts['barrier']): Promise<PlacedNamespace[]> {
  const byParent = new Map<string, (StoredNamespace & { readonly entry: string })[]>()
  for (const folder of [NAMESPACE_FOLDER, LEAVING_FOLDER]) {
    for await (const { key, value } of steps.below(folder)) {
      const stored = NAMESPACE.decode(barrier.open(key, value))
      const others = byParent.get(stored.parent) ?? []
      byParent.set(stored.parent, others)
      others.push({ ...stored, entry: key.slice(folder.length) })
    }
  }
  const found: PlacedNamespace[] = [{ id: ROOT_NAMESPACE, path: '', entry: NO_ENTRY }]
  // It grows on the way.
  for (const parent of found)
    for (const { id, name, entry } of byParent.get(parent.id) ?? [])
      found.push({ id, entry, path: `${parent.path}${name}/` })
  return found.slice(1)
}
