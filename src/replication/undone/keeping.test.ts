// What is kept of a log, by its limits and through crashes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LEAF_KEY } from '../../../test/conformance/storage-clause.ts'
import { realWorld } from '../../lib/world.ts'
import { type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import type { Place } from '../protocol/messages.ts'
import { type KeepingParts, keepUndone, type UndoneLimits } from './keeping.ts'
import { pageFolder, readHeads, readRecords, UNDONE_FOLDER, type Vault } from './undone-records.ts'

const LIMITS: UndoneLimits = { pageBytes: 400, recordBytes: 5_000, totalBytes: 100_000 }
const KEYRING = Buffer.from('a keyring')
const ALL = { after: 0, limit: 1_000, bytes: Number.MAX_SAFE_INTEGER }

/** A vault that binds to the key, as the root key does, and hides nothing. */
const VAULT: Vault = {
  seal: (key, plaintext) => Buffer.concat([Buffer.from(`${key}\n`), plaintext]),
  open: (key, record) => {
    assert.ok(record.subarray(0, key.length).equals(Buffer.from(key)), 'it was stored there')
    return record.subarray(key.length + 1)
  },
}

type Logged = readonly [message: string, fields: object]

/** A store with a shared record, behind which it parts from its primary. */
async function forked(limits: Partial<UndoneLimits> = {}) {
  const store = createMemoryStore(realWorld())
  store.setLeafKey(LEAF_KEY)
  await put(store, 'shared')
  const { historyId, index, chain } = await store.position()
  const fork: Place = { historyId, index, chain }
  const logged: Logged[] = []
  const parts: KeepingParts = {
    store,
    vault: VAULT,
    clock: { nowMs: () => 1_000, monotonicMs: () => 0 },
    log: (_level, message, fields = {}) => logged.push([message, fields]),
    limits: { ...LIMITS, ...limits },
    setId: 'set',
    keyring: KEYRING,
  }
  return { store, fork, parts, logged, keep: () => keepUndone(parts, 'dr', fork) }
}

const put = (store: Store, name: string, bytes = 10): Promise<void> =>
  store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${name}`, Buffer.alloc(bytes, 1)))

const putOwn = (store: Store): Promise<void> =>
  store.transaction(async (tx) => tx.put(systemScope, 'root/core/cluster', Buffer.alloc(10)))

async function namesKept(store: Store, id: string): Promise<string[]> {
  const { changes } = await readRecords(store, VAULT, id, ALL)
  return changes.flatMap(({ operations }) => operations.map(({ key }) => key.replace('root/sys/policy/', '')))
}

async function onlySet(store: Store) {
  const sets = await readHeads(store, VAULT)
  assert.equal(sets.length, 1)
  return sets[0] ?? assert.fail()
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}`)

test('records behind the fork are kept in pages, without what is of class ignored', async () => {
  const { store, fork, keep, logged } = await forked()
  await putOwn(store)
  await store.transaction(async (tx) => {
    tx.put(systemScope, 'root/core/cluster', Buffer.alloc(11))
    tx.put(systemScope, 'root/sys/policy/p0', Buffer.alloc(10))
  })
  for (const name of names(8).slice(1)) await put(store, name)
  await keep()
  const { id, head } = await onlySet(store)
  assert.deepEqual(await namesKept(store, id), names(8))
  assert.ok((await store.list(pageFolder(id))).length > 1)
  assert.deepEqual([head.records, head.operations, head.leftOut, head.missingUpTo], [8, 8, 0, 0])
  assert.deepEqual([head.firstIndex, head.isWhole, head.isOwnLog], [fork.index + 2, true, true])
  assert.equal(head.keyring, KEYRING.toString('base64'))
  assert.equal(logged.length, 1)
})

test('a page of an answer goes on behind any index, and says when it is the last', async () => {
  const { store, keep } = await forked()
  for (const name of names(20)) await put(store, name)
  await keep()
  const { id, head } = await onlySet(store)
  const found: number[] = []
  for (let after = 0, isEnd = false; !isEnd; ) {
    const page = await readRecords(store, VAULT, id, { after, limit: 3, bytes: 1e9 })
    found.push(...page.changes.map(({ index }) => index))
    after = found.at(-1) ?? assert.fail()
    isEnd = page.isEnd
  }
  assert.deepEqual(
    found,
    names(20).map((_, at) => head.firstIndex + at),
  )
  const one = await readRecords(store, VAULT, id, { after: head.lastIndex - 1, limit: 5, bytes: 1 })
  assert.deepEqual([one.changes.map(({ index }) => index), one.isEnd], [[head.lastIndex], true])
})

test('nothing is stored where only class ignored was written, and where nothing was', async () => {
  const { store, keep, logged } = await forked()
  await keep()
  await putOwn(store)
  await keep()
  assert.deepEqual([await store.list(UNDONE_FOLDER), logged], [[], []])
})

test('what is kept already is not kept again, whatever is of class ignored since', async () => {
  const { store, keep } = await forked()
  await put(store, 'p0')
  await keep()
  const before = await onlySet(store)
  await putOwn(store)
  await keep()
  assert.deepEqual(await onlySet(store), before)
  await put(store, 'p1')
  await keep()
  assert.equal((await readHeads(store, VAULT)).length, 2, 'another end is another set')
})

test('a crash between two pages: it goes on from there', async () => {
  const { store, keep, parts, fork } = await forked()
  for (const name of names(12)) await put(store, name)
  let left = 2
  const transaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    left-- > 0 ? store.transaction(work) : Promise.reject(new Error('the power is gone'))
  // What the store has beside is bound to it.
  const dying = new Proxy(store, {
    get: (of, name) => {
      if (name === 'transaction') return transaction
      const verb = of[name as keyof Store]
      return typeof verb === 'function' ? verb.bind(of) : verb
    },
  })
  await assert.rejects(keepUndone({ ...parts, store: dying }, 'dr', fork), /the power is gone/)
  const { id, head } = await onlySet(store)
  assert.ok(!head.isWhole && head.records > 0 && head.records < 12)
  await keep()
  assert.deepEqual(await namesKept(store, id), names(12))
  const { head: whole } = await onlySet(store)
  assert.deepEqual([whole.records, whole.isWhole, whole.missingUpTo], [12, true, 0])
})

test('where there is no room for more, the rest is counted and not kept, and the log says so', async () => {
  const { store, keep, logged } = await forked({ totalBytes: 700 })
  for (const name of names(9)) await put(store, name)
  await keep()
  const { id, head } = await onlySet(store)
  const kept = await namesKept(store, id)
  assert.ok(kept.length > 0 && kept.length < 9)
  assert.deepEqual(kept, names(kept.length))
  assert.deepEqual([head.records, head.leftOut], [9, 9 - kept.length])
  assert.ok(head.bytes <= 700)
  assert.ok(logged.some(([message]) => /no room for more/.test(message)))
  await put(store, 'later')
  await keep()
  const sets = await readHeads(store, VAULT)
  const bytes = sets.map((one) => one.head.bytes)
  assert.equal(sets.length, 2)
  assert.ok(bytes.reduce((sum, each) => sum + each, 0) <= 700, `all sets together: ${bytes}`)
})

test('a record that is too long for an entry is left out, and the next one is kept', async () => {
  const { store, keep } = await forked()
  await put(store, 'p0')
  await put(store, 'long', 6_000)
  await put(store, 'p1')
  await keep()
  const { id, head } = await onlySet(store)
  assert.deepEqual(await namesKept(store, id), ['p0', 'p1'])
  assert.deepEqual([head.records, head.leftOut], [3, 1])
})

test('a page that is cut is damaged', async () => {
  const { store, keep } = await forked()
  await put(store, 'p0')
  await keep()
  const { id } = await onlySet(store)
  const [name = ''] = await store.list(pageFolder(id))
  const key = pageFolder(id) + name
  const page = (await store.get(key)) ?? assert.fail()
  for (const length of [page.length - 1, key.length + 4]) {
    await store.transaction(async (tx) => tx.put(systemScope, key, page.subarray(0, length)))
    await assert.rejects(readRecords(store, VAULT, id, ALL), StorageCorrupt)
  }
})
