// Whole servers in virtual time: what operators and load balancers are told by the clusters of a set for performance,
// and whose tokens count where.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

type Health = { readonly replication_dr_mode: string; readonly replication_performance_mode: string }

async function healthOf(cluster: ReplicatedServer) {
  const { status, body } = await cluster.call('GET', 'sys/health', undefined, '')
  const { replication_dr_mode: dr, replication_performance_mode: performance } = body as unknown as Health
  return [status, dr, performance]
}

test('health and leader of both clusters: each serves, and names itself', async () => {
  const { primary, secondary } = await performanceServers(41)
  assert.deepEqual(await healthOf(primary), [200, 'disabled', 'primary'])
  assert.deepEqual(await healthOf(secondary), [200, 'disabled', 'secondary'])
  for (const cluster of [primary, secondary]) {
    const { body } = await cluster.call('GET', 'sys/leader', undefined, '')
    const { leader_cluster_address: address } = body as unknown as { readonly leader_cluster_address: string }
    assert.ok(address.includes(cluster.name), address)
  }
  await primary.must('POST', 'sys/replication/performance/primary/demote')
  assert.deepEqual(await healthOf(primary), [200, 'disabled', 'secondary'])
})

test('while it is copied a cluster is no healthy one, and says so to clients', async () => {
  const servers = new ReplicatedServers(42)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.activate(primary, secondary, 'two', 'performance')
  assert.deepEqual(await healthOf(secondary), [473, 'disabled', 'bootstrapping'])
  assert.equal((await secondary.call('GET', 'sys/mounts')).status, 503)
  await servers.level(primary, secondary, 60_000, 'performance')
  assert.deepEqual(await healthOf(secondary), [200, 'disabled', 'secondary'])
})

test('a batch token without a parent counts in all clusters of the set, and a service token in its own', async () => {
  const { servers, primary, secondary } = await performanceServers(43)
  const policy = 'path "sys/policies/acl/p" { capabilities = ["read"] }'
  await primary.must('PUT', 'sys/policies/acl/p', { policy })
  await servers.level(primary, secondary, 60_000, 'performance')
  const counts = async (wanted: object): Promise<number[]> => {
    const { body } = await primary.must('POST', 'auth/token/create', { policies: ['p'], ...wanted })
    const { client_token: token } = body.auth as unknown as { readonly client_token: string }
    const asks = [primary, secondary].map((cluster) => cluster.call('GET', 'sys/policies/acl/p', undefined, token))
    return (await Promise.all(asks)).map(({ status }) => status)
  }
  assert.deepEqual(await counts({ type: 'batch', no_parent: true }), [200, 200])
  assert.deepEqual(await counts({}), [200, 403])
})
