import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW, refusedWith, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { classify } from '../../storage/classes.ts'
import { systemScope } from '../../storage/contract.ts'
import {
  addOperationToken,
  deleteOperationToken,
  dropOperationTokens,
  isOperationToken,
  MAX_OPERATION_TOKENS,
} from './operation-tokens.ts'
import { disableFamily } from './primary-operations.ts'
import { putState, SETS_FOLDER, type SetState } from './records.ts'

/** A cluster of this mode, in memory. */
async function clusterIn(mode: SetState['mode']): Promise<SetCluster> {
  const cluster = new SetCluster(1)
  const state = { mode, setId: cluster.random.uuid(), epoch: 1, clusterAddress: '', isFenced: false, sinceMs: NOW }
  await cluster.run(async (tx) => putState(tx, 'dr', state))
  return cluster
}

const add = (cluster: SetCluster, token: string, nowMs = NOW): Promise<void> =>
  cluster.run((tx) => addOperationToken(tx, token, nowMs))
const isToken = (cluster: SetCluster, token: string): Promise<boolean> =>
  cluster.run((tx) => isOperationToken(tx, token))
const keys = (cluster: SetCluster): string[] =>
  [...cluster.view.entries.keys()].filter((key) => key.includes('operation-token'))

test('a token is known by its digest, of class ignored, until it is deleted', async () => {
  for (const mode of ['secondary', 'bootstrapping'] as const) {
    const cluster = await clusterIn(mode)
    await add(cluster, 'hvs.one')
    await add(cluster, 'hvs.two')
    assert.deepEqual(
      [await isToken(cluster, 'hvs.one'), await isToken(cluster, 'hvs.two'), await isToken(cluster, 'hvs.three')],
      [true, true, false],
    )
    for (const key of keys(cluster)) assert.equal(classify(systemScope, `${SETS_FOLDER}${key}`), 'ignored')
    assert.ok([...cluster.view.entries].every(([key, value]) => !`${key} ${value}`.includes('hvs.')))
    await cluster.run(async (tx) => deleteOperationToken(tx, 'hvs.one'))
    await cluster.run(async (tx) => deleteOperationToken(tx, 'hvs.three'))
    assert.deepEqual([await isToken(cluster, 'hvs.one'), await isToken(cluster, 'hvs.two')], [false, true])
  }
})

test('T92: all tokens go at once, and with the part in the family', async () => {
  const cluster = await clusterIn('secondary')
  for (const token of ['a', 'b', 'c']) await add(cluster, token)
  await cluster.run((tx) => dropOperationTokens(tx))
  assert.deepEqual(keys(cluster), [])
  await add(cluster, 'a')
  await cluster.run((tx) => disableFamily(tx, 'dr', 'secondary/disable'))
  assert.deepEqual(keys(cluster), [])
  await assert.rejects(add(cluster, 'a'), refusedWith(400, /^Only a secondary for disaster recovery/))
})

test('a primary has no operation tokens', async () => {
  const cluster = await clusterIn('primary')
  await assert.rejects(add(cluster, 'a'), refusedWith(400, /^Only a secondary for disaster recovery/))
  assert.deepEqual(keys(cluster), [])
})

test('where there is no more room the oldest token goes', async () => {
  const cluster = await clusterIn('secondary')
  for (let each = 0; each <= MAX_OPERATION_TOKENS; each++) await add(cluster, `token ${each}`, NOW + each)
  assert.equal(keys(cluster).length, MAX_OPERATION_TOKENS)
  assert.deepEqual([await isToken(cluster, 'token 0'), await isToken(cluster, 'token 1')], [false, true])
  assert.equal(await isToken(cluster, `token ${MAX_OPERATION_TOKENS}`), true)
})
