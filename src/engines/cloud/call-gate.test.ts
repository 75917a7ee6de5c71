import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MOST_CONNECTIONS } from '../../lib/outbound.ts'
import { type Admission, CallGate, type HostQueue } from './call-gate.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** `count` calls of a mount; those that were admitted and have not left. */
function fill(lane: HostQueue, count: number) {
  const inside: Admission[] = []
  const all = Array.from({ length: count }, () => lane.enter())
  for (const each of all) void each?.admitted.then(() => inside.push(each))
  return { inside, all }
}

test('L-12: a mount has 32 calls under way and 256 that wait, and another mount goes past it at once', async () => {
  const gate = new CallGate()
  const slow = gate.newLane()
  const { inside, all } = fill(slow, 289)
  await settled()
  assert.deepEqual([inside.length, slow.waiting], [32, 256])
  assert.equal(all.at(-1), undefined)
  const other = fill(gate.newLane(), 1)
  await settled()
  assert.equal(other.inside.length, 1)
})

test('L-12: mounts that take all connections give the next one to whoever has the fewest', async () => {
  const gate = new CallGate()
  const slow = Array.from({ length: MOST_CONNECTIONS / 32 }, () => fill(gate.newLane(), 100))
  await settled()
  assert.equal(slow.flatMap(({ inside }) => inside).length, MOST_CONNECTIONS)
  const quick = fill(gate.newLane(), 1)
  await settled()
  assert.equal(quick.inside.length, 0)
  slow[0]?.inside[0]?.leave()
  await settled()
  assert.equal(quick.inside.length, 1)
  assert.equal(slow[0]?.inside.length, 32, 'the place was not taken by one that waited longer')
})

test('whoever stops waiting leaves the queue, and leaving twice gives back one place', async () => {
  const gate = new CallGate()
  const lane = gate.newLane()
  const { inside, all } = fill(lane, 288)
  await settled()
  for (const each of all.slice(32, 287)) each?.leave()
  assert.equal(lane.waiting, 1)
  const late = lane.enter()
  assert.ok(late !== undefined)
  inside[0]?.leave()
  inside[0]?.leave()
  await settled()
  assert.deepEqual([lane.running, lane.waiting, inside.length], [32, 1, 33])
})
