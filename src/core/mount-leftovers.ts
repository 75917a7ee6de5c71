// What this cluster keeps for itself of mounts that all clusters of a set share: the counts of messages that it sealed,
// the tokens of its logins there, and the answers that it wrapped. The primary removes a mount, or moves it to another
// namespace, and that part of it goes here.
import type { MountEntry, MountInNamespace } from '../api/mount.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Leases } from '../auth/leases.ts'
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { MountTable } from './mount-table.ts'
import type { IsUnsure } from './stored-mounts.ts'

/** How soon: many mounts may go one after the other, and all are looked through at once. */
const WAIT_MS = 5_000
const RETRY_MS = 10_000
/** How soon again where the rest of a mount is still here. Each look reads the names of all mounts. */
const HELD_BACK_MS = 60_000
/** Folder of the shared entries. */
const MOUNTS = 'core/mounts/'
/** Names a mount until the primary has removed its data. */
const UNMOUNTING = 'core/unmounting/'

type Parts = {
  readonly mounts: Pick<MountTable, 'hasEntry' | 'wipeLeftovers' | 'goneOf' | 'withUuid' | 'stale' | 'refresh'>
  readonly leases: Pick<Leases, 'revokeByMount' | 'revokeOfGone'>
  /** True while a copy or a comparison with the primary runs. */
  readonly isUnsure: IsUnsure
  readonly invalidation: Invalidation
  readonly role: () => NodeRole
  readonly world: World
  readonly log: Log
}

/** The removals, on the writing thread of an open server. */
export class MountLeftovers {
  readonly #parts: Parts
  readonly #task: PeriodicTask
  /** Keys of entries that changed since the last look, with the mount as it was before, if that is certain. */
  readonly #changed = new Map<string, MountEntry | undefined>()
  /** True if the data of a mount may be left that is not among those. */
  #mustWipe = false
  /** The same of its tokens: then all tokens are looked through. */
  #mustSearch = false

  constructor(parts: Parts) {
    this.#parts = parts
    const { invalidation, world, log } = parts
    const failure = 'What this cluster keeps of a mount that is gone could not be removed: it is tried again'
    this.#task = new PeriodicTask(() => this.#look(), { world, log, failure, retryMs: RETRY_MS, isClosed })
    const changed = (_: string, key: string) => this.#note(key)
    const reset = () => this.#note(undefined)
    for (const prefix of [MOUNTS, UNMOUNTING]) invalidation.register({ prefix, changed, reset })
  }

  /** Removes what is left now, the tokens a little later, and from then on what will be. */
  async start(): Promise<void> {
    this.#changed.clear()
    this.#mustWipe = false
    // A cluster that was never in a set has removed with each mount what it gave.
    this.#mustSearch = this.#parts.role().performance !== 'disabled'
    this.#task.start(this.#mustSearch ? WAIT_MS : Infinity)
    if (!(await this.#wipe())) this.#task.within(HELD_BACK_MS)
  }

  stop(): void {
    this.#task.stop()
  }

  #note(key: string | undefined): void {
    const { mounts, role } = this.#parts
    // A cluster that removes a mount itself removes its own part of it at once.
    if (!this.#task.isOn || role().performance !== 'secondary') return
    if (key === undefined) {
      this.#mustWipe = true
      this.#mustSearch = true
    } else {
      // The table knows it as of the last look at least. If it changed since, it may have been elsewhere in between.
      const { entry } = (this.#changed.has(key) ? undefined : mounts.withUuid(mountOf(key).uuid)) ?? {}
      this.#changed.set(key, entry?.namespace === mountOf(key).namespace ? entry : undefined)
    }
    this.#task.within(WAIT_MS)
  }

  async #look(): Promise<number> {
    const { mounts } = this.#parts
    if (mounts.stale) await mounts.refresh()
    const changed = new Map(this.#changed)
    const [mustWipe, mustSearch] = [this.#mustWipe, this.#mustSearch]
    this.#changed.clear()
    this.#mustWipe = false
    this.#mustSearch = false
    try {
      let isGone = mustWipe
      for (const key of changed.keys()) isGone ||= !(await mounts.hasEntry(key))
      const areRevoked = await this.#revoke(changed, mustSearch)
      const areWiped = !isGone || (await this.#wipe())
      return Math.min(areRevoked ? Infinity : RETRY_MS, areWiped ? Infinity : HELD_BACK_MS)
    } catch (cause) {
      this.#mustWipe = true
      this.#mustSearch = true
      throw cause
    }
  }

  /**
   * Ends what mounts that are gone gave; their tokens count for nothing already. False: what this cluster has is not
   * whole, so that nobody can say which mounts are gone, and all tokens are looked through once it is.
   */
  async #revoke(changed: ReadonlyMap<string, MountEntry | undefined>, mustSearch: boolean): Promise<boolean> {
    const { leases } = this.#parts
    const known = new Map([...changed].filter(([key]) => key.includes(`/${MOUNTS}`)))
    const gone = known.size === 0 ? [] : await this.#goneOf([...known.keys()].map(mountOf))
    let isUnknown = mustSearch || gone === undefined
    for (const mount of gone ?? []) {
      const entry = known.get(`${mount.namespace}/${MOUNTS}${mount.uuid}`)
      if (entry === undefined) isUnknown = true
      else await leases.revokeByMount(entry)
    }
    const isDone = !isUnknown || (await leases.revokeOfGone((some) => this.#goneOf(some)))
    this.#mustSearch ||= !isDone
    return isDone
  }

  async #goneOf(some: readonly MountInNamespace[]): Promise<readonly MountInNamespace[] | undefined> {
    const { mounts, isUnsure } = this.#parts
    return this.#task.isOn ? mounts.goneOf(some, isUnsure) : undefined
  }

  /** False: of one that is gone, what the primary or a filter takes is still here. */
  async #wipe(): Promise<boolean> {
    const { mounts, role, log } = this.#parts
    // Elsewhere nobody else removes the rest.
    const isDone = (await mounts.wipeLeftovers()) || role().performance !== 'secondary'
    this.#mustWipe ||= !isDone
    if (!isDone) log('debug', 'What this cluster keeps of a mount stays until the rest of it is gone', {})
    return isDone
  }
}

/** The mount that a key is of, and its namespace. */
function mountOf(key: string): MountInNamespace {
  return { namespace: key.slice(0, key.indexOf('/')), uuid: key.slice(key.lastIndexOf('/') + 1) }
}
