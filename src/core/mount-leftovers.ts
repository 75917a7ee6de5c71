// What this cluster keeps for itself of mounts that all clusters of a set share, as the counts of messages that it
// sealed: the primary removes a mount, and that part of it goes here.
import type { NodeRole } from '../api/node-role.ts'
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { MountTable } from './mount-table.ts'

/** How soon: many mounts may go one after the other, and all are looked through at once. */
const WAIT_MS = 5_000
const RETRY_MS = 10_000
/** How soon again where the rest of a mount is still here. Each look reads the names of all mounts. */
const HELD_BACK_MS = 60_000
/** Folders of the shared entries. The second one names a mount until the primary has removed its data. */
const FOLDERS = ['core/mounts/', 'core/unmounting/']

type Parts = {
  readonly mounts: Pick<MountTable, 'hasEntry' | 'wipeLeftovers'>
  readonly invalidation: Invalidation
  readonly role: () => NodeRole
  readonly world: World
  readonly log: Log
}

/** The removals, on the writing thread of an open server. */
export class MountLeftovers {
  readonly #mounts: Parts['mounts']
  readonly #role: () => NodeRole
  readonly #task: PeriodicTask
  readonly #log: Log
  /** Keys of entries that changed since the last look. */
  readonly #changed = new Set<string>()
  /** True if entries may have gone that are not among those. */
  #isUnknown = false

  constructor({ mounts, invalidation, role, world, log }: Parts) {
    this.#mounts = mounts
    this.#role = role
    this.#log = log
    const failure = 'What this cluster keeps of a mount that is gone could not be removed: it is tried again'
    this.#task = new PeriodicTask(() => this.#look(), { world, log, failure, retryMs: RETRY_MS, isClosed })
    const changed = (_: string, key: string) => this.#note(key)
    const reset = () => this.#note(undefined)
    for (const prefix of FOLDERS) invalidation.register({ prefix, changed, reset })
  }

  /** Removes what is left now, and from then on what will be. */
  async start(): Promise<void> {
    this.#changed.clear()
    this.#isUnknown = false
    this.#task.start(Infinity)
    if (!(await this.#wipe())) this.#task.within(HELD_BACK_MS)
  }

  stop(): void {
    this.#task.stop()
  }

  #note(key: string | undefined): void {
    // A cluster that removes a mount itself removes its own part of it at once.
    if (!this.#task.isOn || this.#role().performance !== 'secondary') return
    if (key === undefined) this.#isUnknown = true
    else this.#changed.add(key)
    this.#task.within(WAIT_MS)
  }

  async #look(): Promise<number> {
    let isGone = this.#isUnknown
    const changed = [...this.#changed]
    this.#isUnknown = false
    this.#changed.clear()
    try {
      for (const key of changed) isGone ||= !(await this.#mounts.hasEntry(key))
      return !isGone || (await this.#wipe()) ? Infinity : HELD_BACK_MS
    } catch (cause) {
      this.#isUnknown = true
      throw cause
    }
  }

  /** False: of one that is gone, what the primary or a filter takes is still here. */
  async #wipe(): Promise<boolean> {
    // Elsewhere nobody else removes the rest.
    const isDone = (await this.#mounts.wipeLeftovers()) || this.#role().performance !== 'secondary'
    this.#isUnknown ||= !isDone
    if (!isDone) this.#log('debug', 'What this cluster keeps of a mount stays until the rest of it is gone', {})
    return isDone
  }
}
