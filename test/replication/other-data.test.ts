// One of the two has other data than the other one knows of: changed, put back or lost. Whole servers, over the
// simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scope, systemScope, type Transaction } from '../../src/storage/contract.ts'
import { follow, operationToken } from '../fixtures/failing-over.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, followedServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

async function write(primary: ReplicatedServer, count: number, name = 'p'): Promise<void> {
  for (let each = 0; each < count; each++) await primary.must('PUT', `sys/policies/acl/${name}${each}`, POLICY)
}

const shareOf = ({ server }: ReplicatedServer): Buffer => Buffer.from(server.shares[0] ?? assert.fail('it has a share'))
const policyKey = (name: string): string => `root/sys/policy/${name}`

const STRAYS: Readonly<Record<string, (tx: Transaction, scope: Scope) => void>> = {
  'a value that was changed': (tx, scope) => tx.put(scope, policyKey('p1'), Buffer.from('not of the primary')),
  'a key that was added': (tx, scope) => tx.put(scope, policyKey('stray'), Buffer.from('not of the primary')),
  'a key that was removed': (tx, scope) => tx.delete(scope, policyKey('p2')),
}

/** Changes the store of a server whose role forbids it. */
async function behindItsBack(
  { time }: ReplicatedServers,
  { server: { store } }: ReplicatedServer,
  change: (tx: Transaction) => void,
): Promise<void> {
  await time.until(store.setWritable(() => true))
  await time.until(store.transaction(async (tx) => change(tx)))
  await time.until(store.setWritable((of) => of === 'ignored'))
}

for (const [what, change] of Object.entries(STRAYS)) {
  test(`T43: ${what} on the secondary, behind its back, is found by the root and mended`, async () => {
    const { servers, primary, secondary } = await followedServers(41)
    await write(primary, 30)
    await servers.level(primary, secondary)
    const before = await primary.entries()
    await behindItsBack(servers, secondary, (tx) => change(tx, systemScope))
    assert.notDeepEqual(await secondary.entries(), before)
    servers.sentBytes = 0
    await servers.time.pass(30_000)
    await servers.level(primary, secondary)
    await servers.requireSame(primary, secondary)
    assert.deepEqual(await primary.entries(), before)
    assert.ok(servers.sentBytes < 40_000, `${servers.sentBytes} bytes: not all anew`)
  })
}

test('T42: a comparison ends while the primary writes all the time, and there is no second one', async () => {
  const { servers, primary, secondary } = await followedServers(43)
  await write(primary, 100)
  await servers.level(primary, secondary)
  servers.cut(primary, secondary)
  await write(primary, 50, 'q')
  await servers.time.pass(20_000)
  await primary.forgetLog()
  for (const [from, to] of bothWays(primary, secondary)) {
    servers.network.set(from, to, { delayMs: 100, bytesPerSecond: 200_000 })
  }
  servers.heal(primary, secondary)
  const states: unknown[] = []
  for (let each = 0; each < 400; each++) {
    await primary.must('PUT', `sys/policies/acl/p${each % 100}`, { policy: `${POLICY.policy} # ${each}` })
    await servers.time.pass(25)
    const { state } = await secondary.status()
    if (states.at(-1) !== state) states.push(state)
  }
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
  const isCompared = (state: unknown): boolean => state === 'merkle-diff' || state === 'merkle-sync'
  const compared = states.slice(states.findIndex(isCompared), states.findLastIndex(isCompared) + 1)
  assert.ok(compared.length >= 1 && compared.length <= 2 && compared.every(isCompared), states.join())
  assert.equal(states.at(-1), 'stream-wals')
})

test('T50: files of the primary that are put back are told on the secondary, and nothing is undone there', async () => {
  const { servers, primary, secondary } = await followedServers(44)
  await write(primary, 3)
  const image = primary.image()
  await write(primary, 3, 'later')
  await servers.level(primary, secondary)
  const followed = await secondary.entries()
  const share = shareOf(primary)
  primary.kill()
  await servers.time.pass(20_000)
  primary.putBack(image)
  await servers.time.until(primary.restart(share))
  await servers.time.pass(30_000)
  const { state, idle_reason: reason, idle_sentence: sentence } = await secondary.status()
  assert.deepEqual([state, reason], ['idle', 'rewound'])
  assert.match(String(sentence), /no record \d+ like the one that the secondary applied/)
  // It goes on writing, and so reaches the same indexes with other changes.
  await write(primary, 20, 'other')
  await servers.time.pass(3 * MINUTE_MS)
  assert.equal((await secondary.status()).idle_reason, 'rewound')
  assert.deepEqual(await secondary.entries(), followed)
})

test('T51: a secondary whose store was lost cannot connect, and is let in again with a new token', async () => {
  const { servers, primary, secondary } = await followedServers(45)
  await write(primary, 3)
  await servers.level(primary, secondary)
  await servers.time.until(secondary.wipe())
  await servers.time.pass(2 * MINUTE_MS)
  assert.deepEqual(await secondary.status(), { mode: 'disabled' })
  const { secondaries } = (await primary.status()) as { secondaries: readonly Record<string, unknown>[] }
  assert.equal(secondaries[0]?.connection_status, 'disconnected')
  await primary.must('POST', 'sys/replication/dr/primary/revoke-secondary', { id: 'two' })
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T52: a primary that was begun anew at the same address is none of the secondary, whose data stay', async () => {
  const { servers, primary, secondary } = await followedServers(46)
  await write(primary, 3)
  await servers.level(primary, secondary)
  const followed = await secondary.entries()
  for (const isPrimaryAgain of [false, true]) {
    if (isPrimaryAgain) await servers.enable(primary)
    else await servers.time.until(primary.wipe())
    await servers.time.pass(2 * MINUTE_MS)
    const { state, idle_reason: reason, idle_sentence: sentence } = await secondary.status()
    assert.deepEqual([state, reason], ['idle', 'rejected'])
    assert.match(String(sentence), /^one:8201 does not serve this set/)
  }
  assert.deepEqual(await secondary.entries(), followed)
})

test('T34: certificates are renewed over the link for months, and what is written arrives all the time', async () => {
  const { servers, primary, secondary } = await followedServers(47)
  // Those of the primary hold 30 days, that of the secondary 90.
  for (let day = 0; day < 400; day += 5) {
    await servers.time.leap(5 * DAY_MS)
    await primary.must('PUT', `sys/policies/acl/day${day}`, POLICY)
    await servers.level(primary, secondary, 5 * MINUTE_MS)
  }
  await servers.requireSame(primary, secondary)
})

test('T34: a secondary whose certificate has ended is let in again by a new token, with what it has', async () => {
  const { servers, primary, secondary } = await followedServers(49)
  await operationToken(primary)
  await servers.level(primary, secondary)
  const share = shareOf(primary)
  secondary.kill()
  await servers.time.leap(100 * DAY_MS)
  await servers.time.until(secondary.restart(share))
  await servers.time.pass(MINUTE_MS)
  assert.equal((await secondary.status()).idle_reason, 'clock')
  assert.equal((await follow(servers, primary, secondary, await operationToken(primary))).status, 200)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T34: a secondary that was off until its certificate ended says so, and a new store is let in', async () => {
  const { servers, primary, secondary } = await followedServers(48)
  await write(primary, 3)
  await servers.level(primary, secondary)
  const share = shareOf(primary)
  secondary.kill()
  await servers.time.leap(100 * DAY_MS)
  await servers.time.until(secondary.restart(share))
  await servers.time.pass(MINUTE_MS)
  const { state, idle_reason: reason, idle_sentence: sentence } = await secondary.status()
  assert.deepEqual([state, reason], ['idle', 'clock'])
  assert.match(String(sentence), /expired 10 days ago.*without its primary for too long: a new activation token/)
  // While it is a secondary it is not activated: a new store is.
  assert.equal((await secondary.call('POST', 'sys/replication/dr/secondary/enable', { token: 't' })).status, 400)
  await servers.time.until(secondary.wipe())
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})
