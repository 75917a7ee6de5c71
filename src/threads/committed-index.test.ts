// Several threads wait on the counter of one writer: here on one thread and from another one, which is the same memory.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { MessageChannel, Worker } from 'node:worker_threads'
import { StorageClosed } from '../storage/errors.ts'
import { CommittedFollower, newCommittedIndex, tellClosed, tellCommitted, tellOpened } from './committed-index.ts'

test('a waiter is told of the first commit after its index, beyond 32 bits too', async () => {
  const committed = newCommittedIndex()
  const high = 2 ** 40
  tellOpened(committed, high)
  const follower = new CommittedFollower(committed)
  assert.equal(await follower.after(high - 1), high)
  const told: number[] = []
  const waiting = [high + 5, high, high].map(async (index) => void told.push(await follower.after(index)))
  tellCommitted(committed, high + 1)
  await Promise.all(waiting.slice(1))
  assert.deepEqual(told, [high + 1, high + 1])
  tellCommitted(committed, high + 6)
  await Promise.all(waiting)
  assert.deepEqual(told.slice(2), [high + 6])
})

test('a commit of another thread wakes this one', async () => {
  const committed = newCommittedIndex()
  tellOpened(committed, 1)
  const waiting = new CommittedFollower(committed).after(1)
  // Waiting alone does not keep a process alive, and the thread may have ended before this one looks.
  const { port1, port2 } = new MessageChannel()
  port1.ref()
  const source = `
    const { workerData } = require('node:worker_threads')
    Atomics.store(workerData, 0, 2n)
    Atomics.notify(workerData, 0)`
  const thread = new Worker(source, { eval: true, workerData: committed })
  assert.equal(await waiting, 2)
  await new Promise((ended) => thread.once('exit', ended))
  port1.close()
  port2.close()
})

test('a store that is put away ends the waiting, and the next one is waited for again', async () => {
  const committed = newCommittedIndex()
  const follower = new CommittedFollower(committed)
  await assert.rejects(follower.after(0), StorageClosed)
  tellOpened(committed, 3)
  const waiting = follower.after(3)
  tellClosed(committed)
  await assert.rejects(waiting, StorageClosed)
  await assert.rejects(follower.after(0), StorageClosed)
  tellOpened(committed, 9)
  assert.equal(await follower.after(3), 9)
  const next = follower.after(9)
  await nextLoop()
  tellCommitted(committed, 10)
  assert.equal(await next, 10)
})

test('a store that is put away ends the waiting also if the next one is open before this thread looks', async () => {
  for (const next of [3, 9]) {
    const committed = newCommittedIndex()
    tellOpened(committed, 3)
    const follower = new CommittedFollower(committed)
    const waiting = follower.after(3)
    tellClosed(committed)
    tellOpened(committed, next)
    const behind = follower.after(next)
    await assert.rejects(waiting, StorageClosed)
    tellCommitted(committed, next + 1)
    assert.equal(await behind, next + 1)
  }
})

test('a commit while the store is kept from the other threads tells nothing, as in an activation', async () => {
  const committed = newCommittedIndex()
  const follower = new CommittedFollower(committed)
  // The first commits of a start, before the counter has a beginning.
  tellCommitted(committed, 2)
  await assert.rejects(follower.after(0), StorageClosed)
  tellOpened(committed, 3)
  tellClosed(committed)
  tellCommitted(committed, 4)
  await assert.rejects(follower.after(3), StorageClosed)
  tellOpened(committed, 5)
  assert.equal(await follower.after(3), 5)
})
