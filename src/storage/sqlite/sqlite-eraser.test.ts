import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { CANARIES, Canaries } from '../../../test/fixtures/canaries.ts'
import { filesWith } from '../../../test/fixtures/found-bytes.ts'
import type { Backend } from '../backend.ts'
import { openStore } from '../commit/transactional-store.ts'
import type { Store } from '../contract.ts'
import { verifyStore } from '../verify/verify.ts'
import { openSqliteReader } from './sqlite-reader.ts'
import { openSqliteBackend, openSqliteStore } from './sqlite-store.ts'

const clock = { nowMs: () => 1_764_000_001_000, monotonicMs: () => 0 }
const LEAF_KEY = Buffer.alloc(32, 1)
const BYTES = 3_000_000
const NOTE = 'root/core/purge'

type Filled = { readonly directory: string; readonly store: Store; readonly canaries: Canaries }

async function open(directory: string): Promise<Store> {
  const store = await openSqliteStore({ directory, clock, random: new SeededRandom(1) })
  store.setLeafKey(LEAF_KEY)
  return store
}

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'keywright-purge-'))
  context.after(() => rmSync(path, { recursive: true }))
  return path
}

/** A store from which all canaries were deleted. */
async function deleted(context: TestContext, seed: number): Promise<Filled> {
  const directory = folder(context)
  const store = await open(directory)
  const canaries = new Canaries(store, new SeededRandom(seed))
  await canaries.fill(BYTES)
  assert.ok((await canaries.delete()) > 100)
  return { directory, store, canaries }
}

const found = (directory: string): string[] => filesWith(directory, ...CANARIES)

/** Tree, leaves, log and file are sound. */
async function requireSound(directory: string, store: Store): Promise<void> {
  const { classes, wrongEntries } = await store.checkTree()
  assert.deepEqual([wrongEntries.count, classes.replicated.wrongPages, classes.local.wrongPages], [0, [], []])
  await store.close()
  const sentences: string[] = []
  verifyStore({ directory, keys: undefined, onFinding: (sentence) => sentences.push(sentence) })
  assert.deepEqual(sentences, [])
}

test('P-20: no file holds a byte of what was purged, while commits go on and after them', async (t) => {
  for (const seed of [1, 2]) {
    const { directory, store, canaries } = await deleted(t, seed)
    writeFileSync(join(directory, 'keywright.db.format-1'), CANARIES[0] ?? '', { mode: 0o600 })
    const reader = await openSqliteReader(directory)
    await reader.scan('', '', 1_000)
    assert.deepEqual(found(directory), ['keywright.db', 'keywright.db-wal', 'keywright.db.format-1'])
    let isPurging = true
    const purge = store.purge(await store.lastIndex()).finally(() => {
      isPurging = false
    })
    while (isPurging) await canaries.beside()
    await purge
    assert.deepEqual(found(directory), [])
    for (let commit = 0; commit < 500; commit++) await canaries.beside()
    assert.deepEqual(found(directory), [])
    await reader.close()
    await requireSound(directory, store)
    assert.deepEqual(found(directory), [])
  }
})

test('P-20: a purge waits for a snapshot that keeps what was deleted, and commits do not', async (t) => {
  const { directory, store, canaries } = await deleted(t, 3)
  const snapshot = await store.snapshot()
  let isPurged = false
  const purge = store.purge(await store.lastIndex()).then(() => {
    isPurged = true
  })
  for (let commit = 0; commit < 200; commit++) await canaries.beside()
  assert.equal(isPurged, false)
  assert.equal(snapshot.index < (await store.lastIndex()), true)
  await snapshot.close()
  await purge
  assert.deepEqual(found(directory), [])
  await requireSound(directory, store)
})

test('P-20: a purge that a crash cut off at any step ends after the next open', async (t) => {
  const { directory, store } = await deleted(t, 4)
  await store.close()
  const backend: Backend = openSqliteBackend(directory, new SeededRandom(1))
  const copies: string[] = []
  const { erase } = backend
  backend.erase = async () => {
    const crashed = join(folder(t), `${copies.length}`)
    cpSync(directory, crashed, { recursive: true })
    copies.push(crashed)
    return erase.call(backend)
  }
  const again = await openStore(backend, { clock })
  again.setLeafKey(LEAF_KEY)
  await again.purge(await again.lastIndex())
  await again.close()
  assert.ok(copies.length > 2)
  for (const crashed of copies) {
    assert.notDeepEqual(found(crashed), [])
    const opened = await open(crashed)
    while ((await opened.get(NOTE)) !== undefined) await nextTick()
    assert.deepEqual(found(crashed), [])
    await requireSound(crashed, opened)
  }
})

test('P-20: pages that commits take into use between two steps are left alone', async (t) => {
  const { directory, store: filled } = await deleted(t, 5)
  await filled.close()
  const backend: Backend = openSqliteBackend(directory, new SeededRandom(1))
  const { flushErased } = backend
  let steps = 0
  backend.flushErased = async () => {
    // Enough for several checkpoints.
    if (++steps < 8) await new Canaries(store, new SeededRandom(steps)).fill(BYTES)
    await flushErased.call(backend)
  }
  const store = await openStore(backend, { clock })
  store.setLeafKey(LEAF_KEY)
  await store.purge(await store.lastIndex())
  assert.ok(steps >= 8)
  await requireSound(directory, store)
})
