// Two regions with a DR secondary each: either is lost, or both, and they come back. Whole servers, over the simulated
// network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FourClusters } from '../fixtures/four-clusters.ts'

test('T62, T63: the primary is lost, then its secondary; both come back, and take their places again', async () => {
  const four = await FourClusters.start(231)
  const { a, b } = four
  await four.requireServing()
  await four.requireLevel()
  await four.lose(a)
  await four.takeOver(a)
  await four.tellAddress()
  await four.requireServing()
  await four.servers.level(b.serving, b.standIn)
  await four.lose(b)
  await four.takeOver(b)
  await four.requireServing()
  for (const region of [a, b]) await four.takeBack(region)
  await four.requireServing()
  await four.requireSame()
  // By plan, with all of them running.
  await four.takeOver(a)
  await four.tellAddress()
  await four.requireServing()
  await four.takeOver(b)
  await four.requireServing()
  assert.deepEqual([a.serving.name, b.serving.name], ['one', 'two'])
  for (const region of [a, b]) await four.standInAgain(region)
  await four.requireServing()
  await four.requireSame()
})
