// What a caller with a token gets of a cluster that copies, and of one that follows: the same as one without.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { ReplicatedServer } from '../../../test/fixtures/replicated-server.ts'
import { ReplicatedServers } from '../../../test/fixtures/replicated-servers.ts'

const OPEN = [
  ['sys/health', 472],
  ['sys/seal-status', 200],
  ['sys/leader', 200],
  ['sys/init', 200],
  ['sys/replication/status', 200],
  ['sys/replication/dr/status', 200],
] as const

async function answers(secondary: ReplicatedServer, token: string): Promise<readonly unknown[]> {
  const all: unknown[] = []
  for (const [path] of OPEN) all.push([path, (await secondary.call('GET', path, undefined, token)).status])
  return all
}

test('a token is not looked at while nothing but the state is told', async () => {
  const servers = new ReplicatedServers(1)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  const made = await primary.call('POST', 'auth/token/create', { policies: ['default'], num_uses: 3 })
  const { client_token: limited } = made.body.auth as { readonly client_token: string }
  await servers.activate(primary, secondary)
  const told = await secondary.call('GET', 'sys/replication/dr/status', undefined, '')
  assert.equal(told.body.data?.mode, 'bootstrapping')
  // While the copy has not brought the key of tokens, none could be read.
  for (const token of ['', 'hvs.any', limited]) assert.deepEqual(await answers(secondary, token), OPEN)
  await servers.level(primary, secondary)
  // A use of a token is charged by a write, and this cluster writes nothing.
  for (const token of ['', 'hvs.any', limited]) assert.deepEqual(await answers(secondary, token), OPEN)
  assert.deepEqual(await secondary.entries(), await primary.entries())
})
