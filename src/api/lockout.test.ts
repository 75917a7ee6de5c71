import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { fail, Refusal } from './errors.ts'
import { DEFAULT_LOCKOUT, Lockout } from './lockout.ts'

function stage(settings = DEFAULT_LOCKOUT) {
  let nowMs = 1_000_000
  const lockout = new Lockout({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  let tried = 0
  const attempt = (right: boolean) => () => {
    tried += 1
    return new Promise<string>((resolve, reject) =>
      setImmediate(() => (right ? resolve('in') : reject(fail('bad_request', ['wrong'])))),
    )
  }
  const guess = (right = false) => lockout.guard('bob', settings, attempt(right)).catch(codeOf)
  const advance = (seconds: number) => {
    nowMs += seconds * 1000
  }
  return { lockout, guess, advance, tried: () => tried }
}
const codeOf = (cause: unknown): string => (cause instanceof Refusal ? cause.code : String(cause))

test('after five failures nothing is tried for a quarter of an hour', async () => {
  const { guess, advance, tried } = stage()
  for (let i = 0; i < 5; i++) assert.equal(await guess(), 'bad_request')
  assert.equal(await guess(true), 'permission_denied')
  advance(899)
  assert.equal(await guess(true), 'permission_denied')
  assert.equal(tried(), 5)
  advance(1)
  assert.equal(await guess(true), 'in')
})

test('guessing in parallel gives no more tries', async () => {
  const { guess, tried } = stage()
  const answers = await Promise.all(Array.from({ length: 100 }, () => guess()))
  assert.equal(tried(), 5)
  assert.equal(answers.filter((answer) => answer === 'permission_denied').length, 95)
})

test('a success begins the count anew, and many callers who know the secret do not lock each other out', async () => {
  const { guess } = stage()
  for (let i = 0; i < 4; i++) await guess()
  assert.equal(await guess(true), 'in')
  for (let i = 0; i < 4; i++) assert.equal(await guess(), 'bad_request')
  assert.equal(await guess(true), 'in')
  const answers = await Promise.all(Array.from({ length: 50 }, () => guess(true)))
  assert.ok(answers.every((answer) => answer === 'in'))
})

test('a flood of made-up names does not unlock a name; counts of others are forgotten, the oldest first', async () => {
  const { lockout, guess } = stage()
  for (let i = 0; i < 5; i++) await guess()
  const fails = (name: string) =>
    lockout.guard(name, DEFAULT_LOCKOUT, () => Promise.reject(fail('bad_request', ['wrong']))).catch(codeOf)
  for (let i = 0; i < 4; i++) await fails('alice')
  for (let i = 0; i < 100_000; i++) await fails(`made-up-${i}`)
  assert.equal(await guess(true), 'permission_denied')
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), ['bob'])
  // Another one would have locked her.
  assert.equal(await fails('alice'), 'bad_request')
  assert.equal(await fails('alice'), 'bad_request')
  lockout.unlock('bob')
  assert.equal(await guess(true), 'in')
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), [])
})

test('failures that lie far apart do not add up', async () => {
  const { guess, advance } = stage()
  for (let i = 0; i < 20; i++) {
    assert.equal(await guess(), 'bad_request')
    advance(900)
  }
})

const DURATIONS = [
  { name: 'a lock that is longer than the count is kept', durationSeconds: 900, counterResetSeconds: 60 },
  { name: 'a lock that is shorter than the count is kept', durationSeconds: 60, counterResetSeconds: 900 },
]
for (const { name, durationSeconds, counterResetSeconds } of DURATIONS) {
  test(`${name} ends with its own duration, and the count with its own`, async () => {
    const { guess, advance, lockout } = stage({ threshold: 3, durationSeconds, counterResetSeconds })
    const settings = { threshold: 3, durationSeconds, counterResetSeconds }
    for (let i = 0; i < 3; i++) assert.equal(await guess(), 'bad_request')
    advance(durationSeconds - 1)
    assert.equal(await guess(true), 'permission_denied')
    assert.deepEqual(lockout.locked(settings), ['bob'])
    advance(1)
    assert.deepEqual(lockout.locked(settings), [])
    for (let i = 0; i < 2; i++) assert.equal(await guess(), 'bad_request')
    advance(counterResetSeconds - 1)
    // The third in time.
    assert.equal(await guess(), 'bad_request')
    assert.equal(await guess(true), 'permission_denied')
    advance(durationSeconds)
    for (let i = 0; i < 2; i++) assert.equal(await guess(), 'bad_request')
    advance(counterResetSeconds)
    for (let i = 0; i < 3; i++) assert.equal(await guess(), 'bad_request')
    assert.equal(await guess(true), 'permission_denied')
  })
}

test('names longer than any that exist are counted as one: what is kept of strangers is bounded', async () => {
  const lockout = new Lockout({ nowMs: () => 0, monotonicMs: () => 0 })
  const guess = (name: string) =>
    lockout.guard(name, DEFAULT_LOCKOUT, () => Promise.reject(fail('bad_request', ['wrong']))).catch(codeOf)
  for (let i = 0; i < 5; i++) assert.equal(await guess('x'.repeat(513 + i)), 'bad_request')
  assert.equal(await guess('y'.repeat(4_000)), 'permission_denied')
  assert.equal(await guess('x'.repeat(512)), 'bad_request')
})

test('the locked names are told, and one that is unlocked is tried again', async () => {
  const { lockout, guess, advance } = stage()
  for (let i = 0; i < 4; i++) await guess()
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), [])
  await guess()
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), ['bob'])
  assert.deepEqual(lockout.locked({ ...DEFAULT_LOCKOUT, threshold: 0 }), [])
  lockout.unlock('nobody')
  lockout.unlock('bob')
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), [])
  for (let i = 0; i < 5; i++) assert.equal(await guess(), 'bad_request')
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), ['bob'])
  advance(900)
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), [])
})

test('what another cluster judges counts, and neither unlocks a name nor keeps it locked', async () => {
  const { lockout, guess, advance } = stage()
  const count = (outcome: 'right' | 'wrong', settings = DEFAULT_LOCKOUT) => lockout.count('bob', settings, outcome)
  for (let i = 0; i < 4; i++) count('wrong')
  count('right')
  for (let i = 0; i < 4; i++) count('wrong')
  count('wrong', { ...DEFAULT_LOCKOUT, disabled: true })
  assert.deepEqual(lockout.locked(DEFAULT_LOCKOUT), [])
  assert.equal(await guess(), 'bad_request')
  advance(800)
  for (const outcome of ['right', 'wrong'] as const) count(outcome)
  assert.equal(await guess(true), 'permission_denied')
  advance(100)
  assert.equal(await guess(true), 'in')
})

test('a name is one, however it is spelled', async () => {
  const lockout = new Lockout({ nowMs: () => 0, monotonicMs: () => 0 }, (name) => name.toLowerCase())
  const guess = (name: string) =>
    lockout.guard(name, DEFAULT_LOCKOUT, () => Promise.reject(fail('bad_request', ['wrong']))).catch(codeOf)
  for (const name of ['Ann', 'ann', 'ANN', 'aNn', 'anN']) assert.equal(await guess(name), 'bad_request')
  assert.equal(await guess('Ann'), 'permission_denied')
  lockout.unlock('ANN')
  assert.equal(await guess('Ann'), 'bad_request')
})
