// Deletes policies that have expired. From their end on they grant nothing on any thread, by the clock alone; this only
// removes them from storage and lists. It knows the next end and sleeps until then.
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/errors.ts'
import type { PolicyStore } from './policy-store.ts'

/** Wait after a failed removal. Nothing depends on its success. */
const RETRY_MS = 60_000

/** The sweep of a node that may write policies. */
export class PolicySweep {
  readonly #policies: PolicyStore
  readonly #world: World
  readonly #task: PeriodicTask

  constructor(policies: PolicyStore, world: World, log: Log) {
    this.#policies = policies
    this.#world = world
    const failure = 'Expired policies could not be removed: they grant nothing, and their removal is retried'
    this.#task = new PeriodicTask(() => this.#sweep(), { world, log, failure, retryMs: RETRY_MS, isClosed })
    policies.onEnd((atMs) => this.#task.within(this.#until(atMs)))
  }

  /** Starts the sweep. Runs from unseal to seal, where policies may be written. */
  start(): void {
    this.#task.start(0)
  }

  stop(): void {
    this.#task.stop()
  }

  /** Deletes what has expired by now, and schedules the next sweep; never throws. */
  runNow(): Promise<void> {
    return this.#task.now()
  }

  async #sweep(): Promise<number> {
    return this.#until(await this.#policies.removeExpired(() => this.#world.timers.sleep(0)))
  }

  /** Returns the ms until `endMs`, not below 0; Infinity stays Infinity. */
  #until(endMs: number): number {
    return Math.max(endMs - this.#world.clock.nowMs(), 0)
  }
}
