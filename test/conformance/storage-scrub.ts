// What a store promises of the check of its tree and of the reindex. Damage is done to its rows behind its back.
import assert from 'node:assert/strict'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { importSecret } from '../../src/crypto/primitives/secret-key.ts'
import type { ReindexOptions, ScrubProgress, Store, StoredEntry, TreeReport } from '../../src/storage/contract.ts'
import { isClosed, Sealed, StorageClosed, StorageFull, StorageRefused } from '../../src/storage/errors.ts'
import { LEAF_BYTES, leafOf } from '../../src/storage/log/leaf.ts'
import { bucketKeyOf, bucketOf } from '../../src/storage/log/tree.ts'
import type { Faults } from './faulty-backend.ts'
import { type Clause, folder, LEAF_KEY, MOUNT, type Opened, requireTreeOfEntries, scope } from './storage-clause.ts'

type Mode = ReindexOptions['mode']
const MODES: readonly Mode[] = ['leaves', 'values', 'whole']
/** More entries than one step takes in any mode. */
const MANY = 1_500
const NO_KEYS = { count: 0, named: [] }

const how = (mode: Mode, more: Partial<ReindexOptions> = {}): ReindexOptions => {
  return { mode, skipFlush: false, mayRepair: () => true, ...more }
}
const several = (count: number): string[] => Array.from({ length: count }, (_, at) => `n${at}`)
const put = (store: Store, ...names: string[]): Promise<void> =>
  store.transaction(async (tx) => {
    for (const name of names) tx.put(scope, folder + name, Buffer.from(`value of ${name}`))
  })

/** Page and place of the bucket of an entry. */
function placeOf(name: string): [number, number] {
  const bucket = bucketOf(bucketKeyOf(importSecret(LEAF_KEY)), folder + name)
  return [bucket >>> 8, bucket & 0xff]
}
const wrongOf = ({ classes: { replicated } }: TreeReport) =>
  replicated.wrongPages.map(({ page, isHashWrong, places }) => [page, isHashWrong, places])
const wrongAt = (...names: string[]) => {
  const pages = new Map<number, number[]>()
  for (const [page, place] of names.map(placeOf)) pages.set(page, [...(pages.get(page) ?? []), place])
  const sorted = [...pages].sort(([a], [b]) => a - b)
  return sorted.map(([page, places]) => [page, false, places.sort((a, b) => a - b)])
}
async function requireHealthy(store: Store, faults: Faults): Promise<void> {
  const report = await store.checkTree()
  assert.deepEqual([wrongOf(report), report.wrongEntries], [[], NO_KEYS])
  await requireTreeOfEntries(store, faults)
}

const leafFor = (name: string, value: Buffer): Buffer =>
  leafOf(importSecret(LEAF_KEY), 'replicated', MOUNT, folder + name, value)

/** Other bytes under the old leaf, as an edit of the file leaves them. */
async function alter({ faults, tamper }: Opened, name: string, by: Partial<StoredEntry>): Promise<void> {
  const [head] = (await faults.backend?.heads([folder + name])) ?? []
  const value = await faults.backend?.get(folder + name)
  assert.ok(head !== undefined && value !== undefined)
  tamper(folder + name, { ...head, value, ...by })
}
const OTHER = { value: Buffer.from('not what was written') }

export function scrubClauses(clause: Clause): void {
  checkClauses(clause)
  reindexClauses(clause)
  besideClauses(clause)
  endClauses(clause)
}

function checkClauses(clause: Clause): void {
  clause('a check of a sound tree finds nothing, and tells its roots', async ({ store, faults }) => {
    await put(store, ...several(MANY))
    const progress: ScrubProgress[] = []
    const report = await store.checkTree((each) => progress.push(each))
    const { index, replicated, local } = await store.roots()
    const sound = (root: Buffer) => ({ root, isRootWrong: false, wrongPages: [] })
    const classes = { replicated: sound(replicated), local: sound(local) }
    assert.deepEqual(report, { index, entries: MANY, classes, wrongEntries: NO_KEYS })
    assert.deepEqual(progress[0], { stage: 'building', done: 0, total: MANY })
    assert.ok(progress.length > 3, 'it works in steps')
    assert.deepEqual(progress.at(-1), { stage: 'building', done: MANY, total: MANY })
    await requireTreeOfEntries(store, faults)
  })

  clause('T43: a check names a changed value, a removed and an added row, and changes nothing', async (opened) => {
    const { store, faults, tamper } = opened
    await put(store, ...several(20))
    const before = await store.roots()
    await alter(opened, 'n3', OTHER)
    tamper(`${folder}n7`, undefined)
    const value = Buffer.from('brought in')
    tamper(`${folder}new`, { class: 'replicated', value, leaf: leafFor('new', value) })
    const report = await store.checkTree()
    assert.deepEqual(wrongOf(report), wrongAt('n3', 'n7', 'new'))
    assert.deepEqual(report.wrongEntries, { count: 1, named: [`${folder}n3`] })
    assert.deepEqual(await store.roots(), before)
    const [head] = (await faults.backend?.heads([`${folder}n3`])) ?? []
    assert.deepEqual(head?.leaf, leafFor('n3', Buffer.from('value of n3')))
  })

  clause('T44: a check names a bucket that was wrong in the saved tree', async ({ store, faults, reopen }) => {
    await put(store, ...several(20))
    await store.roots()
    await reopen()
    await spoilSaved(faults)
    const report = await (await reopen()).checkTree()
    assert.equal(report.classes.replicated.wrongPages.length, 1)
    assert.deepEqual(report.wrongEntries, NO_KEYS)
  })
}

/** Turns one bit of a bucket of the saved tree, which is loaded at the next start. */
async function spoilSaved({ backend }: Faults): Promise<void> {
  const saved = await backend?.savedTree()
  const [first] = saved?.pages ?? []
  assert.ok(backend !== undefined && saved !== undefined && first !== undefined)
  const digests = Buffer.from(first.digests)
  digests.writeUInt8(digests.readUInt8(1) ^ 1, 1)
  await backend.saveTree({ ...saved, pages: [{ ...first, digests }], isWhole: false, savedAtMs: 0 })
}

function reindexClauses(clause: Clause): void {
  for (const mode of MODES) {
    clause(`T44: a reindex of ${mode} mends a bucket for good, without a change`, async ({ store, faults, reopen }) => {
      await put(store, ...several(20))
      const { index, ...sound } = await store.roots()
      await reopen()
      await spoilSaved(faults)
      const opened = await reopen()
      assert.notDeepEqual((await opened.roots()).all, sound.all)
      const progress: ScrubProgress[] = []
      const done = await opened.reindex(how(mode, { onProgress: (each) => progress.push(each) }))
      assert.deepEqual(done, { index, entries: 20, buckets: 1, repaired: NO_KEYS, left: NO_KEYS })
      assert.deepEqual(progress[0], { stage: 'building', done: 0, total: 20 })
      assert.deepEqual(progress.at(-1), { stage: 'flushing', done: 20, total: 20 })
      assert.deepEqual(await opened.roots(), { index, ...sound })
      assert.deepEqual(await (await reopen()).roots(), { index, ...sound })
      assert.equal(await (await reopen()).lastIndex(), index)
    })

    clause(`T43: a reindex of ${mode} takes rows as they are`, async (opened) => {
      const { store, faults, tamper } = opened
      await put(store, ...several(20))
      // A tree that is still being read would take up what is changed now.
      await store.roots()
      tamper(`${folder}n7`, undefined)
      const value = Buffer.from('brought in')
      tamper(`${folder}new`, { class: 'replicated', value, leaf: leafFor('new', value) })
      assert.equal((await store.reindex(how(mode))).buckets, 2)
      await requireHealthy(store, faults)
      await put(store, 'n8', 'new')
      await requireHealthy(store, faults)
    })
  }

  for (const mode of ['values', 'whole'] as const) {
    clause(`T43: a reindex of ${mode} gives a changed value its leaf, so that a peer finds it`, async (opened) => {
      const { store, faults, reopen } = opened
      await put(store, ...several(20))
      const before = await store.roots()
      await alter(opened, 'n3', OTHER)
      await alter(opened, 'n4', { leaf: Buffer.alloc(LEAF_BYTES, 7) })
      await alter(opened, 'n5', { leaf: Buffer.alloc(3) })
      const { repaired, left } = await store.reindex(how(mode))
      assert.deepEqual([repaired.count, repaired.named, left], [3, ['n3', 'n4', 'n5'].map((n) => folder + n), NO_KEYS])
      assert.notDeepEqual((await store.roots()).all, before.all)
      await requireHealthy(store, faults)
      const { all } = await store.roots()
      const again = await reopen()
      assert.deepEqual((await again.roots()).all, all)
      await put(again, 'n3', 'n4', 'n5')
      assert.deepEqual((await again.roots()).all, before.all)
    })

    clause(`a reindex of ${mode} leaves what it may not repair, and says so`, async (opened) => {
      const { store } = opened
      await put(store, ...several(20))
      const before = await store.roots()
      await alter(opened, 'n3', OTHER)
      const asked: StoredEntry[] = []
      const mayRepair = (entry: StoredEntry): boolean => asked.push(entry) === 0
      const { repaired, left, buckets } = await store.reindex(how(mode, { mayRepair }))
      assert.deepEqual([repaired, left, buckets], [NO_KEYS, { count: 1, named: [`${folder}n3`] }, 0])
      assert.deepEqual([asked.length, asked[0]?.key, asked[0]?.value], [1, `${folder}n3`, OTHER.value])
      // The tree stands for what was written, so a secondary that has that is not told to take the damage.
      assert.deepEqual(await store.roots(), before)
      assert.deepEqual(wrongOf(await store.checkTree()), wrongAt('n3'))
    })
  }

  clause('a reindex of leaves trusts each leaf', async (opened) => {
    await put(opened.store, ...several(5))
    await alter(opened, 'n3', OTHER)
    const { repaired, left, buckets } = await opened.store.reindex(how('leaves'))
    assert.deepEqual([repaired, left, buckets], [NO_KEYS, NO_KEYS, 0])
  })

  clause(
    'skip_flush: the new tree counts at once, and a stop in order stores it',
    async ({ store, faults, reopen }) => {
      await put(store, ...several(20))
      const { all } = await store.roots()
      await reopen()
      await spoilSaved(faults)
      const opened = await reopen()
      const spoiled = (await faults.backend?.savedTree())?.pages
      await opened.reindex(how('leaves', { skipFlush: true }))
      assert.deepEqual((await opened.roots()).all, all)
      assert.deepEqual((await faults.backend?.savedTree())?.pages, spoiled)
      const again = await reopen()
      assert.notDeepEqual((await faults.backend?.savedTree())?.pages, spoiled)
      assert.deepEqual((await again.roots()).all, all)
    },
  )

  clause('a new tree that there is no room for counts, and is stored later', async ({ store, faults, reopen }) => {
    await put(store, ...several(20))
    const { all } = await store.roots()
    await reopen()
    await spoilSaved(faults)
    const opened = await reopen()
    faults.savesFail = true
    await assert.rejects(opened.reindex(how('leaves')), StorageFull)
    assert.deepEqual((await opened.roots()).all, all)
    faults.savesFail = false
    assert.deepEqual((await (await reopen()).roots()).all, all)
  })
}

function besideClauses(clause: Clause): void {
  for (const mode of MODES) {
    clause(`T46: commits go on beside a reindex of ${mode}, and are in the new tree`, async (opened) => {
      const { store, faults } = opened
      await put(store, ...several(MANY))
      await alter(opened, 'n900', OTHER)
      const running = { is: true }
      const reindex = store.reindex(how(mode)).finally(() => {
        running.is = false
      })
      let commits = 0
      for (let at = 0; running.is; at = (at + 37) % MANY, commits++) {
        await store.transaction(async (tx) => {
          tx.put(scope, `${folder}n${at}`, Buffer.from(`again ${commits}`))
          if (at % 2 === 0) tx.delete(scope, `${folder}n${(at + 700) % MANY}`)
          else tx.put(scope, `${folder}other${commits}`, Buffer.from('new'))
        })
      }
      await reindex
      assert.ok(commits > 3, 'they do not wait for its end')
      await requireTreeOfEntries(store, faults)
    })
  }

  clause('commits beside a check are no damage, and what they write over is none any more', async (opened) => {
    const { store, faults } = opened
    await put(store, ...several(MANY))
    await alter(opened, 'n3', OTHER)
    const running = { is: true }
    const check = store.checkTree().finally(() => {
      running.is = false
    })
    for (let at = 0; running.is; at = (at + 1) % MANY) await put(store, `n${at}`, `m${at}`, 'n3')
    const report = await check
    assert.deepEqual(wrongOf(report), [])
    await requireHealthy(store, faults)
  })

  clause('one check or reindex runs at a time', async ({ store }) => {
    await put(store, ...several(MANY))
    const first = store.reindex(how('whole'))
    await assert.rejects(store.checkTree(), StorageRefused)
    await assert.rejects(store.reindex(how('leaves')), StorageRefused)
    await first
    await store.checkTree()
  })
}

function endClauses(clause: Clause): void {
  for (const mode of MODES) {
    clause(`a seal ends a reindex of ${mode}, and the tree is sound behind it`, async ({ store, faults }) => {
      await put(store, ...several(MANY))
      const reindex = store.reindex(how(mode))
      reindex.catch(() => {})
      for (let turn = 0; turn < 6; turn++) await nextLoop()
      store.setLeafKey(undefined)
      await assert.rejects(reindex, Sealed)
      await assert.rejects(store.checkTree(), StorageRefused)
      store.setLeafKey(LEAF_KEY)
      await requireHealthy(store, faults)
      assert.equal((await store.reindex(how(mode))).buckets, 0)
    })

    clause(`a close ends a reindex of ${mode}, and waits for nothing more`, async ({ store, faults, reopen }) => {
      await put(store, ...several(MANY))
      const reindex = store.reindex(how(mode))
      reindex.catch(() => {})
      for (let turn = 0; turn < 6; turn++) await nextLoop()
      const again = await reopen()
      await assert.rejects(reindex, isClosed)
      await assert.rejects(store.reindex(how(mode)), StorageClosed)
      await requireHealthy(again, faults)
    })
  }
}
