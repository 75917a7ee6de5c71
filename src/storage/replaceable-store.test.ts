import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import { type Store, systemScope } from './contract.ts'
import { WriteNotAllowed } from './errors.ts'
import { createMemoryStore } from './memory-store.ts'
import { ReplaceableStore } from './replaceable-store.ts'

const newStore = (): Store => {
  const { random, clock } = realWorld()
  const store = createMemoryStore({ random, clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  return store
}

const write = (store: Store): Promise<void> =>
  store.transaction(async (tx) => tx.put(systemScope, 'root/core/keyring', Buffer.from('x')))

test('what is not writable stays so in the store that takes the place of another', async () => {
  const store = new ReplaceableStore(newStore())
  await store.setWritable((storageClass) => storageClass !== 'replicated')
  await assert.rejects(write(store), WriteNotAllowed)
  await store.putAway()
  store.putBack(newStore())
  await assert.rejects(write(store), WriteNotAllowed)
  await store.setWritable(() => true)
  await write(store)
  await store.close()
})

test('what becomes writable, or stops to be, while there is no store holds for the next one', async () => {
  const store = new ReplaceableStore(newStore())
  await store.putAway()
  await store.setWritable((storageClass) => storageClass !== 'replicated')
  store.putBack(newStore())
  await assert.rejects(write(store), WriteNotAllowed)
  await store.putAway()
  await store.setWritable(() => true)
  store.putBack(newStore())
  await write(store)
  await store.close()
})
