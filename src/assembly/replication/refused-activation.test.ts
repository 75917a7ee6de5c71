// a cluster that was not let in has all that it had, and goes on as before.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { operationsOf, type ReplicatedServer } from '../../../test/fixtures/replicated-server.ts'
import { bothWays, ReplicatedServers } from '../../../test/fixtures/replicated-servers.ts'

const OWN = { policy: 'path "own" { capabilities = ["read"] }' }
const TTL_MS = 1_800_000

/** A primary, a cluster with data of its own, and a token for it. */
async function withToken() {
  const servers = new ReplicatedServers(1)
  const { time } = servers.simulation
  const [primary, other] = [await servers.start('one'), await servers.start('two')]
  await other.call('PUT', 'sys/policies/acl/own', OWN)
  await time.until(operationsOf(primary).enablePrimary('dr', ''))
  const publicKey = await time.until(operationsOf(other).generatePublicKey('dr'))
  const { text: token } = await time.until(
    operationsOf(primary).secondaryToken('dr', { id: 'two', ttlMs: TTL_MS, publicKey }),
  )
  const given = { token, primaryApiAddress: '', caFile: '', caPath: '' }
  const begin = () => operationsOf(other).enableSecondary('dr', given)
  const enable = () => time.until(begin())
  const check = () => time.until(operationsOf(other).check('dr', given))
  const reissue = () => time.until(operationsOf(primary).secondaryToken('dr', { id: 'two', ttlMs: TTL_MS, publicKey }))
  return { servers, primary, other, begin, enable, check, reissue }
}

async function requireUntouched(other: ReplicatedServer, had: ReadonlyMap<string, string>): Promise<void> {
  assert.deepEqual(await other.entries(), had)
  assert.equal((await other.call('GET', 'sys/policies/acl/own')).status, 200)
  assert.equal((await other.call('GET', 'sys/health')).status, 200)
}

test('R-10: a cluster that its primary refuses keeps its data, and is open', async () => {
  const { servers, primary, other, enable } = await withToken()
  const had = await other.entries()
  await servers.simulation.time.until(operationsOf(primary).revokeSecondary('dr', 'two'))
  await assert.rejects(enable, /revoked|token/)
  await requireUntouched(other, had)
})

test('R-10: a cluster that does not reach its primary keeps its data, and may try again with its token', async () => {
  const { servers, primary, other, enable } = await withToken()
  const had = await other.entries()
  const [share] = primary.server.shares
  primary.kill()
  await assert.rejects(enable, /one:8201/)
  await requireUntouched(other, had)
  await primary.restart(share)
  await enable()
  await servers.level(primary, other)
  assert.deepEqual(await other.entries(), await primary.entries())
})

test('a token that was claimed over a link that broke is told to be good for the cluster that claimed it', async () => {
  const { servers, primary, other, begin, check, reissue } = await withToken()
  const { time } = servers
  const isBad = async () => (await check()).filter(({ result }) => result === 'bad').map(({ what }) => what)
  assert.deepEqual(await isBad(), [])
  const had = await other.entries()
  const indexOf = async () => (await time.until(primary.server.store.position())).index
  const before = await indexOf()
  for (const [from, to] of bothWays(primary, other)) servers.network.set(from, to, { delayMs: 500 })
  const enabling = assert.rejects(begin(), /one:8201/)
  // The claim is stored, and the answer is on its way.
  while ((await indexOf()) === before) await time.pass(10)
  servers.cut(primary, other)
  await time.until(enabling)
  for (const [from, to] of bothWays(primary, other)) servers.network.set(from, to, { delayMs: 0 })
  servers.heal(primary, other)
  await time.pass(30_000)
  assert.deepEqual(await isBad(), [])
  assert.equal((await reissue()).replaced, 'claimed token')
  assert.deepEqual(await isBad(), ['admission'])
  await requireUntouched(other, had)
})
