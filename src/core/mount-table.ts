// Which engine serves which path. One stored entry per mount:
//
//   root/core/mounts/UUID              the mount
//   root/core/unmounting/UUID          a mount whose data are being removed; finished at the next start if interrupted
//   root/core/local-mounts/UUID        the same two for a mount that stays out of replication: what is local about it
//   root/core/local-unmounting/UUID    is stored in a class of its own
//   root/logical/UUID/…                its data (root/auth/UUID/… for a login mount)
import { fail } from '../api/errors.ts'
import type { Engine, EngineType, MountEntry, Mounts } from '../api/mount.ts'
import type { Router } from '../api/router.ts'
import { isJsonObject, parseStoredJson } from '../lib/json.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, type Scope, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'

const CORE_FOLDER = `${ROOT_NAMESPACE}/core/`
const MOUNT_FOLDERS = ['mounts/', 'local-mounts/'] as const
const UNMOUNT_FOLDERS = ['unmounting/', 'local-unmounting/'] as const
const WIPE_PAGE = 500
const RESERVED = ['audit/', 'auth/', 'sys/', 'cubbyhole/', 'identity/']

/** What an engine is given for one mount. */
export type EngineContext = {
  readonly mount: MountEntry
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
}

export type Mounted = { readonly entry: MountEntry; readonly router: Router; readonly engine: Engine }

type Types = ReadonlyMap<string, EngineType<EngineContext>>

export class MountTable implements Mounts {
  readonly #types: Types
  readonly #storage: SealedStorage
  readonly #core: View
  readonly #always: Mounted
  readonly #given: Pick<EngineContext, 'world' | 'slow'>
  readonly #mounted = new Map<string, Mounted>()
  readonly #byUuid = new Map<string, Mounted>()
  #stale = true
  #refreshing: Promise<void> | undefined

  /**
   * `types` may hold singletons (`system`, `token`), which nobody can mount. `always` serves its path even while the
   * table cannot be read, because the server is sealed.
   */
  constructor(
    types: readonly EngineType<EngineContext>[],
    always: Mounted,
    storage: SealedStorage,
    given: Pick<EngineContext, 'world' | 'slow'>,
    invalidation: Invalidation,
  ) {
    this.#always = always
    this.#mounted.set(always.entry.path, always)
    this.#types = new Map(types.map((type) => [type.type, type]))
    this.#storage = storage
    this.#core = storage.view(systemScope, CORE_FOLDER)
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

  get types(): readonly string[] {
    return [...this.#types.keys()].filter((type) => !SINGLETONS.has(type))
  }

  list(): readonly MountEntry[] {
    return [...this.#mounted.values()].map(({ entry }) => entry).sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  find(path: string): MountEntry | undefined {
    return this.#mounted.get(path)?.entry
  }

  serving(path: string): MountEntry | undefined {
    return this.route(path)?.entry
  }

  /** The mount with the longest path that `path` begins with; 'transit' finds 'transit/'. */
  route(path: string): Mounted | undefined {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const found = this.#mounted.get(path[end - 1] === '/' ? path.slice(0, end) : `${path.slice(0, end)}/`)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** True while the table is older than the store: `refresh` before `route`. */
  get stale(): boolean {
    return this.#stale
  }

  refresh(): Promise<void> {
    // A load that is under way may have begun before the newest change: then another follows it.
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
      const entries = await readEntries(this.#core, MOUNT_FOLDERS)
      const kept = new Set(entries.map(({ uuid }) => uuid))
      for (const [uuid, { entry }] of this.#byUuid) if (!kept.has(uuid)) this.#forget(entry)
      for (const entry of entries) this.#put(entry)
    } catch (cause) {
      this.#stale = true
      throw cause
    }
  }

  #put(entry: MountEntry): void {
    const type = this.#types.get(entry.type)
    // A newer version's engine: its data stay, its path answers 404 until this version knows it.
    if (type === undefined) return
    const known = this.#byUuid.get(entry.uuid)
    if (known !== undefined) this.#mounted.delete(known.entry.path)
    const engine = known?.engine ?? type.create({ ...this.#given, mount: entry, storage: this.#view(entry) })
    const mounted = { entry, router: type.router, engine }
    this.#mounted.set(entry.path, mounted)
    this.#byUuid.set(entry.uuid, mounted)
  }

  #forget(entry: MountEntry): void {
    this.#mounted.delete(entry.path)
    this.#byUuid.delete(entry.uuid)
  }

  /** No commit of an engine goes through once its mount is being removed. */
  #view(entry: MountEntry): View {
    const key = CORE_FOLDER + mountKey(entry)
    return this.#storage.view(scopeOf(entry), dataFolder(entry), async (tx) => {
      if ((await tx.get(key)) === undefined) throw fail('no_route', [entry.path])
    })
  }

  #dataChanged(rest: string): void {
    const slash = rest.indexOf('/')
    this.#byUuid.get(rest.slice(0, slash))?.engine.changed(rest.slice(slash + 1))
  }

  #resetEngines(): void {
    for (const { engine } of this.#byUuid.values()) engine.reset()
  }

  /** Everything in memory goes: the server is being sealed. */
  close(): void {
    this.#resetEngines()
    this.#mounted.clear()
    this.#byUuid.clear()
    this.#mounted.set(this.#always.entry.path, this.#always)
    this.#stale = true
  }

  async mount(entry: MountEntry): Promise<void> {
    if (!this.#types.has(entry.type) || SINGLETONS.has(entry.type)) {
      throw fail('bad_request', [
        `plugin not found in the catalog: ${entry.type}; offered are ${this.types.join(', ')}`,
      ])
    }
    const reserved = RESERVED.find((prefix) => entry.path.startsWith(prefix))
    if (reserved !== undefined) throw fail('bad_request', [`cannot mount "${entry.path}": ${reserved} is reserved`])
    await this.#core.transaction(async (tx) => {
      for (const other of await readEntries(tx, MOUNT_FOLDERS)) {
        if (entry.path.startsWith(other.path) || other.path.startsWith(entry.path)) {
          throw fail('bad_request', [`path is already in use at ${other.path}`]) // Wire text.
        }
      }
      tx.put(mountKey(entry), encodeMountEntry(entry))
    })
    await this.refresh()
  }

  async unmount(path: string): Promise<void> {
    const entry = this.find(path)
    if (RESERVED.some((prefix) => path.startsWith(prefix))) throw fail('bad_request', [`cannot unmount "${path}"`])
    if (entry === undefined) return
    await this.#core.transaction(async (tx) => {
      tx.delete(mountKey(entry))
      tx.put(unmountKey(entry), encodeMountEntry(entry))
    })
    await this.refresh()
    await this.#wipe(entry)
  }

  /** Removes what an interrupted unmount left behind; the writer calls it after unseal. */
  async finishUnmounts(): Promise<void> {
    for (const entry of await readEntries(this.#core, UNMOUNT_FOLDERS)) await this.#wipe(entry)
  }

  async #wipe(entry: MountEntry): Promise<void> {
    const data = this.#storage.view(scopeOf(entry), dataFolder(entry))
    for (let more = true; more; ) {
      more = await data.transaction(async (tx) => {
        const keys = await tx.keys('', '', WIPE_PAGE)
        for (const key of keys) tx.delete(key)
        return keys.length === WIPE_PAGE
      })
    }
    await this.#core.transaction(async (tx) => tx.delete(unmountKey(entry)))
  }

  /** The mounts that are always there, written with the initialisation. */
  static initialize(tx: ViewTransaction, world: World): void {
    const always = [
      {
        path: 'sys/',
        type: 'system',
        kind: 'secret',
        description: 'system endpoints used for control, policy and debugging',
      },
      { path: 'auth/token/', type: 'token', kind: 'auth', description: 'token based credentials' },
    ] as const
    for (const one of always) {
      const entry = newMountEntry(world, { ...one, options: null })
      tx.put(mountKey(entry), encodeMountEntry(entry))
    }
  }
}

/** Types of which there is exactly one mount, always. */
const SINGLETONS: ReadonlySet<string> = new Set(['system', 'token'])

export function newMountEntry(
  world: World,
  given: Pick<MountEntry, 'path' | 'type' | 'kind' | 'description'> & Partial<MountEntry>,
): MountEntry {
  return {
    format: 1,
    uuid: world.random.uuid(),
    namespace: ROOT_NAMESPACE,
    accessor: `${given.type}_${world.random.bytes(4).toString('hex')}`,
    options: {},
    local: false,
    sealWrap: false,
    externalEntropyAccess: false,
    config: { defaultLeaseTtlSeconds: 0, maxLeaseTtlSeconds: 0, forceNoCache: false, listingVisibility: '' },
    ...given,
  }
}

const scopeOf = (entry: MountEntry): Scope => ({ namespace: entry.namespace, mount: entry.uuid, local: entry.local })

const dataFolder = (entry: MountEntry): string =>
  `${entry.namespace}/${entry.kind === 'auth' ? 'auth' : 'logical'}/${entry.uuid}/`

const mountKey = (entry: MountEntry): string => MOUNT_FOLDERS[entry.local ? 1 : 0] + entry.uuid

const unmountKey = (entry: MountEntry): string => UNMOUNT_FOLDERS[entry.local ? 1 : 0] + entry.uuid

async function readEntries(from: Pick<View, 'get' | 'list'>, folders: readonly string[]): Promise<MountEntry[]> {
  const entries: MountEntry[] = []
  for (const folder of folders) {
    for (const uuid of await from.list(folder)) {
      const bytes = await from.get(folder + uuid)
      if (bytes !== undefined) entries.push(decodeMountEntry(bytes))
    }
  }
  return entries
}

const encodeMountEntry = (entry: MountEntry): Buffer => Buffer.from(JSON.stringify(entry))

function decodeMountEntry(bytes: Buffer): MountEntry {
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('A mount entry has an unknown format')
  return value as unknown as MountEntry
}
