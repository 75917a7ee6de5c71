import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { LEAF_KEY } from '../../../test/conformance/storage-clause.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { type Backend, HISTORY_ID_BYTES } from '../backend.ts'
import { openStore } from '../commit/transactional-store.ts'
import { type ReindexOptions, type Store, systemScope } from '../contract.ts'
import { emptyTables, MemoryBackend } from '../memory-backend.ts'
import type { MemoryTables } from '../memory-tables.ts'
import { bucketKeyOf, Tree } from './tree.ts'

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const keyOf = (name: string): string => `root/sys/policy/${name}`
const ENTRIES = 400

async function open(backend: Backend): Promise<Store> {
  const store = await openStore(backend, { clock })
  store.setLeafKey(LEAF_KEY)
  return store
}

const put = (store: Store, name: string, value: string): Promise<void> =>
  store.transaction(async (tx) => tx.put(systemScope, keyOf(name), Buffer.from(value)))

/** What a kill may leave: the tables behind each durable step that was made. */
function killedAfterEachStep(tables: MemoryTables): { readonly backend: Backend; readonly left: MemoryTables[] } {
  const left: MemoryTables[] = []
  const memory = new MemoryBackend(tables)
  const backend = new Proxy(memory, {
    get: (of, name) => {
      const verb = Reflect.get(of, name, of)
      if (typeof verb !== 'function') return verb
      return async (...input: unknown[]) => {
        const result = await Reflect.apply(verb, of, input)
        if (['append', 'setLeaves', 'saveTree'].includes(String(name))) left.push(tables.copy())
        return result
      }
    },
  })
  return { backend, left }
}

/** Damage of each kind: a value under its old leaf, a leaf, a row that went and one that came, a bucket of the tree. */
async function damagedStore(): Promise<MemoryTables> {
  const tables = emptyTables(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const store = await open(new MemoryBackend(tables))
  for (let at = 0; at < ENTRIES; at++) await put(store, `n${at}`, 'x'.repeat(500))
  await store.roots()
  await store.close()
  const { byKey } = tables.entries
  const entry = byKey.get(keyOf('n3')) ?? assert.fail('it was put')
  for (const name of ['n3', 'n150', 'n399']) tables.entries.set(keyOf(name), { ...entry, value: Buffer.from('other') })
  tables.entries.set(keyOf('n5'), { ...entry, leaf: Buffer.alloc(16, 9) })
  tables.entries.set(keyOf('new'), { ...entry })
  tables.entries.remove(keyOf('n7'))
  const saved = tables.tree ?? assert.fail('it was saved')
  const [first] = saved.pages.values()
  const digests = Buffer.from(first?.digests ?? '')
  digests.writeUInt8(digests.readUInt8(1) ^ 1, 1)
  tables.saveTree({ ...saved, pages: [{ ...(first ?? assert.fail('')), digests }], isWhole: false, savedAtMs: 0 })
  return tables
}

async function requireTreeOf(store: Store, tables: MemoryTables): Promise<void> {
  const tree = new Tree()
  const bucketKey = bucketKeyOf(importSecret(LEAF_KEY))
  for (const [key, { class: of, leaf }] of tables.entries.byKey)
    if (of !== 'ignored') tree.add(of, key, leaf, bucketKey)
  assert.deepEqual((await store.roots()).all, tree.roots().all)
}

for (const skipFlush of [false, true]) {
  for (const mode of ['leaves', 'values', 'whole'] as const) {
    const how = { mode, skipFlush, mayRepair: () => true } satisfies ReindexOptions
    test(`T45: a start can use what a kill in a reindex leaves (${mode}, skip_flush ${skipFlush})`, async () => {
      const tables = await damagedStore()
      const { backend, left } = killedAfterEachStep(tables)
      const store = await open(backend)
      const reindex = store.reindex(how)
      const isOver = reindex.then(() => true)
      for (let at = 0; !(await Promise.race([isOver, put(store, `n${at % 500}`, `beside ${at}`)])); at++);
      const { repaired } = await reindex
      assert.ok(mode === 'leaves' ? repaired.count === 0 : repaired.count > 0)
      // A kill of now, too.
      left.push(tables.copy())
      await store.close()
      left.push(tables.copy())
      for (const each of left) await requireStart(each, how)
    })
  }
}

/** After a kill a start works, its data are those of the rows, and another reindex makes all of it right. */
async function requireStart(tables: MemoryTables, how: ReindexOptions): Promise<void> {
  const store = await open(new MemoryBackend(tables))
  const values = new Map([...tables.entries.byKey].map(([key, { value }]) => [key, value]))
  if (tables.tree?.version === 0) await requireTreeOf(store, tables)
  await store.reindex({ ...how, mode: 'values' })
  const { classes, wrongEntries } = await store.checkTree()
  assert.deepEqual([classes.replicated.wrongPages, classes.local.wrongPages, wrongEntries.count], [[], [], 0])
  await requireTreeOf(store, tables)
  assert.deepEqual(new Map([...tables.entries.byKey].map(([key, { value }]) => [key, value])), values)
  await store.close()
}

test('T45: a reindex that ended is there after a kill, unless it was not to be stored at once', async () => {
  for (const skipFlush of [false, true]) {
    const tables = await damagedStore()
    const store = await open(new MemoryBackend(tables))
    const { all: damaged } = await store.roots()
    await store.reindex({ mode: 'leaves', skipFlush, mayRepair: () => true })
    const { all } = await store.roots()
    const killed = await open(new MemoryBackend(tables.copy()))
    assert.deepEqual((await killed.roots()).all, skipFlush ? damaged : all)
    await store.close()
    const stopped = await open(new MemoryBackend(tables.copy()))
    assert.deepEqual((await stopped.roots()).all, all)
  }
})

test('leaves that were made anew are the tree of the next start, also where the new tree was not stored', async () => {
  const tables = await damagedStore()
  const store = await open(new MemoryBackend(tables))
  await store.reindex({ mode: 'values', skipFlush: true, mayRepair: () => true })
  const killed = tables.copy()
  const started = await open(new MemoryBackend(killed))
  await requireTreeOf(started, killed)
  assert.deepEqual((await started.roots()).all, (await store.roots()).all)
})
