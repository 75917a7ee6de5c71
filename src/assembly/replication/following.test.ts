// Whole servers in virtual time: one becomes a secondary of the other, follows it, and is opened by its shares.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { operationsOf, type ReplicatedServer } from '../../../test/fixtures/replicated-server.ts'
import { ReplicatedServers } from '../../../test/fixtures/replicated-servers.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }
const GIVEN = { primaryApiAddress: '', caFile: '', caPath: '' }

async function pair(seed: number): Promise<[ReplicatedServers, ReplicatedServer, ReplicatedServer]> {
  const servers = new ReplicatedServers(seed)
  return [servers, await servers.start('one'), await servers.start('two')]
}

async function followed(seed: number): Promise<[ReplicatedServers, ReplicatedServer, ReplicatedServer]> {
  const [servers, primary, secondary] = await pair(seed)
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  return [servers, primary, secondary]
}

const share = ({ server }: ReplicatedServer): Buffer => server.shares[0] ?? assert.fail('it was initialised')

async function same(primary: ReplicatedServer, secondary: ReplicatedServer): Promise<void> {
  assert.deepEqual(await secondary.entries(), await primary.entries())
}

test('a cluster becomes a secondary, copies what its primary has, and follows', async () => {
  const [servers, primary, secondary] = await pair(1)
  await primary.call('PUT', 'sys/policies/acl/before', POLICY)
  await secondary.call('PUT', 'sys/policies/acl/own', POLICY)
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  await primary.call('PUT', 'sys/policies/acl/after', POLICY)
  await servers.level(primary, secondary)
  await same(primary, secondary)
  assert.equal((await secondary.call('GET', 'sys/policies/acl/before')).status, 400)
  assert.equal((await secondary.call('GET', 'sys/health')).status, 472)
  const told = await servers.simulation.time.until(operationsOf(primary).told('dr'))
  assert.deepEqual(told?.knownSecondaries, ['two'])
  assert.deepEqual(
    told?.secondaries.map(({ id, isConnected }) => [id, isConnected]),
    [['two', true]],
  )
})

test('a secondary that restarts is opened by the share of its primary, not by its own, and goes on', async () => {
  const [servers, primary, secondary] = await followed(2)
  const own = share(secondary)
  secondary.kill()
  await primary.call('PUT', 'sys/policies/acl/meanwhile', POLICY)
  await secondary.restart()
  const unseal = (key: Buffer) => secondary.call('PUT', 'sys/unseal', { key: key.toString('hex') }, '')
  assert.equal((await unseal(own)).status, 400)
  assert.equal((await unseal(share(primary))).status, 200)
  assert.equal((await secondary.call('GET', 'sys/health')).status, 472)
  await servers.level(primary, secondary)
  await same(primary, secondary)
})

test('new data keys and new shares of the primary reach its secondary, also one that was away', async () => {
  const [servers, primary, secondary] = await followed(3)
  await primary.call('PUT', 'sys/rotate', {})
  await primary.call('PUT', 'sys/policies/acl/under-the-new-key', POLICY)
  await servers.level(primary, secondary)
  const old = share(primary)
  const first = await rekeyed(primary, old)
  await servers.simulation.time.pass(2_000)
  secondary.kill()
  const second = await rekeyed(primary, first)
  await secondary.restart()
  // It was away at the second one, and knows the shares of the first.
  const unseal = (key: Buffer) => secondary.call('PUT', 'sys/unseal', { key: key.toString('hex') }, '')
  for (const wrong of [old, second]) assert.equal((await unseal(wrong)).status, 400)
  assert.equal((await unseal(first)).status, 200)
  await servers.level(primary, secondary)
  await servers.simulation.time.pass(2_000)
  secondary.kill()
  await secondary.restart()
  assert.equal((await unseal(first)).status, 400)
  assert.equal((await unseal(second)).status, 200)
  await servers.level(primary, secondary)
  await same(primary, secondary)
})

/** Replaces the one share of a cluster. */
async function rekeyed(cluster: ReplicatedServer, present: Buffer): Promise<Buffer> {
  const begun = await cluster.call('PUT', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 })
  const { nonce } = begun.body
  const done = await cluster.call('PUT', 'sys/rekey/update', { key: present.toString('hex'), nonce })
  const [key] = done.body.keys as readonly string[]
  return Buffer.from(key ?? assert.fail(JSON.stringify(done.body)), 'hex')
}

test('a secondary that dies at any moment of its copy goes on with it, and serves nobody before', async () => {
  for (let moment = 0; moment < 12; moment++) {
    const [servers, primary, secondary] = await pair(10 + moment)
    for (let n = 0; n < 30; n++) await primary.call('PUT', `sys/policies/acl/p${n}`, POLICY)
    await servers.activate(primary, secondary)
    await servers.simulation.time.pass(moment * 7)
    secondary.kill()
    await secondary.restart(share(primary))
    assert.equal((await secondary.call('GET', 'sys/health')).status, 472)
    assert.equal((await secondary.call('GET', 'sys/policies/acl/p1')).status, 400)
    await servers.level(primary, secondary)
    await same(primary, secondary)
  }
})

test('T5 T6 T7: a token lets in once, until it ends or is revoked; a refused activation changes nothing', async () => {
  const [servers, primary, secondary] = await pair(4)
  const third = await servers.start('three')
  const { time } = servers.simulation
  const [theirs, ours] = [operationsOf(primary), operationsOf(secondary)]
  await time.until(theirs.enablePrimary('dr', ''))
  const tokenFor = async (cluster: ReplicatedServer, ttlMs = 60_000): Promise<string> => {
    const publicKey = await time.until(operationsOf(cluster).generatePublicKey('dr'))
    return (await time.until(theirs.secondaryToken('dr', { id: cluster.name, ttlMs, publicKey }))).text
  }
  const before = await secondary.entries()
  const refused = async (cluster: ReplicatedServer, token: string, why: RegExp): Promise<void> => {
    await assert.rejects(time.until(operationsOf(cluster).enableSecondary('dr', { token, ...GIVEN })), why)
    assert.equal(await time.until(operationsOf(cluster).told('dr')), undefined)
  }
  const ended = await tokenFor(secondary)
  await time.pass(60_001)
  await refused(secondary, ended, /has ended, by the clock of the primary/)
  const revoked = await tokenFor(secondary)
  await time.until(theirs.revokeSecondary('dr', 'two'))
  await refused(secondary, revoked, /revoked/)
  assert.deepEqual(await secondary.entries(), before)
  assert.equal((await secondary.call('PUT', 'sys/policies/acl/still', POLICY)).status, 204)
  const good = await tokenFor(secondary)
  await refused(third, good, /sealed for another key/)
  await time.until(ours.enableSecondary('dr', { token: good, ...GIVEN }))
  await servers.level(primary, secondary)
  await assert.rejects(time.until(ours.enableSecondary('dr', { token: good, ...GIVEN })), /not for a cluster in mode/)
})

test('a token of the primary is nobody on its secondary, and loses no use there', async () => {
  const [servers, primary, secondary] = await pair(7)
  await primary.call('POST', 'auth/token/create', { id: 'twice', policies: ['default'], num_uses: 2 })
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  for (let n = 0; n < 3; n++) {
    assert.equal((await secondary.call('GET', 'sys/health', undefined, 'twice')).status, 472)
    assert.equal((await secondary.call('GET', 'auth/token/lookup-self', undefined, 'twice')).status, 400)
  }
  for (const status of [200, 200, 403])
    assert.equal((await primary.call('GET', 'auth/token/lookup-self', undefined, 'twice')).status, status)
})

test('a revoked secondary is cut off within a second, and keeps what it has', async () => {
  const [servers, primary, secondary] = await followed(5)
  const { time } = servers.simulation
  await time.until(operationsOf(primary).revokeSecondary('dr', 'two'))
  await time.pass(1_000)
  const told = await time.until(operationsOf(secondary).told('dr'))
  assert.deepEqual([told?.primary?.connection, told?.primary?.idle?.reason], ['idle', 'revoked'])
  await primary.call('PUT', 'sys/policies/acl/later', POLICY)
  await time.pass(200_000)
  assert.notDeepEqual(await secondary.entries(), await primary.entries())
  assert.deepEqual((await time.until(primary.server.store.retained())).holds, [])
})

test('a primary that is none any more is told apart from one that is away', async () => {
  const [servers, primary, secondary] = await followed(6)
  const { time } = servers.simulation
  primary.kill()
  await time.pass(15_000)
  const reasonOf = async () => {
    const { connection, idle } = (await time.until(operationsOf(secondary).told('dr')))?.primary ?? assert.fail()
    return { connection, reason: idle?.reason }
  }
  assert.notEqual((await reasonOf()).connection, 'ready')
  await primary.restart(share(primary))
  await servers.level(primary, secondary)
  await time.until(operationsOf(primary).disablePrimary('dr'))
  await time.pass(15_000)
  assert.notEqual((await reasonOf()).connection, 'ready')
  assert.equal((await primary.call('GET', 'sys/health')).status, 200)
})

test('nothing is written on either side while nothing happens', async () => {
  const servers = new ReplicatedServers(2)
  const { time } = servers.simulation
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  await time.pass(60_000)
  const indexes = () =>
    Promise.all([primary, secondary].map(async ({ server }) => (await time.until(server.store.position())).index))
  const before = await indexes()
  await time.pass(3_600_000)
  assert.deepEqual(await indexes(), before)
})

test('a secondary whose copy has not come answers with and without a token what needs none', async () => {
  const servers = new ReplicatedServers(3)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.activate(primary, secondary)
  secondary.kill()
  servers.network.cut('two', 'one')
  await secondary.restart(primary.server.shares[0])
  for (const token of ['root', '']) {
    assert.equal((await secondary.call('GET', 'sys/health', undefined, token)).status, 472)
    assert.equal((await secondary.call('GET', 'sys/seal-status', undefined, token)).body.sealed, false)
    assert.equal((await secondary.call('GET', 'sys/policies/acl', undefined, token)).status, 400)
    const { status, body } = await secondary.call('GET', 'sys/replication/dr/status', undefined, token)
    assert.deepEqual([status, body.data?.mode], [200, 'bootstrapping'])
  }
})

test('the log is held for nobody who was revoked, even if the server ends right behind the revocation', async () => {
  const servers = new ReplicatedServers(4)
  const { time } = servers.simulation
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  const holds = async () => (await time.until(primary.server.store.retained())).holds.map(({ name }) => name)
  assert.equal((await holds()).length, 1)
  const released = primary.server.store.release
  primary.server.store.release = () => new Promise(() => {})
  void operationsOf(primary).revokeSecondary('dr', 'two')
  await time.pass(1_000)
  primary.server.store.release = released
  assert.equal((await holds()).length, 1)
  primary.kill()
  await primary.restart(primary.server.shares[0])
  assert.deepEqual(await holds(), [])
})
