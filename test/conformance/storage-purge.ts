// The clauses of every storage on forgetting what was deleted (log/purge.ts).
import assert from 'node:assert/strict'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Store } from '../../src/storage/contract.ts'
import { HistoryGone, StorageClosed, StorageFull, StorageRefused } from '../../src/storage/errors.ts'
import { type Clause, folder, requireTreeOfEntries, scope } from './storage-clause.ts'

const NOTE = 'root/core/purge'

/** One commit a name. */
async function put(store: Store, ...names: string[]): Promise<void> {
  for (const name of names) await store.transaction(async (tx) => tx.put(scope, folder + name, Buffer.from(name)))
}

async function remove(store: Store, name: string): Promise<void> {
  await store.transaction(async (tx) => tx.delete(scope, folder + name))
}

/** Resolves when a purge that was noted has ended. */
async function purged(store: Store): Promise<void> {
  while ((await store.get(NOTE)) !== undefined) await nextTick()
}

/** Nothing but the entries of these names, their tree, and a log that begins behind `index` and goes on. */
async function requireOnly(store: Store, names: readonly string[], index: number): Promise<void> {
  assert.deepEqual(await store.list(folder), names)
  assert.equal((await store.retained()).firstIndex, index + 1)
  await assert.rejects(store.changesSince(index - 1, 1), HistoryGone)
  const changes = await store.changesSince(index, 100)
  assert.equal(changes.at(-1)?.index, await store.lastIndex())
  for (const { operations } of changes) for (const { key } of operations) assert.equal(key.startsWith(folder), false)
}

export function purgeClauses(clause: Clause): void {
  clause('a purge takes records away from whoever holds them, and what remains is whole', async (opened) => {
    const { store, faults, reopen } = opened
    await put(store, 'gone', 'stays')
    await store.hold({ name: 'west', kind: 'secondary', from: 0 })
    await remove(store, 'gone')
    await store.purge(3)
    await requireOnly(store, ['stays'], 3)
    assert.equal((await store.retained()).holds[0]?.isBroken, true)
    await requireTreeOfEntries(store, faults)
    const again = await reopen()
    await requireOnly(again, ['stays'], 3)
    await requireTreeOfEntries(again, faults)
    await put(again, 'later')
    await requireTreeOfEntries(await reopen(), faults)
  })

  clause('no row leads to a key that is gone after a purge', async ({ store, faults }) => {
    await put(store, 'gone', 'stays')
    await store.purge(0)
    await remove(store, 'gone')
    await store.purge(await store.lastIndex())
    const snapshot = await faults.backend?.snapshot()
    const every = Array.from({ length: 65_536 }, (_, bucket) => bucket)
    assert.deepEqual((await snapshot?.bucketKeys(every, 0))?.keys, [`${folder}stays`])
    await snapshot?.close()
  })

  clause('a purge that a close cut off ends after the next open, sealed or not', async ({ store, faults, reopen }) => {
    await put(store, 'gone', 'stays')
    await remove(store, 'gone')
    faults.eraseSteps.push(...Array.from({ length: 10_000 }, () => 'held' as const))
    const cut = store.purge(3)
    const refused = assert.rejects(cut, StorageClosed)
    while (faults.eraseSteps.length === 10_000) await nextTick()
    await store.close()
    await refused
    faults.eraseSteps.length = 0
    const again = await reopen()
    again.setLeafKey(undefined)
    await purged(again)
    await requireOnly(again, ['stays'], 3)
    await requireTreeOfEntries(await reopen(), faults)
  })

  clause('commits go on beside a purge, which waits for readers and for room', async ({ store, faults, fatal }) => {
    await put(store, 'gone', 'stays')
    await remove(store, 'gone')
    faults.eraseSteps.push('more', 'held', new StorageFull('Told to fail'), 'held', 'more')
    const purge = store.purge(3)
    while (faults.eraseSteps.length > 0) await put(store, 'beside')
    await purge
    assert.deepEqual([await store.list(folder), fatal], [['beside', 'stays'], []])
    await requireTreeOfEntries(store, faults)
  })

  clause('two purges come one after the other', async ({ store }) => {
    await put(store, 'a', 'b')
    const both = [store.purge(1), store.purge(2)]
    await Promise.all(both)
    assert.equal(await store.get(NOTE), undefined)
    assert.ok((await store.retained()).firstIndex > 2)
  })

  clause('what cannot be purged is refused, and nothing is noted', async ({ store }) => {
    await put(store, 'a')
    for (const index of [2, -1, 0.5, Number.NaN]) await assert.rejects(store.purge(index), StorageRefused)
    store.setLeafKey(undefined)
    await assert.rejects(store.purge(1), StorageRefused)
    assert.equal(await store.lastIndex(), 1)
    assert.equal((await store.retained()).firstIndex, 1)
  })
}
