import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deadlines } from './deadlines.ts'

/** Time that the test moves, second by second. */
function steppedTime() {
  let nowMs = 0
  let tick: (() => void) | undefined
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const timers = {
    after: (_delayMs: number, work: () => void) => {
      tick = work
      return {
        cancel: () => {
          tick = undefined
        },
      }
    },
    sleep: async () => {},
  }
  return {
    clock,
    timers,
    pass: (seconds: number) => {
      for (let i = 0; i < seconds; i++) {
        nowMs += 1_000
        tick?.()
      }
    },
    /** The thread does not get to look meanwhile. */
    standStill: (seconds: number) => {
      nowMs += seconds * 1_000
      tick?.()
    },
    isRunning: () => tick !== undefined,
  }
}

test('a deadline comes once, not before its time and at most two seconds after it, unless it is removed', () => {
  const time = steppedTime()
  const deadlines = new Deadlines(time)
  const queue = deadlines.queue(3_000)
  const late: string[] = []
  queue.add(() => late.push('a'))
  const removed = queue.add(() => late.push('removed'))
  time.pass(1)
  queue.add(() => late.push('b'))
  queue.remove(removed)
  time.pass(2)
  assert.deepEqual(late, [])
  time.pass(2)
  assert.deepEqual(late, ['a', 'b'])
  time.pass(10)
  assert.deepEqual(late, ['a', 'b'])
})

test('what a thread that stood still has not read yet is not late', () => {
  const time = steppedTime()
  const deadlines = new Deadlines(time)
  const queue = deadlines.queue(1_000)
  const late: string[] = []
  queue.add(() => late.push('a'))
  time.standStill(30)
  // Now it reads.
  assert.deepEqual(late, [])
  time.pass(1)
  assert.deepEqual(late, ['a'])
})

test('a length of 0 is no deadline, and a stop leaves no timer', () => {
  const time = steppedTime()
  const deadlines = new Deadlines(time)
  const none = deadlines.queue(0)
  none.remove(none.add(() => assert.fail('there is none')))
  time.pass(100)
  assert.equal(time.isRunning(), true)
  deadlines.stop()
  assert.equal(time.isRunning(), false)
})
