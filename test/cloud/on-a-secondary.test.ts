// A mount that shows the cloud a token of this server, on a performance secondary whose link is down: those who are
// known log in, also when the key that signs such tokens has to be changed.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { startEmulator } from '../../emulator/emulator.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../emulator/sample-plan.ts'
import { ACTIVE_PRIMARY } from '../../src/api/node-role.ts'
import { PrimaryLink } from '../../src/assembly/replication/primary-link.ts'
import { bodyText } from '../../src/core/exchange.ts'
import { realWorld } from '../../src/lib/world.ts'
import { type CloudServer, START_MS, startCloudServer } from '../fixtures/cloud-server.ts'
import { wireRequest } from '../fixtures/memory-server.ts'
import { PRIMARY_ADDRESS } from '../fixtures/roles.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'

const HOUR_MS = 3_600_000
const PATH = 'auth/cloud'
const AUDIENCE = 'api://AzureADTokenExchange'

let nowMs = START_MS
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
const { timers } = steppedTime(START_MS)
const world = { clock, timers, random: realWorld().random }
const emulator = await startEmulator({ world, plan: SAMPLE_PLAN })
/** The way from the cloud to this server. */
const front = createServer(async (incoming, outgoing) => {
  const path = String(incoming.url).replace('/v1/', '')
  const { status, headers, body } = await server.node.core.handle(wireRequest(incoming.method ?? '', path))
  outgoing.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(bodyText({ status, body }))
})
await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
const apiAddress = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
const link = new PrimaryLink({
  ask: async () => ({ kind: 'no-link' }),
  timers,
  primaryAddress: () => PRIMARY_ADDRESS,
})
const server: CloudServer = await startCloudServer({
  emulator,
  time: { clock, timers },
  metadata: await emulator.metadataOf(SAMPLE.vm1),
  facts: { apiAddress },
  toPrimary: () => link,
})

after(async () => {
  await emulator.close()
  await new Promise((resolve) => front.close(resolve))
})

const login = async () => ({
  role: 'r',
  jwt: await emulator.minting.ofResource(SAMPLE.vm1),
  subscription_id: SAMPLE.subscription,
  resource_group_name: 'rg-app',
  vm_name: 'vm1',
})

test('4c.21: by a token of the server known users log in for days, and explain is carried out here', async () => {
  emulator.resources.grant(server.oid(SAMPLE.vm1), `/subscriptions/${SAMPLE.subscription}`)
  const { data } = (await server.call('GET', `sys/${PATH}`)).body
  const issuer = `${apiAddress}/v1/identity/oidc/plugins`
  const trusted = { issuer, subject: `plugin-identity:root:auth:${data?.accessor}`, audience: AUDIENCE }
  emulator.directory.findApplication(SAMPLE.tenant, SAMPLE.clientId)?.principal.federatedCredentials.push(trusted)
  await server.role('r', { bound_service_principal_ids: '*', bound_subscription_ids: [SAMPLE.subscription] })
  await server.configure({ client_secret: '', auth_type: 'plugin_wif', identity_token_audience: AUDIENCE })
  assert.equal((await server.login(await login())).status, 200)
  await server.node.changeRole({
    role: { ...ACTIVE_PRIMARY, performance: 'secondary' },
    primaryAddress: PRIMARY_ADDRESS,
  })
  assert.equal((await server.call('POST', 'sys/policies/acl/p', { policy: 'path "a" {}' })).status, 503)
  for (let day = 0; day < 3; day++) {
    nowMs += 25 * HOUR_MS
    const explained = await server.call('POST', `${PATH}/explain`, await login())
    assert.equal(explained.body.data?.allowed, true, JSON.stringify(explained.body))
    nowMs += 25 * HOUR_MS
    const answer = await server.login(await login())
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
  }
  assert.deepEqual(
    server.lines.filter((line) => line.startsWith('error')),
    [],
  )
})
