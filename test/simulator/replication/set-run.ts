// One run from a seed: a primary and some secondaries live through whatever the seed says, then everything is healed,
// and the secondaries must get there. The watcher (set-watcher.ts) says what must be so meanwhile.
import { SINK_LIMITS } from '../../../src/replication/sink/sink-parts.ts'
import { SOURCE_LIMITS } from '../../../src/replication/source/source-parts.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'
import { NARROW } from '../../fixtures/followed-pair.ts'
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { LivingClusters, unlessRefused } from './living-clusters.ts'
import { activate, copyOf, type Prepared, preparedClusters, SECONDARIES } from './prepared-clusters.ts'
import { restore, type TakenSnapshot, takeSnapshot } from './restoring.ts'
import type { Outcome } from './seeded-run.ts'
import { FORBIDDEN_NAMES, SetClients } from './set-clients.ts'
import { SetWatcher } from './set-watcher.ts'
import { type Life, NEWER_VERSION, OLDER_VERSION, type SimulatedCluster } from './simulated-cluster.ts'
import { type Seams, SimulatedSet } from './simulated-set.ts'
import { stealToken } from './stolen-token.ts'

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS
const LOOKED_AT_MS = 61 * MINUTE_MS
const CLOCKS_AHEAD_MS = [0, 20 * MINUTE_MS, -20 * MINUTE_MS, DAY_MS, -DAY_MS]
const LEAST_STEPS = 3
const MORE_STEPS = 14
const SECONDARIES_AT_ONCE = [1, 1, 1, 2, 2, 3]
/** One run of so many has a set for performance, too. */
const FAMILIES: readonly (readonly ReplicationFamily[])[] = [['dr', 'performance'], ['dr'], ['dr']]
/** After everything is healed a secondary has all of it within this time. */
const LONGEST_HEALING_MS = 60_000
const PAUSES_MS = [0, 0, 1, 3, 10, 30, 100, 300, 700]
/** Longer than the time between two saves of the tree. */
const TREE_SAVED_MS = 31_000
const LOOK_MS = 60
const LONG_LOOK_MS = 100
const LONG_PAUSE_MS = 4_000

type Secondary = { cluster: SimulatedCluster; readonly family: ReplicationFamily; isRevoked: boolean }

/** Lives through one seed, with what a test has planted. */
export async function runSet(seed: number, seams: Seams = {}): Promise<Outcome> {
  const families = FAMILIES[seed % FAMILIES.length] ?? ['dr']
  const run = new SetRun(seed, seams, await preparedClusters(families), families)
  await run.live()
  const { watcher } = run.set
  return { fault: watcher.fault, lines: watcher.trace }
}

class SetRun {
  readonly set: SimulatedSet
  readonly #random: PseudoRandom
  readonly #clients: SetClients
  readonly #prepared: Prepared
  readonly #primary: SimulatedCluster
  readonly #secondaries: Secondary[]
  readonly #living: LivingClusters
  #snapshots: TakenSnapshot[] = []
  /** The primary, while an operator works at it. A crash ends that. */
  #busy: Life | undefined
  #thefts = 0
  #hadWrongClocks = false

  constructor(seed: number, seams: Seams, prepared: Prepared, families: readonly ReplicationFamily[]) {
    const watcher = (set: SimulatedSet): SetWatcher => new SetWatcher(set, FORBIDDEN_NAMES)
    const usual = { source: SOURCE_LIMITS, sink: SINK_LIMITS }
    const set = new SimulatedSet(seed, watcher, { seams, limits: seed % 3 === 0 ? usual : NARROW })
    this.set = set
    this.#prepared = prepared
    this.#random = set.choices('what happens')
    this.#clients = new SetClients(set, this.#random.pick([4, 12, 30]))
    this.#living = new LivingClusters(set, this.#random, () => this.#clusters)
    const images = this.#random.chance(0.3) ? prepared.activated : prepared.following
    this.#primary = set.newCluster('p', copyOf(images.get('p')))
    this.#secondaries = this.#chosen(families).map(({ name, family }) => ({
      cluster: this.#newSecondary(name, images),
      family,
      isRevoked: false,
    }))
  }

  #chosen(families: readonly ReplicationFamily[]) {
    const random = this.#random
    const all = families.flatMap((family) => SECONDARIES[family].map((name) => ({ family, name })))
    const count = random.pick(SECONDARIES_AT_ONCE)
    while (all.length > count) all.splice(random.int(all.length), 1)
    return all
  }

  #newSecondary(name: string, images: Prepared['blank']): SimulatedCluster {
    return this.set.newCluster(name, copyOf(images.get(name)))
  }

  get #clusters(): readonly SimulatedCluster[] {
    return [this.#primary, ...this.#secondaries.map(({ cluster }) => cluster)]
  }

  async live(): Promise<void> {
    const { time, watcher } = this.set
    await time.until(this.#primary.start())
    for (let writes = this.#random.int(6); writes > 0; writes--) {
      await time.until(this.#clients.write(this.#primary, true, 10))
    }
    for (const [at, { cluster }] of this.#secondaries.entries()) {
      // Now and then one of them is away until all is well again.
      if (at === 0 && this.#random.chance(0.1)) this.#living.keepOff(cluster)
      else this.#living.start(cluster)
    }
    const steps = LEAST_STEPS + this.#random.int(MORE_STEPS)
    for (let step = 0; step < steps && watcher.fault === undefined; step++) await this.#step()
    this.#shorten(this.#primary)
    await time.pass(LONG_LOOK_MS)
    if (watcher.fault === undefined) await this.#heal()
  }

  async #step(): Promise<void> {
    const { time } = this.set
    for (let actions = 1 + this.#random.int(3); actions > 0; actions--) this.#act()
    this.#readSome()
    await time.pass(this.#random.chance(0.04) ? LONG_PAUSE_MS : this.#random.pick(PAUSES_MS))
    this.#living.tend()
    for (const cluster of this.#clusters) await this.set.watcher.step(cluster)
  }

  #act(): void {
    const random = this.#random
    const primary = this.#primary
    const secondary = random.pick(this.#secondaries)
    const any = random.pick(this.#clusters)
    const kind = random.int(100)
    if (kind < 40) this.#burst()
    else if (kind < 56) this.#living.trouble(this.#primary, secondary.cluster)
    else if (kind < 62)
      this.#living.crash(any, random.pick(['power', 'kill'] as const), random.pick([0, 0, 1, 2, 4, 30]))
    else if (kind < 66) this.#fill(any)
    else if (kind < 67) any.life?.disk.failSync()
    else if (kind < 72) any.skippedMs += TREE_SAVED_MS
    else if (kind < 78) this.#shorten(any)
    else if (kind < 82) this.#stray(secondary)
    else if (kind < 85) this.#asPrimary('rotation', async () => primary.life?.rotation.rotate())
    else if (kind < 86) this.#asPrimary('rekey', () => primary.rekey())
    else if (kind < 87) this.#rotateAuthority(secondary)
    else if (kind < 89) this.#snapshot()
    else if (kind < 91) this.#restore()
    else if (kind < 93) this.#revoke(secondary)
    else if (kind < 94) this.#readmit()
    else if (kind < 95) this.#steal()
    else if (kind < 96) this.#moveClock(any)
    else if (kind < 97) this.#upgrade(any)
    else this.#healSome()
  }

  #burst(): void {
    for (let count = this.#random.pick([0, 0, 1, 1, 2, 4]); count >= 0; count--) {
      this.#living.begin(
        this.#primary,
        'a write',
        this.#clients.write(this.#primary, true, this.#random.pick([1, 2, 2, 3, 3, 12])),
      )
    }
    for (const { cluster, family } of this.#secondaries) {
      if (family === 'performance' && this.#random.chance(0.3)) {
        this.#living.begin(cluster, 'a local write', this.#clients.write(cluster, false))
      }
    }
  }

  #readSome(): void {
    for (const cluster of this.#clusters) {
      for (let count = this.#random.int(4); count > 0; count--)
        this.#living.begin(cluster, 'a read', this.#clients.read(cluster))
    }
  }

  #healSome(): void {
    for (const { cluster } of this.#secondaries) this.#living.heal(this.#primary, cluster)
    for (const cluster of this.#clusters) cluster.roomBytes = Number.POSITIVE_INFINITY
  }

  #fill(cluster: SimulatedCluster): void {
    cluster.roomBytes = this.#random.chance(0.4) ? this.#random.int(60_000) : Number.POSITIVE_INFINITY
  }

  /** Has the store look whether its log is too long. */
  #shorten(cluster: SimulatedCluster): void {
    const { life } = cluster
    if (life?.isOpen !== true) return
    const isPrimary = cluster === this.#primary
    const look = async (): Promise<void> => {
      cluster.skippedMs += TREE_SAVED_MS
      // Behind the first commit the tree is saved, and behind the second it is.
      for (let writes = 0; isPrimary && writes < 2; writes++) await this.#clients.write(cluster, true, 2)
      const from = await life.store.lastIndex()
      await life.store.hold({ name: 'a look', kind: 'copy', from })
      await life.store.release('a look')
      if (!isPrimary) return
      await this.#clients.write(cluster, true, 2)
      await this.set.pause(LOOK_MS)
      if (cluster.life === life && life.isOpen && !cluster.isFull && !life.hasFailed)
        this.set.watcher.checkLog(cluster, life)
    }
    this.#living.begin(cluster, 'a look at the log', look())
  }

  #stray({ cluster }: Secondary): void {
    if (cluster.life?.isOpen === true) this.#living.begin(cluster, 'a stray', this.#clients.stray(cluster))
  }

  get #isBusy(): boolean {
    return this.#busy !== undefined && this.#busy === this.#primary.life
  }

  /** What operators do at the primary, one thing at a time. */
  #asPrimary(what: string, work: () => Promise<unknown>): void {
    const { life } = this.#primary
    if (life?.isOpen !== true || this.#busy === life) return
    this.#busy = life
    const done = async (): Promise<void> => {
      try {
        await work()
      } finally {
        if (this.#busy === life) this.#busy = undefined
      }
    }
    this.set.watcher.note(what)
    this.#living.begin(this.#primary, what, done())
  }

  #snapshot(): void {
    // A restore brings the registry of a performance set back: one that is not let in as yet would be shut out.
    const isLetIn = ({ cluster, family }: Secondary): boolean =>
      family === 'dr' || this.set.watcher.knownOf(cluster).acknowledged.performance !== undefined
    if (!this.#secondaries.every(isLetIn)) return
    this.#asPrimary('a snapshot', async () => {
      const { life } = this.#primary
      if (life !== undefined) this.#snapshots.push(await takeSnapshot(life))
    })
  }

  #restore(): void {
    const taken = this.#snapshots.length === 0 ? undefined : this.#random.pick(this.#snapshots)
    if (taken !== undefined) this.#asPrimary('a restore', () => restore(this.#primary, taken))
  }

  #revoke(secondary: Secondary): void {
    if (secondary.isRevoked) return
    const { family, cluster } = secondary
    this.#asPrimary(`revoke ${cluster.name}`, async () => {
      this.#forgetSnapshots(family)
      secondary.isRevoked = true
      await this.#primary.life?.room.operations.revokeSecondary(family, cluster.name)
      this.set.watcher.revoked(this.#primary, family, cluster.name)
    })
  }

  #rotateAuthority({ family }: Secondary): void {
    this.#asPrimary(`another authority for ${family}`, async () => {
      this.#forgetSnapshots(family)
      await this.#primary.life?.room.operations.rotateAuthority(family)
    })
  }

  /** A restore would bring back the registry of a performance set, and its authority. */
  #forgetSnapshots(family: ReplicationFamily): void {
    if (family === 'performance') this.#snapshots = []
  }

  /** A cluster that was revoked gets a new store and a new token. */
  #readmit(): void {
    const secondary = this.#secondaries.find(({ isRevoked }) => isRevoked)
    if (secondary === undefined || this.#isBusy) return
    const { family, cluster } = secondary
    const { name } = cluster
    this.#living.replace(cluster)
    const fresh = this.#newSecondary(name, this.#prepared.blank)
    secondary.cluster = fresh
    this.#asPrimary(`readmit ${name}`, () =>
      unlessRefused(async () => {
        this.#forgetSnapshots(family)
        this.set.network.host(name).restart()
        await fresh.start()
        this.set.watcher.readmitted(family, name)
        await activate(this.#primary, fresh, family, name)
        secondary.isRevoked = false
      }),
    )
  }

  #moveClock(cluster: SimulatedCluster): void {
    cluster.clockAheadMs = this.#random.pick(CLOCKS_AHEAD_MS)
    this.#hadWrongClocks = true
  }

  /** A newer program takes the place of the one that runs, or an older one does. */
  #upgrade(cluster: SimulatedCluster): void {
    cluster.version = this.#random.pick([OLDER_VERSION, NEWER_VERSION])
    this.#living.crash(cluster, 'kill', 0)
  }

  /** All have the newer program. */
  #upgradeAll(): void {
    for (const cluster of this.#clusters) {
      cluster.version = NEWER_VERSION
      if (cluster.life?.version === OLDER_VERSION) this.#living.crash(cluster, 'kill', 0)
    }
  }

  #steal(): void {
    const id = `t${this.#thefts++}`
    const stolen = async (): Promise<void> => {
      const given = await stealToken(this.set, this.#primary, id)
      if (given > 1) this.set.watcher.wrong(this.#primary, 'I17 one token has let in two clusters')
    }
    if (this.#primary.life?.isOpen === true) this.#living.begin(this.#primary, 'a theft', unlessRefused(stolen))
  }

  /** Certificates that were made by a wrong clock are made anew when they are next looked at. */
  async #setClocks(): Promise<void> {
    if (!this.#hadWrongClocks) return
    for (const cluster of this.#clusters) cluster.clockAheadMs = 0
    await this.set.time.leap(LOOKED_AT_MS)
  }

  /** Everything is well again: each secondary gets there. */
  async #heal(): Promise<void> {
    const { time, watcher } = this.set
    watcher.note('heal')
    this.#healSome()
    if (this.#clusters.some(({ version }) => version === NEWER_VERSION)) this.#upgradeAll()
    await this.#setClocks()
    const startMs = time.nowMs
    for (;;) {
      for (const cluster of this.#clusters) {
        this.#living.wanted(cluster)
      }
      this.#living.tend()
      await time.pass(100)
      for (const cluster of this.#clusters) await watcher.step(cluster)
      if (watcher.fault !== undefined) return
      const lacking = await this.#lacking()
      if (lacking === undefined) break
      if (time.nowMs - startMs > LONGEST_HEALING_MS) return watcher.wrong(undefined, `I21 ${lacking}`)
    }
    for (const cluster of this.#clusters) {
      if (cluster.life?.isOpen === true) await time.until(watcher.checkStore(cluster))
    }
  }

  /** Who has not got there yet; undefined: all have. */
  async #lacking(): Promise<string | undefined> {
    const { watcher } = this.set
    const theirs = this.#primary.life
    if (theirs?.isOpen !== true) return 'the primary is not open'
    const { index, lastReplicatedIndex, lastLocalIndex } = await theirs.store.position()
    for (const { cluster, family, isRevoked } of this.#secondaries) {
      const { life } = cluster
      if (isRevoked) continue
      if (life?.isOpen !== true) return `${cluster.name} is not open`
      const [followed] = (await life.host.status()).primaries
      // I30: a rekey reaches all, those too that were away.
      const [ours, wanted] = [cluster.sealId, this.#primary.sealId]
      if (ours !== wanted) return `${cluster.name} has the shares ${ours}, and not ${wanted}`
      const progress = followed?.progress
      const last = family === 'dr' ? Math.max(lastReplicatedIndex, lastLocalIndex) : lastReplicatedIndex
      const isThere = followed?.connection === 'ready' && progress?.what === 'stream' && progress.index >= last
      if (!isThere || watcher.knownOf(cluster).strays.size > 0) {
        const { size } = watcher.knownOf(cluster).strays
        return `${cluster.name} does not have ${index}, ${size} strays: ${JSON.stringify(followed)}`
      }
    }
    return undefined
  }
}
