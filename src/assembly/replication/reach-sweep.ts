// Removes what a filter lets this secondary have no more (Interface 2.5): tokens of what is gone, then its entries, in
// steps beside what the primary sends, and then what the log and the free pages of the store still hold of it. What
// showed it went before, in the step that brought the news.
import type { Leases } from '../../auth/leases.ts'
import { isGivenBy, type TokenEntry } from '../../auth/token-entry.ts'
import type { Log } from '../../lib/log.ts'
import { PeriodicTask } from '../../lib/periodic-task.ts'
import type { World } from '../../lib/world.ts'
import { isSwept } from '../../replication/set/records.ts'
import { SYSTEM_SCOPE } from '../../storage/contract.ts'
import { isClosed } from '../../storage/errors.ts'
import type { KeptReach } from './kept-reach.ts'

const RETRY_MS = 5_000

/** The parts that it works with. */
export type ReachSweepParts = {
  readonly kept: Pick<KeptReach, 'news' | 'noted' | 'left' | 'keysOf' | 'look' | 'readyToLook'>
  /** Runs a step while nothing of the primary is applied. */
  readonly alone: <T>(step: () => Promise<T>) => Promise<T>
  /** Removes entries of the set. False: this cluster must not, as things are. */
  readonly remove: (keys: readonly string[]) => Promise<boolean>
  /** Has the store forget what was removed up to now; returns the index of its log there. */
  readonly purge: () => Promise<number>
  readonly leases: Pick<Leases, 'revokeAllOf'>
  readonly world: World
  readonly log: Log
}

/** The removals, on the writing thread of an open server. */
export class ReachSweep {
  readonly #parts: ReachSweepParts
  readonly #task: PeriodicTask
  #hasLooked = false

  constructor(parts: ReachSweepParts) {
    this.#parts = parts
    const { world, log } = parts
    const failure = 'What a filter keeps from this cluster could not be removed: it is tried again'
    this.#task = new PeriodicTask(() => this.#sweep(), { world, log, failure, retryMs: RETRY_MS, isClosed })
  }

  /** Removes what is here now and must not be, and from then on what will be. */
  start(): void {
    this.#hasLooked = false
    this.#task.start(0)
  }

  stop(): void {
    this.#task.stop()
  }

  /** There is news of what this cluster is to have. */
  due(): void {
    this.#task.within(0)
  }

  async #sweep(): Promise<number> {
    const { kept, alone, purge, log } = this.#parts
    if (!this.#hasLooked) {
      // The tree may have to be made first. What the primary sends does not wait for that.
      await kept.readyToLook()
      await alone(() => kept.look())
      this.#hasLooked = true
    }
    // Together: news that is being stored counts, and is not noted yet.
    const { news, noted } = await alone(async () => ({ news: kept.news, noted: await kept.noted() }))
    const { leaving } = noted
    if (isSwept(noted)) return Infinity
    await this.#revokeTokens(noted)
    let entries = 0
    for (const scope of leaving) {
      for (let count: number | undefined = 1; count !== 0; entries += count) {
        count = await this.#removeSome(scope)
        if (count === undefined || !this.#task.isOn) return Infinity
      }
    }
    const purgedAt = await purge()
    if (!this.#task.isOn) return Infinity
    await alone(() => kept.left(noted, purgedAt, news))
    log('info', 'What a filter keeps from this cluster was removed', { entries })
    // More may be leaving since.
    return 0
  }

  /** Those of mounts, also those that wrap their answers, and of namespaces. A login that comes back gives new ones. */
  #revokeTokens({ leaving, leftPaths }: Awaited<ReturnType<KeptReach['noted']>>): Promise<void> {
    const [mounts, namespaces] = [new Set<string>(), new Set<string>()]
    for (const scope of leaving) {
      const [namespace = '', mount = ''] = scope.split('/', 2)
      if (mount === SYSTEM_SCOPE) namespaces.add(namespace)
      else mounts.add(mount)
    }
    const isOfMount = (entry: TokenEntry): boolean =>
      isGivenBy((uuid) => mounts.has(uuid), entry) ??
      leftPaths.some((left) => `${entry.namespace}/${entry.path}`.startsWith(left))
    return this.#parts.leases.revokeAllOf((entry) => namespaces.has(entry.namespace) || isOfMount(entry))
  }

  /** How many were removed; undefined: nothing is removed any more. */
  #removeSome(scope: string): Promise<number | undefined> {
    const { kept, alone, remove } = this.#parts
    return alone(async () => {
      const { leaving } = await kept.noted()
      // It may be allowed again meanwhile.
      const keys = leaving.includes(scope) ? await kept.keysOf(scope) : []
      return keys.length === 0 || (await remove(keys)) ? keys.length : undefined
    })
  }
}
