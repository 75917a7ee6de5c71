// The largest set for performance: twenty secondaries, a takeover that all of them follow, and all of them back at
// once. Whole servers, over the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { has, operationToken, POLICY, promote, shareOf, takeBack, write } from '../fixtures/failing-over.ts'
import { moveTo } from '../fixtures/four-clusters.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { ReplicatedServers } from '../fixtures/replicated-servers.ts'

const FAMILY = 'performance'
const MEMBERS = 20
/** Most bytes that one of them is sent when it moves to a primary that has taken over: it has all but a few records. */
const MOVE_BYTES = 60_000

/** A primary, its DR secondary, and twenty regions. */
async function largestSet() {
  const servers = new ReplicatedServers(2020)
  const [primary, standIn] = [await servers.start('one'), await servers.start('stand-in')]
  await primary.must('POST', 'sys/mounts/shared', { type: 'transit' })
  await primary.must('POST', 'shared/keys/k')
  const token = await operationToken(primary)
  await servers.enable(primary, FAMILY)
  const members: ReplicatedServer[] = []
  for (let each = 0; each < MEMBERS; each++) {
    const member = await servers.start(`region-${each}`)
    await servers.activate(primary, member, member.name, FAMILY)
    members.push(member)
  }
  for (const member of members) {
    await servers.level(primary, member, 60_000, FAMILY)
    await servers.giveRootToken(primary, member)
  }
  await servers.activate(primary, standIn)
  await servers.level(primary, standIn)
  await servers.time.pass(2_000)
  await servers.level(primary, standIn)
  return { servers, primary, standIn, members, token }
}

type LargestSet = Awaited<ReturnType<typeof largestSet>>

/** Something written on the primary is on all of them, and they have what it has. */
async function requireAll({ servers, members }: LargestSet, primary: ReplicatedServer, name: string): Promise<void> {
  await write(primary, 2, name)
  for (const member of members) {
    await servers.level(primary, member, 60_000, FAMILY)
    assert.ok(await has(member, `${name}1`), member.name)
  }
  await servers.time.pass(2_000)
  const { secondaries } = (await primary.status(FAMILY)) as {
    readonly secondaries: readonly { readonly connection_status: string }[]
  }
  const connected = secondaries.filter(({ connection_status: status }) => status === 'connected')
  assert.equal(connected.length, MEMBERS)
}

test('T62: twenty secondaries follow a takeover, come back at once, and follow the way back', async () => {
  const all = await largestSet()
  const { servers, primary, standIn, members, token } = all
  await requireAll(all, primary, 'first')
  await servers.level(primary, standIn)
  await servers.time.pass(2_000)
  primary.kill()
  await servers.time.pass(15_000)
  assert.equal((await promote(standIn, token)).status, 200)
  await write(standIn, 3, 'new')
  servers.sentBytes = 0
  const moves = members.map((member) => moveTo(member, standIn))
  for (const { status, body } of await Promise.all(moves)) assert.equal(status, 200, JSON.stringify(body))
  await requireAll(all, standIn, 'moved')
  assert.ok(servers.sentBytes < MEMBERS * MOVE_BYTES, `${servers.sentBytes} bytes`)

  // All of them lose their power, and come back in one moment.
  for (const member of members) member.kill()
  await write(standIn, 5, 'meanwhile')
  await servers.time.pass(30_000)
  const share = shareOf(primary)
  await Promise.all(members.map((member) => servers.time.until(member.restart(Buffer.from(share)))))
  await requireAll(all, standIn, 'back')
  for (const member of members) await member.must('PUT', `sys/policies/acl/by-${member.name}`, POLICY)
  assert.ok(await has(standIn, `by-region-${MEMBERS - 1}`))

  await servers.time.until(primary.restart(share))
  await servers.time.pass(15_000)
  await takeBack(servers, standIn, primary, token)
  await servers.time.pass(2_000)
  assert.equal((await promote(primary, token)).status, 200)
  for (const member of members) assert.equal((await moveTo(member, primary)).status, 200)
  await requireAll(all, primary, 'last')
  for (const member of members) await servers.requireShared(primary, member)
})
