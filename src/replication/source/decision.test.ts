import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { clock, LEAF_KEY } from '../../../test/conformance/storage-clause.ts'
import { type Store, systemScope } from '../../storage/contract.ts'
import { HistoryGone } from '../../storage/errors.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import type { Place } from '../protocol/messages.ts'
import { type DecidingStore, decide } from './decision.ts'

function newStoreOf(seed: number): Store {
  const store = createMemoryStore({ random: new SeededRandom(seed), clock })
  store.setLeafKey(LEAF_KEY)
  return store
}

async function newStore(records: number, seed = 3): Promise<Store> {
  const store = newStoreOf(seed)
  await write(store, records)
  return store
}

async function write(store: Store, records: number): Promise<void> {
  for (let at = 0; at < records; at++) {
    await store.transaction(async (tx) => tx.put(systemScope, 'root/core/rotation', Buffer.from(`${at}`)))
  }
}

/** The place of each record, by its index. */
async function placesOf(store: Store): Promise<ReadonlyMap<number, Place>> {
  let { id } = (await store.histories())[0] ?? assert.fail('it has a history')
  const places = new Map<number, Place>()
  for (const { index, chain, beginsHistory } of await store.changesSince(0, 1_000)) {
    id = beginsHistory ?? id
    places.set(index, { historyId: id, index, chain })
  }
  return places
}

const placeAt = async (store: Store, index: number): Promise<Place> =>
  (await placesOf(store)).get(index) ?? assert.fail(`record ${index} is there`)

const promoted = (store: Store, id: number) =>
  store.beginHistory(async (tx) => tx.put(systemScope, 'root/core/rotation', Buffer.from('promoted')), {
    id: Buffer.alloc(16, id),
    knownIndex: 0,
    knownEpoch: 0,
  })

const NO_OTHERS = { abandoned: [], followed: [] }

const ask = (store: DecidingStore, applied: Place | undefined, abandoned: readonly string[] = []) =>
  decide(store, { applied, isParted: false, transfer: undefined }, { abandoned, followed: [] })

test('a secondary that stands at any record of the log is streamed what follows', async () => {
  const store = await newStore(4)
  await promoted(store, 9)
  await write(store, 2)
  for (const place of (await placesOf(store)).values()) {
    assert.deepEqual(await ask(store, place), { kind: 'stream', after: place })
  }
})

test('one that has nothing gets a copy, one that was cut off in it goes on behind its last key', async () => {
  const store = await newStore(4)
  assert.deepEqual(await ask(store, undefined), { kind: 'copy', after: '', from: undefined })
  const from = await placeAt(store, 3)
  const cut = { applied: from, isParted: false, transfer: { what: 'copy', after: 'root/core/m' } } as const
  assert.deepEqual(await decide(store, cut, NO_OTHERS), { kind: 'copy', after: 'root/core/m', from })
  const compared = { applied: from, isParted: false, transfer: { what: 'difference', after: '' } } as const
  assert.deepEqual(await decide(store, compared, NO_OTHERS), { kind: 'difference', isUndone: false })
})

test('where the log no longer reaches back the trees are compared, also after a copy that was cut off', async () => {
  const store = await newStore(4)
  const applied = await placeAt(store, 2)
  const pruned: DecidingStore = {
    position: () => store.position(),
    histories: () => store.histories(),
    records: () => Promise.reject(new HistoryGone('gone')),
  }
  for (const transfer of [undefined, { what: 'copy', after: 'root/a' } as const]) {
    assert.deepEqual(await decide(pruned, { applied, isParted: false, transfer }, NO_OTHERS), {
      kind: 'difference',
      isUndone: false,
    })
  }
})

test('a secondary that went further in a history than this cluster did has changes to undo', async () => {
  const store = await newStore(4)
  const [{ id: historyId } = assert.fail('one')] = await store.histories()
  const atTheFork = await placeAt(store, 4)
  await promoted(store, 9)
  assert.equal((await ask(store, atTheFork)).kind, 'stream')
  const further = { historyId, index: 5, chain: Buffer.alloc(16, 1) }
  assert.deepEqual(await ask(store, further), { kind: 'difference', isUndone: true })
})

test('a place that is not in this log, though its history is the present one, is refused', async () => {
  const store = await newStore(4)
  const last = await placeAt(store, 4)
  const middle = await placeAt(store, 2)
  for (const place of [
    { ...last, index: 5 },
    ...[last, middle].map((each) => ({ ...each, chain: Buffer.alloc(16) })),
  ]) {
    const decision = await ask(store, place)
    assert.deepEqual([decision.kind, 'code' in decision && decision.code], ['refused', 'rewound'])
  }
  await promoted(store, 9)
  const fork = await ask(store, { ...last, chain: Buffer.alloc(16) })
  assert.deepEqual([fork.kind, 'code' in fork && fork.code], ['refused', 'rewound'])
})

test('a secondary of a stranger is refused, and one in a history that a restore left has changes to undo', async () => {
  const elsewhere = await placeAt(await newStore(4, 4), 2)
  const decision = await ask(await newStore(4), elsewhere)
  assert.deepEqual([decision.kind, 'code' in decision && decision.code], ['refused', 'other-set'])
  const abandoned = [elsewhere.historyId.toString('hex')]
  assert.deepEqual(await ask(await newStore(4), elsewhere, abandoned), { kind: 'difference', isUndone: true })
})

test('a secondary that came to a new history before its first record goes on with that record', async () => {
  const store = newStoreOf(0)
  const { historyId, index, chain } = await store.position()
  const applied = { historyId, index, chain }
  assert.deepEqual(await ask(store, applied), { kind: 'stream', after: applied })
  await write(store, 2)
  assert.deepEqual(await ask(store, applied), { kind: 'stream', after: applied })
})

test('a secondary that went on by itself behind the place where both parted is told that place', async () => {
  const store = await newStore(4)
  const [theirs, later, other] = [Buffer.alloc(16, 71), Buffer.alloc(16, 72), Buffer.alloc(16, 73)]
  const fork = { historyId: theirs, index: 10, chain: Buffer.alloc(16, 1) }
  const at = (historyId: Buffer, index: number): Place => ({ historyId, index, chain: Buffer.alloc(16, 2) })
  const known = { abandoned: [], followed: [fork] }
  const history = (id: Buffer) => ({ id, epoch: 1, startIndex: 1, parent: undefined, startedAtMs: 0 })
  const asked = (applied: Place, own: readonly Buffer[], isParted = false) =>
    decide(store, { applied, isParted, transfer: undefined, histories: own.map(history) }, known)
  assert.deepEqual(await asked(at(theirs, 10), [theirs]), { kind: 'difference', isUndone: false, fork })
  assert.deepEqual(await asked(at(theirs, 12), [theirs]), { kind: 'difference', isUndone: true, fork })
  // It was restored, or promoted once more, since then.
  assert.deepEqual(await asked(at(later, 2 ** 20), [theirs, later]), { kind: 'difference', isUndone: true, fork })
  assert.equal((await asked(at(other, 3), [other])).kind, 'refused')
  assert.deepEqual(await asked(at(other, 3), [other], true), { kind: 'difference', isUndone: true })
})
