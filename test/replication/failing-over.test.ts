// A set changes hands: promotion, demotion and what becomes of the former primary. Whole servers, over the simulated
// network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Called } from '../fixtures/memory-server.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }
const DR = 'sys/replication/dr'

async function write(primary: ReplicatedServer, count: number, name = 'p'): Promise<void> {
  for (let each = 0; each < count; each++) await primary.must('PUT', `sys/policies/acl/${name}${each}`, POLICY)
}

const has = async (server: ReplicatedServer, name: string): Promise<boolean> =>
  (await server.call('GET', `sys/policies/acl/${name}`)).status === 200

/** A batch token of the set that promotes, demotes and leads on. */
async function operationToken(primary: ReplicatedServer): Promise<string> {
  const policy = 'path "sys/replication/dr/secondary/*" { capabilities = ["update"] }'
  await primary.must('PUT', 'sys/policies/acl/failover', { policy })
  const made = await primary.must('POST', 'auth/token/create-orphan', {
    policies: ['failover'],
    type: 'batch',
    ttl: '8h',
  })
  return String((made.body.auth as { readonly client_token: string }).client_token)
}

const promote = (secondary: ReplicatedServer, token: string, more: object = {}): Promise<Called> =>
  secondary.call('POST', `${DR}/secondary/promote`, { dr_operation_token: token, ...more }, '')

/** A token of the new primary leads the old one back. */
async function follow(
  servers: ReplicatedServers,
  primary: ReplicatedServer,
  secondary: ReplicatedServer,
  token: string,
) {
  const given = await servers.token(primary, secondary.name)
  const body = { dr_operation_token: token, token: given }
  return secondary.call('POST', `${DR}/secondary/update-primary`, body, '')
}

test('T53: a primary that can be reached hands over, and nothing that it acknowledged is lost', async () => {
  const { servers, primary, secondary } = await followedServers(53)
  const token = await operationToken(primary)
  await servers.level(primary, secondary)
  await write(primary, 20)
  const promoted = await promote(secondary, token)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  assert.match(String(promoted.body.warnings), /The former primary knows/)
  const [before, after] = [await primary.status(), await secondary.status()]
  assert.deepEqual([before.mode, before.fenced, before.idle_reason], ['primary', true, 'fenced'])
  assert.deepEqual([after.mode, after.fenced, after.cluster_id], ['primary', false, before.cluster_id])
  assert.equal(after.ssct_generation_counter, 1)
  for (let each = 0; each < 20; each++) assert.ok(await has(secondary, `p${each}`))
  await write(secondary, 3, 'new')
  const refused = await primary.call('PUT', 'sys/policies/acl/late', POLICY)
  assert.equal(refused.status, 503)
  await primary.must('POST', `${DR}/primary/demote`)
  assert.equal((await primary.status()).state, 'idle')
  servers.sentBytes = 0
  const followed = await follow(servers, secondary, primary, token)
  assert.equal(followed.status, 200, JSON.stringify(followed.body))
  await servers.level(secondary, primary)
  await servers.requireSame(secondary, primary)
  await servers.time.pass(2_000)
  assert.equal((await primary.status()).state, 'stream-wals')
  assert.ok(servers.sentBytes < 100_000, `${servers.sentBytes} bytes`)
})
