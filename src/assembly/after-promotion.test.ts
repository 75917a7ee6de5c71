// What mounts do when this cluster has taken the place of another (S6), with whole servers in virtual time.

import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { commitPromotion, promote, takeStoredRole } from '../../test/fixtures/promotion.ts'
import type { ReplicatedServer } from '../../test/fixtures/replicated-server.ts'
import { followedServers, type ReplicatedServers } from '../../test/fixtures/replicated-servers.ts'
import { servingBeside } from '../../test/fixtures/serving-node.ts'
import { ROOT } from '../api/namespace.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole, type RoleState } from '../api/node-role.ts'
import { readClusterLives } from '../engines/transit/budget/cluster-use.ts'
import { readClusters } from '../engines/transit/budget/message-ledger.ts'
import { SETS_FOLDER } from '../replication/set/records.ts'
import { putTakenOver, readTakenOver } from '../replication/set/taken-over.ts'
import { systemScope } from '../storage/contract.ts'
import { StorageFull } from '../storage/errors.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import type { WritingNode } from './writing-node.ts'

const ENCRYPT = { plaintext: 'aGk=' }
/** More than are told of the promotion at once. */
const MOUNTS = 67

const sharedPath = (each: number): string => `transit-${each}/`

/** What a transit mount knows of its clusters, and of this one. */
async function standingOf(
  { mounts, storage }: { mounts: WritingNode['mounts']; storage: SealedStorage },
  path: string,
) {
  const { uuid, local } = mounts.find(ROOT, path) ?? assert.fail(path)
  const view = storage.view({ namespace: 'root', mount: uuid, local }, `root/logical/${uuid}/`)
  return { ...(await readClusters(view)), ...(await readClusterLives(view)) }
}

type Pair = {
  readonly servers: ReplicatedServers
  readonly secondary: ReplicatedServer
  readonly standing: (path: string) => ReturnType<typeof standingOf>
  readonly isPending: () => Promise<boolean>
}

/** A secondary whose primary has used a shared mount and a local one, has some more, and is off by now. */
async function orphan(seed: number, mounts: number): Promise<Pair> {
  const { servers, primary, secondary } = await followedServers(seed)
  await primary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  for (let each = 0; each < mounts; each++)
    await primary.must('POST', `sys/mounts/${sharedPath(each).slice(0, -1)}`, { type: 'transit' })
  for (const path of ['own/', sharedPath(0)]) {
    await primary.must('POST', `${path}keys/k`)
    await primary.must('POST', `${path}encrypt/k`, ENCRYPT)
  }
  await servers.level(primary, secondary)
  primary.kill()
  const { time } = servers
  return {
    servers,
    secondary,
    standing: (path) => time.until(standingOf(secondary.server.node, path)),
    isPending: async () => {
      const sets = secondary.server.node.storage.view(systemScope, SETS_FOLDER)
      return (await time.until(readTakenOver(sets))) !== undefined
    },
  }
}

test('S6: each mount of a promoted cluster counts what it may not know of, before a client is served', async () => {
  const { servers, secondary, standing, isPending } = await orphan(1, MOUNTS)
  const { server } = secondary
  const { mounts } = server.node
  // As whoever comes finds it while the mounts are not told yet.
  const statuses: number[] = []
  const promoted = mounts.promoted.bind(mounts)
  mounts.promoted = async function* (promotion, takesPlace) {
    statuses.push((await server.call('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)).status)
    yield* promoted(promotion, takesPlace)
  }
  await servers.time.until(promote(server))
  assert.deepEqual(statuses, [400])
  assert.equal(await isPending(), false)
  for (const path of ['own/', ...Array.from({ length: MOUNTS }, (_, each) => sharedPath(each))]) {
    const { clusters, gone, cluster, lives } = await standing(path)
    const wasUsed = path === 'own/' || path === sharedPath(0)
    assert.deepEqual([clusters, lives], [[cluster], 0], path)
    // Four blocks of clusters that it may not know of; where there was one, that one's too, for it is gone.
    assert.equal(gone, wasUsed ? 12 : 11, path)
  }
  await secondary.must('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)
  assert.equal((await standing(sharedPath(0))).gone, 12)
})

test('S6: a crash right behind the commit of a promotion leaves the mounts to the next unseal', async () => {
  const { servers, secondary, standing, isPending } = await orphan(2, 2)
  const key = servers.simulation.clusters.get('one')?.server.shares[0] ?? assert.fail()
  await servers.time.until(commitPromotion(secondary.server))
  secondary.kill()
  await secondary.restart(key)
  assert.equal(await isPending(), false)
  assert.equal((await standing('own/')).gone, 12)
  assert.equal((await standing(sharedPath(1))).gone, 11)
  assert.equal((await secondary.call('GET', 'sys/health')).status, 200)
  await secondary.must('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)
  // A restart that is like any other counts nothing more.
  secondary.kill()
  await secondary.restart(key)
  assert.equal((await standing(sharedPath(0))).gone, 12)
})

test('S6: a crash between two mounts has all of them counted, and each of them once', async () => {
  const { servers, secondary, standing, isPending } = await orphan(3, MOUNTS)
  const key = servers.simulation.clusters.get('one')?.server.shares[0] ?? assert.fail()
  const { server } = secondary
  const { mounts } = server.node
  const promoted = mounts.promoted.bind(mounts)
  mounts.promoted = async function* (promotion, takesPlace) {
    for await (const page of promoted(promotion, takesPlace)) {
      yield page
      throw new StorageFull('The storage device is full')
    }
  }
  await servers.time.until(assert.rejects(promote(server), StorageFull))
  assert.equal(await isPending(), true)
  // It does not serve in the meantime: not by itself, and not to those that ask.
  assert.equal((await secondary.call('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)).status, 400)
  assert.equal((await secondary.call('GET', 'sys/health')).status, 472)
  secondary.kill()
  await secondary.restart(key)
  assert.equal(await isPending(), false)
  const gone = await Promise.all(Array.from({ length: MOUNTS }, (_, each) => standing(sharedPath(each))))
  assert.deepEqual(
    gone.map((one) => one.gone),
    [12, ...Array.from({ length: MOUNTS - 1 }, () => 11)],
  )
  await secondary.must('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)
})

test('S6: what could not be counted is tried again by itself, and clients are served once it is', async () => {
  const { servers, secondary, standing, isPending } = await orphan(4, 1)
  const { server } = secondary
  const { reloads } = server.node.services
  const reload = reloads.reload.bind(reloads)
  reloads.reload = async () => {
    throw new StorageFull('The storage device is full')
  }
  await servers.time.until(assert.rejects(promote(server), StorageFull))
  await servers.time.pass(12_000)
  assert.equal(server.logged.filter((each) => each.includes('serves no clients yet')).length, 2)
  reloads.reload = reload
  assert.equal((await secondary.call('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)).status, 400)
  await servers.time.pass(5_000)
  assert.equal(await isPending(), false)
  assert.equal((await standing(sharedPath(0))).gone, 12)
  await secondary.must('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)
})

test('S6: a mount whose records are corrupt holds up no other, and encrypts nothing', async () => {
  const { servers, secondary, standing, isPending } = await orphan(5, 2)
  const { server } = secondary
  await servers.time.until(commitPromotion(server))
  await servers.time.until(server.node.mounts.refresh())
  const { uuid } = server.node.mounts.find(ROOT, sharedPath(0)) ?? assert.fail()
  const scope = { namespace: 'root', mount: uuid, local: false }
  const data = server.node.storage.view(scope, `root/logical/${uuid}/`)
  await servers.time.until(server.store.setWritable(() => true))
  await servers.time.until(data.transaction(async (tx) => tx.put('clusters', Buffer.from('no record'))))
  await servers.time.until(takeStoredRole(server))
  assert.equal(await isPending(), false)
  assert.equal((await standing(sharedPath(1))).gone, 11)
  const line = server.logged.find((each) => each.includes('could not be told of the promotion'))
  assert.match(line ?? '', new RegExp(`error .*"mount":"${sharedPath(0)}"`))
  assert.equal((await secondary.call('POST', `${sharedPath(0)}encrypt/k`, ENCRYPT)).status, 500)
})

const stateOf = (role: Partial<NodeRole>): RoleState => ({ ...FOLLOWS_NONE, role: { ...ACTIVE_PRIMARY, ...role } })

test('S6: a thread that had messages before the promotion gives none of them away afterwards', async () => {
  const server = await startMemoryServer()
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await server.call('POST', 'transit/keys/k')
  const serving = await servingBeside(server)
  const encrypt = async (): Promise<number> =>
    (await serving.send('POST', 'transit/encrypt/k', Buffer.from(JSON.stringify(ENCRYPT)))).status
  const lives = (): number =>
    serving.asked.filter(({ question }) => (question as { kind: string }).kind === 'life').length
  assert.equal(await encrypt(), 200)
  assert.equal(lives(), 1)
  const { cluster } = await standingOf(server.node, 'transit/')
  await server.node.changeRole(stateOf({ dr: 'secondary' }))
  const sets = server.node.storage.view(systemScope, SETS_FOLDER)
  await sets.transaction(async (tx) => putTakenOver(tx, { epoch: 2, atMs: 0, takesPlace: true, isHandedOver: false }))
  await server.node.changeRole(stateOf({ dr: 'primary' }))
  assert.equal(await encrypt(), 200)
  assert.equal(lives(), 2)
  const after = await standingOf(server.node, 'transit/')
  assert.notEqual(after.cluster, cluster)
  assert.deepEqual([after.clusters, after.gone], [[after.cluster], 12])
})
