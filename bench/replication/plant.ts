// Puts entries into the store of a cluster that is off, below HTTP: copies of its key under other names, each sealed
// anew, so that the server could use them as it uses keys that were created.
import { realWorld } from '../../src/lib/world.ts'
import { openWithShares } from '../../src/offline/offline-keys.ts'
import { type Entry, ROOT_NAMESPACE, type Scope, type Store } from '../../src/storage/contract.ts'
import { openSqliteStore, type SqliteStoreOptions } from '../../src/storage/sqlite/sqlite-store.ts'
import type { VerifyKeys } from '../../src/storage/verify-keys.ts'
import type { Cluster } from '../../test/fixtures/real-cluster.ts'
import { KEY } from '../targets.ts'

/** Transactions under way at once, so that many become durable together. */
const AT_ONCE = 64
/** Behind so many records the tree is saved, and behind so many more the log before it may go (src/storage/log). */
const RECORDS_UNTIL_GONE = 31_000
const NEXT_RECORDS = 1_000
const LOG = `${ROOT_NAMESPACE}/logical/`

/** What is planted. Entries of an earlier planting are written anew. */
export type Planting = { readonly entries: number; readonly perRecord: number }

/** Plants entries, and returns the length of a sealed value. */
export async function plant(cluster: Cluster, planting: Planting): Promise<number> {
  return inStore(cluster, {}, (store, keys) => write(store, keys, planting))
}

/** Writes the first entries anew, again and again, until the log no longer holds what follows the index. */
export async function plantUntilGone(cluster: Cluster, entries: number, index: number): Promise<void> {
  // The least that there is: one byte, one millisecond, for secondaries too.
  const limits = { retention: { bytes: 1, ms: 1 }, holdCaps: { secondary: 1, copy: 1 } }
  await inStore(cluster, limits, async (store, keys) => {
    for (let records = 0; records < RECORDS_UNTIL_GONE; records += entries) {
      await write(store, keys, { entries, perRecord: 1 })
    }
    while ((await store.retained()).firstIndex <= index + 1) {
      await write(store, keys, { entries: Math.min(entries, NEXT_RECORDS), perRecord: 1 })
    }
  })
}

type Limits = Pick<SqliteStoreOptions, 'retention' | 'holdCaps'>

async function inStore<T>(
  { directory, share }: Cluster,
  limits: Limits,
  work: (store: Store, keys: VerifyKeys) => Promise<T>,
): Promise<T> {
  const world = realWorld()
  const shares = (async function* () {
    yield share
  })()
  const keys = await openWithShares(directory, shares, world)
  const onFatal = (cause: Error): never => {
    throw cause
  }
  const store = await openSqliteStore({ ...world, directory, onFatal, ...limits })
  try {
    store.setLeafKey(keys.leafKey.export())
    await store.roots()
    return await work(store, keys)
  } finally {
    await store.close()
  }
}

/** Plants entries in a store that is open. */
export async function write(
  store: Store,
  { barrier }: Pick<VerifyKeys, 'barrier'>,
  { entries, perRecord }: Planting,
): Promise<number> {
  const example = await exampleIn(store)
  const folder = example.key.slice(0, -KEY.length)
  const scope: Scope = { namespace: ROOT_NAMESPACE, mount: example.key.split('/')[2] ?? '', local: false }
  const value = barrier.open(example.key, example.value)
  const starts = Array.from({ length: Math.ceil(entries / perRecord) }, (_, i) => i * perRecord).values()
  const one = async (): Promise<void> => {
    for (const start of starts) {
      await store.transaction(async (tx) => {
        for (let i = start; i < Math.min(entries, start + perRecord); i++) {
          const key = `${folder}planted-${i}`
          tx.put(scope, key, barrier.seal(key, value))
        }
      })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  return example.value.length
}

/** The key of the loads, as it is stored. */
async function exampleIn(store: Store): Promise<Entry> {
  for (let after = ''; ; ) {
    const entries = await store.scan(LOG, after, 1_000)
    const found = entries.find(({ key }) => key.endsWith(`/key/${KEY}`))
    if (found !== undefined) return found
    const last = entries.at(-1)
    if (last === undefined) throw new Error('the cluster has no key to copy')
    after = last.key
  }
}
