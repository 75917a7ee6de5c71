import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SinkProgress } from '../sink/sink-parts.ts'
import { PrimaryView } from './primary-view.ts'

const beat = (lastIndex: number, sentAtMs: number, committedAtMs: number) =>
  ({
    kind: 'beat',
    echo: undefined,
    epoch: 1,
    root: undefined,
    apiAddress: '',
    addresses: [],
    lastIndex,
    sentAtMs,
    committedAtMs,
  }) as const
const at = (index: number, what: SinkProgress['what'] = 'stream'): SinkProgress => ({
  what,
  index,
  entries: 0,
  totalEntries: 0,
})

function newView() {
  const time = { ms: 10_000 }
  return { time, view: new PrimaryView({ nowMs: () => time.ms, monotonicMs: () => time.ms }) }
}

test('nothing is known of a primary that was not heard', () => {
  const { view } = newView()
  assert.deepEqual(view.figures, {
    progress: undefined,
    primaryIndex: undefined,
    lagMs: undefined,
    primaryVersion: undefined,
    unheardMs: undefined,
  })
  assert.equal(view.canaryAgeMs, undefined)
})

test('the lag counts from the commit of the oldest change that is missing, by the clock of the primary', () => {
  const { time, view } = newView()
  view.progressed(at(5))
  view.heard(beat(5, 15_000, 14_000), 5_000)
  assert.deepEqual([view.figures.lagMs, view.canaryAgeMs], [0, 0])
  time.ms += 1_000
  view.heard(beat(6, 16_000, 15_700), 5_000)
  time.ms += 1_000
  view.heard(beat(9, 17_000, 16_900), 5_000)
  assert.deepEqual([view.figures.lagMs, view.figures.primaryIndex, view.canaryAgeMs], [1_300, 9, 2_000])
  view.progressed(at(8))
  assert.deepEqual([view.figures.lagMs, view.canaryAgeMs], [100, 1_000])
  view.progressed(at(9))
  assert.deepEqual([view.figures.lagMs, view.canaryAgeMs, view.wholeIndex], [0, 0, 9])
})

test('a commit whose time is not known counts from when it was heard of', () => {
  const { time, view } = newView()
  view.progressed(at(5))
  view.heard(beat(6, 10_000, 0), undefined)
  time.ms += 400
  assert.equal(view.figures.lagMs, 400)
})

test('a copy that is running has nothing for certain, wherever it stands', () => {
  const { view } = newView()
  view.progressed(at(9, 'copy'))
  view.heard(beat(9, 10_000, 9_000), 0)
  assert.deepEqual([view.wholeIndex, view.figures.lagMs, view.canaryAgeMs], [0, 1_000, undefined])
  view.progressed(at(9))
  assert.deepEqual([view.wholeIndex, view.figures.lagMs, view.canaryAgeMs], [9, 0, 0])
})
