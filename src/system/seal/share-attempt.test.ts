import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { Refusal } from '../../api/errors.ts'
import { realWorld, type World } from '../../lib/world.ts'
import { IDLE_MS, ShareAttempt } from './share-attempt.ts'

const share = (fill: number) => Buffer.alloc(33, fill)

function stage() {
  let nowMs = 0
  const timers: (() => void)[] = []
  const real = realWorld()
  const world: World = {
    ...real,
    clock: { ...real.clock, monotonicMs: () => nowMs },
    timers: {
      ...real.timers,
      after: (_delayMs, work) => {
        timers.push(work)
        return { cancel: () => timers.splice(timers.indexOf(work), 1) }
      },
    },
  }
  const forgotten: string[] = []
  const words = { alreadyRunning: 'running', notRunning: 'none', wrongNonce: (nonce: string) => `want ${nonce}` }
  const attempt = new ShareAttempt<string>(world, words, (purpose) => forgotten.push(purpose))
  return {
    attempt,
    forgotten,
    timers,
    advance: (ms: number) => {
      nowMs += ms
    },
  }
}

test('shares are handed over when enough are there, and the progress is then 0', () => {
  const { attempt } = stage()
  const nonce = attempt.start('purpose')
  assert.equal(attempt.give(share(1), nonce, 2), undefined)
  assert.equal(attempt.running?.progress, 1)
  assert.deepEqual(attempt.give(share(2), nonce, 2), [share(1), share(2)])
  assert.deepEqual(attempt.running, { nonce, purpose: 'purpose', progress: 0 })
})

test('one attempt at a time', () => {
  const { attempt } = stage()
  attempt.start('a')
  assert.throws(() => attempt.start('b'), { message: 'running' })
})

test('a wrong nonce is refused, and where nothing runs every one is', () => {
  const { attempt } = stage()
  assert.throws(() => attempt.give(share(1), '', 2), { message: 'none' })
  const nonce = attempt.start('a')
  assert.throws(() => attempt.give(share(1), 'x', 2), { message: `want ${nonce}` })
  assert.equal(attempt.running?.progress, 0)
})

test('T-19: a share given twice is refused, and the progress stays', () => {
  const { attempt } = stage()
  const nonce = attempt.start('a')
  attempt.give(share(1), nonce, 3)
  assert.throws(() => attempt.give(share(1), nonce, 3), Refusal)
  assert.equal(attempt.running?.progress, 1)
})

test('S-02: an attempt that is left alone ends, one that goes on does not', () => {
  const { attempt, advance, forgotten } = stage()
  const nonce = attempt.start('a')
  advance(IDLE_MS - 1)
  attempt.give(share(1), nonce, 3)
  advance(IDLE_MS - 1)
  assert.equal(attempt.running?.progress, 1)
  advance(1)
  assert.equal(attempt.running, undefined)
  assert.deepEqual(forgotten, ['a'])
  attempt.start('b')
})

test('what was given is wiped when the time is over, though nobody asks', () => {
  const { attempt, timers, forgotten } = stage()
  attempt.start('a')
  assert.equal(timers.length, 1)
  timers[0]?.()
  assert.deepEqual([forgotten, timers.length, attempt.running], [['a'], 0, undefined])
})

test('it keeps copies: the caller may wipe what it gave', () => {
  const { attempt } = stage()
  const nonce = attempt.start('a')
  const given = share(1)
  attempt.give(given, nonce, 2)
  given.fill(0)
  assert.deepEqual(attempt.give(share(2), nonce, 2)?.[0], share(1))
})
