// What every kind of storage promises to those who open, check and restore a store, one test a clause. Called once for
// each row of the table; what is kept only for as long as the process lives has fewer promises to keep.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HISTORY_ID_BYTES } from '../../src/storage/backend.ts'
import type { StoredEntry } from '../../src/storage/contract.ts'
import { type ReadStore, type Store, systemScope } from '../../src/storage/contract.ts'
import type { DurableLocation, StoreLocation, StoreVerifyReport } from '../../src/storage/driver.ts'
import { type StorageConfig, storeLocation } from '../../src/storage/drivers.ts'
import { HistoryGone, StorageError } from '../../src/storage/errors.ts'
import { LEAF_BYTES } from '../../src/storage/log/leaf.ts'
import { SeededRandom } from './seeded-random.ts'

/** A place without a store. */
export type DriverSetup = { readonly config: StorageConfig; discard(): Promise<void> }

const NOW_MS = 1_700_000_000_000
const clock = { nowMs: () => NOW_MS, monotonicMs: () => 0 }
const FOLDER = 'root/sys/policy/'

async function open(location: StoreLocation): Promise<Store> {
  const store = await location.open({ clock, random: new SeededRandom(1) })
  store.setLeafKey(Buffer.alloc(32, 1))
  return store
}

const put = (store: Store, name: string, value: string): Promise<void> =>
  store.transaction(async (tx) => tx.put(systemScope, FOLDER + name, Buffer.from(value)))
const textAt = async (store: ReadStore, name: string): Promise<string | undefined> =>
  (await store.get(FOLDER + name))?.toString()

async function verified(
  verify: DurableLocation['verify'],
): Promise<StoreVerifyReport & { readonly sentences: string[] }> {
  const sentences: string[] = []
  const report = await verify({ keys: undefined, onFinding: (sentence) => sentences.push(sentence) })
  return { ...report, sentences }
}

export function driverConformance(type: StorageConfig['type'], newPlace: () => DriverSetup): void {
  const clause = (title: string, check: (location: StoreLocation, config: StorageConfig) => Promise<void>): void => {
    test(`driver ${type}: ${title}`, async () => {
      const { config, discard } = newPlace()
      try {
        await check(storeLocation(config), config)
      } finally {
        await discard()
      }
    })
  }
  const durably = (title: string, check: (location: DurableLocation) => Promise<void>): void =>
    clause(title, async ({ durable }) => (durable === undefined ? undefined : check(durable)))

  clause('its configuration is plain data, and leads to the same store in another thread', async (location, config) => {
    const copy = structuredClone(config)
    assert.deepEqual(copy, config)
    const { shown, where, durable } = storeLocation(copy)
    assert.deepEqual([shown, where, durable?.directory], [location.shown, location.where, location.durable?.directory])
    assert.equal(shown.type, type)
    assert.deepEqual(JSON.parse(JSON.stringify(shown)), shown)
  })

  clause('what was written is there when it is opened again, where it outlives the process', async (location) => {
    const store = await open(location)
    await put(store, 'a', 'first')
    await store.close()
    const again = await open(location)
    assert.equal(await textAt(again, 'a'), location.durable === undefined ? undefined : 'first')
    await again.close()
  })

  durably('only one has it open for writing, and others read beside it', async (location) => {
    await assert.rejects(location.openReader(), StorageError)
    assert.equal(await location.isInUse(), false)
    const store = await open(location)
    await assert.rejects(open(location), StorageError)
    assert.equal(await location.isInUse(), true)
    const readers = [await location.openReader(), await location.openUnchecked()]
    await put(store, 'a', 'first')
    for (const reader of readers) {
      assert.equal(await textAt(reader, 'a'), 'first')
      await reader.close()
    }
    await store.close()
    assert.equal(await location.isInUse(), false)
  })

  durably('its summary tells whether there is a store, who has it, and the last change', async (location) => {
    assert.deepEqual(await location.summary(), { kind: 'none' })
    assert.deepEqual(location.bytes(), { database: 0, journal: 0 })
    const store = await open(location)
    await put(store, 'a', 'first')
    const used = await location.summary()
    assert.ok(used.kind === 'sound')
    assert.deepEqual([used.isInUse, used.index, used.committedAtMs], [true, 1, NOW_MS])
    await store.close()
    const closed = await location.summary()
    assert.ok(closed.kind === 'sound')
    assert.deepEqual([closed.isInUse, closed.index, closed.databaseBytes], [false, 1, location.bytes().database])
    assert.ok(closed.databaseBytes > 0)
    let ms = 0
    assert.equal(await location.measureSync(() => (ms += 2)), 2)
  })

  durably('a check finds nothing in a sound store, and refuses where there is none', async (location) => {
    await assert.rejects(
      verified((options) => location.verify(options)),
      StorageError,
    )
    const store = await open(location)
    await put(store, 'a', 'first')
    await store.close()
    const { sentences, findings, entries, records, index } = await verified((options) => location.verify(options))
    assert.deepEqual([sentences, findings, entries, records, index], [[], 0, 1, 1, 1])
  })

  const entry = (name: string, value: string): StoredEntry => ({
    key: FOLDER + name,
    class: 'replicated',
    leaf: Buffer.alloc(LEAF_BYTES, 7),
    value: Buffer.from(value),
  })
  const ID = Buffer.alloc(HISTORY_ID_BYTES, 9)
  const PARENT = { id: Buffer.alloc(HISTORY_ID_BYTES, 1), index: 7, chain: Buffer.alloc(HISTORY_ID_BYTES, 2) }
  const FIRST = { id: PARENT.id, epoch: 2, startIndex: 1, parent: undefined, startedAtMs: 5 }
  const HISTORY = { id: ID, epoch: 3, startIndex: 4_097, parent: PARENT, startedAtMs: 6 }
  const own = (name: string): StoredEntry => ({
    key: `root/core/version/${name}`,
    class: 'ignored',
    leaf: Buffer.alloc(0),
    value: Buffer.from(name),
  })
  const LEFT = { index: 4_096, histories: [HISTORY], entries: [own('1'), entry('a', 'left')] }

  clause('what it is left with is all that is there, behind an empty log that goes on from it', async (location) => {
    const store = await open(location)
    for (const name of ['a', 'b', 'c']) await put(store, name, 'old')
    await store.hold({ name: 'a follower', kind: 'secondary', from: 1 })
    await store.close()
    await location.leaveOnly({ ...LEFT, entries: [] })
    await location.leaveOnly(LEFT)
    const left = await open(location)
    const snapshot = await left.snapshot()
    assert.deepEqual(await snapshot.stored('', Number.POSITIVE_INFINITY), LEFT.entries)
    assert.deepEqual(snapshot.position, {
      index: 4_096,
      chain: ID,
      epoch: 3,
      historyId: ID,
      lastReplicatedIndex: 4_096,
      lastLocalIndex: 4_096,
      origins: [],
    })
    await snapshot.close()
    assert.deepEqual([await left.histories(), await left.records(4_096, 9)], [[HISTORY], []])
    await assert.rejects(left.changesSince(3, 9), HistoryGone)
    assert.deepEqual((await left.retained()).holds, [])
    await put(left, 'b', 'new')
    assert.equal(await left.lastIndex(), 4_097)
    assert.deepEqual(
      [await textAt(left, 'a'), await textAt(left, 'b'), await textAt(left, 'c')],
      ['left', 'new', undefined],
    )
    await left.close()
    const again = await open(location)
    assert.equal(await textAt(again, 'b'), location.durable === undefined ? undefined : 'new')
    await again.close()
  })

  durably('a store that is in use is left as it is', async (location) => {
    const store = await open(location)
    await put(store, 'a', 'old')
    await assert.rejects(location.leaveOnly(LEFT), StorageError)
    assert.equal(await textAt(store, 'a'), 'old')
    await store.close()
    const again = await open(location)
    assert.equal(await textAt(again, 'a'), 'old')
    await again.close()
  })

  durably('what it is left with is a sound store', async (location) => {
    await (await open(location)).close()
    await location.leaveOnly(LEFT)
    const { sentences, entries } = await verified((options) => location.verify(options))
    assert.deepEqual([sentences, entries], [[], 2])
  })

  const stage = async ({ staging }: DurableLocation, ...entries: readonly StoredEntry[]): Promise<void> => {
    const writer = await staging.begin()
    await writer.write(entries)
    await writer.close()
    await staging.settle({ index: 4_096, histories: [FIRST, HISTORY] })
  }

  durably('what is staged changes nothing until it is adopted, and then all of it', async (location) => {
    const store = await open(location)
    await put(store, 'a', 'old')
    await stage(location, entry('a', 'dropped'))
    await stage(location, entry('a', 'new'), entry('b', 'new'))
    const { sentences, entries } = await verified((options) => location.staging.verify(options))
    assert.deepEqual([sentences, entries], [[], 2])
    assert.equal(await textAt(store, 'a'), 'old')
    await store.close()
    await location.staging.adopt()
    const adopted = await location.openReader()
    const { position } = await adopted.snapshot()
    assert.deepEqual([position.index, position.epoch, position.historyId, position.chain], [4_096, 3, ID, ID])
    assert.deepEqual([position.lastReplicatedIndex, position.lastLocalIndex, position.origins], [4_096, 4_096, []])
    assert.deepEqual(await adopted.histories(), [FIRST, HISTORY])
    assert.deepEqual([await textAt(adopted, 'a'), await textAt(adopted, 'b')], ['new', 'new'])
    await adopted.close()
    await assert.rejects(location.staging.adopt(), StorageError)
  })

  durably('what is dropped cannot be adopted, and is dropped by whoever opens the store', async (location) => {
    await (await open(location)).close()
    for (const drop of [() => location.staging.drop(), async () => (await open(location)).close()]) {
      await stage(location, entry('a', 'new'))
      await drop()
      await assert.rejects(location.staging.adopt(), StorageError)
    }
    assert.equal((await location.summary()).kind, 'sound')
  })
}
