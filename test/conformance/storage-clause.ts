// What the clauses of the storage suites share.
import assert from 'node:assert/strict'
import { importSecret } from '../../src/crypto/primitives/secret-key.ts'
import type { Scope, Store, StoredEntry } from '../../src/storage/contract.ts'
import { bucketKeyOf, Tree } from '../../src/storage/log/tree.ts'
import type { Faults } from './faulty-backend.ts'

/** A store under test, and what its device is told to do. */
export type Opened = {
  readonly store: Store
  readonly faults: Faults
  readonly fatal: Error[]
  reopen(): Promise<Store>
  /** Puts or removes a row of an entry behind the back of the store. */
  tamper(key: string, entry: Omit<StoredEntry, 'key'> | undefined): void
}

export const MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
export const scope: Scope = { namespace: 'root', mount: MOUNT, local: false }
export const folder = `root/logical/${MOUNT}/`
export const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
export const LEAF_KEY = Buffer.alloc(32, 1)

/** Adds one test. */
export type Clause = (title: string, check: (opened: Opened) => Promise<void>) => void

/** The tree that is kept is the one that the stored leaves make. */
export async function requireTreeOfEntries(store: Store, faults: Faults): Promise<void> {
  const { index, tree } = await store.tree()
  assert.equal(index, await store.lastIndex())
  const snapshot = await faults.backend?.snapshot()
  assert.ok(snapshot !== undefined)
  const rebuilt = new Tree()
  for (const { class: storageClass, key, leaf } of await snapshot.leaves('', Number.MAX_SAFE_INTEGER)) {
    rebuilt.add(storageClass, key, leaf, bucketKeyOf(importSecret(LEAF_KEY)))
  }
  await snapshot.close()
  assert.deepEqual(tree.roots(), rebuilt.roots())
  const copy = new Tree()
  for (const page of tree.pages()) copy.load(page)
  assert.deepEqual(copy.differences(rebuilt), [])
  const { index: rootsIndex, ...roots } = await store.roots()
  assert.deepEqual([rootsIndex, roots], [index, rebuilt.roots()])
}
