// Clusters that are in their sets already: what runs begin with. They are made once in a process, always from the same
// seed, since certificates and activations are what takes most time.
import { strict as assert } from 'node:assert'
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
import { notesIn } from './transfer-notes.ts'

const SEED = 1
/** More than a copy takes. */
const FOLLOWED_MS = 3_000
const TOKEN_TTL_MS = 1_800_000

/** Names of the secondaries of each family, which are also their ids. */
export const SECONDARIES: Readonly<Record<ReplicationFamily, readonly string[]>> = {
  dr: ['d1', 'd2', 'd3'],
  performance: ['q1', 'q2'],
}

type Images = ReadonlyMap<string, StoreImage>

/** Images by the names of the clusters. */
export type Prepared = {
  /** They were initialised, and have no part in any set. */
  readonly blank: Images
  /** They were activated, and have copied nothing. */
  readonly activated: Images
  /** They follow. */
  readonly following: Images
}

const prepared = new Map<string, Promise<Prepared>>()

/** The images of clusters that have sets of these families; nobody may write into them. */
export function preparedClusters(families: readonly ReplicationFamily[]): Promise<Prepared> {
  const made = prepared.get(families.join()) ?? prepare(families)
  prepared.set(families.join(), made)
  return made
}

async function prepare(families: readonly ReplicationFamily[]): Promise<Prepared> {
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
  for (const family of families) await time.until(operations.enablePrimary(family, ''))
  const activated = new Map<string, StoreImage>()
  for (const family of families) {
    for (const id of SECONDARIES[family]) {
      const secondary = await started(id)
      await time.until(activate(primary, secondary, family, id))
      secondary.crash('power')
      activated.set(id, secondary.image)
    }
  }
  primary.crash('power')
  activated.set('p', primary.image)
  const following = await follow(set, activated)
  assert.equal(set.watcher.fault, undefined)
  return { blank, activated, following }
}

let ofBoth: Promise<Images> | undefined

/** Clusters of which the first performance secondary is itself the primary of a set for disaster recovery, with e1. */
export function preparedForBoth(): Promise<Images> {
  ofBoth ??= prepareForBoth()
  return ofBoth
}

async function prepareForBoth(): Promise<Images> {
  const { following } = await preparedClusters(['dr', 'performance'])
  const set = new SimulatedSet(SEED, (of) => new SetWatcher(of, { dr: [], performance: [] }), {
    limits: { source: SOURCE_LIMITS, sink: SINK_LIMITS },
  })
  const { time } = set
  const started = async (name: string, image = following.get(name)): Promise<SimulatedCluster> => {
    const cluster = set.newCluster(name, copyOf(image))
    await time.until(cluster.start())
    return cluster
  }
  const [primary, secondary] = [await started('p'), await started('q1')]
  const others = [await started('q2'), await started('d1')]
  await time.until(secondary.life?.room.operations.enablePrimary('dr', '') ?? assert.fail('it runs'))
  const ofSecondary = await started('e1', await blankImage(set, 'e1'))
  await time.until(activate(secondary, ofSecondary, 'dr', 'e1'))
  await time.pass(FOLLOWED_MS)
  const images = new Map(following)
  for (const cluster of [primary, secondary, ofSecondary, ...others]) {
    assert.deepEqual(cluster.life && (await notesIn(cluster.life.store)), [], `${cluster.name} is whole`)
    cluster.crash('power')
    images.set(cluster.name, cluster.image)
  }
  assert.equal(set.watcher.fault, undefined)
  return images
}

/** Lets all of them follow, and turns them off. */
async function follow(set: SimulatedSet, activated: Images): Promise<Images> {
  const clusters = [...activated].map(([name, image]) => set.newCluster(name, copyOf(image)))
  for (const cluster of clusters) {
    set.network.host(cluster.name).restart()
    await set.time.until(cluster.start())
  }
  await set.time.pass(FOLLOWED_MS)
  for (const { life, name } of clusters) {
    const transfers = life && (await notesIn(life.store))
    assert.deepEqual(transfers, [], `${name} is whole`)
  }
  for (const cluster of clusters) cluster.crash('power')
  return new Map(clusters.map(({ name, image }) => [name, image]))
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
