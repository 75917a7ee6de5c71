// Two regions with a DR secondary each: either is lost, or both, and they come back. Whole servers, over the simulated
// network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FourClusters } from '../fixtures/four-clusters.ts'

type Step = 'lose a' | 'lose b' | 'take a' | 'take b'
type Order = readonly ['a' | 'b', 'a' | 'b']

/** Each order in which both regions can be lost and taken over; then, in which they come back. */
const ORDERS: readonly (readonly [readonly Step[], Order])[] = [
  [
    ['lose a', 'take a', 'lose b', 'take b'],
    ['a', 'b'],
  ],
  [
    ['lose b', 'take b', 'lose a', 'take a'],
    ['b', 'a'],
  ],
  [
    ['lose a', 'lose b', 'take a', 'take b'],
    ['b', 'a'],
  ],
  [
    ['lose a', 'lose b', 'take b', 'take a'],
    ['a', 'b'],
  ],
  [
    ['lose b', 'lose a', 'take b', 'take a'],
    ['b', 'a'],
  ],
  [
    ['lose b', 'lose a', 'take a', 'take b'],
    ['a', 'b'],
  ],
]

async function taken(four: FourClusters, step: Step): Promise<void> {
  const region = step.endsWith('a') ? four.a : four.b
  if (step.startsWith('lose')) return four.lose(region)
  await four.takeOver(region)
  // Who took over knows where the primary was when it was lost itself.
  if (!four.a.isLost && !four.b.isLost && four.a.serving.name !== 'one') await four.tellAddress()
}

for (const [at, [steps, back]] of ORDERS.entries()) {
  test(`T62, T63: four clusters, ${steps.join(', ')}, and back: ${back.join(', ')}`, async () => {
    const four = await FourClusters.start(2310 + at)
    for (const step of steps) {
      await taken(four, step)
      await four.requireState()
    }
    for (const name of back) {
      await four.takeBack(four[name])
      await four.requireServing()
    }
    await four.requireSame()
    // By plan, with all of them running.
    for (const name of back) {
      await four.takeOver(four[name])
      if (name === 'a') await four.tellAddress()
      await four.requireServing()
      await four.standInAgain(four[name])
    }
    assert.deepEqual([four.a.serving.name, four.b.serving.name], ['one', 'two'])
    await four.requireServing()
    await four.requireSame()
  })
}
