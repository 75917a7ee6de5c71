// What engines do by themselves, without a request: the writing thread asks each of them to look, from unseal to seal.
import type { Engine, MountEntry } from '../api/mount.ts'
import type { Log } from '../lib/log.ts'
import type { Timer, World } from '../lib/world.ts'
import { Sealed, StorageClosed } from '../storage/contract.ts'
import { nameOf } from './cause-name.ts'

/** What is due is done within a minute. */
const LOOK_EVERY_MS = 30_000

type Kept = { readonly entry: MountEntry; readonly engine: Engine }

export class Upkeep {
  readonly #mounts: () => Iterable<Kept>
  readonly #world: World
  readonly #log: Log
  #timer: Timer | undefined
  #isOn = false
  #looking: Promise<void> | undefined

  constructor(mounts: () => Iterable<Kept>, world: World, log: Log) {
    this.#mounts = mounts
    this.#world = world
    this.#log = log
  }

  start(): void {
    this.#isOn = true
    this.#plan()
  }

  /** What is under way ends with the barrier. */
  stop(): void {
    this.#isOn = false
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #plan(): void {
    this.#timer?.cancel()
    this.#timer = this.#world.timers.after(LOOK_EVERY_MS, () => {
      void this.look().then(() => {
        if (this.#isOn) this.#plan()
      })
    })
  }

  /** One engine after the other; what fails in one holds up none of the others. Never throws. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look(): Promise<void> {
    for (const { entry, engine } of [...this.#mounts()]) {
      if (!this.#isOn) return
      try {
        await engine.upkeep?.()
      } catch (cause) {
        if (!this.#isOn || cause instanceof Sealed || cause instanceof StorageClosed) return
        this.#log('warn', 'The upkeep of a mount stopped: it is tried again', {
          mount: entry.path,
          cause: nameOf(cause),
        })
      }
    }
  }
}
