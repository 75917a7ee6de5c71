// The operator of a simulated set for disaster recovery: has it change hands, with and without its primary, and brings
// it back to one primary that all others follow. What is asked for may be refused, or end with a crash.
import { strict as assert } from 'node:assert'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'
import type { GivenActivation } from '../../../src/system/replication-operations.ts'
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { type LivingClusters, unlessRefused } from './living-clusters.ts'
import { activate } from './prepared-clusters.ts'
import { restore, type TakenSnapshot, takeSnapshot } from './restoring.ts'
import type { RoleWatcher } from './role-watcher.ts'
import { type Life, NotRunning, type SimulatedCluster } from './simulated-cluster.ts'
import type { SimulatedSet } from './simulated-set.ts'

const TTL_MS = 1_800_000
const TOKENS_KEPT = 4
/**
 * What the link of a cluster says that no primary lets in with what it has, by the runbook of a link that is down. Of
 * a network or a copy that does not come on it says something else: that is no reason to give a copy up.
 */
const NOT_LET_IN: ReadonlySet<string> = new Set([
  'revoked',
  'token',
  'set_mismatch',
  'untrusted',
  'rejected',
  'clock',
  'fenced',
  'not_primary',
])

type OwnSnapshot = { readonly of: SimulatedCluster; readonly setId: string; readonly taken: TakenSnapshot }

/** What an operator works with. `members`: the clusters that have or may have a part in the set now. */
export type OperatorParts = {
  readonly random: PseudoRandom
  readonly living: LivingClusters
  readonly family?: ReplicationFamily
  readonly members: () => readonly SimulatedCluster[]
}

/** Works at the clusters of one run, at each cluster one thing at a time. */
export class SetOperator {
  readonly #set: SimulatedSet
  readonly #roles: RoleWatcher
  readonly #random: PseudoRandom
  readonly #living: LivingClusters
  readonly #family: ReplicationFamily
  readonly #members: () => readonly SimulatedCluster[]
  /** Clusters that are worked at, each as it was started then: a crash ends that. */
  readonly #busy = new Map<SimulatedCluster, readonly (readonly [SimulatedCluster, Life | undefined])[]>()
  /** Tokens that were made, used or not. */
  readonly #tokens: string[] = []
  readonly #snapshots: OwnSnapshot[] = []
  /** How often a promotion was refused since the last that was not. */
  #refusals = 0

  constructor(set: SimulatedSet, { random, living, members, family = 'dr' }: OperatorParts) {
    this.#set = set
    this.#family = family
    this.#roles = set.watcher.rolesIn(family)
    this.#random = random
    this.#living = living
    this.#members = members
  }

  /** The primaries that may write, the one of the highest epoch first. */
  get primaries(): readonly SimulatedCluster[] {
    return this.#members()
      .filter((one) => this.#modeOf(one) === 'primary' && this.#roles.stateOf(one)?.isFenced === false)
      .sort((one, other) => this.#epochOf(other) - this.#epochOf(one))
  }

  get secondaries(): readonly SimulatedCluster[] {
    return this.#members().filter((one) => this.#modeOf(one) === 'secondary')
  }

  #modeOf(cluster: SimulatedCluster) {
    return this.#roles.stateOf(cluster)?.mode
  }

  #epochOf(cluster: SimulatedCluster): number {
    return this.#roles.stateOf(cluster)?.epoch ?? 0
  }

  /** One thing that an operator may want. */
  act(): void {
    const random = this.#random
    const kind = random.int(100)
    const [leader] = this.primaries
    const some = this.secondaries.length === 0 ? undefined : random.pick(this.secondaries)
    if (kind < 33 || leader === undefined || some === undefined) this.tidy()
    else if (kind < 34) this.#rotateAuthority(leader)
    else if (kind < 60) this.#promote(some, false)
    else if (kind < 74) this.#promoteCutOff(leader, some, kind < 68)
    else if (kind < 79) this.#demote(leader)
    else if (kind < 84) for (const one of this.secondaries) this.#promote(one, random.chance(0.5))
    else if (kind < 87) this.#leave(some)
    else if (kind < 91) this.#updateByOther(some)
    else if (kind < 94) {
      this.#update(some, leader)
      this.#update(some, leader, true)
    } else if (kind < 96) this.#disable(some)
    else if (!this.#mayChangeAll(leader)) this.tidy()
    else if (kind < 97) this.#work('rekey', [leader], () => leader.rekey())
    else if (kind < 98) this.#work('rotation', [leader], async () => leader.life?.rotation.rotate())
    else if (kind < 99) this.#snapshot(leader)
    else this.#restore(leader)
  }

  /** What is shared with a set for performance is for the primary of that set. */
  #mayChangeAll(cluster: SimulatedCluster): boolean {
    return !this.#set.watcher.performance.isSecondary(cluster)
  }

  /** A cluster that has a part in the other family as well could not be let in again. */
  #mayLeave(cluster: SimulatedCluster): boolean {
    const other = this.#family === 'dr' ? 'performance' : 'dr'
    return cluster.role[other] === 'disabled' && this.#set.watcher.rolesIn(other).stateOf(cluster) === undefined
  }

  /** What brings the set nearer to one primary that all follow. True if there was anything to do. */
  tidy(): boolean {
    const [leader, ...others] = this.primaries
    const fenced = this.#members().filter((one) => this.#roles.stateOf(one)?.isFenced === true)
    for (const one of [...others, ...fenced]) this.#demote(one)
    if (leader === undefined) return this.#chooseLeader()
    const astray = this.#members().filter((one) => one !== leader && !this.#roles.follows(one, leader))
    for (const one of astray) this.#bringHome(one, leader)
    return others.length + fenced.length + astray.length > 0
  }

  /**
   * A secondary whose link says that it stopped gets a new token; one that has none, other addresses. One whose copy is
   * not whole takes neither: where it is not let in, it gives the copy up, and comes anew.
   */
  async nudge(): Promise<void> {
    const [leader] = this.primaries
    if (leader === undefined) return
    for (const one of this.#members().filter((member) => this.#roles.isSecondary(member))) {
      const primaries = (await one.life?.host.status())?.primaries ?? []
      const followed = primaries.find(({ family }) => family === this.#family)
      if (this.#modeOf(one) === 'bootstrapping') {
        if (NOT_LET_IN.has(followed?.idle?.reason ?? '')) this.#disable(one)
      } else if (followed?.idle !== undefined) this.#update(one, leader)
      else if (followed?.connection !== 'ready') this.move(one, [leader.address])
    }
  }

  #chooseLeader(): boolean {
    const ranked = [...this.secondaries].sort((one, other) => this.#epochOf(other) - this.#epochOf(one))
    const [best] = ranked
    if (best !== undefined) this.#promote(best, this.#refusals > 2)
    return true
  }

  #bringHome(cluster: SimulatedCluster, leader: SimulatedCluster): void {
    const mode = this.#modeOf(cluster)
    if (mode === 'secondary') this.#update(cluster, leader)
    else if (mode === 'bootstrapping') this.#disable(cluster)
    else if (mode === undefined)
      this.#work('enable', [cluster, leader], () => {
        this.#set.watcher.readmitted(this.#family, cluster.name)
        return activate(leader, cluster, this.#family, cluster.name)
      })
  }

  #promote(cluster: SimulatedCluster, force: boolean): void {
    this.#work(force ? 'forced promotion' : 'promotion', [cluster], async () => {
      this.#refusals++
      await this.#operationsOf(cluster).promote(this.#family, { clusterAddress: '', force })
      this.#refusals = 0
    })
  }

  #promoteCutOff(leader: SimulatedCluster, cluster: SimulatedCluster, force: boolean): void {
    this.#living.cut(leader, cluster)
    const waitMs = this.#random.pick([0, 10, 700, 3_000])
    this.#work('promotion without the primary', [cluster], async () => {
      await this.#set.pause(waitMs)
      await this.#operationsOf(cluster).promote(this.#family, { clusterAddress: '', force })
    })
  }

  #demote(cluster: SimulatedCluster): void {
    this.#work('demotion', [cluster], () => this.#operationsOf(cluster).demote(this.#family))
  }

  #rotateAuthority(cluster: SimulatedCluster): void {
    this.#work('another authority', [cluster], () => this.#operationsOf(cluster).rotateAuthority(this.#family))
  }

  #disable(cluster: SimulatedCluster): void {
    if (!this.#mayLeave(cluster)) return
    this.#work('disable', [cluster], () => this.#operationsOf(cluster).disableSecondary(this.#family))
  }

  #leave(cluster: SimulatedCluster): void {
    this.#work('leave', [cluster], () => this.#operationsOf(cluster).updatePrimary(this.#family, givenOf('  '), false))
  }

  /** `isBeside`: although another one is under way. */
  #update(cluster: SimulatedCluster, leader: SimulatedCluster, isBeside = false): void {
    const update = async (): Promise<void> => {
      const publicKey = await this.#operationsOf(cluster).generatePublicKey(this.#family)
      const wanted = { id: cluster.name, ttlMs: TTL_MS, publicKey }
      const { text } = await this.#operationsOf(leader).secondaryToken(this.#family, wanted)
      this.#set.watcher.readmitted(this.#family, cluster.name)
      this.#tokens.push(text)
      if (this.#tokens.length > TOKENS_KEPT) this.#tokens.shift()
      // To be led back to a primary that another one took over from is what the operator says with it.
      const isEarlier = this.#epochOf(leader) < this.#epochOf(cluster)
      await this.#operationsOf(cluster).updatePrimary(this.#family, givenOf(text), isEarlier)
    }
    if (isBeside) this.#living.begin(cluster, 'a second update', unlessRefused(update))
    else this.#work('update', [cluster, leader], update)
  }

  /** By a token that was made for another, or for another time, or is none. */
  #updateByOther(cluster: SimulatedCluster): void {
    const text = this.#random.pick(['no token', ...this.#tokens])
    this.#work('update by another token', [cluster], () =>
      this.#operationsOf(cluster).updatePrimary(this.#family, givenOf(text), this.#random.chance(0.3)),
    )
  }

  /** The primary sends one of its secondaries away, which gets a new token later. */
  revoke(leader: SimulatedCluster, { name }: SimulatedCluster): void {
    const { watcher } = this.#set
    this.#work(`revoke ${name}`, [leader], async () => {
      await this.#operationsOf(leader).revokeSecondary(this.#family, name)
      watcher.revoked(leader, this.#family, name)
    })
  }

  /** The primary may answer at one of these addresses. */
  move(cluster: SimulatedCluster, addresses: readonly string[]): void {
    this.#work('update of addresses', [cluster], () => this.#operationsOf(cluster).movePrimary(this.#family, addresses))
  }

  #snapshot(cluster: SimulatedCluster): void {
    this.#work('snapshot', [cluster], async () => {
      const { life } = cluster
      const setId = this.#roles.stateOf(cluster)?.setId
      if (life !== undefined && setId !== undefined)
        this.#snapshots.push({ of: cluster, setId, taken: await takeSnapshot(life) })
    })
  }

  #restore(cluster: SimulatedCluster): void {
    const found = this.#snapshots.findLast(({ of }) => of === cluster)
    if (found === undefined || cluster.role.isHandingOver === true) return
    this.#work('restore', [cluster], () => restore(cluster, found.taken))
  }

  #operationsOf({ name, life }: SimulatedCluster) {
    if (life?.isOpen !== true) throw new NotRunning(`${name} is off`)
    return life.room.operations
  }

  #isBusy(cluster: SimulatedCluster): boolean {
    const worked = this.#busy.get(cluster)
    return worked?.every(([one, life]) => one.life === life) === true
  }

  /** Does it at the first of these clusters, with the help of the others. */
  #work(what: string, at: readonly [SimulatedCluster, ...SimulatedCluster[]], work: () => Promise<unknown>): void {
    const [cluster] = at
    if (this.#isBusy(cluster) || at.some(({ life }) => life?.isOpen !== true)) return
    const worked = at.map((one) => [one, one.life] as const)
    this.#busy.set(cluster, worked)
    const { watcher } = this.#set
    watcher.note(`${what} at ${at.map(({ name }) => name).join()}`)
    const done = async (): Promise<void> => {
      try {
        const refusal = await unlessRefused(work)
        watcher.note(`${what} at ${cluster.name} ${refusal === undefined ? 'is done' : `was refused: ${refusal}`}`)
      } finally {
        if (this.#busy.get(cluster) === worked) this.#busy.delete(cluster)
      }
    }
    this.#living.begin(cluster, what, done())
  }
}

function givenOf(token: string): GivenActivation {
  assert.notEqual(token, '')
  return { token, primaryApiAddress: '', caFile: '', caPath: '' }
}
