// A store of format 1 with a log of RECORDS records, as the program of that day wrote it, and one that was restored
// then: migrated, verified, gone on with, and followed from its first record. `npm run torture:log` is the long form.
import { strict as assert } from 'node:assert'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type Store, systemScope } from '../../../src/storage/contract.ts'
import { decodeChange } from '../../../src/storage/log/change-record.ts'
import { INDEX_GAP } from '../../../src/storage/log/histories.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import { SeededRandom } from '../../conformance/seeded-random.ts'
import { followLog } from '../../fixtures/followed-log.ts'
import { growFormat1, recordOfFormat1 } from '../../fixtures/format-1-log.ts'
import { FIXTURE_HISTORY_ID, FIXTURE_LEAF_KEY } from '../../fixtures/make-store.ts'
import { copyOf } from '../../fixtures/old-stores.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { faultsOf } from '../../fixtures/store-faults.ts'
import { Steps } from './long-log.ts'

const RECORDS = Number(process.env.RECORDS ?? '5000')
const FIXTURE_RECORDS = 7
const clock = { nowMs: () => 1_764_000_900_000, monotonicMs: () => 0 }

async function open(directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory, clock, random: new SeededRandom(1) })
  store.setLeafKey(FIXTURE_LEAF_KEY)
  return store
}

/** How many records there are, and how many bytes they and the entries have. */
function sizesOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true })
  const log = database.prepare('SELECT count(*), min(idx), max(idx), sum(length(record)) FROM log').get()
  const data = database.prepare('SELECT count(*), sum(length(key)), sum(length(value)) FROM data').get()
  database.close()
  return { ...log, ...data }
}

test('a record of format 1 is made here as the program of its day made it', (t) => {
  const database = new DatabaseSync(copyOf(t, 'store-v1').file, { readOnly: true })
  const rows = database.prepare('SELECT record FROM log ORDER BY idx').all()
  database.close()
  let chain: Buffer = FIXTURE_HISTORY_ID
  for (const row of rows) {
    const record = Buffer.from(row.record as Uint8Array)
    const { operations, ...change } = decodeChange(record, 'record')
    assert.deepEqual(recordOfFormat1(change, operations, chain), record)
    chain = change.chain
  }
  assert.equal(rows.length, FIXTURE_RECORDS)
})

async function grown(t: TestContext, steps: Steps, restoredAt?: number) {
  const random = pseudoRandom(testSeed(t))
  const { directory, file } = copyOf(t, 'store-v1')
  const leafKey = FIXTURE_LEAF_KEY
  const growth = { records: RECORDS, names: Math.ceil(RECORDS / 20), leafKey, random }
  await steps.take('written in format 1', () =>
    growFormat1(file, restoredAt === undefined ? growth : { ...growth, restoredAt }),
  )
  t.diagnostic(`${Math.round(statSync(file).size / 2 ** 20)} MiB`)
  assert.deepEqual(await steps.take('verified in format 1', () => faultsOf(directory)), [])
  const before = sizesOf(file)
  const store = await steps.take('migrated', () => open(directory))
  t.after(() => store.close())
  const { all } = await steps.take('tree made anew', () => store.roots())
  assert.deepEqual(sizesOf(file), before)
  assert.ok(existsSync(`${file}.format-1`))
  return { directory, file, store, root: all }
}

/** Adds a record of format 2, and takes it back: the root is then the one before. */
async function goOn(store: Store, root: Buffer): Promise<void> {
  const key = 'root/sys/policy/of-format-2'
  await store.transaction(async (tx) => tx.put(systemScope, key, Buffer.from('v')))
  assert.notDeepEqual((await store.roots()).all, root)
  await store.transaction(async (tx) => tx.delete(systemScope, key))
  assert.deepEqual((await store.roots()).all, root)
}

test(`S10: a store of format 1 with ${RECORDS} records is migrated, goes on, and is followed`, async (t) => {
  const steps = new Steps(t)
  const { directory, store, root } = await grown(t, steps)
  assert.equal(await store.lastIndex(), FIXTURE_RECORDS + RECORDS)
  await goOn(store, root)
  const temporary = temporaryDirectory()
  t.after(() => temporary.cleanUp())
  const follower = await open(join(temporary.path, 'data'))
  const records = await steps.take('followed', () => followLog(follower, store))
  assert.equal(records, FIXTURE_RECORDS + RECORDS + 2)
  assert.deepEqual((await follower.roots()).all, root)
  await follower.close()
  await store.close()
  assert.deepEqual(await steps.take('verified in format 2', () => faultsOf(directory)), [])
})

test(`S10: one that was restored in format 1 is migrated with ${RECORDS} records behind the jump`, async (t) => {
  const steps = new Steps(t)
  const start = 2 * INDEX_GAP
  const { directory, store, root } = await grown(t, steps, start)
  const { index, epoch, historyId } = await store.position()
  assert.deepEqual([index, epoch], [start + RECORDS, 2])
  const [history, ...more] = await store.histories()
  assert.deepEqual([history?.id, history?.startIndex, more], [historyId, start + 1, []])
  await goOn(store, root)
  await store.close()
  assert.deepEqual(await steps.take('verified in format 2', () => faultsOf(directory)), [])
})
