// P-10: what is written comes back, and nothing else does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { eventLoop } from '../../lib/world.ts'
import { Barrier } from '../barrier.ts'
import type { StoredEntry } from '../contract.ts'
import { type Store, systemScope } from '../contract.ts'
import { StorageError } from '../errors.ts'
import { MAX_KNOWN_EPOCH, MAX_KNOWN_INDEX } from '../log/histories.ts'
import { bucketKeyOf } from '../log/tree.ts'
import { createMemoryStore } from '../memory-store.ts'
import {
  CHUNK_BYTES,
  decodeHeader,
  encodeSnapshotHeader,
  headerLength,
  PREFIX_BYTES,
  SEAL_PATH,
  SnapshotDamaged,
  type SnapshotEnd,
  type SnapshotHeader,
  sealedEnd,
} from './snapshot-format.ts'
import { readSnapshot, writeSnapshot } from './snapshot-stream.ts'

const random = new SeededRandom(1)
const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const LEAF_KEY = Buffer.alloc(32, 1)
const dataKey = { key: importSecret(Buffer.alloc(32, 2)), installedAtMs: 0 }
const barrier = new Barrier(random, { activeTerm: 1, terms: new Map([[1, dataKey]]) })
const bucketKey = bucketKeyOf(importSecret(LEAF_KEY))

async function storeOf(entries: ReadonlyMap<string, Buffer>): Promise<Store> {
  const store = createMemoryStore({ random, clock })
  store.setLeafKey(LEAF_KEY)
  await store.transaction(async (tx) => {
    for (const [name, value] of entries) tx.put(systemScope, `root/${name}`, value)
  })
  return store
}

async function save(store: Store): Promise<Buffer> {
  const open = () => store.snapshot()
  const parts: Buffer[] = []
  const source = { open, barrier, bucketKey, clusterId: 'c', nowMs: 7.9, ticks: eventLoop }
  for await (const part of writeSnapshot(source)) parts.push(part)
  return Buffer.concat(parts)
}

/** Cuts bytes into pieces of `pieceBytes`, as a socket delivers them. */
async function load(bytes: Buffer, pieceBytes = 65_536) {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  const { header, chunks } = await readSnapshot(pieces())
  const entries: StoredEntry[] = []
  const last: { end?: SnapshotEnd; hashBefore?: Buffer } = {}
  for await (const chunk of chunks) {
    if (chunk.kind === 'entries') entries.push(...chunk.entries)
    else Object.assign(last, { end: chunk.end, hashBefore: chunk.hashBefore })
  }
  return { header, entries, ...last }
}

const SMALL = new Map([
  ['core/cluster', Buffer.alloc(0)],
  ['core/seal-config', Buffer.from('config')],
  ['sys/policy/a', Buffer.from('policy')],
  ['sys/token/größe \u{1f511}', Buffer.alloc(300, 0xa5)],
])

test('a snapshot holds every entry with class and leaf, the position and sealed roots', async () => {
  const store = await storeOf(SMALL)
  const snapshot = await store.snapshot()
  const expected = await snapshot.stored('', Number.POSITIVE_INFINITY)
  const { header, entries, end, hashBefore } = await load(await save(store))
  assert.deepEqual(entries, expected)
  assert.deepEqual(
    entries.map(({ class: storageClass }) => storageClass),
    ['ignored', 'ignored', 'replicated', 'local'],
  )
  const { index, epoch, chain, historyId } = snapshot.position
  const { histories } = snapshot
  const facts: SnapshotHeader = {
    clusterId: 'c',
    index,
    epoch,
    chain,
    historyId,
    histories,
    createdAtMs: 7,
    entries: 4,
  }
  assert.deepEqual(header, facts)
  const { replicated, local } = await store.roots()
  assert.ok(end !== undefined && hashBefore !== undefined)
  assert.deepEqual([end.entries, end.replicated, end.local], [4, replicated, local])
  assert.deepEqual(barrier.open(SEAL_PATH, end.seal), sealedEnd(hashBefore, end))
})

test('pieces of any size give the same entries', async () => {
  const bytes = await save(await storeOf(SMALL))
  const whole = await load(bytes)
  for (const pieceBytes of [1, 2, 7, 64, bytes.length]) assert.deepEqual(await load(bytes, pieceBytes), whole)
})

test('an empty store and one of several chunks come back', async () => {
  assert.deepEqual((await load(await save(createMemoryStore({ random, clock })))).entries, [])
  const large = new Map(Array.from({ length: 9 }, (_, at) => [`sys/policy/p${at}`, Buffer.alloc(CHUNK_BYTES / 3, at)]))
  const bytes = await save(await storeOf(large))
  const { entries } = await load(bytes)
  assert.deepEqual(
    entries.map(({ key, value }) => [key.slice(5), value]),
    [...large],
  )
})

test('small entries share a chunk: one more adds its own bytes alone', async () => {
  const bytesOf = async (count: number) =>
    (
      await save(
        await storeOf(new Map(Array.from({ length: count }, (_, at) => [`sys/policy/p${at}`, Buffer.alloc(9)]))),
      )
    ).length
  const entryBytes = 1 + 1 + 16 + 2 + 'root/sys/policy/p0'.length + 4 + 9
  assert.equal((await bytesOf(9)) - (await bytesOf(1)), 8 * entryBytes)
})

test('every flipped bit, every shorter and every longer file is refused', async (t) => {
  const bytes = await save(await storeOf(SMALL))
  // All bits at the beginning and at the end, some in between.
  const seeded = new SeededRandom(testSeed(t))
  for (
    let bit = 0;
    bit < bytes.length * 8;
    bit += bit < 900 || bit > bytes.length * 8 - 900 ? 1 : 1 + seeded.below(9)
  ) {
    const copy = Buffer.from(bytes)
    copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    await assert.rejects(load(copy), StorageError, `bit ${bit}`)
  }
  for (let kept = 0; kept < bytes.length; kept++) await assert.rejects(load(bytes.subarray(0, kept)), StorageError)
  await assert.rejects(load(Buffer.concat([bytes, Buffer.alloc(1)])), StorageError)
  await assert.rejects(load(Buffer.concat([bytes, bytes])), StorageError)
})

test('S2: the header carries every history, and one of format 1 tells of its last', async () => {
  const store = await storeOf(SMALL)
  const next = { id: Buffer.alloc(16, 5), knownIndex: 0, knownEpoch: 0 }
  await store.beginHistory(async (tx) => tx.put(systemScope, 'root/sys/policy/p', Buffer.from('v')), next)
  const bytes = await save(store)
  const { header } = await load(bytes)
  assert.equal(header.histories.length, 2)
  assert.deepEqual(header.histories, await store.histories())
  const json = JSON.parse(
    bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + headerLength(bytes.subarray(0, PREFIX_BYTES))).toString(),
  )
  const { histories, ...old } = json
  const decoded = (changed: object) => decodeHeader(Buffer.from(JSON.stringify(changed)))
  const { historyId: id, epoch } = header
  const startIndex = 1_048_577
  assert.deepEqual(decoded({ ...old, index: startIndex + 3 }).histories, [
    { id, epoch, startIndex, parent: undefined, startedAtMs: 0 },
  ])
  const [first, last] = histories
  for (const unfit of [
    [],
    [first],
    [last, first],
    [first, { ...last, epoch: 9 }],
    [first, { ...last, parent: undefined }],
    [first, { ...last, start_index: json.index + 2 }],
  ]) {
    assert.throws(() => decoded({ ...json, histories: unfit }), SnapshotDamaged, JSON.stringify(unfit))
  }
  for (const format of [0, 3]) {
    const prefix = Buffer.from(bytes.subarray(0, PREFIX_BYTES).with(8, format))
    const message = `The snapshot has format ${format}, this version of Keywright reads 1 to 2`
    assert.throws(() => headerLength(prefix), new SnapshotDamaged(message))
  }
})

for (const { name, max } of [
  { name: 'index', max: MAX_KNOWN_INDEX },
  { name: 'epoch', max: MAX_KNOWN_EPOCH },
] as const) {
  test(`D-06 a header with an ${name} above ${max} is refused: it would leave no room for promotions`, () => {
    const id = Buffer.alloc(16)
    const header = {
      clusterId: 'c',
      index: 1,
      epoch: 1,
      chain: id,
      historyId: id,
      histories: [{ id, epoch: 1, startIndex: 1, parent: undefined, startedAtMs: 0 }],
      createdAtMs: 7,
      entries: 4,
    }
    const decoded = (value: number) => {
      const histories = header.histories.map((history) => ({ ...history, epoch: name === 'epoch' ? value : 1 }))
      return decodeHeader(encodeSnapshotHeader({ ...header, histories, [name]: value }).subarray(PREFIX_BYTES))
    }
    assert.equal(decoded(max)[name], max)
    for (const above of [max + 1, Number.MAX_SAFE_INTEGER]) {
      const why = `its ${name} ${above} is higher than any log reaches`
      assert.throws(() => decoded(above), new SnapshotDamaged(`The header of the snapshot is damaged: ${why}`))
    }
    assert.throws(() => decoded(2 ** 53), new SnapshotDamaged('The header of the snapshot is damaged'))
  })
}

test('chunks that were swapped, repeated or left out are refused', async () => {
  const values = new Map(Array.from({ length: 4 }, (_, at) => [`sys/policy/p${at}`, Buffer.alloc(CHUNK_BYTES, at)]))
  const bytes = await save(await storeOf(values))
  const chunks: Buffer[] = []
  const start = 13 + bytes.readUInt32BE(9)
  for (let at = start; at < bytes.length; ) {
    const end = at + 5 + bytes.readUInt32BE(at + 1) + 32
    chunks.push(bytes.subarray(at, end))
    at = end
  }
  assert.equal(chunks.length, 5)
  const [a, b, c, d, last] = chunks
  assert.ok(a && b && c && d && last)
  const file = (...parts: Buffer[]) => Buffer.concat([bytes.subarray(0, start), ...parts])
  assert.equal((await load(file(a, b, c, d, last))).entries.length, 4)
  for (const wrong of [
    [b, a, c, d, last],
    [a, a, b, c, d, last],
    [a, b, c, last],
    [last],
    [a, b, c, d],
    [a, b, c, d, last, last],
  ]) {
    await assert.rejects(load(file(...wrong)), StorageError)
  }
})

test('a snapshot that is read under writes is of one moment: whole transactions', async () => {
  const store = await storeOf(
    new Map([
      ['sys/policy/left', Buffer.from('0')],
      ['sys/token/right', Buffer.from('0')],
    ]),
  )
  let isWriting = true
  const writing = (async () => {
    for (let number = 1; isWriting; number++) {
      await store.transaction(async (tx) => {
        for (const name of ['sys/policy/left', 'sys/token/right']) {
          tx.put(systemScope, `root/${name}`, Buffer.from(String(number)))
        }
      })
    }
  })()
  for (let round = 0; round < 20; round++) {
    const { entries, header } = await load(await save(store), 16)
    assert.deepEqual(entries[0]?.value, entries[1]?.value)
    assert.ok(header.index >= round)
  }
  isWriting = false
  await writing
})

test('a snapshot that nobody reads to its end lets go of the store', async () => {
  const store = await storeOf(SMALL)
  let closed = 0
  const open = async () => {
    const snapshot = await store.snapshot()
    const { close } = snapshot
    const counting = async (): Promise<void> => {
      closed++
      await close()
    }
    return Object.assign(snapshot, { close: counting })
  }
  const source = { open, barrier, bucketKey, clusterId: 'c', nowMs: 7, ticks: eventLoop }
  for await (const part of writeSnapshot(source)) {
    assert.ok(part.length > 0)
    break
  }
  assert.equal(closed, 1)
  const never = writeSnapshot(source)
  await never.return(undefined)
  assert.equal(closed, 1)
})
