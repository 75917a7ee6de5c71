// The mount table: which engine serves which path, in the memory of one thread. It follows what is stored
// (stored-mounts.ts).
import type { EndpointOperation } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import type { Lockout } from '../api/lockout.ts'
import type { LoginMethod } from '../api/login-method.ts'
import type {
  Engine,
  EngineType,
  MountEntry,
  MountInNamespace,
  MountKind,
  Mounts,
  NamespacedPath,
  PromotedAs,
  Routed,
} from '../api/mount.ts'
import { type Namespace, type Namespaces, ROOT } from '../api/namespace.ts'
import type { Sight } from '../api/node-role.ts'
import type { PlacedShape } from '../api/spelling.ts'
import { builtInMounts } from '../namespaces/built-in-mounts.ts'
import { StorageCorrupt } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { type EngineContext, type EngineEnvironment, logOfMount } from './engine-context.ts'
import { ALWAYS, dataFolder, isSeen, SINGLETONS } from './mount-entries.ts'
import { MountFeed } from './mount-feed.ts'
import { type Mounted, PlacedMounts } from './placed-mounts.ts'
import { type IsUnsure, type RemovalWork, StoredMounts } from './stored-mounts.ts'

/** Re-exported: who asks the table names what it answers. */
export type { Mounted } from './placed-mounts.ts'

/** What a promoted cluster is: `ownsShared`, to shared mounts. */
export type PromotedMounts = Omit<PromotedAs, 'isOwner'> & { readonly ownsShared: boolean }

/** Engines that are told of a promotion at once: enough to share a sync, few enough to keep memory small. */
const TOLD_AT_ONCE = 64

type Types = ReadonlyMap<string, EngineType<EngineContext>>

/** Parts that the assembly hands to the mount table. */
export type MountTableParts = {
  /** All engine types. Singletons (`system`, `token` …) may be among them; no caller can mount those. */
  readonly types: readonly EngineType<EngineContext>[]
  /** Serves its path even while the table cannot be read because the server is sealed. */
  readonly always: Mounted
  readonly namespaces: Namespaces
  readonly storage: SealedStorage
  readonly given: EngineEnvironment
  readonly invalidation: Invalidation
  /** Run in this order before the data of a mount are removed. */
  readonly removals: readonly RemovalWork[]
}

/**
 * All mounts of the server as one thread serves them. Reads answer from memory. Writes go to the store, on the writing
 * thread alone, and the table then reloads; other threads reload when they learn of the commit.
 */
export class MountTable implements Mounts {
  readonly #types: Types
  readonly #stored: StoredMounts
  readonly #namespaces: Namespaces
  readonly #given: EngineEnvironment
  readonly #placed: PlacedMounts
  readonly #feed: MountFeed
  #passedHeaders: readonly string[] = []
  /** The names of the headers that a mount passes on, by the UUIDs of the few mounts that do. */
  readonly #passing = new Map<string, readonly string[]>()
  /** Whether engines of local mounts work by themselves (true), and those of the other ones (false). */
  readonly #works = new Set<boolean>()
  #refreshing: Promise<void> | undefined
  #generation = 0

  constructor({ types, always, namespaces, storage, given, invalidation, removals }: MountTableParts) {
    this.#namespaces = namespaces
    this.#placed = new PlacedMounts(always)
    this.#types = new Map(types.map((type) => [type.type, type]))
    this.#stored = new StoredMounts(storage, removals)
    this.#given = given
    const place = (entry: MountEntry) => this.#place(entry)
    const forget = (uuid: string) => this.#forget(uuid)
    this.#feed = new MountFeed({ namespaces, stored: this.#stored, placed: this.#placed, place, forget }, invalidation)
    for (const prefix of ['logical/', 'auth/']) {
      invalidation.register({ prefix, changed: (rest) => this.#dataChanged(rest), reset: () => this.#resetEngines() })
    }
  }

  /** Types that can be mounted; singletons are not among them. */
  typesOf(kind: MountKind): readonly string[] {
    return [...this.#types.values()]
      .filter((one) => one.kind === kind && !SINGLETONS.has(one.type))
      .map(({ type }) => type)
  }

  /** All mounts of a namespace by path, also those that are always served. */
  list(of: Namespace, sight: Sight = 'all'): readonly MountEntry[] {
    return this.#placed
      .shownIn(of.id, sight)
      .map(({ entry }) => entry)
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** All mounts of all namespaces, those first that are not found by their path: another one hides them. */
  all(): readonly MountEntry[] {
    const shown = new Set(this.#placed.shown())
    const hidden = [...this.#placed.all()].filter((one) => !shown.has(one))
    return [...hidden, ...shown].map(({ entry }) => entry)
  }

  /** The mount with this accessor, also where another one hides it. */
  withAccessor(accessor: string): MountEntry | undefined {
    for (const { entry } of this.#placed.all()) if (entry.accessor === accessor) return entry
    return undefined
  }

  /** All mounts that are served now. */
  mounted(): Iterable<Mounted> {
    return this.#placed.all()
  }

  /** The mount at exactly this path of the namespace. */
  find(within: Namespace, path: string, sight: Sight = 'all'): MountEntry | undefined {
    // A path that begins with the name of a namespace below is none of this one.
    const found = this.#placed.at(within.path + path, sight)
    if (found?.namespace.id === within.id) return found.entry
    // Only local mounts come to lie there.
    if (sight === 'shared') return undefined
    return this.#placed.astrayAt(within.id, within.path + path)?.entry
  }

  conflicting(): readonly string[] {
    return this.#placed.conflicting()
  }

  findIn(namespaceId: string, path: string): MountEntry | undefined {
    const namespace = this.#namespaces.byId(namespaceId)
    return namespace && this.find(namespace, path)
  }

  /** The mount that would serve the full path. */
  serving(fullPath: string, sight: Sight = 'all'): MountEntry | undefined {
    return this.#placed.route(fullPath, sight)?.entry
  }

  fullPathOf(entry: MountEntry): string {
    return this.#placed.withUuid(entry.uuid)?.path ?? entry.path
  }

  /** The path with its names as they are kept, if a mount serves it, and the spellings that these names have. */
  spelled(path: string): { readonly path: string; readonly spelling: PlacedShape | undefined } {
    const mounted = this.route(path)
    if (mounted === undefined) return { path, spelling: undefined }
    const { length } = mounted.path
    const { path: kept, shape } = mounted.router.spelled(path.slice(length), mounted.engine)
    const spelling = shape && { mountPath: mounted.path, shape }
    return { path: path.slice(0, length) + kept, spelling }
  }

  routed(path: string, operation: EndpointOperation): Routed | undefined {
    const mounted = this.route(path)
    if (mounted === undefined) return undefined
    const found = mounted.router.find(operation, path.slice(mounted.path.length))
    if (found.kind !== 'found') return undefined
    return { endpoint: found.endpoint, mountPath: mounted.path, pathParameters: found.path }
  }

  engineOf(uuid: string): Engine | undefined {
    return this.#placed.withUuid(uuid)?.engine
  }

  /** The mount with this UUID; undefined if there is none. */
  withUuid(uuid: string): Mounted | undefined {
    return this.#placed.withUuid(uuid)
  }

  /** Look-ups in the caches of all engines that are mounted now, for telemetry. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    const sum = { hits: 0, misses: 0 }
    for (const { engine } of this.#placed.all()) {
      sum.hits += engine.lookups?.hits ?? 0
      sum.misses += engine.lookups?.misses ?? 0
    }
    return sum
  }

  /** The login method of the mount with this UUID; undefined if there is none, or it is no login mount. */
  loginMethod(uuid: string): { readonly mount: MountEntry; readonly method: LoginMethod } | undefined {
    const mounted = this.#placed.withUuid(uuid)
    if (mounted?.entry.kind !== 'auth') return undefined
    return { mount: mounted.entry, method: mounted.engine as LoginMethod }
  }

  /** On the writing thread: answers a question from the same mount on another thread. @throws where it has no answer */
  async answer(uuid: string, question: unknown): Promise<unknown> {
    if (this.stale) await this.refresh()
    const engine = this.#placed.withUuid(uuid)?.engine
    if (engine?.handleWriterCall === undefined) throw new Error('No mount answers that')
    return engine.handleWriterCall(question)
  }

  /**
   * On the writing thread: tells the engines that this cluster has taken the place of another (`Engine.promoted`).
   * Yields the UUIDs of those that stored something, some at a time; all threads must reset them. A mount whose records
   * are corrupt holds up no other.
   * @throws what storing throws
   */
  async *promoted(promotion: string, { ownsShared, ...as }: PromotedMounts): AsyncGenerator<readonly string[]> {
    if (this.stale) await this.refresh()
    const told = [...this.#placed.all()].filter(({ engine }) => engine.promoted !== undefined)
    // What is local to a cluster that goes on as it was has the same owner as before.
    const mounted = as.takesPlace ? told : told.filter(({ entry }) => !entry.local)
    for (const isLocal of [false, true]) {
      const some = mounted.filter(({ entry }) => entry.local === isLocal)
      for (let from = 0; from < some.length; from += TOLD_AT_ONCE) {
        const page = some.slice(from, from + TOLD_AT_ONCE)
        await Promise.all(
          page.map((one) => this.#tellPromoted(one, promotion, { ...as, isOwner: isLocal || ownsShared })),
        )
        yield page.map(({ entry }) => entry.uuid)
      }
    }
  }

  async #tellPromoted({ path, engine }: Mounted, promotion: string, as: PromotedAs): Promise<void> {
    try {
      await engine.promoted?.(promotion, as)
    } catch (cause) {
      if (!(cause instanceof StorageCorrupt)) throw cause
      // It needs the same records to give anything away, so it gives nothing until they are repaired.
      this.#given.log('error', 'A mount could not be told of the promotion: its records are corrupt', {
        mount: path,
        cause: cause.message,
      })
    }
  }

  /** Makes the engine drop what it keeps in memory. Does nothing if there is no such mount. */
  resetEngine(uuid: string): void {
    this.#placed.withUuid(uuid)?.engine.reset()
  }

  /** True if the mount stays out of replication; false if there is no such mount. */
  isLocal(uuid: string): boolean {
    return this.#placed.withUuid(uuid)?.entry.local === true
  }

  lockoutOf(uuid: string): Lockout | undefined {
    return this.loginMethod(uuid)?.method.lockout
  }

  /** Returns the mount with the longest path that the full path begins with; "transit" finds "transit/". */
  route(fullPath: string): Mounted | undefined {
    return this.#placed.route(fullPath)
  }

  /** Grows whenever the table changed. */
  get generation(): number {
    return this.#generation
  }

  /** True while the table is older than the store: call `refresh` before `route`. */
  get stale(): boolean {
    // During a reload the table may still be the old one.
    return this.#feed.isBehind || this.#refreshing !== undefined
  }

  /** Reloads the table; resolves when it has the changes that this thread knew of at the call. */
  refresh(): Promise<void> {
    // The load under way may have begun before the newest change; `#loadUntilFresh` then loads once more.
    this.#refreshing ??= this.#loadUntilFresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #loadUntilFresh(): Promise<void> {
    do await this.#feed.load()
    while (this.#feed.isBehind)
    this.#passedHeaders = [...new Set([...this.#passing.values()].flat().map((name) => name.toLowerCase()))]
  }

  #place(entry: MountEntry): void {
    this.#generation++
    const type = this.#types.get(entry.type)
    const namespace = this.#namespaces.byId(entry.namespace)
    // The engine of a newer version of the program. Its data stay; its path answers 404 until this version knows the
    // type. A namespace that is not here yet, or no more, has no paths at all.
    if (type === undefined || namespace === undefined) return
    const { passthroughRequestHeaders: passed } = entry.config
    if (passed === undefined) this.#passing.delete(entry.uuid)
    else this.#passing.set(entry.uuid, passed)
    const known = this.#placed.withUuid(entry.uuid)
    const engine = known?.engine ?? type.create(this.#context(entry))
    if (known === undefined && this.#works.has(entry.local)) engine.start?.()
    const path = namespace.path + entry.path
    const isAstray = this.#namespaces.around(path).id !== namespace.id
    this.#placed.put({ entry, namespace, path, router: type.router, engine, isAstray })
  }

  #context(entry: MountEntry): EngineContext {
    const mount = () => this.#placed.withUuid(entry.uuid)?.entry ?? entry
    const { callWriter, askPrimary, managedKeysOf, seenOf, ...given } = this.#given
    const log = logOfMount(given.log, () => this.#placed.withUuid(entry.uuid)?.namespace.path ?? '')
    const far = askPrimary && { askPrimary: (question: unknown) => askPrimary(entry.uuid, question) }
    const ask = callWriter && { callWriter: (question: unknown) => callWriter(entry.uuid, question) }
    const keys = managedKeysOf && { managedKeys: managedKeysOf(mount) }
    const seen = seenOf && { seen: seenOf(dataFolder(entry), entry.local ? 'local' : 'replicated') }
    return { ...given, ...ask, ...far, ...keys, ...seen, log, mount, storage: this.#stored.dataOf(mount) }
  }

  /**
   * Lets engines of local mounts, or of the other ones, begin their own work: on the writing thread of an open server,
   * in the roles that may change those mounts.
   */
  start(isLocal: boolean): void {
    if (this.#works.has(isLocal)) return
    this.#works.add(isLocal)
    for (const { entry, engine } of this.#placed.all()) if (entry.local === isLocal) engine.start?.()
  }

  /** Ends what `start` began. */
  stop(isLocal: boolean): void {
    if (!this.#works.delete(isLocal)) return
    for (const { entry, engine } of this.#placed.all()) if (entry.local === isLocal) engine.stop?.()
  }

  #forget(uuid: string): void {
    this.#generation++
    this.#passing.delete(uuid)
    const gone = this.#placed.remove(uuid)
    if (gone !== undefined && this.#works.has(gone.entry.local)) gone.engine.stop?.()
  }

  #dataChanged(rest: string): void {
    const slash = rest.indexOf('/')
    this.#placed.withUuid(rest.slice(0, slash))?.engine.changed(rest.slice(slash + 1))
  }

  #resetEngines(): void {
    for (const { engine } of this.#placed.all()) engine.reset()
  }

  /** The request headers that some mount passes on, in lower case. */
  get passedHeaders(): readonly string[] {
    return this.#passedHeaders
  }

  /** Drops everything in memory when the server is sealed. The mount that is always served stays. */
  close(): void {
    for (const isLocal of this.#works) this.stop(isLocal)
    this.#resetEngines()
    this.#generation++
    this.#placed.clear()
    this.#feed.clear()
    this.#passing.clear()
    this.#passedHeaders = []
  }

  /** Adds a mount. @throws Refusal for a type that cannot be mounted, and for a path that is reserved or in use */
  async mount(entry: MountEntry): Promise<void> {
    if (this.#types.get(entry.type)?.kind !== entry.kind || SINGLETONS.has(entry.type)) {
      throw fail('choice_unknown', [
        `plugin not found in the catalog: ${entry.type}; offered are ${this.typesOf(entry.kind).join(', ')}`,
      ])
    }
    await this.#stored.add(entry, this.#namespaceOf(entry))
    await this.refresh()
  }

  #namespaceOf({ namespace: id }: MountEntry): Namespace {
    const namespace = this.#namespaces.byId(id)
    if (namespace === undefined) throw fail('bad_namespace', [])
    return namespace
  }

  /** Changes the entry of the mount at `path`. @throws Refusal where there is none, and what `change` throws */
  async tune(
    namespace: Namespace,
    path: string,
    change: (entry: MountEntry) => MountEntry,
    sight: Sight = 'all',
  ): Promise<void> {
    const always = namespace.id === ROOT.id ? [] : builtInMounts(namespace, ALWAYS)
    await this.#stored.tune(
      { namespace, path },
      change,
      always.filter((entry) => isSeen(entry, sight)),
      sight,
    )
    await this.refresh()
  }

  /** Moves a mount; its data and its engine stay. @throws Refusal as `StoredMounts.move` does */
  async move(from: NamespacedPath, to: NamespacedPath, sight: Sight = 'all'): Promise<void> {
    await this.#stored.move(from, to, sight)
    await this.refresh()
  }

  /** Stops serving the mount, then removes its data. Does nothing if there is none. @throws Refusal for a singleton */
  async unmount(within: Namespace, path: string, sight: Sight = 'all'): Promise<void> {
    const entry = this.find(within, path, sight)
    if (entry === undefined) return
    if (SINGLETONS.has(entry.type)) throw fail('part_of_server', [`cannot unmount "${path}"`])
    await this.#remove(entry)
  }

  async #remove(entry: MountEntry): Promise<void> {
    const isRemoved = await this.#stored.remove(entry)
    await this.refresh()
    if (isRemoved) await this.#stored.wipe(entry)
  }

  /** Removes all mounts of a namespace that is being deleted, and what interrupted removals left in it. */
  async unmountAll(within: Namespace): Promise<void> {
    if (this.stale) await this.refresh()
    for (const { entry } of await this.#stored.all(within.id)) await this.#remove(entry)
    for (const isLocal of [false, true]) await this.#stored.finishRemovals(within.id, isLocal)
  }

  /**
   * Removes what this cluster alone has of the mounts of a namespace that is gone, which it did not delete: its local
   * mounts, and its part of the other ones.
   */
  async removeOwnPart(namespaceId: string): Promise<void> {
    for (const { entry } of await this.#stored.all(namespaceId)) if (entry.local) await this.#remove(entry)
    await this.#stored.finishRemovals(namespaceId, true)
    await this.#stored.wipeLeftovers(() => this.#namespaceIds(), [namespaceId])
  }

  /**
   * Removes what an interrupted unmount of a local mount, or of another one, left behind. Called on the writing thread
   * of an open server.
   */
  async finishUnmounts(isLocal: boolean): Promise<void> {
    for (const id of await this.#namespaceIds()) await this.#stored.finishRemovals(id, isLocal)
  }

  /** False if the stored entry with this key is gone: it may be that of a mount, or of one that is being removed. */
  async hasEntry(key: string): Promise<boolean> {
    return (await this.#stored.at(key)) !== undefined
  }

  /** Those of some mounts that are gone from their namespaces, as of one moment; undefined: nobody can say. */
  goneOf(mounts: readonly MountInNamespace[], isUnsure: IsUnsure): Promise<readonly MountInNamespace[] | undefined> {
    return this.#stored.goneOf(mounts, isUnsure)
  }

  /**
   * Removes what this cluster keeps for itself of mounts that are gone. False: something else of one is still here, so
   * its part is too.
   */
  wipeLeftovers(): Promise<boolean> {
    return this.#stored.wipeLeftovers(() => this.#namespaceIds())
  }

  async #namespaceIds(): Promise<readonly string[]> {
    if (this.#namespaces.stale) await this.#namespaces.refresh()
    return [ROOT, ...this.#namespaces.below(ROOT)].map(({ id }) => id)
  }

  /** Writes the mounts that every server has and this store has not yet: the local ones, or those of the set. */
  async addMissing(which: 'local' | 'shared'): Promise<void> {
    const missing = ALWAYS.filter(
      ({ path, type, local = false }) =>
        local === (which === 'local') && this.#types.has(type) && this.find(ROOT, path) === undefined,
    )
    if (missing.length === 0) return
    await this.#stored.addMissing(missing, this.#given.world)
    await this.refresh()
  }
}
