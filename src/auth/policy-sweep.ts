// Removes policies that have expired. They grant nothing from their end on in every thread, by the clock alone; this
// only takes them out of storage and out of lists. It knows the next end and sleeps until then.
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/contract.ts'
import type { PolicyStore } from './policy-store.ts'

const RETRY_MS = 60_000

export class PolicySweep {
  readonly #policies: PolicyStore
  readonly #world: World
  readonly #looks: PeriodicTask

  constructor(policies: PolicyStore, world: World, log: Log) {
    this.#policies = policies
    this.#world = world
    const failure = 'Expired policies could not be removed: they grant nothing, and their removal is retried'
    this.#looks = new PeriodicTask(() => this.#look(), { world, log, failure, retryMs: RETRY_MS, isClosed })
    policies.onEnd((atMs) => this.#looks.within(this.#until(atMs)))
  }

  /** Where policies may be written, from unseal to seal. */
  start(): void {
    this.#looks.start(0)
  }

  stop(): void {
    this.#looks.stop()
  }

  /** Removes all that have expired by now, and finds out when the next one does; never throws. */
  look(): Promise<void> {
    return this.#looks.now()
  }

  async #look(): Promise<number> {
    return this.#until(await this.#policies.removeExpired(() => this.#world.timers.sleep(0)))
  }

  /** Infinity: nothing ends. */
  #until(endMs: number): number {
    return Math.max(endMs - this.#world.clock.nowMs(), 0)
  }
}
