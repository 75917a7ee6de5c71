// Removes policies that have expired. They grant nothing from their end on in every thread, by the clock alone; this
// only takes them out of storage and out of lists. It knows the next end and sleeps until then.
import type { Log } from '../lib/log.ts'
import type { Timer, World } from '../lib/world.ts'
import { Sealed, StorageClosed } from '../storage/contract.ts'
import type { PolicyStore } from './policy-store.ts'

/** The clock may be set while a timer runs. */
const LONGEST_WAIT_MS = 3_600_000
const RETRY_MS = 60_000

export class PolicySweep {
  readonly #policies: PolicyStore
  readonly #world: World
  readonly #log: Log
  #isOn = false
  #nextEndMs = Infinity
  #timer: Timer | undefined
  #looking: Promise<void> | undefined

  constructor(policies: PolicyStore, world: World, log: Log) {
    this.#policies = policies
    this.#world = world
    this.#log = log
    policies.onEnd((atMs) => this.#plan(Math.min(atMs, this.#nextEndMs)))
  }

  /** Where policies may be written, from unseal to seal. */
  start(): void {
    this.#isOn = true
    this.#plan(0)
  }

  stop(): void {
    this.#isOn = false
    this.#nextEndMs = Infinity
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #plan(nextEndMs: number): void {
    if (!this.#isOn) return
    this.#nextEndMs = nextEndMs
    this.#timer?.cancel()
    this.#timer = undefined
    if (nextEndMs === Infinity) return
    const waitMs = Math.min(Math.max(nextEndMs - this.#world.clock.nowMs(), 0), LONGEST_WAIT_MS)
    this.#timer = this.#world.timers.after(waitMs, () => void this.look())
  }

  /** Removes all that have expired by now, and finds out when the next one does; never throws. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #look(): Promise<void> {
    // An end that is set meanwhile is planned for by itself.
    this.#nextEndMs = Infinity
    try {
      const nextEndMs = await this.#policies.removeExpired(() => this.#world.timers.sleep(0))
      this.#plan(Math.min(nextEndMs, this.#nextEndMs))
    } catch (cause) {
      if (!this.#isOn || cause instanceof Sealed || cause instanceof StorageClosed) return
      this.#log('warn', 'Expired policies could not be removed: they grant nothing, and their removal is retried', {
        cause: cause instanceof Error ? cause.name : typeof cause,
      })
      this.#plan(this.#world.clock.nowMs() + RETRY_MS)
    }
  }
}
