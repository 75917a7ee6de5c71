// Clusters that are in their sets already, and have copied nothing: what most runs begin with. They are made once in a
// process, always from the same seed, since certificates are what takes most time.
import { strict as assert } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import { SINK_LIMITS } from '../../../src/replication/sink/sink-parts.ts'
import { SOURCE_LIMITS } from '../../../src/replication/source/source-parts.ts'
import { HISTORY_ID_BYTES } from '../../../src/storage/backend.ts'
import { openStore } from '../../../src/storage/commit/transactional-store.ts'
import { emptyTables, MemoryBackend } from '../../../src/storage/memory-backend.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'
import type { StoreImage } from '../simulated-backend.ts'
import { initialise } from './model-seal.ts'
import { SetWatcher } from './set-watcher.ts'
import { NotRunning, type SimulatedCluster } from './simulated-cluster.ts'
import { SimulatedSet } from './simulated-set.ts'

const SEED = 1
const TOKEN_TTL_MS = 1_800_000
/** A signature in DER has one of a few lengths, and node draws its numbers: the log must be as long each time. */
const AUTHORITY_BYTES = [507, 525]

/** Names of the secondaries of each family, which are also their ids. */
export const SECONDARIES: Readonly<Record<ReplicationFamily, readonly string[]>> = {
  dr: ['d1', 'd2', 'd3'],
  performance: ['q1', 'q2'],
}

/** Images by the names of the clusters. `blank` are clusters that were initialised, and have no part in any set. */
export type Prepared = {
  readonly images: ReadonlyMap<string, StoreImage>
  readonly blank: ReadonlyMap<string, StoreImage>
}

let prepared: Promise<Prepared> | undefined

/** The images; nobody may write into them. */
export function preparedClusters(): Promise<Prepared> {
  prepared ??= prepare()
  return prepared
}

async function prepare(): Promise<Prepared> {
  for (;;) {
    const made = await attempt()
    if (made !== undefined) return made
  }
}

async function attempt(): Promise<Prepared | undefined> {
  const set = new SimulatedSet(SEED, (of) => new SetWatcher(of, { dr: [], performance: [] }), {
    limits: { source: SOURCE_LIMITS, sink: SINK_LIMITS },
  })
  const { time } = set
  const blank = new Map<string, StoreImage>()
  for (const name of ['p', ...Object.values(SECONDARIES).flat()]) blank.set(name, await blankImage(set, name))
  const started = async (name: string): Promise<SimulatedCluster> => {
    const cluster = set.newCluster(name, copyOf(blank.get(name)))
    await time.until(cluster.start())
    return cluster
  }
  const primary = await started('p')
  const operations = primary.life?.room.operations ?? assert.fail('it runs')
  for (const family of ['dr', 'performance'] as const) await time.until(operations.enablePrimary(family, ''))
  if (!(await hasUsualAuthorities(primary))) return undefined
  const images = new Map<string, StoreImage>()
  for (const family of ['dr', 'performance'] as const) {
    for (const id of SECONDARIES[family]) {
      const secondary = await started(id)
      await time.until(activate(primary, secondary, family, id))
      secondary.crash('power')
      images.set(id, secondary.image)
    }
  }
  primary.crash('power')
  images.set('p', primary.image)
  assert.equal(set.watcher.fault, undefined)
  return { images, blank }
}

async function hasUsualAuthorities({ life }: SimulatedCluster): Promise<boolean> {
  const found = (['dr', 'performance'] as const).map((family) =>
    life?.store.get(`root/core/replication/${family}/authority`),
  )
  const lengths = (await Promise.all(found)).map((value) => value?.length ?? 0)
  return isDeepStrictEqual(lengths, AUTHORITY_BYTES)
}

async function blankImage(set: SimulatedSet, name: string): Promise<StoreImage> {
  const random = set.stream(`blank ${name}`)
  const tables = emptyTables(random.bytes(HISTORY_ID_BYTES))
  const { clock, ticks } = set.time.newThread()
  const store = await openStore(new MemoryBackend(tables), { clock, ticks })
  await set.time.until(initialise(store, name, random, clock.nowMs()))
  return { tables }
}

/** A copy that a cluster may write into. */
export const copyOf = (image: StoreImage | undefined): StoreImage => ({
  tables: (image ?? assert.fail('there is such an image')).tables.copy(),
})

/** Makes the cluster a secondary, with a new token for the id. */
export async function activate(
  primary: SimulatedCluster,
  secondary: SimulatedCluster,
  family: ReplicationFamily,
  id: string,
): Promise<void> {
  const [theirs, ours] = [primary.life?.room.operations, secondary.life?.room.operations]
  if (theirs === undefined || ours === undefined) throw new NotRunning('One of the two is off')
  const publicKey = await ours.generatePublicKey(family)
  const { text: token } = await theirs.secondaryToken(family, { id, ttlMs: TOKEN_TTL_MS, publicKey })
  await ours.enableSecondary(family, { token, primaryApiAddress: '', caFile: '', caPath: '' })
}
