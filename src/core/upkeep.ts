// Work that engines do without a request. The writing thread asks each engine for it, while the server is open and the
// role of the node allows it to change the mount.
import type { Engine, MountEntry } from '../api/mount.ts'
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/errors.ts'
import { describeCause } from './describe-cause.ts'

/** Half a minute, so that what is due is done within a minute. */
const ROUND_EVERY_MS = 30_000

type Kept = { readonly entry: MountEntry; readonly path: string; readonly engine: Engine }

/** Calls `upkeep` of every mounted engine at intervals. It runs on the writing thread. */
export class Upkeep {
  readonly #mounts: () => Iterable<Kept>
  readonly #log: Log
  readonly #task: PeriodicTask
  /** Whether local mounts are kept up (true), and the other ones (false). */
  readonly #kept = new Set<boolean>()

  constructor(mounts: () => Iterable<Kept>, world: World, log: Log) {
    this.#mounts = mounts
    this.#log = log
    const failure = 'The upkeep of mounts stopped: it is tried again'
    this.#task = new PeriodicTask(() => this.#round(), { world, log, failure, retryMs: ROUND_EVERY_MS, isClosed })
  }

  /** Begins the rounds for local mounts, or for the other ones; the first one comes after half a minute. */
  start(isLocal: boolean): void {
    this.#kept.add(isLocal)
    this.#task.start(ROUND_EVERY_MS)
  }

  /** Asks no further engine of such a mount. One that was asked ends when the store refuses it. */
  stop(isLocal: boolean): void {
    this.#kept.delete(isLocal)
    if (this.#kept.size === 0) this.#task.stop()
  }

  /**
   * Runs a round now, one engine after the other. A failure in one engine does not hold up the others. Never rejects.
   */
  runNow(): Promise<void> {
    return this.#task.now()
  }

  async #round(): Promise<number> {
    for (const { entry, path, engine } of [...this.#mounts()]) {
      if (!this.#task.isOn) break
      if (!this.#kept.has(entry.local)) continue
      try {
        await engine.upkeep?.()
      } catch (cause) {
        if (!this.#task.isOn || isClosed(cause)) break
        if (!this.#kept.has(entry.local)) continue
        this.#log('warn', 'The upkeep of a mount stopped: it is tried again', {
          mount: path,
          cause: describeCause(cause),
        })
      }
    }
    return ROUND_EVERY_MS
  }
}
