// What engines do by themselves, without a request: the writing thread asks each of them to look, from unseal to seal.
import type { Engine, MountEntry } from '../api/mount.ts'
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/contract.ts'
import { describeCause } from './describe-cause.ts'

/** What is due is done within a minute. */
const LOOK_EVERY_MS = 30_000

type Kept = { readonly entry: MountEntry; readonly engine: Engine }

export class Upkeep {
  readonly #mounts: () => Iterable<Kept>
  readonly #log: Log
  readonly #looks: PeriodicTask

  constructor(mounts: () => Iterable<Kept>, world: World, log: Log) {
    this.#mounts = mounts
    this.#log = log
    const failure = 'The upkeep of mounts stopped: it is tried again'
    this.#looks = new PeriodicTask(() => this.#look(), { world, log, failure, retryMs: LOOK_EVERY_MS, isClosed })
  }

  start(): void {
    this.#looks.start(LOOK_EVERY_MS)
  }

  /** What is under way ends with the barrier. */
  stop(): void {
    this.#looks.stop()
  }

  /** One engine after the other; what fails in one holds up none of the others. Never throws. */
  look(): Promise<void> {
    return this.#looks.now()
  }

  async #look(): Promise<number> {
    for (const { entry, engine } of [...this.#mounts()]) {
      if (!this.#looks.isOn) break
      try {
        await engine.upkeep?.()
      } catch (cause) {
        if (!this.#looks.isOn || isClosed(cause)) break
        this.#log('warn', 'The upkeep of a mount stopped: it is tried again', {
          mount: entry.path,
          cause: describeCause(cause),
        })
      }
    }
    return LOOK_EVERY_MS
  }
}
