// Bugs that filters of a set for performance, and writes that wait for secondaries, could have, planted between the
// parts of the program: a run must find each. `seed` is one that does, and `finds` the beginning of what it says.
import type { LinkOwner } from '../../../src/replication/link/link-sides.ts'
import { digestOfReach, type SetReach } from '../../../src/replication/reach.ts'
import type { SinkBatch } from '../../../src/replication/sink/sink-parts.ts'
import { runFiltered } from './filtered-run.ts'
import { findSeeds, type PlantedBug } from './planted-bugs.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { Seams } from './simulated-set.ts'

/** Mounts that were not there when a secondary was asked for last are in what it gets. */
function gettingNew(): Seams {
  return {
    owner: (owner, cluster) => {
      let known: ReadonlySet<string> | undefined
      const withNew = (reach: SetReach): SetReach => {
        const all = cluster.set.watcher.reach?.placedAt(cluster).mounts.map(({ uuid }) => uuid) ?? []
        const before = known ?? new Set(all)
        known = new Set(all)
        return { ...reach, mounts: new Set([...reach.mounts, ...all.filter((uuid) => !before.has(uuid))]) }
      }
      return {
        ...owner,
        reachOf: async (arrival) => {
          const { index, reach } = await owner.reachOf(arrival)
          return { index, reach: reach && withNew(reach) }
        },
      }
    },
  }
}

/** News of what a secondary is to have is stored when all that it is about has long been there. */
const storingLater = (owner: LinkOwner): LinkOwner => {
  let later: SinkBatch['reach']
  let isWhole = false
  return {
    ...owner,
    take: async (family, { reach, ...batch }) => {
      if (family === 'dr') return owner.take(family, batch)
      const due = isWhole ? later : undefined
      if (due !== undefined) later = undefined
      later = reach ?? later
      isWhole = batch.transfer === undefined
      return owner.take(family, due === undefined ? batch : { ...batch, reach: due })
    },
  }
}

/** A secondary says that it knows what it is to have, whatever that is now. */
const sayingSo = (owner: LinkOwner, { set, name }: SimulatedCluster): LinkOwner => ({
  ...owner,
  standing: async (family) => {
    const standing = await owner.standing(family)
    const primary = set.clusters.find((one) => set.watcher.performance.stateOf(one)?.mode === 'primary')
    if (family === 'dr' || primary?.life?.isOpen !== true) return standing
    return { ...standing, reach: digestOfReach(set.watcher.reach?.reachOf(primary, name)) }
  },
})

/** A secondary that writes wait for counts as having what it was only sent. */
const countingAhead = (owner: LinkOwner): LinkOwner => ({
  ...owner,
  reached: (progress) =>
    owner.reached(progress.map(([id, upTo, seal]) => [id, upTo === undefined ? undefined : upTo + 5, seal])),
})

export const FILTER_BUGS: readonly PlantedBug[] = [
  {
    name: 'only the secondary looks at its filter',
    seams: {
      owner: (owner) => ({ ...owner, reachOf: async (of) => ({ ...(await owner.reachOf(of)), reach: undefined }) }),
    },
    seed: 4,
    finds: 'I9',
  },
  {
    name: 'a mount that was made is sent before it is judged',
    seams: gettingNew(),
    seed: 3,
    finds: 'I9',
  },
  {
    name: 'what belongs to a namespace and to none of its mounts does not go',
    seams: { scopes: (scopes) => scopes.filter((scope) => !scope.endsWith('/system')) },
    seed: 3,
    finds: 'I3',
  },
  {
    name: 'the root of a filtered secondary is over all that there is',
    seams: { owner: (owner) => ({ ...owner, root: (family) => owner.root(family, undefined) }) },
    seed: 3,
    finds: 'I22',
  },
  {
    name: 'what a secondary is to have is stored behind what it is about',
    seams: { owner: storingLater },
    seed: 7,
    finds: 'I3',
  },
  {
    name: 'nobody compares what the secondary was told last',
    seams: { owner: sayingSo },
    seed: 5,
    finds: 'I3',
  },
  {
    name: 'a write is answered before a synchronous secondary has it',
    seams: { owner: countingAhead },
    seed: 8,
    finds: 'I30',
  },
]

// node filter-bugs.ts [MOST [FIRST [TEXT]]]: as failover-bugs.ts.
if (import.meta.main) await findSeeds(FILTER_BUGS, runFiltered)
