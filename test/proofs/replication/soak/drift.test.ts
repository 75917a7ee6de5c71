// What a soak says of memory and open files, over samples that are made up.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type PseudoRandom, pseudoRandom } from '../../../fixtures/pseudo-random.ts'
import { driftOf, type Sample } from './drift.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Lives of so many minutes, one behind the other, for two hours. Each begins anew, and grows at first. */
function lives(random: PseudoRandom, minutes: number, perHour: number): readonly Sample[] {
  const samples: Sample[] = []
  for (let atMs = 0; atMs < 2 * HOUR_MS; atMs += 10_000) {
    const ageMs = atMs % (minutes * MINUTE_MS)
    const begins = 100 + 60 * Math.min(1, ageMs / (18 * MINUTE_MS))
    const value = begins + (perHour * ageMs) / HOUR_MS + random.int(30)
    samples.push({ life: `one ${Math.floor(atMs / minutes / MINUTE_MS)}`, atMs, ageMs, value })
  }
  return samples
}

for (const minutes of [120, 50]) {
  test(`what grows by 60 in an hour is told from what does not, in lives of ${minutes} minutes`, () => {
    const random = pseudoRandom(minutes)
    const [flat, growing] = [0, 60].map((perHour) => driftOf(lives(random, minutes, perHour), HOUR_MS))
    assert.ok(flat !== undefined && growing !== undefined)
    assert.ok(flat.perHour - 2 * flat.error < 10, JSON.stringify(flat))
    assert.ok(growing.perHour - 2 * growing.error > 30, JSON.stringify(growing))
    assert.ok(Math.abs(growing.perHour - 60) < 3 * growing.error + 1, JSON.stringify(growing))
  })
}

test('lives that are no longer than the beginning of one say nothing', () => {
  assert.equal(driftOf(lives(pseudoRandom(4), 20, 60), HOUR_MS), undefined)
})
