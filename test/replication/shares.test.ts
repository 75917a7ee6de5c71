// The key shares of a set: each cluster opens with those of whom it follows. Whole servers, over the simulated network,
// in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shareOf } from '../fixtures/failing-over.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, performanceServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const PERFORMANCE = 'sys/replication/performance'
/** By then a cluster has the shares of whom it follows, also over a new link. */
const SHARED_MS = 20_000

/** A set for performance replication, with root tokens for all of its clusters. */
async function set(seed: number, names: readonly string[] = []) {
  const { servers, primary, secondary: region } = await performanceServers(seed)
  const others: ReplicatedServer[] = []
  for (const name of names) {
    const added = await servers.start(name)
    await servers.activate(primary, added, name, 'performance')
    await servers.level(primary, added, 60_000, 'performance')
    others.push(added)
  }
  await servers.time.pass(3_000)
  for (const one of [region, ...others]) await servers.giveRootToken(primary, one)
  return { servers, primary, region, others, shared: shareOf(primary) }
}

/** Replaces the share by another one. */
async function rekey(primary: ReplicatedServer, share: Buffer): Promise<void> {
  const { body } = await primary.must('POST', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 })
  await primary.must('POST', 'sys/rekey/update', { key: share.toString('hex'), nonce: body.nonce })
}

async function tokenFor(primary: ReplicatedServer, id: string): Promise<string> {
  const { body } = await primary.must('POST', `${PERFORMANCE}/primary/secondary-token`, { id })
  return (body.wrap_info as { readonly token: string }).token
}

/** `former` hands over to `next`, and follows it. */
async function handOver(servers: ReplicatedServers, former: ReplicatedServer, next: ReplicatedServer): Promise<void> {
  await former.must('POST', `${PERFORMANCE}/primary/demote`)
  await next.must('POST', `${PERFORMANCE}/secondary/promote`, {})
  const token = await tokenFor(next, `${former.name}-again`)
  await former.must('POST', `${PERFORMANCE}/secondary/update-primary`, { token })
  await servers.time.pass(SHARED_MS)
}

const sealOf = ({ server }: ReplicatedServer): string => server.node.seal.id

test('a region that comes back to former shares brings its stand-in back as well', async () => {
  const { servers, primary, region, others, shared } = await set(700, ['other'])
  const [other] = others
  assert.ok(other)
  const standIn = await servers.start('stand-in')
  await servers.activate(region, standIn, 'stand-in')
  await servers.level(region, standIn)
  await other.must('POST', `${PERFORMANCE}/secondary/promote`, { force: true })
  const token = await tokenFor(other, 'region-again')
  servers.cut(primary, other)
  // What the primary has now is on its way to the stand-in when the region follows the other one.
  for (const [from, to] of bothWays(region, standIn)) servers.network.set(from, to, { delayMs: 1_500 })
  // By then it has not heard for long enough of who asked it to hand over.
  await servers.time.pass(SHARED_MS)
  await rekey(primary, shared)
  await servers.time.pass(200)
  assert.equal(sealOf(region), sealOf(primary))
  await region.must('POST', `${PERFORMANCE}/secondary/update-primary`, { token, force: true })
  await servers.time.pass(SHARED_MS)
  assert.deepEqual([region, standIn].map(sealOf), [other, other].map(sealOf))
})

test('new shares that former ones permitted are worth nothing behind shares of another cluster', async () => {
  const { servers, primary, region, shared } = await set(701)
  const init = { secret_shares: 1, secret_threshold: 1, require_verification: true }
  const { nonce } = (await primary.must('POST', 'sys/rekey/init', init)).body
  const made = await primary.must('POST', 'sys/rekey/update', { key: shared.toString('hex'), nonce })
  const [pending] = made.body.keys as readonly string[]
  await handOver(servers, primary, region)
  await rekey(region, shared)
  await servers.time.pass(SHARED_MS)
  const later = sealOf(region)
  assert.equal(sealOf(primary), later)
  await handOver(servers, region, primary)
  const verify = { key: pending, nonce: made.body.verification_nonce }
  assert.equal((await primary.call('POST', 'sys/rekey/verify', verify)).status, 400)
  assert.deepEqual([primary, region].map(sealOf), [later, later])
})

test('another token of the same primary ends nothing that its shares permit', async () => {
  const { primary, region, shared } = await set(703)
  const { nonce } = (await region.must('PUT', 'sys/generate-root/attempt', {})).body
  const token = await tokenFor(primary, 'region-again')
  await region.must('POST', `${PERFORMANCE}/secondary/update-primary`, { token })
  const { body } = await region.must('PUT', 'sys/generate-root/update', { key: shared.toString('hex'), nonce })
  assert.equal(body.complete, true)
})

test('a primary that is refused for lack of force leaves no shares', async () => {
  const { servers, primary, region, others, shared } = await set(702, ['other'])
  const [other] = others
  assert.ok(other)
  await other.must('POST', `${PERFORMANCE}/secondary/disable`, {})
  await servers.time.pass(1_000)
  await other.must('POST', `${PERFORMANCE}/primary/enable`, {})
  await rekey(other, shared)
  const token = await tokenFor(other, 'region-again')
  const update = (body: object) => region.call('POST', `${PERFORMANCE}/secondary/update-primary`, body)
  assert.equal((await update({ token: '' })).status, 200)
  servers.cut(region, other)
  assert.match(JSON.stringify(await update({ token, force: true })), /does not answer/)
  servers.heal(region, other)
  await servers.time.pass(1_000)
  assert.match(JSON.stringify(await update({ token })), /of another set/)
  await servers.time.pass(SHARED_MS)
  assert.equal(sealOf(region), sealOf(primary))
})
