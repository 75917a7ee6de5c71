// One run from a seed, of a set for performance replication that changes hands: its secondaries write what is their
// own, and any of its members may be the primary of a set for disaster recovery, too. Operators (family-operator.ts)
// promote and demote in both families, while clusters and links fail. Then everything is healed, and the operators
// bring all back to one primary in each set. The watchers say what must be so meanwhile.

import { SINK_LIMITS } from '../../../src/replication/sink/sink-parts.ts'
import { SOURCE_LIMITS } from '../../../src/replication/source/source-parts.ts'
import { NOT_SYNCHRONOUS, type SynchronousSettings } from '../../../src/replication/synchronous/settings.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'
import { NARROW } from '../../fixtures/followed-pair.ts'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import type { HandedOver } from './failover-run.ts'
import { FamilyOperator } from './family-operator.ts'
import { isForOperators, LivingClusters } from './living-clusters.ts'
import { copyOf, preparedForBoth } from './prepared-clusters.ts'
import type { HandOverCounts } from './role-watcher.ts'
import { type Entry, FORBIDDEN_NAMES, SetClients } from './set-clients.ts'
import { SetWatcher } from './set-watcher.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import { type Seams, SimulatedSet } from './simulated-set.ts'

const MINUTE_MS = 60_000
const LOOKED_AT_MS = 61 * MINUTE_MS
const DAY_MS = 1_440 * MINUTE_MS
const CLOCKS_AHEAD_MS = [0, 20 * MINUTE_MS, DAY_MS, -DAY_MS]
/** Beside the primary and its first secondary: a second one, and one for disaster recovery of each of the two. */
const OTHERS = [[], ['q2'], ['q2'], ['d1'], ['e1'], ['d1', 'e1'], ['q2', 'e1'], ['q2', 'd1']] as const
const PAIRS = [
  ['p', 'd1'],
  ['q1', 'e1'],
] as const
const LEAST_STEPS = 6
const MORE_STEPS = 22
const PAUSES_MS = [0, 1, 3, 10, 30, 100, 300, 700, 1_500]
const FIRST_MS = [700, 700, 0]
const LAST_WRITE_MS = 200
const HEALED_MS = 100
/** Former primaries that can be reached know within this time. */
const TOLD_MS = 15_000
const LONGEST_HEALING_MS = 150_000
const NUDGED_MS = 5_000

/** Lives through one seed, with what a test has planted. */
export async function runPerformance(seed: number, seams: Seams = {}): Promise<HandedOver> {
  const run = new PerformanceRun(seed, seams, await preparedForBoth())
  await run.live()
  const { watcher } = run.set
  return { fault: watcher.fault, lines: watcher.trace, handOvers: bothOf(watcher) }
}

export function bothOf({ roles, performance }: SetWatcher): HandOverCounts {
  const [one, other] = [roles.counts, performance.counts]
  return {
    graceful: one.graceful + other.graceful,
    others: one.others + other.others,
    conflicts: one.conflicts + other.conflicts,
    undone: one.undone + other.undone,
    rejoined: one.rejoined + other.rejoined,
    pausesMs: [...one.pausesMs, ...other.pausesMs],
  }
}

/** What a run has of its own. */
export type KindOfRun = {
  readonly hasFilters?: boolean
  /** In some of them writes wait for secondaries for disaster recovery. */
  readonly isSynchronous?: boolean
  /** Members beside the primary and its first secondary, of which a run takes one list. */
  readonly others?: readonly (readonly string[])[]
}

/** Whoever is such a secondary is waited for, whichever of the pair that is. */
function waitingOf(seed: number): SynchronousSettings {
  const random = pseudoRandom(seed)
  return random.chance(0.5) ? { ids: PAIRS.flat(), timeoutMs: random.pick([500, 3_000, undefined]) } : NOT_SYNCHRONOUS
}

/** One run. */
export class PerformanceRun {
  readonly set: SimulatedSet
  protected readonly random: PseudoRandom
  protected readonly clients: SetClients
  protected readonly living: LivingClusters
  protected readonly operator: FamilyOperator
  protected readonly members: readonly SimulatedCluster[]
  #hadWrongClocks = false

  constructor(
    seed: number,
    seams: Seams,
    images: Awaited<ReturnType<typeof preparedForBoth>>,
    { hasFilters = false, isSynchronous = false, others = OTHERS }: KindOfRun = {},
  ) {
    const watcher = (set: SimulatedSet): SetWatcher => new SetWatcher(set, FORBIDDEN_NAMES, { hasFilters })
    const usual = { source: SOURCE_LIMITS, sink: SINK_LIMITS }
    const limits = seed % 3 === 0 ? usual : NARROW
    const set = new SimulatedSet(seed, watcher, {
      seams,
      limits,
      ...(isSynchronous && { synchronous: waitingOf(seed) }),
    })
    this.set = set
    const random = set.choices('what happens')
    this.random = random
    this.clients = new SetClients(
      set,
      random.pick([4, 12, 30]),
      hasFilters ? (cluster) => this.otherEntry(cluster) : undefined,
    )
    const names = ['p', 'q1', ...random.pick<readonly string[]>(others)]
    this.members = names.map((name) => set.newCluster(name, copyOf(images.get(name))))
    this.living = new LivingClusters(set, random, () => this.members)
    const named = (pair: readonly string[]) => this.members.filter(({ name }) => pair.includes(name))
    const pairs = PAIRS.map(named).filter(({ length }) => length === 2)
    this.operator = new FamilyOperator(set, { random, living: this.living, members: this.members, pairs })
  }

  async live(): Promise<void> {
    const { time, watcher } = this.set
    const random = this.random
    const [primary, ...others] = this.members
    if (primary !== undefined) {
      await time.until(primary.start())
      await time.until(this.begun(primary))
    }
    for (const cluster of others) this.living.start(cluster)
    await time.pass(random.pick(FIRST_MS))
    const steps = LEAST_STEPS + random.int(MORE_STEPS)
    for (let step = 0; step < steps && watcher.fault === undefined; step++) await this.step()
    if (watcher.fault === undefined) await this.heal()
  }

  /** The primary is there, and nothing has happened. */
  protected async begun(_primary: SimulatedCluster): Promise<void> {}

  /** What clients write beside the rest. */
  protected otherEntry(_cluster: SimulatedCluster): Entry | undefined {
    return undefined
  }

  protected async step(): Promise<void> {
    const { time } = this.set
    const random = this.random
    for (let actions = 1 + random.int(3); actions > 0; actions--) await this.act()
    await time.pass(random.pick(PAUSES_MS))
    this.living.tend()
    await this.look()
  }

  protected async look(): Promise<void> {
    const { watcher } = this.set
    for (const cluster of this.members) await watcher.step(cluster)
    watcher.roles.checkKeys()
    watcher.performance.checkKeys()
  }

  protected async act(): Promise<void> {
    const random = this.random
    const any = random.pick(this.members)
    const kind = random.int(100)
    if (kind < 46) this.burst()
    else if (kind < 64) await this.operate()
    else if (kind < 74) this.living.trouble(any, this.other(any))
    else if (kind < 82) this.crash(any)
    else if (kind < 86) any.roomBytes = random.chance(0.4) ? random.int(60_000) : Number.POSITIVE_INFINITY
    else if (kind < 88) this.moveClock(any)
    else this.healSome()
  }

  /** Operators work, under writes, and now and then someone dies in the middle of it. */
  protected async operate(): Promise<void> {
    const random = this.random
    this.operator.act()
    if (random.chance(0.5)) this.burst()
    if (!random.chance(0.3)) return
    await this.set.time.pass(random.pick([0, 0, 1, 5, 20]))
    await this.set.time.steps(random.int(200))
    this.crash(random.pick(this.members))
  }

  protected crash(cluster: SimulatedCluster): void {
    this.living.crash(cluster, this.random.pick(['power', 'kill'] as const), this.random.pick([0, 0, 1, 2, 4]))
  }

  protected other(cluster: SimulatedCluster): SimulatedCluster {
    return this.random.pick(this.members.filter((one) => one !== cluster))
  }

  /** Clients write all that a primary may, and what is a secondary's own; now and then what is not for it. */
  protected burst(): void {
    for (const cluster of this.members) {
      const { dr, performance } = cluster.role
      const isShared = performance !== 'secondary' && performance !== 'bootstrapping'
      if (dr === 'secondary' && !this.random.chance(0.1)) continue
      for (let count = this.random.int(4); count > 0; count--) {
        const mayShare = isShared || this.random.chance(0.05)
        this.living.begin(cluster, 'a write', this.clients.write(cluster, mayShare))
        if (this.random.chance(0.3)) this.living.begin(cluster, 'a read', this.clients.read(cluster))
      }
    }
  }

  moveClock(cluster: SimulatedCluster): void {
    cluster.clockAheadMs = this.random.pick(CLOCKS_AHEAD_MS)
    this.#hadWrongClocks = true
  }

  protected healSome(): void {
    for (const [at, one] of this.members.entries()) {
      one.roomBytes = Number.POSITIVE_INFINITY
      for (const other of this.members.slice(at + 1)) this.living.heal(one, other)
    }
  }

  /** Everything is well again, and the operators bring the sets back to one primary each. */
  protected async heal(): Promise<void> {
    const { time, watcher } = this.set
    watcher.note('heal')
    this.healSome()
    if (this.#hadWrongClocks) {
      // What is being written ends before.
      await time.pass(LAST_WRITE_MS)
      for (const cluster of this.members) cluster.clockAheadMs = 0
      await time.leap(LOOKED_AT_MS)
    }
    if (!(await this.within(TOLD_MS, () => this.untold()))) return
    let nudgedMs = time.nowMs
    const lacking = async (): Promise<string | undefined> => {
      const isTidying = this.operator.tidy()
      if (!isTidying && time.nowMs > nudgedMs + NUDGED_MS) {
        nudgedMs = time.nowMs
        await this.operator.nudge()
      }
      return isTidying ? this.hands() : this.lacking()
    }
    if (!(await this.within(LONGEST_HEALING_MS, lacking))) return
    for (const cluster of this.members) await time.until(watcher.checkStore(cluster))
    await this.compareRoots()
  }

  /** Waits until nothing is lacking. False if something was wrong. */
  protected async within(ms: number, lacking: () => Promise<string | undefined>): Promise<boolean> {
    const { time, watcher } = this.set
    const endMs = time.nowMs + ms
    for (;;) {
      for (const cluster of this.members) this.living.wanted(cluster)
      this.living.tend()
      await time.pass(HEALED_MS)
      await this.look()
      if (watcher.fault !== undefined) return false
      const what = await lacking()
      if (what === undefined) return true
      if (time.nowMs <= endMs) continue
      watcher.wrong(undefined, `I21 ${what}`)
      return false
    }
  }

  protected async untold(): Promise<string | undefined> {
    for (const { name, life } of this.members) {
      if (life?.isOpen !== true) return `${name} is not open`
      const { untold } = await life.host.status()
      if (untold.some(({ sentence }) => isForOperators(sentence))) return undefined
    }
    return this.set.watcher.roles.untold()
  }

  /** What each cluster is, for who looks why nothing comes of it. */
  protected hands(): string {
    const { roles, performance } = this.set.watcher
    const told = this.members.map((one) => {
      const [dr, other] = [roles.stateOf(one), performance.stateOf(one)]
      const fenced = dr?.isFenced === true ? 'fenced' : ''
      return `${one.name} ${dr?.mode} ${dr?.epoch} ${fenced} / ${other?.mode} ${other?.epoch}`
    })
    return `the sets are in no good hands: ${told.join(', ')}`
  }

  /** The followers of each set: whom each follows, and in which family. */
  protected following(): readonly (readonly [SimulatedCluster, SimulatedCluster | undefined, ReplicationFamily])[] {
    const { roles } = this.set.watcher
    const { leader, serving, primariesOfPairs } = this.operator
    return this.members
      .filter((one) => one !== leader)
      .map((one) => {
        if (serving.includes(one)) return [one, leader, 'performance'] as const
        const primary = primariesOfPairs.find((of) => of !== undefined && roles.follows(one, of))
        return [one, primary, 'dr'] as const
      })
  }

  /** Who has not got there yet; undefined: all have. */
  protected async lacking(): Promise<string | undefined> {
    for (const [cluster, primary, family] of this.following()) {
      const { life } = cluster
      if (primary?.life?.isOpen !== true) return `the ${family} primary of ${cluster.name} is not open`
      if (life?.isOpen !== true) return `${cluster.name} is not open`
      const { mode } = this.set.watcher.rolesIn(family).stateOf(cluster) ?? {}
      if (mode !== 'secondary') return `${cluster.name} is no ${family} secondary: ${this.hands()}`
      const [ours, wanted] = [cluster.sealId, primary.sealId]
      if (ours !== wanted) return `${cluster.name} has the shares ${ours}, and not ${wanted}`
      const followed = (await life.host.status()).primaries.find((one) => one.family === family)
      const last = await lastOf(primary, family)
      const { progress, connection } = followed ?? {}
      const isThere = progress?.what === 'stream' && progress.index >= last
      if (connection !== 'ready' || !isThere)
        return `${cluster.name} does not have ${last} of ${primary.name}: ${JSON.stringify(followed)}`
    }
    return undefined
  }

  /** Scopes of the tree that a cluster is to have of its primary; undefined: all. */
  protected async comparedOf(
    _cluster: SimulatedCluster,
    _family: ReplicationFamily,
  ): Promise<((scope: string) => boolean) | undefined> {
    return undefined
  }

  /** I7: who has all of a primary has the root of it. */
  protected async compareRoots(): Promise<void> {
    for (const [cluster, primary, family] of this.following()) {
      const isWanted = await this.comparedOf(cluster, family)
      const [ours, theirs] = [await cluster.life?.store.roots(), await primary?.life?.store.roots(isWanted)]
      const root = family === 'dr' ? 'all' : 'replicated'
      if (ours === undefined || theirs?.[root].equals(ours[root]) !== true)
        this.set.watcher.wrong(cluster, `I7 its root of ${family} is not that of ${primary?.name}`)
    }
  }
}

async function lastOf({ life }: SimulatedCluster, family: ReplicationFamily): Promise<number> {
  const { lastReplicatedIndex = 0, lastLocalIndex = 0 } = (await life?.store.position()) ?? {}
  return family === 'dr' ? Math.max(lastReplicatedIndex, lastLocalIndex) : lastReplicatedIndex
}
