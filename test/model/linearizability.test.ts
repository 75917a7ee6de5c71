import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { History, NEXT, type Step } from './linearizability.ts'

const write =
  (value: number): Step<number> =>
  () => [value, 'written']
const read: Step<number> = (state) => [state, String(state)]
const increment: Step<number> = (state) => [state + 1, String(state + 1)]

test('Q-05: a read after a write that was answered sees it', () => {
  const history = new History('register', 0)
  assert.equal(history.returned(history.called('write 1', write(1)), 'written'), undefined)
  assert.equal(history.returned(history.called('read', read), '1'), undefined)
  assert.match(history.returned(history.called('read', read), '0') ?? '', /register: no order explains call 3/)
})

test('Q-05: a read beside a write may see either, and none behind it goes back', () => {
  const history = new History('register', 0)
  const writing = history.called('write 1', write(1))
  assert.equal(history.returned(history.called('read', read), '0'), undefined)
  assert.equal(history.returned(history.called('read', read), '1'), undefined)
  assert.notEqual(history.returned(history.called('read', read), '0'), undefined)
  assert.ok(writing > 0)
})

test('Q-05: no two increments give the same number, in whatever order they return', () => {
  const history = new History('counter', 0)
  const [a, b, c] = [1, 2, 3].map(() => history.called('increment', increment)) as [number, number, number]
  assert.equal(history.returned(b, '3'), undefined)
  assert.equal(history.returned(a, '1'), undefined)
  assert.notEqual(history.returned(c, '3'), undefined)
})

test('Q-05: an answer that nobody can foresee is taken as it comes', () => {
  const history = new History('register', 0)
  assert.equal(
    history.returned(
      history.called('anything', (state: number) => [state, undefined]),
      'x',
    ),
    undefined,
  )
  assert.equal(history.returned(history.called('read', read), '0'), undefined)
})

test('Q-05: a call of two steps may have others in between, and none after its answer', () => {
  const see: Step<number> = (state) => (state === 0 ? [state, NEXT] : [state, 'refused'])
  const two: readonly Step<number>[] = [see, write(1)]
  const history = new History('register', 0)
  const [a, b] = [history.called('first', ...two), history.called('second', ...two)]
  assert.equal(history.returned(b, 'written'), undefined)
  assert.equal(history.returned(a, 'written'), undefined)
  assert.notEqual(history.returned(history.called('third', ...two), 'written'), undefined)
})
