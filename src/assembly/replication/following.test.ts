// Two whole servers: one becomes a secondary of the other, follows it, and is opened by its share.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { operationsOf, ReplicatedServers } from '../../../test/fixtures/replicated-servers.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }

test('a cluster becomes a secondary, copies what its primary has, and follows', async () => {
  const servers = new ReplicatedServers(1)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await primary.call('PUT', 'sys/policies/acl/before', POLICY)
  await secondary.call('PUT', 'sys/policies/acl/own', POLICY)
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  await primary.call('PUT', 'sys/policies/acl/after', POLICY)
  await servers.level(primary, secondary)
  assert.deepEqual(await secondary.entries(), await primary.entries())
  assert.equal((await secondary.call('GET', 'sys/policies/acl/before')).status, 400)
  assert.equal((await secondary.call('GET', 'sys/health')).status, 472)
  const told = await servers.simulation.time.until(operationsOf(primary).told('dr'))
  assert.deepEqual(told?.knownSecondaries, ['two'])
})
