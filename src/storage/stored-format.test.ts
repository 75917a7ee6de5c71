// Stores of every format that was ever written must be read as they were (threats P-10).
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SeededRandom } from '../../test/conformance/seeded-random.ts'
import { FIXTURE_FIRST_COMMIT_MS, FIXTURE_LEAF_KEY, FIXTURE_TRANSACTIONS } from '../../test/fixtures/make-store.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { Transaction } from './contract.ts'
import { leafOf } from './log/leaf.ts'
import { openSqliteReader } from './sqlite/sqlite-reader.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

const clock = { nowMs: () => FIXTURE_FIRST_COMMIT_MS, monotonicMs: () => 0 }
const random = new SeededRandom(1)

/** Chains of the seven records, computed by another program from the description in docs/storage-format.md. */
const CHAINS = [
  '7c29740d2a5ba3b6296db51b4d6c38ef',
  '98380647c487a80eee477f7a1f04ae20',
  'd0c287c05b4edd8e6615bfa6c2277ba6',
  '0c16a08ec25911453316aa4be9e00594',
  '07239d6e82fd6e41676970edf6a5939f',
  '9d89bf6dc780632126515f9cec9a00db',
  '018e71adc9f4229058840ffb53235a28',
]

function copyOfStore(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'keywright-format-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'keywright.db')
  copyFileSync(new URL('../../test/fixtures/store-v1/keywright.db', import.meta.url), file)
  chmodSync(file, 0o600)
  return directory
}

/** What each transaction of the fixture left, as key and bytes. */
function expectedStates(): Map<string, Buffer>[] {
  const state = new Map<string, Buffer>()
  const tx: Pick<Transaction, 'put' | 'delete'> = {
    put: (_scope, key, value) => void state.set(key, value),
    delete: (_scope, key) => void state.delete(key),
  }
  return FIXTURE_TRANSACTIONS.map((write) => {
    write(tx as Transaction)
    return new Map([...state].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
  })
}

test('a store of format 1 shows every entry and every record as it was written', async (t) => {
  const reader = await openSqliteReader(copyOfStore(t))
  const states = expectedStates()
  const entries = await reader.scan('', '', Number.POSITIVE_INFINITY)
  assert.deepEqual(new Map(entries.map(({ key, value }) => [key, value])), states.at(-1))
  assert.equal(await reader.lastIndex(), CHAINS.length)
  const changes = await reader.changesSince(0, 100)
  assert.deepEqual(
    changes.map(({ index, epoch, committedAtMs, chain }) => ({
      index,
      epoch,
      committedAtMs,
      chain: chain.toString('hex'),
    })),
    CHAINS.map((chain, at) => ({ index: at + 1, epoch: 1, committedAtMs: FIXTURE_FIRST_COMMIT_MS + at, chain })),
  )
  const replayed = new Map<string, Buffer>()
  for (const [at, { operations }] of changes.entries()) {
    for (const { kind, key, value } of operations) kind === 'put' ? replayed.set(key, value) : replayed.delete(key)
    assert.deepEqual(new Map([...replayed].sort()), new Map([...(states[at] ?? [])].sort()))
  }
  await reader.close()
})

test('the leaves of a store of format 1 are those of its entries', async (t) => {
  const reader = await openSqliteReader(copyOfStore(t))
  const leafKey = importSecret(FIXTURE_LEAF_KEY)
  const leaves = new Map<string, string>()
  for (const { kind, class: storageClass, scope, key, value, oldLeaf, newLeaf } of (
    await reader.changesSince(0, 100)
  ).flatMap(({ operations }) => operations)) {
    assert.equal(oldLeaf.toString('hex'), leaves.get(key) ?? '', key)
    const isInTree = kind === 'put' && storageClass !== 'ignored'
    assert.deepEqual(newLeaf, isInTree ? leafOf(leafKey, storageClass, scope.mount, key, value) : Buffer.alloc(0), key)
    leaves.set(key, newLeaf.toString('hex'))
  }
  await reader.close()
})

test('a store of format 1 can be written', async (t) => {
  const directory = copyOfStore(t)
  const store = await openSqliteStore({ directory, clock, random })
  store.setLeafKey(FIXTURE_LEAF_KEY)
  for (const write of FIXTURE_TRANSACTIONS.slice(-2)) await store.transaction(async (tx) => write(tx))
  assert.equal(await store.lastIndex(), CHAINS.length + 1)
  await store.close()
})
