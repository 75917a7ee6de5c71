import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../test/conformance/seeded-random.ts'
import { MAX_TRANSACTION_BYTES, MAX_VALUE_BYTES, type Store, systemScope } from './contract.ts'
import { StorageTooLarge } from './errors.ts'
import { createMemoryStore } from './memory-store.ts'

const clock = { nowMs: () => 1_700_000_000_000.5, monotonicMs: () => 0 }
const KEY = 'root/sys/policy/a'

const random = new SeededRandom(1)

function open(): Store {
  const store = createMemoryStore({ clock, random })
  store.setLeafKey(Buffer.alloc(32, 1))
  return store
}

test('two memory stores have nothing in common', async () => {
  const [first, second] = [open(), open()]
  await first.transaction(async (tx) => tx.put(systemScope, KEY, Buffer.from('value')))
  assert.equal(await second.get(KEY), undefined)
  assert.equal((await first.changesSince(0, 1))[0]?.committedAtMs, 1_700_000_000_000)
})

test('the largest value passes', async () => {
  const store = open()
  const value = Buffer.alloc(MAX_VALUE_BYTES, 'large ')
  await store.transaction(async (tx) => tx.put(systemScope, KEY, value))
  assert.equal((await store.get(KEY))?.equals(value), true)
})

test('a transaction that writes more than its bound is refused, what it overwrites itself does not count', async () => {
  const store = open()
  const value = Buffer.alloc(MAX_VALUE_BYTES)
  await assert.rejects(
    store.transaction(async (tx) => {
      for (let round = 0; round < 3; round++) tx.put(systemScope, KEY, value)
      const rest = MAX_TRANSACTION_BYTES - MAX_VALUE_BYTES - 2 * KEY.length
      tx.put(systemScope, 'root/sys/policy/b', value.subarray(0, rest))
      tx.put(systemScope, 'root/sys/policy/b', value.subarray(0, rest + 1))
    }),
    new StorageTooLarge('A transaction writes more than 134217728 bytes', MAX_TRANSACTION_BYTES),
  )
  assert.equal(await store.lastIndex(), 0)
})
