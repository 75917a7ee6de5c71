import assert from 'node:assert/strict'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { FIXTURE_HISTORY_ID, FIXTURE_LEAF_KEY, FIXTURE_TRANSACTIONS } from '../../../test/fixtures/make-store.ts'
import { contentsOf, copyOf } from '../../../test/fixtures/old-stores.ts'
import { type Store, systemScope } from '../contract.ts'
import { StorageError } from '../errors.ts'
import { verifyStore } from '../verify/verify.ts'
import { SQLITE_DRIVER } from './sqlite-driver.ts'
import { migrate } from './sqlite-migration.ts'
import { openSqliteReader } from './sqlite-reader.ts'
import { openSqliteStore } from './sqlite-store.ts'
import { summarizeStore } from './store-summary.ts'

const clock = { nowMs: () => 1_764_000_001_000, monotonicMs: () => 0 }
const OLD = ['store-v1', 'data-v1']

const open = (directory: string): Promise<Store> => openSqliteStore({ directory, clock, random: new SeededRandom(1) })

function findings(directory: string): readonly string[] {
  const sentences: string[] = []
  verifyStore({ directory, keys: undefined, onFinding: (sentence) => void sentences.push(sentence) })
  return sentences
}

for (const fixture of OLD) {
  test(`S10: ${fixture} is migrated whole, and the old file is there after the first clean stop`, async (t) => {
    const { directory, file } = copyOf(t, fixture)
    const [before, bytes] = [contentsOf(file), readFileSync(file)]
    const store = await open(directory)
    const kept = `${file}.format-1`
    assert.deepEqual(readFileSync(kept), bytes)
    const { index, historyId, epoch } = (await store.snapshot()).position
    assert.deepEqual(await store.histories(), [
      { id: historyId, epoch, startIndex: 1, parent: undefined, startedAtMs: 0 },
    ])
    assert.equal((await store.changesSince(0, Number.POSITIVE_INFINITY)).length, index)
    await store.close()
    assert.deepEqual(readFileSync(kept), bytes)
    assert.deepEqual(readdirSync(directory).sort(), ['keywright.db', 'keywright.db.format-1', 'keywright.lock'])
    assert.deepEqual(contentsOf(file), { ...before, format: 2 })
    assert.deepEqual(findings(directory), [])
  })

  test(`S10: readers, check and summary of ${fixture} work unmigrated, and change nothing`, async (t) => {
    const { directory, file } = copyOf(t, fixture)
    const bytes = readFileSync(file)
    const { place, data } = contentsOf(file)
    const reader = await openSqliteReader(directory)
    const snapshot = await reader.snapshot()
    const { index, chain, epoch, historyId, lastReplicatedIndex, lastLocalIndex, origins } = snapshot.position
    const asStored = { history_id: historyId, epoch, last_index: index, chain }
    assert.deepEqual({ ...asStored }, { ...bytesOf(place) })
    assert.deepEqual([lastReplicatedIndex, lastLocalIndex, origins], [index, index, []])
    assert.deepEqual(await reader.histories(), [
      { id: historyId, epoch, startIndex: 1, parent: undefined, startedAtMs: 0 },
    ])
    assert.equal((await reader.scan('', '', Number.POSITIVE_INFINITY)).length, data.length)
    await reader.close()
    assert.deepEqual(findings(directory), [])
    const summary = summarizeStore(directory)
    assert.equal(summary.kind === 'sound' && summary.index, index)
    assert.deepEqual(readFileSync(file), bytes)
    assert.ok(!existsSync(`${file}.format-1`))
  })
}

function bytesOf(row: unknown): Record<string, unknown> {
  const columns = Object.entries(row as Record<string, unknown>)
  return Object.fromEntries(
    columns.map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value) : value]),
  )
}

test('S10: a migrated store goes on in records of format 2, and its tree is made anew', async (t) => {
  const { directory, file } = copyOf(t, 'store-v1')
  const store = await open(directory)
  store.setLeafKey(FIXTURE_LEAF_KEY)
  for (const write of FIXTURE_TRANSACTIONS.slice(-2)) await store.transaction(async (tx) => write(tx))
  const { position } = await store.snapshot()
  assert.deepEqual(position.historyId, FIXTURE_HISTORY_ID)
  assert.deepEqual([position.index, position.lastReplicatedIndex, position.lastLocalIndex], [8, 8, 7])
  assert.equal((await store.roots()).index, 8)
  await store.close()
  const { log } = contentsOf(file) as { readonly log: readonly { readonly record: Uint8Array }[] }
  assert.deepEqual(
    log.map(({ record }) => record[24]),
    [1, 1, 1, 1, 1, 1, 1, 2],
  )
  assert.deepEqual(findings(directory), [])
})

test('S10: a store with commits in its journal is migrated with them', async (t) => {
  const { directory, file } = copyOf(t, 'store-v1')
  const writer = new DatabaseSync(file)
  t.after(() => writer.close())
  writer.exec("PRAGMA wal_autocheckpoint = 0; UPDATE data SET value = x'77' WHERE key = 'root/core/cluster'")
  for (const suffix of ['', '-wal']) copyFileSync(file + suffix, join(directory, `other.db${suffix}`))
  const other = mkdtempSync(join(tmpdir(), 'keywright-migration-'))
  t.after(() => rmSync(other, { recursive: true }))
  chmodSync(other, 0o700)
  for (const suffix of ['', '-wal']) {
    copyFileSync(join(directory, `other.db${suffix}`), join(other, `keywright.db${suffix}`))
    chmodSync(join(other, `keywright.db${suffix}`), 0o600)
  }
  const store = await open(other)
  assert.deepEqual(await store.get('root/core/cluster'), Buffer.from('w'))
  assert.ok(readFileSync(join(other, 'keywright.db.format-1')).length > 0)
  assert.equal(contentsOf(join(other, 'keywright.db.format-1')).format, 1)
  await store.close()
})

test('S10: a store that another program reads at the moment is not migrated, in a sentence', async (t) => {
  const { file } = copyOf(t, 'store-v1')
  const reader = new DatabaseSync(file)
  reader.exec('BEGIN; SELECT count(*) FROM data')
  const writer = new DatabaseSync(file)
  writer.exec("UPDATE data SET value = x'77' WHERE key = 'root/core/cluster'")
  const message = `${file} has the store format 1 and cannot be migrated while another program reads it`
  assert.throws(() => migrate(file), new StorageError(message))
  reader.close()
  writer.close()
  assert.equal(contentsOf(file).format, 1)
  migrate(file)
  assert.equal(contentsOf(file).format, 2)
})

test('S10: the old file goes when a store that was format 2 at its opening is closed cleanly', async (t) => {
  const { directory, file } = copyOf(t, 'store-v1')
  const bytes = readFileSync(file)
  // A run that was killed: the next one finds format 2.
  migrate(file)
  const store = await open(directory)
  assert.deepEqual(readFileSync(`${file}.format-1`), bytes)
  await store.close()
  assert.ok(!existsSync(`${file}.format-1`))
})

test('S10: a run that migrated keeps the old file over a restore too, and the next one removes it', async (t) => {
  const { directory, file } = copyOf(t, 'store-v1')
  const bytes = readFileSync(file)
  const run = () => {
    const location = SQLITE_DRIVER.locate({ type: 'sqlite', directory })
    return () => location.open({ clock, random: new SeededRandom(1) })
  }
  const first = run()
  await (await first()).close()
  // What a restore does: the store is closed, another takes its place, and the same run opens that.
  await (await first()).close()
  assert.deepEqual(readFileSync(`${file}.format-1`), bytes)
  await (await run()()).close()
  assert.ok(!existsSync(`${file}.format-1`))
})

test('S10: after the first clean stop the way back of the pages leads to the old store', async (t) => {
  const { directory, file } = copyOf(t, 'store-v1')
  const before = contentsOf(file)
  const store = await open(directory)
  store.setLeafKey(FIXTURE_LEAF_KEY)
  await store.transaction(async (tx) => tx.put(systemScope, 'root/sys/policy/new', Buffer.from('v')))
  await store.close()
  assert.equal(contentsOf(file).format, 2)
  // docs/storage-format.md: remove the journal, rename the file.
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
  renameSync(`${file}.format-1`, file)
  assert.deepEqual(contentsOf(file), before)
  assert.equal(before.format, 1)
  const reader = await openSqliteReader(directory)
  assert.equal((await reader.scan('', '', Number.POSITIVE_INFINITY)).length, before.data.length)
  assert.equal(await reader.get('root/sys/policy/new'), undefined)
  await reader.close()
})

test('S10: a copy that a killed migration left needs no room twice', async (t) => {
  const { file } = copyOf(t, 'store-v1')
  const bytes = readFileSync(file)
  for (const left of [`${file}.format-1`, `${file}.format-1.new`]) {
    copyFileSync(file, left)
    migrate(file, () => {
      assert.ok(!existsSync(left))
      return bytes.length
    })
    assert.equal(contentsOf(file).format, 2)
    renameSync(`${file}.format-1`, file)
  }
})

test('S10: without room for the copy the migration says how much must be free, and changes nothing', async (t) => {
  const { directory, file } = copyOf(t, 'store-v1')
  const bytes = readFileSync(file)
  const says = `for which ${bytes.length} bytes must be free in ${directory}; there are ${bytes.length - 1}`
  assert.throws(
    () => migrate(file, () => bytes.length - 1),
    (cause) => cause instanceof StorageError && cause.message.endsWith(says),
  )
  assert.deepEqual(readFileSync(file), bytes)
  assert.ok(!existsSync(`${file}.format-1`))
  migrate(file, () => bytes.length)
  assert.deepEqual(readFileSync(`${file}.format-1`), bytes)
})
