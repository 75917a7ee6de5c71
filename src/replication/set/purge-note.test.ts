import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, primaryOfSet, RECEIVER, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { newAuthority } from './certificates.ts'
import { promotePrimary } from './changing-hands.ts'
import { disableFamily } from './primary-operations.ts'
import { putPurged } from './purge-note.ts'
import { EVERYTHING, encodeReach, readReach, setPath } from './records.ts'
import { becomeSecondary, copyIsWhole } from './secondary-operations.ts'
import { TRANSFER_NOTE, transferPath } from './transfer-note.ts'

const PURGED_AT = 70

/** A DR secondary of a cluster that has forgotten up to there what a filter keeps from it. */
async function standIn(seed: number, followed: number | undefined) {
  const { bundle, setId } = await primaryOfSet(seed)
  const cluster = new SetCluster(seed + 1)
  await cluster.run((tx) => becomeSecondary(tx, { bundle, receiver: RECEIVER }, NOW))
  await cluster.run((tx) => copyIsWhole(tx, 'dr', NOW))
  const reach = { mounts: new Set(['m']), namespaces: new Map(), lacksNothing: false }
  await cluster.run(async (tx) => {
    tx.put(setPath('performance', 'reach'), encodeReach({ ...EVERYTHING, reach, purgedAt: PURGED_AT }))
    if (followed !== undefined) putPurged(tx, followed)
  })
  return { cluster, setId }
}

const promote = ({ cluster, setId }: Awaited<ReturnType<typeof standIn>>) => {
  const authority = newAuthority({ setId, family: 'dr' }, cluster)
  const promotion = { family: 'dr', authority, clusterAddress: '', historyId: Buffer.alloc(16, 9), nowMs: NOW } as const
  return cluster.run((tx) => promotePrimary(tx, { ...promotion, followed: undefined }))
}
const disable = ({ cluster }: Awaited<ReturnType<typeof standIn>>) =>
  cluster.run((tx) => disableFamily(tx, 'dr', 'secondary/disable'))

for (const [name, end] of Object.entries({ 'is promoted': promote, 'leaves its set': disable }))
  test(`a DR secondary that ${name} forgets by itself what its primary had forgotten before`, async () => {
    for (const [followed, owes] of [
      [undefined, true],
      [PURGED_AT - 1, true],
      [PURGED_AT, false],
    ] as const) {
      const made = await standIn(41, followed)
      await end(made)
      const { mustPurge, purgedAt } = await made.cluster.run((tx) => readReach(tx))
      assert.deepEqual({ followed, mustPurge, purgedAt }, { followed, mustPurge: owes, purgedAt: PURGED_AT })
    }
  })

test('a DR secondary that is promoted in the middle of a comparison forgets, whatever it has followed', async () => {
  for (const [what, owes] of [
    ['difference', true],
    ['copy', false],
  ] as const) {
    const made = await standIn(43, PURGED_AT)
    await made.cluster.run(async (tx) => tx.put(transferPath('dr'), TRANSFER_NOTE.encode({ what, after: '' })))
    await promote(made)
    const { mustPurge } = await made.cluster.run((tx) => readReach(tx))
    assert.equal(mustPurge, owes, what)
  }
})
