// What every kind of storage keeps of histories, origins and the last record of each class, one test a clause.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Backend } from '../../src/storage/backend.ts'
import {
  type ChangeOperation,
  type Scope,
  type Store,
  systemScope,
  type Transaction,
} from '../../src/storage/contract.ts'
import { HistoryGone, StorageRefused } from '../../src/storage/errors.ts'
import { encodeChange } from '../../src/storage/log/change-record.ts'
import { INDEX_GAP, MAX_HISTORIES, MAX_KNOWN_EPOCH, MAX_KNOWN_INDEX } from '../../src/storage/log/histories.ts'
import type { Origin } from '../../src/storage/peer-log.ts'
import type { Place } from './storage.ts'

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const FOLDER = 'root/sys/policy/'
const bytes = (fill: number): Buffer => Buffer.alloc(16, fill)

type Opened = { readonly store: Store; readonly backend: Backend; reopen(): Promise<Store> }

async function opened(place: Place, check: (opened: Opened) => Promise<void>): Promise<void> {
  let backend: Backend | undefined
  let store: Store | undefined
  const reopen = async (): Promise<Store> => {
    await store?.close()
    store = await place.open({ clock }, (below) => {
      backend = below
      return below
    })
    store.setLeafKey(Buffer.alloc(32, 1))
    return store
  }
  try {
    await reopen()
    assert.ok(store !== undefined && backend !== undefined)
    await check({ store, backend, reopen })
  } finally {
    await store?.close()
    await place.discard()
  }
}

function put(store: Store, path: string, scope: Scope = systemScope): Promise<void> {
  return store.transaction(async (tx) => tx.put(scope, `root/${path}`, Buffer.from('v')))
}

const beginning = (tx: Transaction): Promise<void> =>
  Promise.resolve(tx.put(systemScope, `${FOLDER}promoted`, Buffer.from('v')))

function applied(index: number, before: Buffer, origins: readonly Origin[], of: ChangeOperation['class']) {
  const operation: ChangeOperation = {
    kind: 'put',
    class: of,
    scope: systemScope,
    key: { replicated: `${FOLDER}a`, local: 'root/sys/token/a', ignored: 'root/core/cluster' }[of],
    oldLeaf: Buffer.alloc(0),
    newLeaf: of === 'ignored' ? Buffer.alloc(0) : bytes(3),
    value: Buffer.from('applied'),
  }
  const head = { index, epoch: 1, committedAtMs: 0, beginsHistory: undefined, origins }
  return encodeChange({ ...head, operations: [operation] }, before)
}

/** Calls `test` for each clause; `newPlace` makes an empty place. */
export function historyConformance(name: string, newPlace: () => Place): void {
  const clause = (title: string, check: (opened: Opened) => Promise<void>): void => {
    test(`storage ${name}: ${title}`, () => opened(newPlace(), check))
  }

  clause('S1: the position names the last record of each class that leaves the cluster', async ({ backend, store }) => {
    const last = async () => {
      const { index, lastReplicatedIndex, lastLocalIndex } = await backend.position()
      return [index, lastReplicatedIndex, lastLocalIndex]
    }
    assert.deepEqual(await last(), [0, 0, 0])
    await put(store, 'sys/policy/a')
    assert.deepEqual(await last(), [1, 1, 0])
    await put(store, 'sys/token/a')
    assert.deepEqual(await last(), [2, 1, 2])
    await put(store, 'core/cluster')
    assert.deepEqual(await last(), [3, 1, 2])
    await store.transaction(async (tx) => {
      for (const path of ['sys/policy/b', 'sys/token/b', 'core/version/1']) {
        tx.put(systemScope, `root/${path}`, Buffer.from('v'))
      }
    })
    assert.deepEqual(await last(), [4, 4, 4])
  })

  clause('S1: the position keeps the last origin of each family, and so does a reopened store', async (parts) => {
    const { backend, store, reopen } = parts
    await put(store, 'sys/policy/first')
    const before = await backend.position()
    assert.deepEqual(before.origins, [])
    const dr = (index: number): Origin => ({ family: 'dr', historyId: bytes(7), index, chain: bytes(8) })
    const performance: Origin = { family: 'performance', historyId: bytes(9), index: 2 ** 40, chain: bytes(10) }
    const first = applied(2, before.chain, [dr(41), performance], 'replicated')
    const second = applied(3, first.change.chain, [dr(42)], 'local')
    const third = applied(4, second.change.chain, [], 'ignored')
    await backend.append([first, second, third])
    const position = await backend.position()
    const byFamily = (origins: readonly Origin[]) => origins.toSorted((a, b) => a.family.localeCompare(b.family))
    assert.deepEqual(byFamily(position.origins), [dr(42), performance])
    assert.deepEqual([position.index, position.lastReplicatedIndex, position.lastLocalIndex], [4, 2, 3])
    const again = await reopen()
    const snapshot = await again.snapshot()
    await snapshot.close()
    assert.deepEqual(byFamily(snapshot.position.origins), [dr(42), performance])
    const changes = await again.changesSince(1, 9)
    assert.deepEqual(
      changes.map(({ origins }) => origins),
      [[dr(41), performance], [dr(42)], []],
    )
  })

  clause('S2: the first change of a store says which history it begins, and no other does', async ({ store }) => {
    await put(store, 'sys/policy/a')
    await put(store, 'sys/policy/b')
    const [history, ...more] = await store.histories()
    assert.deepEqual([history?.startIndex, history?.epoch, history?.parent, more], [1, 1, undefined, []])
    const changes = await store.changesSince(0, 9)
    assert.deepEqual(
      changes.map(({ beginsHistory }) => beginsHistory),
      [history?.id, undefined],
    )
  })

  clause('S2: a promotion begins a history far above its parent, and everything goes on', async (parts) => {
    const { backend, store, reopen } = parts
    for (const name of ['a', 'b', 'c']) await put(store, `sys/policy/${name}`)
    const parent = await backend.position()
    const heard: number[] = []
    store.onCommit(({ index }) => void heard.push(index))
    await store.beginHistory(beginning, { id: bytes(5), knownIndex: INDEX_GAP + 7, knownEpoch: 3 })
    await put(store, 'sys/policy/d')
    const start = 2 * INDEX_GAP
    assert.deepEqual(heard, [start, start + 1])
    const { index, historyId, epoch, lastReplicatedIndex } = await backend.position()
    assert.deepEqual([index, historyId, epoch, lastReplicatedIndex], [start + 1, bytes(5), 4, start + 1])
    const begun = {
      id: bytes(5),
      epoch: 4,
      startIndex: start,
      parent: { id: parent.historyId, index: 3, chain: parent.chain },
      startedAtMs: clock.nowMs(),
    }
    for (const isReopened of [false, true]) {
      const each = isReopened ? await reopen() : store
      assert.deepEqual((await each.histories()).slice(1), [begun])
      const changes = await each.changesSince(2, 9)
      assert.deepEqual(
        changes.map(({ index, epoch, beginsHistory }) => [index, epoch, beginsHistory]),
        [
          [3, 1, undefined],
          [start, 4, bytes(5)],
          [start + 1, 4, undefined],
        ],
      )
      assert.deepEqual(await each.changesSince(start + 1, 9), [])
      assert.equal((await each.roots()).index, start + 1)
    }
  })

  clause('S2: who was up to date at a promotion lacks nothing, however short the log is kept', async (parts) => {
    const { backend, store } = parts
    for (const name of ['a', 'b', 'c']) await put(store, `sys/policy/${name}`)
    await store.hold({ name: 'up to date', kind: 'secondary', from: 3 })
    await store.hold({ name: 'behind', kind: 'secondary', from: 2 })
    await store.beginHistory(beginning, { id: bytes(5), knownIndex: 0, knownEpoch: 0 })
    await put(store, 'sys/policy/d')
    await backend.forgetRecords(3, 3)
    assert.equal(await backend.firstIndex(), INDEX_GAP)
    const changes = await store.changesSince(3, 9)
    assert.deepEqual(
      changes.map(({ index }) => index),
      [INDEX_GAP, INDEX_GAP + 1],
    )
    const { holds } = await store.retained()
    assert.deepEqual(Object.fromEntries(holds.map(({ name, isBroken }) => [name, isBroken])), {
      'up to date': false,
      behind: true,
    })
    await store.hold({ name: 'another', kind: 'secondary', from: 3 })
    await assert.rejects(store.hold({ name: 'late', kind: 'secondary', from: 2 }), HistoryGone)
    await assert.rejects(store.changesSince(2, 9), HistoryGone)
    await backend.forgetRecords(INDEX_GAP, 1)
    await assert.rejects(store.changesSince(3, 9), HistoryGone)
  })

  clause('S2: a history begins above every origin, and not where numbers end or nothing changed', async (parts) => {
    const { backend, store, reopen } = parts
    await put(store, 'sys/policy/first')
    const { chain } = await backend.position()
    const origin: Origin = { family: 'dr', historyId: bytes(7), index: 3 * INDEX_GAP, chain: bytes(8) }
    await backend.append([applied(2, chain, [origin], 'replicated')])
    const again = await reopen()
    const none = { id: bytes(5), knownIndex: 0, knownEpoch: 0 }
    for (const work of [async () => {}, async (tx: Transaction) => tx.delete(systemScope, `${FOLDER}missing`)]) {
      await assert.rejects(again.beginHistory(work, none), StorageRefused)
    }
    const high = again.beginHistory(beginning, { ...none, knownIndex: MAX_KNOWN_INDEX + 1 })
    await assert.rejects(high, /The place that a member of the set names is damaged: its index/)
    await assert.rejects(again.beginHistory(beginning, { ...none, knownEpoch: MAX_KNOWN_EPOCH + 1 }), StorageRefused)
    assert.equal((await again.histories()).length, 1)
    await again.beginHistory(beginning, none)
    assert.equal(await again.lastIndex(), 4 * INDEX_GAP)
  })

  clause('S2: the list keeps the newest histories', async ({ store }) => {
    await put(store, 'sys/policy/first')
    for (let number = 1; number <= MAX_HISTORIES; number++) {
      const id = Buffer.alloc(16)
      id.writeUInt32BE(number)
      await store.beginHistory(async (tx) => tx.put(systemScope, `${FOLDER}promoted`, id), {
        id,
        knownIndex: 0,
        knownEpoch: 0,
      })
    }
    const histories = await store.histories()
    assert.equal(histories.length, MAX_HISTORIES)
    assert.deepEqual([histories[0]?.id.readUInt32BE(), histories.at(-1)?.id.readUInt32BE()], [1, MAX_HISTORIES])
    assert.equal((await store.changesSince(0, Number.POSITIVE_INFINITY)).length, MAX_HISTORIES + 1)
  })
}
