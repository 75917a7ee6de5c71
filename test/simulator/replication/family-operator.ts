// The operators of a simulated family of clusters: one works at the set for performance, and one at each set for
// disaster recovery of its members (set-operator.ts). A set for disaster recovery comes first when all is brought back:
// who may be written to in it decides which clusters the other set has.
import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import type { LivingClusters } from './living-clusters.ts'
import { SetOperator } from './set-operator.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { SimulatedSet } from './simulated-set.ts'

/** What they work with. `pairs`: the clusters of each set for disaster recovery. */
export type FamilyParts = {
  readonly random: PseudoRandom
  readonly living: LivingClusters
  readonly members: readonly SimulatedCluster[]
  readonly pairs: readonly (readonly SimulatedCluster[])[]
}

/** Works at the sets of one run. */
export class FamilyOperator {
  readonly #set: SimulatedSet
  readonly #random: PseudoRandom
  readonly #members: readonly SimulatedCluster[]
  readonly #pairs: readonly SetOperator[]
  readonly #performance: SetOperator

  constructor(set: SimulatedSet, { random, living, members, pairs }: FamilyParts) {
    this.#set = set
    this.#random = random
    this.#members = members
    this.#pairs = pairs.map((pair) => new SetOperator(set, { random, living, members: () => pair }))
    this.#performance = new SetOperator(set, { random, living, family: 'performance', members: () => this.serving })
  }

  /** The clusters that follow none for disaster recovery, and that none took over from. */
  get serving(): readonly SimulatedCluster[] {
    const { roles } = this.#set.watcher
    return this.#members.filter((one) => !roles.isSecondary(one) && roles.stateOf(one)?.isFenced !== true)
  }

  /** The primary for performance of the highest epoch. */
  get leader(): SimulatedCluster | undefined {
    return this.#performance.primaries[0]
  }

  /** One thing that an operator may want. */
  act(): void {
    const random = this.#random
    const kind = random.int(100)
    const { leader } = this
    const { secondaries } = this.#performance
    const some = secondaries.length === 0 ? undefined : random.pick(secondaries)
    if (kind < 40 && this.#pairs.length > 0) random.pick(this.#pairs).act()
    else if (kind < 85 || leader === undefined || some === undefined) this.#performance.act()
    else if (kind < 90) this.#performance.revoke(leader, some)
    else
      this.#performance.move(
        some,
        random.several(1, 3, () => this.#address()),
      )
  }

  #address(): string {
    const { address } = this.#random.pick(this.#members)
    return this.#random.chance(0.8) ? address : 'https://nobody:8201'
  }

  /** What brings all nearer to one primary in each set that all follow. True if there was anything to do. */
  tidy(): boolean {
    const isTidying = this.#pairs.map((pair) => pair.tidy()).some(Boolean)
    return isTidying || this.#performance.tidy()
  }

  /** As that of each set. */
  async nudge(): Promise<void> {
    for (const operator of [...this.#pairs, this.#performance]) await operator.nudge()
  }

  /** The sets for disaster recovery: who may be written to in each. */
  get primariesOfPairs(): readonly (SimulatedCluster | undefined)[] {
    return this.#pairs.map(({ primaries }) => primaries[0])
  }
}
