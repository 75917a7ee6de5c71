// One run from a seed, of a set for disaster recovery that changes hands: whoever may write is written to, while the
// operator (set-operator.ts) promotes and demotes, and clusters and links fail. Then everything is healed, and the
// operator brings all back to one primary. The watchers say what must be so meanwhile.
import { SINK_LIMITS } from '../../../src/replication/sink/sink-parts.ts'
import { SOURCE_LIMITS } from '../../../src/replication/source/source-parts.ts'
import { NARROW } from '../../fixtures/followed-pair.ts'
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { isForOperators, LivingClusters } from './living-clusters.ts'
import { copyOf, type Prepared, preparedClusters, SECONDARIES } from './prepared-clusters.ts'
import type { HandOverCounts } from './role-watcher.ts'
import type { Outcome } from './seeded-run.ts'
import { FORBIDDEN_NAMES, SetClients } from './set-clients.ts'
import { SetOperator } from './set-operator.ts'
import { SetWatcher } from './set-watcher.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import { type Seams, SimulatedSet } from './simulated-set.ts'

const MINUTE_MS = 60_000
const LOOKED_AT_MS = 61 * MINUTE_MS
const DAY_MS = 1_440 * MINUTE_MS
const CLOCKS_AHEAD_MS = [0, 20 * MINUTE_MS, DAY_MS, -DAY_MS]
const SECONDARIES_AT_ONCE = [1, 2, 2, 3]
const LEAST_STEPS = 6
const MORE_STEPS = 22
const PAUSES_MS = [0, 1, 3, 10, 30, 100, 300, 700, 1_500]
/** With the first of them a set follows before anything happens. */
const FIRST_MS = [700, 700, 0]
const LAST_WRITE_MS = 200
const HEALED_MS = 100
/** A former primary that can be reached knows within this time. */
const TOLD_MS = 15_000
/** After all is healed and one primary is left, the others have all of it within this time. */
const LONGEST_HEALING_MS = 90_000
const NUDGED_MS = 5_000

/** What a run of this kind has come to. */
export type HandedOver = Outcome & { readonly handOvers: HandOverCounts }

/** Lives through one seed, with what a test has planted. */
export async function runFailovers(seed: number, seams: Seams = {}): Promise<HandedOver> {
  const run = new FailoverRun(seed, seams, (await preparedClusters(['dr'])).following)
  await run.live()
  const { watcher } = run.set
  return { fault: watcher.fault, lines: watcher.trace, handOvers: watcher.roles.counts }
}

class FailoverRun {
  readonly set: SimulatedSet
  readonly #random: PseudoRandom
  readonly #clients: SetClients
  readonly #living: LivingClusters
  readonly #operator: SetOperator
  readonly #members: readonly SimulatedCluster[]
  #hadWrongClocks = false

  constructor(seed: number, seams: Seams, images: Prepared['following']) {
    const watcher = (set: SimulatedSet): SetWatcher => new SetWatcher(set, FORBIDDEN_NAMES)
    const usual = { source: SOURCE_LIMITS, sink: SINK_LIMITS }
    const set = new SimulatedSet(seed, watcher, { seams, limits: seed % 3 === 0 ? usual : NARROW })
    this.set = set
    const random = set.choices('what happens')
    this.#random = random
    this.#clients = new SetClients(set, random.pick([4, 12, 30]))
    const names = ['p', ...SECONDARIES.dr.slice(0, random.pick(SECONDARIES_AT_ONCE))]
    this.#members = names.map((name) => set.newCluster(name, copyOf(images.get(name))))
    this.#living = new LivingClusters(set, random, () => this.#members)
    this.#operator = new SetOperator(set, { random, living: this.#living, members: () => this.#members })
  }

  async live(): Promise<void> {
    const { time, watcher } = this.set
    const random = this.#random
    const [primary, ...secondaries] = this.#members
    if (primary !== undefined) await time.until(primary.start())
    for (const cluster of secondaries) this.#living.start(cluster)
    await time.pass(random.pick(FIRST_MS))
    const steps = LEAST_STEPS + random.int(MORE_STEPS)
    for (let step = 0; step < steps && watcher.fault === undefined; step++) await this.#step()
    if (watcher.fault === undefined) await this.#heal()
  }

  async #step(): Promise<void> {
    const { time } = this.set
    const random = this.#random
    for (let actions = 1 + random.int(3); actions > 0; actions--) await this.#act()
    await time.pass(random.pick(PAUSES_MS))
    this.#living.tend()
    await this.#look()
  }

  async #look(): Promise<void> {
    const { watcher } = this.set
    for (const cluster of this.#members) await watcher.step(cluster)
    watcher.roles.checkKeys()
  }

  async #act(): Promise<void> {
    const random = this.#random
    const any = random.pick(this.#members)
    const kind = random.int(100)
    if (kind < 44) this.#burst()
    else if (kind < 66) await this.#operate()
    else if (kind < 76) this.#living.trouble(any, this.#other(any))
    else if (kind < 84) this.#crash(any)
    else if (kind < 88) any.roomBytes = random.chance(0.4) ? random.int(60_000) : Number.POSITIVE_INFINITY
    else if (kind < 90) this.#moveClock(any)
    else this.#healSome()
  }

  /** The operator works, under writes, and now and then someone dies in the middle of it. */
  async #operate(): Promise<void> {
    const random = this.#random
    this.#operator.act()
    if (random.chance(0.5)) this.#burst()
    if (!random.chance(0.3)) return
    await this.set.time.pass(random.pick([0, 0, 1, 5, 20]))
    await this.set.time.steps(random.int(200))
    this.#crash(random.pick(this.#members))
  }

  #crash(cluster: SimulatedCluster): void {
    this.#living.crash(cluster, this.#random.pick(['power', 'kill'] as const), this.#random.pick([0, 0, 1, 2, 4]))
  }

  #other(cluster: SimulatedCluster): SimulatedCluster {
    return this.#random.pick(this.#members.filter((one) => one !== cluster))
  }

  /** Clients write wherever it may be possible. */
  #burst(): void {
    for (const cluster of this.#members) {
      const { dr } = cluster.role
      if (dr === 'secondary' && !this.#random.chance(0.1)) continue
      for (let count = this.#random.int(4); count > 0; count--)
        this.#living.begin(cluster, 'a write', this.#clients.write(cluster, true))
    }
  }

  #moveClock(cluster: SimulatedCluster): void {
    cluster.clockAheadMs = this.#random.pick(CLOCKS_AHEAD_MS)
    this.#hadWrongClocks = true
  }

  #healSome(): void {
    for (const [at, one] of this.#members.entries()) {
      one.roomBytes = Number.POSITIVE_INFINITY
      for (const other of this.#members.slice(at + 1)) this.#living.heal(one, other)
    }
  }

  /** Everything is well again, and the operator brings the set back to one primary. */
  async #heal(): Promise<void> {
    const { time, watcher } = this.set
    watcher.note('heal')
    this.#healSome()
    if (this.#hadWrongClocks) {
      // What is being written ends before.
      await time.pass(LAST_WRITE_MS)
      for (const cluster of this.#members) cluster.clockAheadMs = 0
      await time.leap(LOOKED_AT_MS)
    }
    if (!(await this.#within(TOLD_MS, () => this.#untold()))) return
    const startMs = time.nowMs
    let nudgedMs = startMs
    const lacking = async (): Promise<string | undefined> => {
      const isTidying = this.#operator.tidy()
      if (!isTidying && time.nowMs > nudgedMs + NUDGED_MS) {
        nudgedMs = time.nowMs
        await this.#operator.nudge()
      }
      return isTidying ? this.#hands() : this.#lacking()
    }
    if (!(await this.#within(LONGEST_HEALING_MS, lacking))) return
    for (const cluster of this.#members) await time.until(watcher.checkStore(cluster))
  }

  /** Waits until nothing is lacking. False if something was wrong. */
  async #within(ms: number, lacking: () => Promise<string | undefined>): Promise<boolean> {
    const { time, watcher } = this.set
    const endMs = time.nowMs + ms
    for (;;) {
      for (const cluster of this.#members) this.#living.wanted(cluster)
      this.#living.tend()
      await time.pass(HEALED_MS)
      await this.#look()
      if (watcher.fault !== undefined) return false
      const what = await lacking()
      if (what === undefined) return true
      if (time.nowMs <= endMs) continue
      watcher.wrong(undefined, `I21 ${what}`)
      return false
    }
  }

  async #untold(): Promise<string | undefined> {
    for (const { name, life } of this.#members) {
      if (life?.isOpen !== true) return `${name} is not open`
      const { untold } = await life.host.status()
      if (untold.some(({ sentence }) => isForOperators(sentence))) return undefined
    }
    return this.set.watcher.roles.untold()
  }

  /** What each cluster is, for who looks why nothing comes of it. */
  #hands(): string {
    const told = this.#members.map((one) => {
      const state = this.set.watcher.roles.stateOf(one)
      return `${one.name} ${state?.mode} ${state?.epoch} ${state?.isFenced === true ? 'fenced' : ''}`
    })
    return `the set is in no good hands: ${told.join(', ')}`
  }

  /** Who has not got there yet; undefined: all have. */
  async #lacking(): Promise<string | undefined> {
    const [leader] = this.#operator.primaries
    if (leader?.life?.isOpen !== true) return 'no primary is open'
    const { lastReplicatedIndex, lastLocalIndex, index } = await leader.life.store.position()
    for (const cluster of this.#members) {
      if (cluster === leader) continue
      const { life } = cluster
      if (life?.isOpen !== true) return `${cluster.name} is not open`
      if (this.set.watcher.roles.stateOf(cluster)?.mode !== 'secondary') return `${cluster.name} is no secondary`
      const [ours, wanted] = [cluster.sealId, leader.sealId]
      if (ours !== wanted) return `${cluster.name} has the shares ${ours}, and not ${wanted}`
      const [followed] = (await life.host.status()).primaries
      const { progress, connection } = followed ?? {}
      const isThere = progress?.what === 'stream' && progress.index >= Math.max(lastReplicatedIndex, lastLocalIndex)
      if (connection !== 'ready' || !isThere)
        return `${cluster.name} does not have ${index} of ${leader.name}: ${JSON.stringify(followed)}`
    }
    return undefined
  }
}
