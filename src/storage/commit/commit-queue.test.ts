import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { systemScope } from '../contract.ts'
import { createMemoryStore } from '../memory-store.ts'

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }
const MIB = 1024 * 1024

/** Sizes of the groups into which transactions fall that finish together. Each writes the given bytes, key included. */
async function groupsOf(transactions: number, bytes: number): Promise<number[]> {
  const groups: number[] = []
  const onCommitted = (count: number): void => void groups.push(count)
  const store = createMemoryStore({ clock, random: new SeededRandom(1), onCommitted })
  store.setLeafKey(Buffer.alloc(32, 1))
  const write = (number: number): Promise<void> => {
    const key = `root/sys/policy/${String(number).padStart(3, '0')}`
    return store.transaction(async (tx) => tx.put(systemScope, key, Buffer.alloc(bytes - key.length)))
  }
  await Promise.all(Array.from({ length: transactions }, (_, number) => write(number)))
  await store.close()
  return groups
}

test('a group has 512 transactions at most', async () => {
  assert.deepEqual(await groupsOf(512, 100), [512])
  assert.deepEqual(await groupsOf(513, 100), [512, 1])
})

test('a group that has passed 16 MiB takes no further transaction', async () => {
  assert.deepEqual(await groupsOf(17, MIB), [17])
  assert.deepEqual(await groupsOf(18, MIB), [17, 1])
  assert.deepEqual(await groupsOf(17, MIB + 1), [16, 1])
})
