import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { type Backend, HISTORY_ID_BYTES, type SavedTree } from '../backend.ts'
import { openStore } from '../commit/transactional-store.ts'
import { type Store, systemScope } from '../contract.ts'
import { StorageError } from '../errors.ts'
import { MemoryBackend } from '../memory-backend.ts'

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const LEAF_KEY = Buffer.alloc(32, 1)

async function open(backend: Backend): Promise<Store> {
  const store = await openStore(backend, { clock })
  store.setLeafKey(LEAF_KEY)
  return store
}

function put(store: Store, name: string): Promise<void> {
  return store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${name}`, Buffer.from(name)))
}

async function rootOf(store: Store): Promise<string> {
  return (await store.roots()).all.toString('hex')
}

test('a tree that cannot be loaded is told to who asks for it, and ends nothing else', async () => {
  const backend: Backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const wrong = new StorageError('The device does not answer')
  backend.savedTree = () => Promise.reject(wrong)
  const store = await openStore(backend, { clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  // An unhandled rejection would end the process, and this test, in one of these ticks.
  for (let turn = 0; turn < 10; turn++) await nextLoop()
  await assert.rejects(store.roots(), wrong)
  await assert.rejects(store.tree(), wrong)
  await store.close()
})

const unusable: { readonly name: string; readonly change: (saved: SavedTree) => SavedTree }[] = [
  { name: 'is of the first scopes (F11)', change: (saved) => ({ ...saved, version: 1, pages: [] }) },
  { name: 'is of the second scopes (F11)', change: (saved) => ({ ...saved, version: 2, pages: [] }) },
  { name: 'is of the third scopes (F11)', change: (saved) => ({ ...saved, version: 3, pages: [] }) },
  { name: 'is of another log', change: (saved) => ({ ...saved, pages: [], chain: Buffer.alloc(16, 7) }) },
  {
    name: 'has one damaged page among good ones',
    change: ({ pages: [first, ...others], ...saved }) => {
      assert.ok(first !== undefined && others.length > 0)
      return { ...saved, pages: [{ ...first, digests: first.digests.subarray(1) }, ...others] }
    },
  },
]
for (const { name, change } of unusable) {
  test(`a saved tree that ${name} is not used: the tree is made from the entries`, async () => {
    const backend: Backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
    const store = await open(backend)
    for (const letter of ['a', 'b', 'c']) await put(store, letter)
    const root = await rootOf(store)
    await store.close()
    const saved = await backend.savedTree()
    assert.ok(saved !== undefined)
    backend.savedTree = async () => change(saved)
    const again = await open(backend)
    assert.equal(await rootOf(again), root)
    await again.close()
  })
}

test('what is committed while the tree is loaded is in it once', async () => {
  const backend: Backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const saved = Promise.withResolvers<undefined>()
  backend.savedTree = () => saved.promise
  const store = await open(backend)
  await put(store, 'a')
  saved.resolve(undefined)
  const root = await rootOf(store)
  await put(store, 'b')
  const second = await rootOf(store)
  store.setLeafKey(LEAF_KEY)
  assert.equal(await rootOf(store), second)
  assert.notEqual(second, root)
  const other = await open(new MemoryBackend(new SeededRandom(2).bytes(HISTORY_ID_BYTES)))
  await put(other, 'a')
  assert.equal(await rootOf(other), root)
  await Promise.all([store.close(), other.close()])
})

test('S7: a tree is loaded though commits come faster than a step of the log is read', async () => {
  const backend: Backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const before = await open(backend)
  await put(before, 'first')
  await before.roots()
  await before.close()
  const saved = await backend.savedTree()
  const isAsked = Promise.withResolvers<void>()
  backend.savedTree = () => isAsked.promise.then(() => saved)
  const store = await open(backend)
  let index: number | undefined
  const roots = store.roots().then((found) => {
    index = found.index
  })
  const round = () => Promise.all(Array.from({ length: 512 }, (_, at) => put(store, `${at}`)))
  for (let late = 0; late < 4; late++) await round()
  isAsked.resolve()
  // The tree is behind by four rounds. It makes up for them, though each round is longer than a step.
  for (let turn = 0; turn < 40 && index === undefined; turn++) await round()
  assert.ok(index !== undefined, 'the tree was never there')
  await roots
  await store.close()
})
