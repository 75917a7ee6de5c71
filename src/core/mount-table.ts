// The mount table: which engine serves which path, in the memory of one thread. It follows what is stored
// (stored-mounts.ts).
import type { EndpointOperation } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import type { Lockout } from '../api/lockout.ts'
import type { LoginMethod } from '../api/login-method.ts'
import type { Engine, EngineType, MountEntry, MountKind, Mounts, Routed } from '../api/mount.ts'
import type { Router } from '../api/router.ts'
import type { PlacedShape } from '../api/spelling.ts'
import { StorageCorrupt } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { EngineContext, EngineEnvironment } from './engine-context.ts'
import { ALWAYS, MOUNT_FOLDERS, SINGLETONS } from './mount-entries.ts'
import { type RemovalWork, StoredMounts } from './stored-mounts.ts'

/** A mount that is being served: its entry, the routes of its type, and its engine in this thread. */
export type Mounted = {
  readonly entry: MountEntry
  readonly router: Router
  readonly engine: Engine
}

/** Engines that are told of a promotion at once: enough to share a sync, few enough to keep memory small. */
const TOLD_AT_ONCE = 64

type Types = ReadonlyMap<string, EngineType<EngineContext>>

/** Parts that the assembly hands to the mount table. */
export type MountTableParts = {
  /** All engine types. Singletons (`system`, `token` …) may be among them; no caller can mount those. */
  readonly types: readonly EngineType<EngineContext>[]
  /** Serves its path even while the table cannot be read because the server is sealed. */
  readonly always: Mounted
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
  readonly #always: Mounted
  readonly #given: EngineEnvironment
  readonly #mounted = new Map<string, Mounted>()
  readonly #byUuid = new Map<string, Mounted>()
  /** The longest path of any mount since the start: a longer prefix cannot be a mount. */
  #longestPath = 0
  #passedHeaders: readonly string[] = []
  #stale = true
  /** Whether engines of local mounts work by themselves (true), and those of the other ones (false). */
  readonly #works = new Set<boolean>()
  #refreshing: Promise<void> | undefined

  constructor({ types, always, storage, given, invalidation, removals }: MountTableParts) {
    this.#always = always
    this.#mounted.set(always.entry.path, always)
    this.#longestPath = always.entry.path.length
    this.#types = new Map(types.map((type) => [type.type, type]))
    this.#stored = new StoredMounts(storage, removals)
    this.#given = given
    const stale = () => {
      this.#stale = true
    }
    for (const folder of MOUNT_FOLDERS)
      invalidation.register({ prefix: `core/${folder}`, changed: stale, reset: stale })
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

  /** All mounts by path, also the one that is always served. */
  list(): readonly MountEntry[] {
    return [...this.#mounted.values()].map(({ entry }) => entry).sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** All mounts that are served now. */
  mounted(): Iterable<Mounted> {
    return this.#byUuid.values()
  }

  /** The mount at exactly this path. */
  find(path: string): MountEntry | undefined {
    return this.#mounted.get(path)?.entry
  }

  /** The mount that would serve the path. */
  serving(path: string): MountEntry | undefined {
    return this.route(path)?.entry
  }

  /** The path with its names as they are kept, if a mount serves it, and the spellings that these names have. */
  spelled(path: string): { readonly path: string; readonly spelling: PlacedShape | undefined } {
    const mounted = this.route(path)
    if (mounted === undefined) return { path, spelling: undefined }
    const { length } = mounted.entry.path
    const { path: kept, shape } = mounted.router.spelled(path.slice(length), mounted.engine)
    const spelling = shape && { mountPath: mounted.entry.path, shape }
    return { path: path.slice(0, length) + kept, spelling }
  }

  routed(path: string, operation: EndpointOperation): Routed | undefined {
    const mounted = this.route(path)
    if (mounted === undefined) return undefined
    const found = mounted.router.find(operation, path.slice(mounted.entry.path.length))
    if (found.kind !== 'found') return undefined
    return { endpoint: found.endpoint, mountPath: mounted.entry.path, pathParameters: found.path }
  }

  engineOf(uuid: string): Engine | undefined {
    return this.#byUuid.get(uuid)?.engine
  }

  /** The mount with this UUID; undefined if there is none. */
  withUuid(uuid: string): Mounted | undefined {
    return this.#byUuid.get(uuid)
  }

  /** Look-ups in the caches of all engines that are mounted now, for telemetry. */
  get lookups(): { readonly hits: number; readonly misses: number } {
    const sum = { hits: 0, misses: 0 }
    for (const { engine } of this.#byUuid.values()) {
      sum.hits += engine.lookups?.hits ?? 0
      sum.misses += engine.lookups?.misses ?? 0
    }
    return sum
  }

  /** The login method of the mount with this UUID; undefined if there is none, or it is no login mount. */
  loginMethod(uuid: string): { readonly mount: MountEntry; readonly method: LoginMethod } | undefined {
    const mounted = this.#byUuid.get(uuid)
    if (mounted?.entry.kind !== 'auth') return undefined
    return { mount: mounted.entry, method: mounted.engine as LoginMethod }
  }

  /** On the writing thread: answers a question from the same mount on another thread. @throws where it has no answer */
  async answer(uuid: string, question: unknown): Promise<unknown> {
    if (this.#stale) await this.refresh()
    const engine = this.#byUuid.get(uuid)?.engine
    if (engine?.handleWriterCall === undefined) throw new Error('No mount answers that')
    return engine.handleWriterCall(question)
  }

  /**
   * On the writing thread: tells the engines that this cluster has taken the place of another (`Engine.promoted`).
   * Yields the UUIDs of those that stored something, some at a time; all threads must reset them. A mount whose records
   * are corrupt holds up no other.
   * @throws what storing throws
   */
  async *promoted(promotion: string): AsyncGenerator<readonly string[]> {
    if (this.stale) await this.refresh()
    const mounted = [...this.#byUuid.values()].filter(({ engine }) => engine.promoted !== undefined)
    for (const isLocal of [false, true]) {
      const some = mounted.filter(({ entry }) => entry.local === isLocal)
      for (let from = 0; from < some.length; from += TOLD_AT_ONCE) {
        const page = some.slice(from, from + TOLD_AT_ONCE)
        await Promise.all(page.map((one) => this.#tellPromoted(one, promotion)))
        yield page.map(({ entry }) => entry.uuid)
      }
    }
  }

  async #tellPromoted({ entry, engine }: Mounted, promotion: string): Promise<void> {
    try {
      await engine.promoted?.(promotion)
    } catch (cause) {
      if (!(cause instanceof StorageCorrupt)) throw cause
      // It needs the same records to give anything away, so it gives nothing until they are repaired.
      this.#given.log('error', 'A mount could not be told of the promotion: its records are corrupt', {
        mount: entry.path,
        cause: cause.message,
      })
    }
  }

  /** Makes the engine drop what it keeps in memory. Does nothing if there is no such mount. */
  resetEngine(uuid: string): void {
    this.#byUuid.get(uuid)?.engine.reset()
  }

  /** True if the mount stays out of replication; false if there is no such mount. */
  isLocal(uuid: string): boolean {
    return this.#byUuid.get(uuid)?.entry.local === true
  }

  lockoutOf(uuid: string): Lockout | undefined {
    return this.loginMethod(uuid)?.method.lockout
  }

  /** Returns the mount with the longest path that `path` begins with; "transit" finds "transit/". */
  route(path: string): Mounted | undefined {
    // Starts at the longest mount path: a path of a thousand slashes would otherwise cost a thousand look-ups.
    const most = this.#longestPath
    const last = path.length < most ? path.length : path.lastIndexOf('/', most - 1) + 1
    for (let end = last; end > 0; end = end > 1 ? path.lastIndexOf('/', end - 2) + 1 : 0) {
      const found = this.#mounted.get(path[end - 1] === '/' ? path.slice(0, end) : `${path}/`)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** True while the table is older than the store: call `refresh` before `route`. */
  get stale(): boolean {
    // During a reload the table may still be the old one.
    return this.#stale || this.#refreshing !== undefined
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
    do await this.#load()
    while (this.#stale)
  }

  async #load(): Promise<void> {
    this.#stale = false
    try {
      const entries = await this.#stored.all()
      const kept = new Set(entries.map(({ uuid }) => uuid))
      for (const [uuid, { entry }] of this.#byUuid) if (!kept.has(uuid)) this.#forget(entry)
      for (const entry of entries) this.#put(entry)
      const named = entries.flatMap(({ config }) => config.passthroughRequestHeaders ?? [])
      this.#passedHeaders = [...new Set(named.map((name) => name.toLowerCase()))]
    } catch (cause) {
      this.#stale = true
      throw cause
    }
  }

  #put(entry: MountEntry): void {
    const type = this.#types.get(entry.type)
    // The engine of a newer version of the program. Its data stay; its path answers 404 until this version knows the
    // type.
    if (type === undefined) return
    const known = this.#byUuid.get(entry.uuid)
    if (known !== undefined) this.#leavePath(known.entry)
    const engine = known?.engine ?? type.create(this.#context(entry))
    if (known === undefined && this.#works.has(entry.local)) engine.start?.()
    const mounted = { entry, router: type.router, engine }
    this.#mounted.set(entry.path, mounted)
    this.#longestPath = Math.max(this.#longestPath, entry.path.length)
    this.#byUuid.set(entry.uuid, mounted)
  }

  #context(entry: MountEntry): EngineContext {
    const mount = () => this.#byUuid.get(entry.uuid)?.entry ?? entry
    const { callWriter, askPrimary, managedKeysOf, ...given } = this.#given
    const far = askPrimary && { askPrimary: (question: unknown) => askPrimary(entry.uuid, question) }
    const ask = callWriter && { callWriter: (question: unknown) => callWriter(entry.uuid, question) }
    const keys = managedKeysOf && { managedKeys: managedKeysOf(mount) }
    return { ...given, ...ask, ...far, ...keys, mount, storage: this.#stored.dataOf(entry) }
  }

  /**
   * Lets engines of local mounts, or of the other ones, begin their own work: on the writing thread of an open server,
   * in the roles that may change those mounts.
   */
  start(isLocal: boolean): void {
    if (this.#works.has(isLocal)) return
    this.#works.add(isLocal)
    for (const { entry, engine } of this.#byUuid.values()) if (entry.local === isLocal) engine.start?.()
  }

  /** Ends what `start` began. */
  stop(isLocal: boolean): void {
    if (!this.#works.delete(isLocal)) return
    for (const { entry, engine } of this.#byUuid.values()) if (entry.local === isLocal) engine.stop?.()
  }

  #forget(entry: MountEntry): void {
    this.#leavePath(entry)
    if (this.#works.has(entry.local)) this.#byUuid.get(entry.uuid)?.engine.stop?.()
    this.#byUuid.delete(entry.uuid)
  }

  /** Frees the path, unless another mount has it already, as happens if several changes are loaded at once. */
  #leavePath({ path, uuid }: MountEntry): void {
    if (this.#mounted.get(path)?.entry.uuid === uuid) this.#mounted.delete(path)
  }

  #dataChanged(rest: string): void {
    const slash = rest.indexOf('/')
    this.#byUuid.get(rest.slice(0, slash))?.engine.changed(rest.slice(slash + 1))
  }

  #resetEngines(): void {
    for (const { engine } of this.#byUuid.values()) engine.reset()
  }

  /** The request headers that some mount passes on, in lower case. */
  get passedHeaders(): readonly string[] {
    return this.#passedHeaders
  }

  /** Drops everything in memory when the server is sealed. The mount that is always served stays. */
  close(): void {
    for (const isLocal of this.#works) this.stop(isLocal)
    this.#resetEngines()
    this.#mounted.clear()
    this.#byUuid.clear()
    this.#passedHeaders = []
    this.#mounted.set(this.#always.entry.path, this.#always)
    this.#stale = true
  }

  /** Adds a mount. @throws Refusal for a type that cannot be mounted, and for a path that is reserved or in use */
  async mount(entry: MountEntry): Promise<void> {
    if (this.#types.get(entry.type)?.kind !== entry.kind || SINGLETONS.has(entry.type)) {
      throw fail('choice_unknown', [
        `plugin not found in the catalog: ${entry.type}; offered are ${this.typesOf(entry.kind).join(', ')}`,
      ])
    }
    await this.#stored.add(entry)
    await this.refresh()
  }

  /** Changes the entry of the mount at `path`. @throws Refusal where there is none, and what `change` throws */
  async tune(path: string, change: (entry: MountEntry) => MountEntry): Promise<void> {
    await this.#stored.tune(path, change)
    await this.refresh()
  }

  /** Moves a mount; its data and its engine stay. @throws Refusal as `StoredMounts.move` does */
  async move(from: string, to: string): Promise<void> {
    await this.#stored.move(from, to)
    await this.refresh()
  }

  /** Stops serving the mount, then removes its data. Does nothing if there is none. @throws Refusal for a singleton */
  async unmount(path: string): Promise<void> {
    const entry = this.find(path)
    if (entry === undefined) return
    if (SINGLETONS.has(entry.type)) throw fail('part_of_server', [`cannot unmount "${path}"`])
    await this.#stored.remove(entry)
    await this.refresh()
    await this.#stored.wipe(entry)
  }

  /**
   * Removes what an interrupted unmount of a local mount, or of another one, left behind. Called on the writing thread
   * of an open server.
   */
  finishUnmounts(isLocal: boolean): Promise<void> {
    return this.#stored.finishRemovals(isLocal)
  }

  /** Removes what this cluster keeps for itself of mounts that are gone. */
  wipeLeftovers(): Promise<void> {
    return this.#stored.wipeLeftovers()
  }

  /** Writes the mounts that every server has and this store has not yet: the local ones, or those of the set. */
  async addMissing(which: 'local' | 'shared'): Promise<void> {
    const missing = ALWAYS.filter(
      ({ path, type, local = false }) =>
        local === (which === 'local') && this.#types.has(type) && this.find(path) === undefined,
    )
    if (missing.length === 0) return
    await this.#stored.addMissing(missing, this.#given.world)
    await this.refresh()
  }
}
