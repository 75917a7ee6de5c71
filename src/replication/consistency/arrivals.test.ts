// Waiting for a place of the store, by a clock that the test moves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steppedTime } from '../../../test/fixtures/stepped-time.ts'
import { realWorld } from '../../lib/world.ts'
import { systemScope } from '../../storage/contract.ts'
import { StorageClosed } from '../../storage/errors.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import type { Position } from '../../storage/peer-log.ts'
import { Arrivals } from './arrivals.ts'

function stage() {
  const { random, clock } = realWorld()
  const store = createMemoryStore({ random, clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  const time = steppedTime(0)
  let waits = 0
  const committedAfter = (index: number): Promise<number> => {
    waits++
    return store.committedAfter(index)
  }
  const arrivals = new Arrivals({ position: () => store.position(), committedAfter }, time.timers)
  const write = () => store.transaction(async (tx) => tx.put(systemScope, 'root/sys/policy/a', random.bytes(4)))
  return { store, time, arrivals, write, waits: () => waits }
}
const at =
  (index: number) =>
  (position: Position): boolean =>
    position.index >= index

test('who is there already waits for nothing, and sets no timer', async () => {
  const { arrivals, write, time, waits } = stage()
  await write()
  assert.equal(await arrivals.wait(at(1), 100), true)
  assert.equal(await arrivals.wait(at(1), 0), true)
  assert.equal(await arrivals.wait(at(2), 0), false)
  assert.deepEqual([time.waiting(), waits(), arrivals.size], [[], 0, 0])
})

test('each is woken by the commit that it waits for, and its timer is gone', async () => {
  const { arrivals, write, time } = stage()
  const woken: number[] = []
  const waiting = [2, 1, 2].map(async (index) => {
    assert.equal(await arrivals.wait(at(index), 100), true)
    woken.push(index)
  })
  await time.advance(0)
  await time.advance(99)
  assert.deepEqual(woken, [])
  await write()
  await waiting[1]
  assert.deepEqual(woken, [1])
  await write()
  await Promise.all(waiting)
  assert.deepEqual([woken, time.waiting(), arrivals.size], [[1, 2, 2], [], 0])
})

test('who waited in vain is told after its time, not before', async () => {
  const { arrivals, time, write } = stage()
  let arrived: boolean | undefined
  const waiting = arrivals.wait(at(9), 100).then((is) => {
    arrived = is
  })
  await time.advance(0)
  await time.advance(50)
  await write()
  await time.advance(49)
  assert.equal(arrived, undefined)
  await time.advance(1)
  await waiting
  assert.deepEqual([arrived, arrivals.size], [false, 0])
})

test('however many wait in vain, one wait for a commit is left', async () => {
  const { arrivals, time, write, waits } = stage()
  for (let round = 0; round < 50; round++) {
    const waiting = [1, 2, 3].map(() => arrivals.wait(at(9), 100))
    await time.advance(0)
    await time.advance(100)
    assert.deepEqual(await Promise.all(waiting), [false, false, false])
  }
  assert.equal(waits(), 1)
  const last = arrivals.wait(at(1), 100)
  await write()
  assert.equal(await last, true)
})

test('a place that is reached without a commit is seen soon, by looks that wait for one commit', async () => {
  const time = steppedTime(0)
  const { store } = stage()
  const position = await store.position()
  let isThere = false
  let commits = 0
  const committedAfter = (): Promise<number> => {
    commits++
    return new Promise(() => {})
  }
  const arrivals = new Arrivals({ position: () => position, committedAfter }, time.timers)
  const waiting = arrivals.wait(() => isThere, 1_000)
  await time.advance(0)
  for (let look = 0; look < 3; look++) await time.advance(20)
  isThere = true
  await time.advance(20)
  assert.equal(await waiting, true)
  assert.deepEqual([commits, arrivals.size], [1, 0])
})

test('when the store closes nobody waits on, and whoever comes later is told', async () => {
  const { arrivals, store } = stage()
  const waiting = arrivals.wait(at(1), 100)
  await new Promise(setImmediate)
  await store.close()
  assert.equal(await waiting, false)
  await assert.rejects(arrivals.wait(at(1), 100), StorageClosed)
  assert.equal(arrivals.size, 0)
})
