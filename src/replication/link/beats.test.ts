import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Beats } from './beats.ts'

const FACTS = { epoch: 1, lastIndex: 2, committedAtMs: 3, apiAddress: '', addresses: [] }

/** Two ends, each with its own clocks, that the test moves together. */
function twoEnds(skewMs: number) {
  const time = { ms: 1_000_000 }
  const here = { nowMs: () => time.ms, monotonicMs: () => time.ms / 2 + time.ms / 2 }
  const there = { nowMs: () => time.ms + skewMs, monotonicMs: () => time.ms - 999_000 }
  return { time, one: new Beats(here), other: new Beats(there) }
}

test('round trip and skew come from the echo of a beat, whatever it was held for', () => {
  const { time, one, other } = twoEnds(5_000)
  for (let beat = 0; beat < 3; beat++) {
    const sent = one.next(FACTS)
    time.ms += 20
    other.received(sent)
    time.ms += 700
    const answer = other.next(FACTS)
    time.ms += 20
    one.received(answer)
    time.ms += 260
  }
  assert.deepEqual([one.roundTripMs, one.clockSkewMs], [40, 5_000])
  assert.equal(one.lastBeatMs, time.ms - 260)
})

test('a clock that is set meanwhile spoils one sample of several', () => {
  const { time, one, other } = twoEnds(0)
  for (let beat = 0; beat < 8; beat++) {
    other.received(one.next(FACTS))
    time.ms += 10
    const answer = other.next(FACTS)
    one.received(beat === 3 ? { ...answer, sentAtMs: answer.sentAtMs - 86_400_000 } : answer)
    time.ms += 990
  }
  assert.equal(one.clockSkewMs, 0)
})

test('without an echo, and with one of a beat that was never sent, nothing is known', () => {
  const { one, other } = twoEnds(0)
  one.received(other.next(FACTS))
  assert.deepEqual([one.roundTripMs, one.clockSkewMs], [undefined, undefined])
  one.received({ sentAtMs: 5, echo: { sentAtMs: 4, heldMs: 1 } })
  assert.deepEqual([one.roundTripMs, one.clockSkewMs], [undefined, undefined])
})
