// a cluster that was not let in has all that it had, and goes on as before.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { operationsOf, type ReplicatedServer } from '../../../test/fixtures/replicated-server.ts'
import { ReplicatedServers } from '../../../test/fixtures/replicated-servers.ts'

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
  const enable = () => time.until(operationsOf(other).enableSecondary('dr', given))
  return { servers, primary, other, enable }
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
