import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitWaiters } from './commit-waiters.ts'

test('a commit wakes those whom it has passed, in order, and no other', async () => {
  const waiters = new CommitWaiters()
  const woken: string[] = []
  const waiting = [7, 5, 6, 5, 9].map(async (index, at) => {
    const committed = await waiters.after(index, 4)
    woken.push(`${at}:${index}->${committed}`)
  })
  waiters.wake(5)
  await Promise.resolve()
  assert.deepEqual(woken, [])
  waiters.wake(7)
  await Promise.all([1, 2, 3].map((at) => waiting[at]))
  assert.deepEqual(woken, ['1:5->7', '3:5->7', '2:6->7'])
  assert.equal(waiters.size, 2)
  waiters.wake(10)
  await Promise.all(waiting)
  assert.deepEqual(woken.slice(3), ['0:7->10', '4:9->10'])
})

test('what is committed already is told at once, and after the end too', async () => {
  const waiters = new CommitWaiters()
  assert.equal(await waiters.after(3, 4), 4)
  const waiting = waiters.after(4, 4)
  waiters.close(new RangeError('the first cause'))
  waiters.close(new Error('a later one'))
  await assert.rejects(waiting, new RangeError('the first cause'))
  await assert.rejects(waiters.after(4, 4), new RangeError('the first cause'))
  assert.equal(await waiters.after(3, 4), 4)
})
