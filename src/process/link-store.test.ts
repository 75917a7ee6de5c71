import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadStore } from '../storage/contract.ts'
import { StorageClosed } from '../storage/errors.ts'
import { CommittedFollower, newCommittedIndex, tellOpened } from '../threads/committed-index.ts'
import { LinkStore } from './link-store.ts'

function stage(isThere = true) {
  const heard: string[] = []
  const committed = newCommittedIndex()
  let opened = 0
  const store = new LinkStore({
    openStore: async () => {
      if (!isThere) throw new Error('no store')
      const number = ++opened
      heard.push(`open ${number}`)
      return {
        histories: async () => [{ epoch: number }],
        close: async () => void heard.push(`close ${number}`),
      } as unknown as ReadStore
    },
    committed: new CommittedFollower(committed),
    onLost: (cause) => void heard.push(`lost: ${(cause as Error).message}`),
  })
  return { heard, store, committed }
}

test('a store that nobody uses is not opened, whatever the writing thread says', async () => {
  const { heard, store } = stage()
  await store.take('attached')
  await store.take('detached')
  await store.take('attached')
  await store.close()
  assert.deepEqual(heard, [])
})

test('a store in use is closed before the writing thread goes on, and the next one is opened', async () => {
  const { heard, store } = stage()
  await store.take('attached')
  await store.use()
  await store.use()
  assert.equal((await store.source.histories())[0]?.epoch, 1)
  await store.take('detached')
  assert.deepEqual(heard, ['open 1', 'close 1'])
  await assert.rejects(store.source.histories(), StorageClosed)
  await store.take('attached')
  assert.equal((await store.source.histories())[0]?.epoch, 2)
  await store.close()
  assert.deepEqual(heard, ['open 1', 'close 1', 'open 2', 'close 2'])
})

test('a store that is wanted while it is being replaced is opened when it may be', async () => {
  const { heard, store } = stage()
  await store.take('detached')
  await store.use()
  await assert.rejects(store.source.position(), StorageClosed)
  await store.take('attached')
  assert.deepEqual(heard, ['open 1'])
})

test('an order to close waits for an opening that is under way, and closes what it opened', async () => {
  const { heard, store } = stage()
  const orders = [store.take('attached'), store.use(), store.take('detached')]
  await Promise.all(orders)
  assert.deepEqual(heard, ['open 1', 'close 1'])
})

test('a store that cannot be opened is told of', async () => {
  const { heard, store } = stage(false)
  await store.take('attached')
  await assert.rejects(store.use(), { message: 'no store' })
  assert.deepEqual(heard, ['lost: no store'])
})

test('who waits for a commit waits on the counter of the writing thread', async () => {
  const { store, committed } = stage()
  await assert.rejects(store.source.committedAfter(0), StorageClosed)
  tellOpened(committed, 5)
  assert.equal(await store.source.committedAfter(4), 5)
})
