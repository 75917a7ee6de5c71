// Whom a primary tells of in its status.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { operationsOf } from '../../../test/fixtures/replicated-server.ts'
import { ReplicatedServers } from '../../../test/fixtures/replicated-servers.ts'

test('a secondary that was revoked is told of no more, nor one whose id has an unused new token', async () => {
  const servers = new ReplicatedServers(1)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  const operations = operationsOf(primary)
  const { time } = servers.simulation
  const told = async (): Promise<readonly string[]> =>
    ((await time.until(operations.told('dr')))?.secondaries ?? []).map(({ id }) => id)
  assert.deepEqual(await told(), ['two'])
  await time.until(operations.revokeSecondary('dr', 'two'))
  assert.deepEqual(await told(), [])
  await time.until(operations.secondaryToken('dr', { id: 'two', ttlMs: 60_000, publicKey: '' }))
  assert.deepEqual(await told(), [])
})
