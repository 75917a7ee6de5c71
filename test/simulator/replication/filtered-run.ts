// One run from a seed, of a set for performance whose operators keep mounts and namespaces from secondaries: as
// performance-run.ts, with five clusters mostly, and with mounts that come, move and go across what the filters let
// through. In half of them writes wait for secondaries for disaster recovery. What must be so of filters is watched
// beside the rest (reach-watcher.ts).
import { strict as assert } from 'node:assert'
import { reachedScopes } from '../../../src/replication/reach.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'
import type { HandedOver } from './failover-run.ts'
import { FilterActions } from './filter-actions.ts'
import { bothOf, PerformanceRun } from './performance-run.ts'
import { preparedForBoth } from './prepared-clusters.ts'
import type { ReachWatcher } from './reach-watcher.ts'
import type { Entry } from './set-clients.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { Seams } from './simulated-set.ts'

/** Beside the primary and its first secondary. */
const OTHERS = [['q2', 'd1', 'e1'], ['q2', 'd1', 'e1'], ['q2', 'e1'], ['e1'], ['q2'], []] as const

/** Lives through one seed, with what a test has planted. */
export async function runFiltered(seed: number, seams: Seams = {}): Promise<HandedOver> {
  const run = new FilteredRun(seed, seams, await preparedForBoth(), {
    hasFilters: true,
    isSynchronous: true,
    others: OTHERS,
  })
  await run.live()
  const { watcher } = run.set
  return { fault: watcher.fault, lines: watcher.trace, handOvers: bothOf(watcher) }
}

class FilteredRun extends PerformanceRun {
  #actions: FilterActions | undefined

  get #filters(): FilterActions {
    const ids = this.members.map(({ name }) => name).filter((name) => !['d1', 'e1'].includes(name))
    this.#actions ??= new FilterActions(this.set, this.random, this.living, ids)
    return this.#actions
  }

  get #reach(): ReachWatcher {
    return this.set.watcher.reach ?? assert.fail('filters are watched')
  }

  protected override begun(primary: SimulatedCluster): Promise<void> {
    return this.#filters.begin(primary)
  }

  protected override otherEntry(cluster: SimulatedCluster): Entry | undefined {
    return this.#filters.entry(cluster)
  }

  protected override async act(): Promise<void> {
    const { leader } = this.operator
    if (leader === undefined || !this.random.chance(0.3)) return super.act()
    this.#filters.act(leader)
    if (this.random.chance(0.4)) this.burst()
  }

  protected override async lacking(): Promise<string | undefined> {
    const lacking = await super.lacking()
    if (lacking !== undefined) return lacking
    for (const [cluster, primary, family] of this.following()) {
      if (family !== 'performance' || primary === undefined) continue
      const { id = '' } = this.set.watcher.performance.identityOf(cluster) ?? {}
      const what = await this.#reach.lacking(cluster, id, primary)
      if (what !== undefined) return what
    }
    return undefined
  }

  protected override async comparedOf(cluster: SimulatedCluster, family: ReplicationFamily) {
    if (family === 'dr') return undefined
    await this.#reach.check(cluster)
    return reachedScopes((await this.#reach.noted(cluster)).reach)
  }
}
