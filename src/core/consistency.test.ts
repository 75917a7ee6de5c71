// What a secondary takes for its primary's word, while another cluster takes over from that one. The whole of it, on
// clusters: test/coverage/consistency.test.ts, test/replication/four-clusters.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { ACTIVE_PRIMARY } from '../api/node-role.ts'
import { Arrivals } from '../replication/consistency/arrivals.ts'
import type { IndexKey } from '../replication/consistency/index-key.ts'
import type { Gap } from '../replication/consistency/lost-writes.ts'
import { DEFAULT_CONSISTENCY } from '../replication/consistency/settings.ts'
import type { Position } from '../storage/peer-log.ts'
import { Consistency } from './consistency.ts'

const CHAIN = Buffer.alloc(16)
const JUMP = 2 ** 20

/** A secondary whose state the test changes; `commit` wakes who waits. */
function stage(awaited = 120) {
  const time = steppedTime(0)
  const state = {
    index: 1,
    shared: 0,
    applied: 100,
    isWhole: true,
    gaps: [] as readonly Gap[],
    own: undefined as Buffer | undefined,
  }
  let committed = Promise.withResolvers<number>()
  const position = (): Position => ({
    index: state.index,
    chain: CHAIN,
    epoch: 1,
    historyId: CHAIN,
    lastReplicatedIndex: state.shared,
    lastLocalIndex: 0,
    origins: [{ family: 'performance', historyId: CHAIN, index: state.applied, chain: CHAIN }],
  })
  const consistency = new Consistency({
    settings: DEFAULT_CONSISTENCY,
    key: {} as IndexKey,
    arrivals: new Arrivals({ position, committedAfter: () => committed.promise }, time.timers),
    nodeRole: () => ({ ...ACTIVE_PRIMARY, performance: 'secondary' }),
    clusterId: () => 'here',
    store: { histories: async () => [] },
    lostWrites: async () => state.gaps,
    ownHistory: async () => state.own,
    isWhole: async () => state.isWhole,
    catchUp: () => undefined,
  })
  const commit = async (changes: Partial<typeof state>) => {
    Object.assign(state, { index: state.index + 1, ...changes })
    const { resolve } = committed
    committed = Promise.withResolvers()
    resolve(state.index)
    await new Promise(setImmediate)
  }
  const noted = { index: 0, isLate: false }
  const arriving = consistency.arrived({ historyId: '00', index: awaited }, noted)
  let isDone = false
  void arriving.then(() => {
    isDone = true
  })
  return { time, commit, noted, arriving, isDone: () => isDone }
}

test('a write that another cluster took over without is not taken for one that has come', async () => {
  const { commit, arriving, noted } = stage()
  await commit({ applied: JUMP, gaps: [{ after: 110, before: JUMP }] })
  await arriving
  assert.deepEqual(noted, { index: 120, isLate: true })
})

test('a write that the cluster which took over had got has come with it', async () => {
  const { commit, arriving, noted } = stage()
  await commit({ applied: JUMP, gaps: [{ after: 130, before: JUMP }] })
  await arriving
  assert.deepEqual(noted, { index: 120, isLate: false })
})

test('while all is compared nothing has come, whatever the place in the log', async () => {
  const { commit, arriving, noted, isDone, time } = stage()
  await commit({ applied: JUMP, isWhole: false })
  await commit({ applied: JUMP + 1 })
  assert.equal(isDone(), false)
  await commit({ isWhole: true })
  await arriving
  assert.deepEqual([noted.isLate, time.waiting()], [false, []])
})

test('a former primary has its own log up to its end, and nothing in numbers that another one gives', async () => {
  const { commit, isDone, arriving, noted } = stage()
  await commit({ own: Buffer.alloc(16, 1), index: 2 * JUMP, shared: 119 })
  assert.equal(isDone(), false, 'in another history it is another log')
  await commit({ own: CHAIN, index: 119 })
  assert.equal(isDone(), false, 'the log does not go so far')
  await commit({ index: 121 })
  await arriving
  assert.deepEqual(noted, { index: 120, isLate: false })
  const behind = stage(JUMP + 1)
  await behind.commit({ own: CHAIN, index: JUMP + 10, shared: JUMP - 1 })
  assert.equal(behind.isDone(), false, 'who was promoted begins there')
  await behind.commit({ index: JUMP + 11, shared: JUMP })
  await behind.arriving
})
