import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, primaryOfSet, RECEIVER, refusedWith, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { newAuthority } from './certificates.ts'
import { changePrimary, leavePrimary, promotePrimary } from './changing-hands.ts'
import { clearHandingOver, noteHandingOver } from './handing-over-note.ts'
import { readState } from './records.ts'
import { becomeSecondary, copyIsWhole, movePrimary } from './secondary-operations.ts'

// The simulator found it with PERFORMANCE=1 SEED=810000653: both were promoted at once, and the promotion for
// performance was stored and answered behind what the DR secondary was sent.
test('a performance secondary that hands over to its DR secondary stays what it is in its set', async () => {
  const { bundle, setId } = await primaryOfSet(81, 'performance')
  const secondary = new SetCluster(82)
  const kept = { bundle, receiver: RECEIVER }
  await secondary.run((tx) => becomeSecondary(tx, kept, NOW))
  await secondary.run((tx) => copyIsWhole(tx, 'performance', NOW))
  await secondary.begin('dr')
  await secondary.run((tx) => noteHandingOver(tx, NOW))
  const family = 'performance' as const
  const authority = newAuthority({ setId, family }, secondary)
  const promotion = { family, authority, clusterAddress: '', historyId: Buffer.alloc(16, 9), nowMs: NOW }
  const operations = {
    promote: () => secondary.run((tx) => promotePrimary(tx, { ...promotion, followed: undefined })),
    change: () => secondary.run((tx) => changePrimary(tx, kept, true)),
    leave: () => secondary.run((tx) => leavePrimary(tx, family, false)),
    move: () => secondary.run((tx) => movePrimary(tx, family, ['https://other:8201'])),
  }
  const before = new Map(secondary.view.entries)
  for (const operation of Object.values(operations))
    await assert.rejects(operation(), refusedWith(503, /hands over, .* could be lost/))
  assert.deepEqual(secondary.view.entries, before)
  await secondary.run(async (tx) => clearHandingOver(tx))
  for (const name of ['move', 'leave', 'change', 'promote'] as const) await operations[name]()
  assert.equal((await secondary.run((tx) => readState(tx, family)))?.mode, 'primary')
})
