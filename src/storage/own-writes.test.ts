import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import { systemScope } from './contract.ts'
import { createMemoryStore } from './memory-store.ts'
import { noteOwn, type OwnWrites } from './own-writes.ts'

const KEYS = {
  replicated: 'root/sys/policy/x',
  local: 'root/sys/token/id/x',
  ignored: 'root/core/version/x',
} as const

function newStore() {
  const { random, clock } = realWorld()
  const store = createMemoryStore({ random, clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  return store
}

for (const [name, key] of Object.entries(KEYS)) {
  const verb = name === 'local' ? 'is' : 'is not'
  test(`work that puts or deletes what is ${name} ${verb} noted as written here`, async () => {
    const store = newStore()
    for (const kind of ['put', 'delete'] as const) {
      const own: OwnWrites = { isWritten: false }
      await noteOwn(
        own,
        (work) => store.transaction(work),
        async (tx) => (kind === 'put' ? tx.put(systemScope, key, Buffer.from('x')) : tx.delete(systemScope, key)),
      )
      assert.equal(own.isWritten, name === 'local', kind)
    }
    await store.close()
  })
}

test('reads pass through, and what was not committed is not noted', async () => {
  const store = newStore()
  const own: OwnWrites = { isWritten: false }
  const transaction = <T>(work: Parameters<typeof store.transaction<T>>[0]): Promise<T> => store.transaction(work)
  await store.transaction(async (tx) => tx.put(systemScope, KEYS.local, Buffer.from('x')))
  const read = await noteOwn(own, transaction, async (tx) => [
    String(await tx.get(KEYS.local)),
    await tx.list('root/sys/token/id/'),
    (await tx.scan('root/sys/', '', 10)).length,
  ])
  assert.deepEqual(read, ['x', ['x'], 1])
  const failing = noteOwn(own, transaction, async (tx) => {
    tx.put(systemScope, KEYS.local, Buffer.from('y'))
    throw new Error('changed its mind')
  })
  await assert.rejects(failing, /changed its mind/)
  let attempts = 0
  // The first attempt lost to another commit.
  const twice = async <T>(work: Parameters<typeof store.transaction<T>>[0]): Promise<T> => {
    await assert.rejects(
      transaction(async (tx) => {
        await work(tx)
        throw new Error('lost')
      }),
    )
    return transaction(work)
  }
  await noteOwn(own, twice, async (tx) => {
    if (attempts++ === 0) tx.put(systemScope, KEYS.local, Buffer.from('z'))
  })
  assert.equal(attempts, 2)
  assert.equal(own.isWritten, false)
  await store.close()
})
