import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { JobQueue } from './job-queue.ts'

const LIMITS = { short: 5, long: 2 }

function takeAll(queue: JobQueue<string, string>, takes: 'short' | 'long'): string[] {
  const taken: string[] = []
  for (let job = queue.take(takes); job !== undefined; job = queue.take(takes)) taken.push(job)
  return taken
}

test('each client has its turn, however many jobs another has', () => {
  const queue = new JobQueue<string, string>(LIMITS)
  for (const job of ['a1', 'a2', 'a3']) queue.add('a', 'short', job)
  queue.add('b', 'short', 'b1')
  queue.add('c', 'short', 'c1')
  assert.deepEqual(takeAll(queue, 'short'), ['a1', 'b1', 'c1', 'a2', 'a3'])
})

test('a full queue takes no more of its kind, and goes on when one was taken', () => {
  const queue = new JobQueue<string, string>(LIMITS)
  assert.deepEqual(
    [1, 2, 3].map((n) => queue.add('a', 'long', `l${n}`)),
    [true, true, false],
  )
  assert.equal(queue.add('a', 'short', 's1'), true)
  assert.equal(queue.take('long'), 'l1')
  assert.equal(queue.add('b', 'long', 'l4'), true)
  assert.deepEqual(takeAll(queue, 'long'), ['l2', 'l4'])
  assert.deepEqual([queue.count('short'), queue.count('long')], [1, 0])
})

test('what is put back is the next of its client', () => {
  const queue = new JobQueue<string, string>(LIMITS)
  queue.add('a', 'short', 'a2')
  queue.putBack('a', 'short', 'a1')
  assert.deepEqual([queue.count('short'), ...takeAll(queue, 'short')], [2, 'a1', 'a2'])
})

test('the jobs of a client that is gone are gone, and make room', () => {
  const queue = new JobQueue<string, string>(LIMITS)
  queue.add('a', 'long', 'a1')
  queue.add('a', 'long', 'a2')
  queue.drop('a')
  assert.equal(queue.add('b', 'long', 'b1'), true)
  assert.deepEqual(queue.clear(), ['b1'])
  assert.deepEqual([queue.count('long'), queue.take('long')], [0, undefined])
})
