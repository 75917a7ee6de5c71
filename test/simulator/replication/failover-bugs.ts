// Bugs that a change of hands could have, planted between the parts of the program: a run must find each. `seed` is one
// that does, and `finds` the beginning of what it says.
import type { NodeRole } from '../../../src/api/node-role.ts'
import type { LinkOwner, PrimaryPart } from '../../../src/replication/link/link-sides.ts'
import { SET_STATE, SETS_FOLDER } from '../../../src/replication/set/records.ts'
import { systemScope, type Transaction } from '../../../src/storage/contract.ts'
import { runFailovers } from './failover-run.ts'
import { findSeeds, type PlantedBug, writeEntries } from './planted-bugs.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { ChangingKeys, Seams } from './simulated-set.ts'

const STATE = `${SETS_FOLDER}dr/state`

/** The owner answers in another way. */
const owning = (changed: (owner: LinkOwner, cluster: SimulatedCluster) => Partial<LinkOwner>): Seams => ({
  owner: (owner, cluster) => ({ ...owner, ...changed(owner, cluster) }),
})

type Put = Transaction['put']

/** What begins a history puts its entries in another way: `put` is told of each, and may leave it out. */
const putting = (
  put: (cluster: SimulatedCluster, each: { readonly key: string; readonly value: Buffer; readonly put: Put }) => void,
  afterwards: (cluster: SimulatedCluster) => Promise<void> = async () => {},
): Seams => ({
  rotation: (rotation, cluster): ChangingKeys => ({
    adopt: rotation.adopt,
    beginHistory: async (work, next, terms) => {
      const result = await rotation.beginHistory(
        (tx) => {
          const kept: Put = (scope, key, value) => tx.put(scope, key, value)
          const own: Put = (_, key, value) => put(cluster, { key, value, put: kept })
          return work(withPut(tx, own))
        },
        next,
        terms,
      )
      await afterwards(cluster)
      return result
    },
  }),
})

/** The transaction, with another `put`. */
function withPut(tx: Transaction, put: Put): Transaction {
  return new Proxy(tx, {
    get: (_, name) => {
      if (name === 'put') return put
      const found: unknown = Reflect.get(tx, name, tx)
      return typeof found === 'function' ? found.bind(tx) : found
    },
  })
}

/** The role in memory alone. */
async function playFenced(cluster: SimulatedCluster): Promise<void> {
  const role: NodeRole = { ...cluster.role, isFenced: true }
  cluster.role = role
  await cluster.life?.store.setWritable((storageClass) => storageClass === 'ignored')
}

/** The state that a promotion puts is stored in a step of its own. */
function stateAfterwards(): Seams {
  const left = new WeakMap<SimulatedCluster, Buffer>()
  return putting(
    (cluster, { key, value, put }) => {
      if (key === STATE) left.set(cluster, value)
      else put(systemScope, key, value)
    },
    async (cluster) => {
      const value = left.get(cluster)
      if (value !== undefined) await cluster.life?.store.transaction(async (tx) => tx.put(systemScope, STATE, value))
    },
  )
}

/** A primary serves with the first leaf that it had, and whoever comes with one of that authority is let in. */
function firstAuthorityForEver(): Seams {
  const first = new WeakMap<SimulatedCluster, PrimaryPart['identity']>()
  return {
    control: (control, cluster) => ({
      ...control,
      play: (state) => {
        const parts = state.parts.map((part) => {
          if (part.role !== 'primary') return part
          const identity = first.get(cluster) ?? part.identity
          first.set(cluster, identity)
          return { ...part, identity }
        })
        return control.play({ ...state, parts })
      },
    }),
    owner: (owner, cluster) => ({
      ...owner,
      admit: async (arrival, ...shown) => {
        const answer = await owner.admit(arrival, ...shown)
        const { life } = cluster
        if (!('refused' in answer) || life === undefined) return answer
        return { epoch: 0, histories: await life.store.histories(), abandoned: [], followed: [] }
      },
    }),
  }
}

export const FAILOVER_BUGS: readonly PlantedBug[] = [
  {
    name: 'a fence is not stored: a restart forgets it',
    seams: owning((_, cluster) => ({
      tookOver: async () => {
        await playFenced(cluster)
        return 'fenced'
      },
    })),
    seed: 414,
    finds: 'I11',
  },
  {
    name: 'a primary says that it has drained while it is still written to',
    seams: owning(() => ({ drain: async () => ({ grantsNothing: true }) })),
    seed: 4,
    finds: 'I13',
  },
  {
    name: 'a promotion adds no term: two clusters seal under one key',
    seams: {
      rotation: (rotation, cluster) => ({
        adopt: rotation.adopt,
        beginHistory: (work, next) => cluster.life?.store.beginHistory(work, next) ?? rotation.beginHistory(work, next),
      }),
    },
    seed: 3,
    finds: 'I11',
  },
  {
    name: 'what the former primary sent is applied behind the promotion',
    seams: owning((owner, cluster) => ({
      take: async (family, batch) => {
        await cluster.set.pause(30)
        try {
          return await owner.take(family, batch)
        } catch (cause) {
          if (batch.mode !== 'follow' || cluster.role.dr !== 'primary') throw cause
          await writeEntries(cluster, batch)
          return { kind: 'adopted', index: batch.at.index }
        }
      },
    })),
    seed: 8,
    finds: 'I12',
  },
  {
    name: 'a promotion does not raise the epoch',
    seams: putting((cluster, { key, value, put }) => {
      const barrier = cluster.life?.barrier
      if (key !== STATE || barrier === undefined) return put(systemScope, key, value)
      const state = SET_STATE.decode(barrier.open(key, value))
      put(systemScope, key, barrier.seal(key, SET_STATE.encode({ ...state, epoch: Math.max(state.epoch - 1, 0) })))
    }),
    seed: 1,
    finds: 'I12',
  },
  {
    name: 'the role of a promotion is stored in a second step',
    seams: stateAfterwards(),
    seed: 1,
    finds: 'I26',
  },
  {
    name: 'a primary waits for a shorter time than a promotion may take',
    seams: owning((owner, cluster) => ({
      drain: async (arrival) => {
        const drained = await owner.drain(arrival)
        void cluster.set.pause(20).then(() => owner.resume(arrival))
        return drained
      },
    })),
    seed: 11,
    finds: 'I13',
  },
  {
    name: 'a primary that hands over forgets it with a restart',
    seams: owning((owner, cluster) => ({
      drain: async (arrival) => {
        const drained = await owner.drain(arrival)
        await cluster.life?.store.transaction(async (tx) => tx.delete(systemScope, `${SETS_FOLDER}dr/handing-over`))
        return drained
      },
    })),
    seed: 276,
    finds: 'I13',
  },
  {
    name: 'a demoted cluster forgets that its log is its own',
    seams: owning((owner, cluster) => ({
      standing: async (family) => {
        const origins = (await cluster.life?.store.position())?.origins ?? []
        const applied = origins.find((origin) => origin.family === family)
        return { ...(await owner.standing(family)), isParted: false, applied }
      },
    })),
    seed: 57,
    finds: 'I21',
  },
  {
    name: 'a leaf of an earlier authority is let in',
    seams: firstAuthorityForEver(),
    seed: 50,
    finds: 'I17',
  },
]

// node failover-bugs.ts [MOST [FIRST [TEXT]]]: finds for each bug (whose name has the text) the first seed of these
// that finds it.
if (import.meta.main) await findSeeds(FAILOVER_BUGS, runFailovers)
