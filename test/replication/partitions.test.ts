// A secondary follows over links that are cut, slow, silent and damaged: whole servers, over the simulated network, in
// virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, followedServers } from '../fixtures/replicated-servers.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** How soon both ends of a link must show that it is dead. */
const NOTICED_MS = 15 * SECOND_MS
const policyOf = (bytes: number): object => ({
  policy: `path "a" { capabilities = ["read"] } # ${'x'.repeat(bytes)}`,
})

async function write(primary: ReplicatedServer, count: number, bytes: number): Promise<void> {
  for (let each = 0; each < count; each++)
    await primary.must('PUT', `sys/policies/acl/p${each}`, policyOf(bytes + each))
}

const connectionAt = async (primary: ReplicatedServer): Promise<unknown> => {
  const { secondaries } = (await primary.status()) as { secondaries: readonly Record<string, unknown>[] }
  return secondaries[0]?.connection_status
}

const lastBeatMs = ({ secondaries, primaries }: Record<string, unknown>): number => {
  const [peer] = (secondaries ?? primaries) as readonly Record<string, unknown>[]
  return Date.parse(String(peer?.last_heartbeat))
}

for (const [name, ms] of [
  ['a second', SECOND_MS],
  ['30 seconds', 30 * SECOND_MS],
  ['10 minutes', 10 * MINUTE_MS],
] as const) {
  test(`T21: after ${name} without a link the log goes on where it was, and what was written is sent`, async () => {
    const { servers, primary, secondary } = await followedServers(31)
    await write(primary, 100, 4_000)
    await servers.level(primary, secondary)
    servers.cut(primary, secondary)
    servers.sentBytes = 0
    await write(primary, 10, 3_000)
    await servers.time.pass(ms)
    servers.heal(primary, secondary)
    assert.ok((await servers.level(primary, secondary)) <= NOTICED_MS)
    await servers.requireSame(primary, secondary)
    // Behind a link that was given up it is sent once more.
    const [least, most] = ms < NOTICED_MS ? [30_000, 45_000] : [60_000, 90_000]
    assert.ok(servers.sentBytes > least && servers.sentBytes < most, `${servers.sentBytes} bytes`)
  })
}

test('T21: behind the end of the log only what differs is sent', async () => {
  const { servers, primary, secondary } = await followedServers(32)
  await write(primary, 300, 4_000)
  await servers.level(primary, secondary)
  servers.cut(primary, secondary)
  await write(primary, 10, 3_000)
  await servers.time.pass(10 * MINUTE_MS)
  await primary.forgetLog()
  servers.heal(primary, secondary)
  servers.sentBytes = 0
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
  // The copy has 1.2 MB.
  assert.ok(servers.sentBytes < 120_000, `${servers.sentBytes} bytes`)
})

test('T24: a link that is too slow for what is written does not slow the primary, and nothing piles up', async () => {
  const { servers, primary, secondary } = await followedServers(33)
  for (const [from, to] of bothWays(primary, secondary)) {
    servers.network.set(from, to, { bytesPerSecond: 125_000 })
  }
  const slowest = { ms: 0 }
  for (let each = 0; each < 400; each++) {
    const startMs = servers.time.nowMs
    await primary.must('PUT', `sys/policies/acl/p${each % 100}`, policyOf(15_000))
    slowest.ms = Math.max(slowest.ms, servers.time.nowMs - startMs)
    await servers.time.pass(25)
  }
  assert.equal(slowest.ms, 0, 'no write waits for the link')
  assert.equal(await servers.isLevel(primary, secondary), false)
  assert.ok(Number((await secondary.status()).lag_ms) > SECOND_MS)
  // The log is shortened, although the secondary has not had it.
  await primary.forgetLog()
  servers.sentBytes = 0
  await servers.level(primary, secondary, 10 * MINUTE_MS)
  await servers.requireSame(primary, secondary)
  assert.ok(servers.sentBytes < 100 * 15_000 * 1.5 + 1_000_000, `${servers.sentBytes} bytes: not all that was written`)
})

test('T26: damaged bytes end the link with nothing of them applied, and it goes on over the next one', async () => {
  const { servers, primary, secondary } = await followedServers(34)
  for (const [from, to] of bothWays(primary, secondary)) {
    for (let each = 0; each < 5; each++) {
      servers.network.flipNext(from, to)
      await write(primary, 3, 100 + each)
      await servers.level(primary, secondary)
    }
  }
  await servers.requireSame(primary, secondary)
})

test('T36: nine seconds without a beat are none, eleven are the end of the link', async () => {
  for (const [ms, remains] of [
    [9 * SECOND_MS, true],
    [11 * SECOND_MS, false],
  ] as const) {
    const { servers, primary, secondary } = await followedServers(35)
    servers.cut(primary, secondary)
    await servers.time.pass(ms)
    assert.equal(await connectionAt(primary), remains ? 'connected' : 'disconnected')
    assert.equal((await secondary.status()).connection_state === 'ready', remains)
    servers.heal(primary, secondary)
    await servers.time.pass(NOTICED_MS)
    assert.equal(await connectionAt(primary), 'connected')
    assert.ok(await servers.isLevel(primary, secondary))
  }
})

test('T39: clocks that are set a day on or back change nothing that is followed, and the skew is shown', async () => {
  const { servers, primary, secondary } = await followedServers(36)
  const day = 24 * HOUR_MS
  for (const [stepped, aheadMs, seen] of [
    [secondary, day, -day],
    [secondary, -day, day],
    [primary, day, day],
    [primary, -day, -day],
  ] as const) {
    primary.aheadMs = 0
    secondary.aheadMs = 0
    stepped.aheadMs = aheadMs
    await write(primary, 3, 100)
    // The middle one of the last samples counts.
    await servers.time.pass(10 * SECOND_MS)
    assert.ok(await servers.isLevel(primary, secondary))
    const { primaries } = (await secondary.status()) as { primaries: readonly Record<string, unknown>[] }
    assert.equal(Number(primaries[0]?.clock_skew_ms), seen)
    assert.equal((await secondary.status()).lag_ms, '0')
  }
  primary.aheadMs = 0
  secondary.aheadMs = 0
  // A clock that drifts by a second a minute.
  for (let minute = 0; minute < 10; minute++) {
    secondary.aheadMs += SECOND_MS
    await servers.time.pass(MINUTE_MS)
  }
  await write(primary, 3, 200)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T39: a primary that begins with a clock that is ahead is followed a minute after that is set', async () => {
  const { servers, primary, secondary } = await followedServers(39)
  const [share] = primary.server.shares
  primary.kill()
  primary.aheadMs = 2 * HOUR_MS
  await servers.time.until(primary.restart(share))
  await servers.time.pass(20 * SECOND_MS)
  assert.equal((await secondary.status()).idle_reason, 'clock')
  primary.aheadMs = 0
  await write(primary, 3, 100)
  await servers.level(primary, secondary, 3 * MINUTE_MS)
  await servers.requireSame(primary, secondary)
})

test('T39: a primary whose clock is ahead while a certificate is renewed is followed on, then and later', async () => {
  const { servers, primary, secondary } = await followedServers(42)
  const day = 24 * HOUR_MS
  await servers.time.leap(60 * day - HOUR_MS)
  await servers.level(primary, secondary, 5 * MINUTE_MS)
  const before = secondary.links
  primary.aheadMs = 25 * day
  await servers.time.pass(HOUR_MS + 10 * MINUTE_MS)
  assert.equal(await connectionAt(primary), 'connected')
  assert.equal(secondary.links, before)
  primary.aheadMs = 0
  await servers.time.pass(HOUR_MS)
  await write(primary, 3, 100)
  await servers.level(primary, secondary)
  assert.equal(secondary.links, before + 1, 'a new certificate has a new link')
  // The first certificate has ended by then.
  await servers.time.leap(40 * day)
  await write(primary, 3, 200)
  await servers.level(primary, secondary, 5 * MINUTE_MS)
  await servers.requireSame(primary, secondary)
})

test('T40: in an hour without a write no log grows, and nothing lags', async () => {
  const { servers, primary, secondary } = await followedServers(37)
  // What both note of each other once.
  await servers.time.pass(MINUTE_MS)
  const positions = () =>
    Promise.all([primary, secondary].map(async ({ server }) => (await server.store.position()).index))
  const before = await positions()
  await servers.time.pass(HOUR_MS)
  assert.deepEqual(await positions(), before)
  const { lag_ms: lag, lag_entries: entries, state } = await secondary.status()
  assert.deepEqual([lag, entries, state], ['0', 0, 'stream-wals'])
})

test('T96: status that is asked 100 times a second is answered throughout, and tells the truth', async () => {
  const { servers, primary, secondary } = await followedServers(38)
  const { network, time } = servers
  const asked = { count: 0 }
  const look = async (): Promise<void> => {
    for (const cluster of [primary, secondary]) {
      if (network.host(cluster.name).isOff) continue
      for (const path of ['sys/replication/dr/status', 'sys/replication/status', 'sys/health?drsecondarycode=200']) {
        const { status } = await cluster.call('GET', path, undefined, '')
        assert.ok(status < 500, `${cluster.name} ${path}: ${status}`)
        asked.count++
      }
    }
    if (network.host('one').isOff || network.host('two').isOff) return
    const [theirs, ours] = [await primary.status(), await secondary.status()]
    // Who is connected was heard of within ten seconds.
    if ((await connectionAt(primary)) === 'connected') assert.ok(time.nowMs - lastBeatMs(theirs) <= 12 * SECOND_MS)
    if (ours.connection_state !== 'ready' || ours.lag_ms !== '0' || ours.state !== 'stream-wals') return
    if (ours.last_remote_wal === theirs.last_dr_wal) assert.equal(ours.merkle_root, theirs.merkle_root)
  }
  const during = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      await time.pass(10)
      await look()
    }
  }
  await during(300)
  servers.cut(primary, secondary)
  await write(primary, 2, 100)
  await during(300)
  await time.pass(15 * SECOND_MS)
  await during(300)
  servers.heal(primary, secondary)
  await during(1_000)
  network.reset('one', 'two')
  await during(300)
  await primary.forgetLog()
  network.flipNext('one', 'two')
  await write(primary, 2, 200)
  await during(500)
  const share = Buffer.from(primary.server.shares[0] ?? assert.fail())
  for (const cluster of [secondary, primary]) {
    cluster.kill()
    await during(300)
    await time.until(cluster.restart(Buffer.from(share)))
    await during(300)
  }
  await servers.level(primary, secondary)
  await during(300)
  assert.ok(asked.count > 2_000)
})
