// The clusters of a simulated run as they are on and off, what their networks do to them, and the work that goes on at
// them beside all else.
import { Refusal } from '../../../src/api/errors.ts'
import { ActivationRefused } from '../../../src/replication/set/activation-bundle.ts'
import { BundleRefused } from '../../../src/system/seal/seal-bundle.ts'
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { isOfTheWorld } from './set-clients.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { SimulatedSet } from './simulated-set.ts'

/** Starts, ends and troubles the clusters of one run. */
export class LivingClusters {
  readonly #set: SimulatedSet
  readonly #random: PseudoRandom
  readonly #clusters: () => readonly SimulatedCluster[]
  /** Clusters that are off, and for how many steps more. */
  readonly #off = new Map<SimulatedCluster, number>()
  readonly #starting = new Set<SimulatedCluster>()

  constructor(set: SimulatedSet, random: PseudoRandom, clusters: () => readonly SimulatedCluster[]) {
    this.#set = set
    this.#random = random
    this.#clusters = clusters
  }

  /** It stays off until it is wanted. */
  keepOff(cluster: SimulatedCluster): void {
    this.#off.set(cluster, Number.POSITIVE_INFINITY)
  }

  /** It is to be on as soon as it can be. */
  wanted(cluster: SimulatedCluster): void {
    if (cluster.life === undefined && !this.#starting.has(cluster)) this.#off.set(cluster, 0)
  }

  /** Starts what is off for long enough, and ends what writes no more. */
  tend(): void {
    for (const cluster of this.#clusters()) {
      if (cluster.life?.hasFailed === true) this.crash(cluster, 'kill', 1)
    }
    for (const [cluster, steps] of this.#off) {
      if (steps > 0) this.#off.set(cluster, steps - 1)
      else this.start(cluster)
    }
  }

  start(cluster: SimulatedCluster): void {
    this.#off.delete(cluster)
    this.#starting.add(cluster)
    this.#set.network.host(cluster.name).restart()
    const started = cluster.start().then(
      () => this.#starting.delete(cluster),
      (cause: unknown) => {
        if (!isOfTheWorld(cause)) this.#set.watcher.wrong(cluster, `its start failed: ${String(cause)}`)
        // A later start takes its place, unless the power went before.
        if (cluster.life !== undefined) this.crash(cluster, 'kill', 2)
      },
    )
    void started
  }

  crash(cluster: SimulatedCluster, how: 'power' | 'kill', steps: number): void {
    if (cluster.life === undefined) return
    this.#starting.delete(cluster)
    cluster.crash(how)
    this.#off.set(cluster, steps)
  }

  /** It ends for good: another takes its place. */
  replace(cluster: SimulatedCluster): void {
    this.crash(cluster, 'kill', 0)
    this.#off.delete(cluster)
  }

  /** Work that goes on beside all else. A crash may leave it waiting for ever. */
  begin(cluster: SimulatedCluster, what: string, work: Promise<unknown>): void {
    work.catch((cause: unknown) => {
      if (isOfTheWorld(cause)) return
      this.#set.watcher.wrong(cluster, `${what} failed: ${cause instanceof Error ? cause.stack : String(cause)}`)
    })
  }

  /** Something goes wrong between the two. */
  trouble(one: SimulatedCluster, other: SimulatedCluster): void {
    const { network } = this.#set
    const random = this.#random
    const [from, to] = random.chance(0.5) ? ([one.name, other.name] as const) : ([other.name, one.name] as const)
    const kind = random.int(7)
    if (kind === 0) network.cut(from, to)
    else if (kind === 1) this.cut(one, other)
    else if (kind === 2) network.reset(from, to)
    else if (kind === 3) network.loseAt(from, to)
    else if (kind === 4) network.flipNext(from, to)
    else if (kind === 5)
      network.set(from, to, { delayMs: random.pick([0, 1, 20, 200]), jitterMs: random.pick([0, 5, 100]) })
    else
      network.set(from, to, {
        lossPerThousand: random.pick([0, 50, 300]),
        bytesPerSecond: random.pick([2_000, 50_000, Number.POSITIVE_INFINITY]),
      })
  }

  /** Nothing gets through between the two. */
  cut(one: SimulatedCluster, other: SimulatedCluster): void {
    this.#set.network.cut(one.name, other.name)
    this.#set.network.cut(other.name, one.name)
  }

  /** What is between the two is as it was at first. */
  heal(one: SimulatedCluster, other: SimulatedCluster): void {
    const { network } = this.#set
    for (const [from, to] of [
      [one.name, other.name],
      [other.name, one.name],
    ] as const) {
      network.heal(from, to)
      network.set(from, to, { delayMs: 1, jitterMs: 0, lossPerThousand: 0, bytesPerSecond: Number.POSITIVE_INFINITY })
    }
  }
}

/**
 * Why a former primary does not know that another took over, and cannot: who was given a newer token meanwhile is not
 * believed by its former certificate, and one that was issued by a clock a day ahead is not valid yet.
 */
export const isForOperators = (sentence: string): boolean =>
  sentence.includes('issued a newer token') || sentence.includes('is valid only in')

/**
 * What an operator wants may be refused: a network that fails, a wrong clock or another role is a reason. Returns why;
 * undefined: it was done.
 */
export async function unlessRefused(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (cause) {
    const isRefusal = cause instanceof Refusal || cause instanceof ActivationRefused || cause instanceof BundleRefused
    if (!isRefusal) throw cause
    return cause.message
  }
}
