// The keys of a performance set: a new term, new shares, and what a cluster sealed under terms of its own. Whole
// servers, over the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMER_KEYS } from '../../src/system/seal/seal-records.ts'
import { has, shareOf, write } from '../fixtures/failing-over.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, performanceServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const PERFORMANCE = 'sys/replication/performance'
const FAMILY = 'performance'
const WHILE_CUT_MS = 20_000

const level = (servers: ReplicatedServers, primary: ReplicatedServer, secondary: ReplicatedServer) =>
  servers.level(primary, secondary, 60_000, FAMILY)

const termOf = async (of: ReplicatedServer): Promise<unknown> =>
  (await of.must('GET', 'sys/key-status')).body.data?.term

/** Makes a new share of a primary with the one that it has, and returns it. */
async function rekey(of: ReplicatedServer, share = shareOf(of)): Promise<Buffer> {
  const begun = await of.must('POST', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 })
  const { nonce } = begun.body as unknown as { readonly nonce: string }
  const done = await of.must('POST', 'sys/rekey/update', { key: share.toString('hex'), nonce })
  const { keys } = done.body as unknown as { readonly keys: readonly string[] }
  return Buffer.from(keys[0] ?? assert.fail('there is a share'), 'hex')
}

/** True if the share opens the server when it starts anew. */
async function opens(servers: ReplicatedServers, cluster: ReplicatedServer, share: Buffer): Promise<boolean> {
  cluster.kill()
  await servers.time.until(cluster.restart())
  await cluster.call('POST', 'sys/unseal', { key: share.toString('hex') }, '')
  return (await cluster.call('GET', 'sys/seal-status', undefined, '')).body.sealed === false
}

test('T77: a new term reaches a performance secondary before what is sealed under it, also later', async () => {
  const { servers, primary, secondary } = await performanceServers(77)
  const first = Number(await termOf(primary))
  await primary.must('POST', 'sys/rotate')
  await write(primary, 3, 'online')
  await level(servers, primary, secondary)
  assert.deepEqual([await termOf(primary), await termOf(secondary)], [first + 1, first + 1])
  assert.ok(await has(secondary, 'online2'))
  servers.cut(primary, secondary)
  for (let each = 0; each < 3; each++) {
    await primary.must('POST', 'sys/rotate')
    await write(primary, 3, `off${each}`)
  }
  await servers.time.pass(WHILE_CUT_MS)
  // What is its own goes on under the term that it has.
  await secondary.must('POST', 'auth/token/create', { policies: ['default'] })
  assert.equal(await termOf(secondary), first + 1)
  await primary.forgetLog()
  servers.heal(primary, secondary)
  await level(servers, primary, secondary)
  assert.equal(await termOf(secondary), first + 4)
  for (let each = 0; each < 3; each++) assert.ok(await has(secondary, `off${each}2`))
  assert.ok(await opens(servers, secondary, shareOf(primary)))
  assert.ok(await has(secondary, 'off22'))
})

test('T77: a rotation that a performance secondary is asked for is made by its primary', async () => {
  const { servers, primary, secondary } = await performanceServers(771)
  const first = Number(await termOf(primary))
  await servers.time.pass(2_000)
  await secondary.must('POST', 'sys/rotate')
  assert.equal(await termOf(primary), first + 1)
  await level(servers, primary, secondary)
  assert.equal(await termOf(secondary), first + 1)
  servers.cut(primary, secondary)
  await servers.time.pass(WHILE_CUT_MS)
  assert.equal((await secondary.call('POST', 'sys/rotate')).status, 503)
  assert.equal(await termOf(secondary), first + 1)
})

test('T77: new shares of the primary open a performance secondary once it caught up, and old ones before', async () => {
  const { servers, primary, secondary } = await performanceServers(772)
  const old = shareOf(primary)
  const fresh = await rekey(primary)
  await servers.time.pass(5_000)
  assert.ok(await opens(servers, secondary, Buffer.from(fresh)))
  assert.ok(!(await opens(servers, secondary, Buffer.from(old))))
  assert.ok(await opens(servers, secondary, Buffer.from(fresh)))
  await servers.time.pass(5_000)

  servers.cut(primary, secondary)
  const newest = await rekey(primary, fresh)
  await servers.time.pass(WHILE_CUT_MS)
  assert.ok(!(await opens(servers, secondary, Buffer.from(newest))))
  assert.ok(await opens(servers, secondary, Buffer.from(fresh)))
  servers.heal(primary, secondary)
  await level(servers, primary, secondary)
  await servers.time.pass(5_000)
  assert.ok(!(await opens(servers, secondary, Buffer.from(fresh))))
  assert.ok(await opens(servers, secondary, Buffer.from(newest)))
  // They make a root token there, too.
  await servers.giveRootToken(primary, secondary, newest)
  await secondary.must('GET', 'auth/token/lookup-self')
})

test('4c.18: a performance secondary is not rekeyed', async () => {
  const { servers, primary, secondary } = await performanceServers(773)
  for (const path of ['sys/rekey/init', 'sys/rotate/root/init', 'sys/rekey-recovery-key/init']) {
    const { status, body } = await secondary.call('POST', path, { secret_shares: 1, secret_threshold: 1 })
    assert.equal(status, 400, `${path} ${JSON.stringify(body)}`)
  }
  await level(servers, primary, secondary)
  assert.ok(await opens(servers, secondary, shareOf(primary)))
})

test('what a cluster sealed under terms of its own opens when it follows another primary', async () => {
  const { servers, primary, secondary } = await performanceServers(774)
  const share = shareOf(primary)
  await primary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  servers.cut(primary, secondary)
  await servers.time.pass(WHILE_CUT_MS)
  assert.equal((await secondary.call('POST', `${PERFORMANCE}/secondary/promote`, { force: true })).status, 200)
  // Both add terms that the other one lacks, and the former primary seals what is its own under several.
  const kept: string[] = []
  for (let each = 0; each < 3; each++) {
    await primary.must('POST', 'sys/rotate')
    await primary.must('POST', `own/keys/k${each}`)
    const { body } = await primary.must('POST', 'auth/token/create', { ttl: '700h', policies: ['root'] })
    kept.push((body.auth as { readonly client_token: string }).client_token)
  }
  await secondary.must('POST', 'sys/rotate')
  await write(secondary, 3, 'new')
  servers.heal(primary, secondary)
  await primary.must('POST', `${PERFORMANCE}/primary/demote`)
  const token = await servers.token(secondary, 'one', {}, FAMILY)
  await primary.must('POST', `${PERFORMANCE}/secondary/update-primary`, { token })
  await level(servers, secondary, primary)
  for (let restarts = 0; restarts < 2; restarts++) {
    assert.equal(await termOf(primary), await termOf(secondary))
    for (const [each, service] of kept.entries()) {
      await primary.must('GET', 'auth/token/lookup-self', undefined, service)
      await primary.must('POST', `own/keys/k${each}/rotate`)
    }
    assert.ok(await has(primary, 'new2'))
    assert.ok(await opens(servers, primary, share))
  }
  // Its own local data are saved and read as before on a promotion back.
  await servers.time.pass(2_000)
  await level(servers, secondary, primary)
  assert.equal((await primary.call('POST', `${PERFORMANCE}/secondary/promote`)).status, 200)
  for (const service of kept) await primary.must('GET', 'auth/token/lookup-self', undefined, service)
})

// FILTERS=1 SEED=851080726: what it had sealed in its former place came to its secondaries, and the key did not.
test('who is promoted in the middle of a comparison shares the keys of what was not compared yet', async () => {
  const { servers, primary, secondary } = await performanceServers(78)
  const third = await servers.start('three')
  await servers.activate(primary, third, 'three', FAMILY)
  await level(servers, primary, third)
  await servers.giveRootToken(primary, third)
  servers.cut(primary, secondary)
  await servers.time.pass(WHILE_CUT_MS)
  await secondary.must('POST', `${PERFORMANCE}/secondary/promote`, { force: true })
  await write(secondary, 40, 'beside')
  await secondary.must('POST', `${PERFORMANCE}/primary/demote`)
  servers.heal(primary, secondary)
  for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs: 500 })
  const given = { token: await servers.token(primary, 'two', {}, FAMILY), force: true }
  await secondary.must('POST', `${PERFORMANCE}/secondary/update-primary`, given)
  const hasFormer = async () => (await servers.time.until(secondary.server.store.get(FORMER_KEYS))) !== undefined
  for (let each = 0; each < 3_000 && !(await hasFormer()); each++) await servers.time.pass(20)
  assert.equal((await secondary.status(FAMILY)).state, 'merkle-diff')
  servers.cut(primary, secondary)
  await servers.time.pass(WHILE_CUT_MS)
  await secondary.must('POST', `${PERFORMANCE}/secondary/promote`, { force: true })
  assert.ok(await has(secondary, 'beside39'), 'it was not compared yet')
  const again = { token: await servers.token(secondary, 'three', {}, FAMILY) }
  await third.must('POST', `${PERFORMANCE}/secondary/update-primary`, again)
  await level(servers, secondary, third)
  for (let each = 0; each < 40; each++) assert.ok(await has(third, `beside${each}`), `${each}`)
  assert.ok(await opens(servers, third, shareOf(primary)))
  assert.ok(await has(third, 'beside39'))
})
