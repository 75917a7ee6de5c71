// T35, threats R-11: the authority of a set is followed by another one, and no link ends for it. Whole servers, over
// the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCertificate } from '../../src/crypto/signatures/certificate.ts'
import { decodeBase64 } from '../../src/lib/base64.ts'
import { readAuthorities } from '../../src/replication/set/authorities.ts'
import { successorDueMs } from '../../src/replication/set/certificates.ts'
import { SECONDARY_IDENTITY, SETS_FOLDER, type SetReader, setPath } from '../../src/replication/set/records.ts'
import { systemScope } from '../../src/storage/contract.ts'
import { DR, has, pair, promote, shareOf, write } from '../fixtures/failing-over.ts'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'
import { testSeed } from '../fixtures/seed.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const POINTS = Number(process.env.POINTS ?? 8)
/** All of it takes so long over links of a millisecond. */
const LAST_MS = 2
const MOST_STEPS = 40
const ROTATE = `${DR}/primary/rotate-authority`

function inSets<T>(
  { time }: ReplicatedServers,
  { server }: ReplicatedServer,
  read: (tx: SetReader) => Promise<T>,
): Promise<T> {
  return time.until(server.node.storage.view(systemScope, SETS_FOLDER).transaction(read))
}

/** The authorities of a primary, as texts. */
async function authorities(servers: ReplicatedServers, primary: ReplicatedServer) {
  const { present, next, old } = await inSets(servers, primary, (tx) => readAuthorities(tx, 'dr'))
  const text = (one: Buffer | undefined): string | undefined => one?.toString('base64')
  return { present: text(present), next: text(next), old: text(old) }
}

/** Whom a secondary trusts, that of its own leaf first. */
async function trusted(servers: ReplicatedServers, secondary: ReplicatedServer): Promise<readonly string[]> {
  const stored = await inSets(servers, secondary, (tx) => tx.get(setPath('dr', 'identity')))
  const { authority, alsoTrusted } = SECONDARY_IDENTITY.decode(stored ?? assert.fail('it is a secondary'))
  return [authority, ...alsoTrusted]
}

const linksOf = (...clusters: readonly ReplicatedServer[]): number[] => clusters.map(({ links }) => links)

/** Days go by, in which the link is up now and then and all that is written arrives. */
async function live(servers: ReplicatedServers, primary: ReplicatedServer, secondary: ReplicatedServer, days: number) {
  const stepDays = 20
  for (let left = days; left > 0; left -= stepDays) {
    await servers.time.leap(Math.min(left, stepDays) * DAY_MS)
    await write(primary, 1, `day${left}`)
    await servers.level(primary, secondary, 5 * MINUTE_MS)
  }
}

/** A second passes after each write. */
async function writeForAWhile(servers: ReplicatedServers, primary: ReplicatedServer, seconds: number, name: string) {
  for (let each = 0; each < seconds; each++) {
    await write(primary, 1, `${name}${each}-`)
    await servers.time.pass(1_000)
  }
}

test('T35: after two thirds of its life the authority is followed by another, and the link goes on', async () => {
  const { servers, primary, secondary } = await followedServers(351)
  const first = await authorities(servers, primary)
  const dueMs = successorDueMs(readCertificate(decodeBase64(first.present ?? '')))
  const days = (dueMs - servers.time.nowMs) / DAY_MS
  assert.ok(days > 2_420 && days < 2_434, `${days} days are two thirds of ten years`)
  await live(servers, primary, secondary, Math.floor(days) - 1)
  assert.deepEqual(await authorities(servers, primary), first)
  await servers.time.leap(dueMs - servers.time.nowMs - MINUTE_MS)
  await servers.level(primary, secondary, 5 * MINUTE_MS)
  const before = linksOf(primary, secondary)
  await writeForAWhile(servers, primary, 150, 'through')
  const second = await authorities(servers, primary)
  assert.deepEqual([second.old, second.next], [first.present, undefined])
  assert.notEqual(second.present, first.present)
  assert.deepEqual(await trusted(servers, secondary), [first.present, second.present])
  await servers.level(primary, secondary)
  assert.deepEqual(linksOf(primary, secondary), before, 'no link ended')
  // Each leaf is renewed when it is due. Then nobody trusts the old one any more.
  await live(servers, primary, secondary, 80)
  await writeForAWhile(servers, primary, 70, 'after')
  assert.deepEqual(await authorities(servers, primary), { ...second, old: undefined })
  assert.deepEqual(await trusted(servers, secondary), [second.present])
  const last = linksOf(primary, secondary)
  await writeForAWhile(servers, primary, 70, 'end')
  await servers.level(primary, secondary)
  assert.deepEqual(linksOf(primary, secondary), last)
  // The first one would have ended by now.
  await live(servers, primary, secondary, 1_300)
  await servers.requireSame(primary, secondary)
})

/** Asks for another authority; the ids that are waited for. */
const rotate = async (primary: ReplicatedServer): Promise<unknown> =>
  (await primary.must('POST', ROTATE)).body.data?.waits_for

test('T35: an operator may ask for it: it takes a moment, no link ends, and asking again begins another', async () => {
  const { servers, primary, secondary } = await followedServers(352)
  const before = linksOf(primary, secondary)
  const first = await authorities(servers, primary)
  assert.deepEqual(await rotate(primary), ['two'])
  await servers.time.pass(1_000)
  const second = await authorities(servers, primary)
  assert.deepEqual([second.old, second.next], [first.present, undefined])
  // The place of the old one is taken until no leaf is of it: the third one waits, and signs nothing.
  assert.deepEqual(await rotate(primary), ['two'])
  await servers.time.pass(1_000)
  const third = await authorities(servers, primary)
  assert.deepEqual([third.present, third.old], [second.present, first.present])
  assert.deepEqual(await trusted(servers, secondary), [first.present, second.present, third.next])
  assert.deepEqual(linksOf(primary, secondary), before)
  await live(servers, primary, secondary, 80)
  await servers.time.pass(2 * MINUTE_MS)
  const { present, next } = await authorities(servers, primary)
  assert.deepEqual([present, next], [third.next, undefined])
  await live(servers, primary, secondary, 80)
  await servers.time.pass(2 * MINUTE_MS)
  assert.deepEqual(await authorities(servers, primary), { present: third.next, next: undefined, old: undefined })
  assert.deepEqual(await trusted(servers, secondary), [third.next])
  await servers.requireSame(primary, secondary)
})

for (const who of ['primary', 'secondary'] as const) {
  test(`T35: a ${who} that ends at any of ${POINTS} points of it comes back to a link, and to its end`, async (t) => {
    const outcomes = new Set<string>()
    const random = pseudoRandom(testSeed(t))
    for (let point = 0; point < POINTS; point++) {
      const { servers, primary, secondary } = await followedServers(353)
      const first = await authorities(servers, primary)
      const killed = who === 'primary' ? primary : secondary
      const share = shareOf(primary)
      primary.server.call('POST', ROTATE).catch(() => {})
      await servers.time.pass(Math.floor((LAST_MS * point) / (POINTS - 1)))
      await servers.time.steps(random.int(MOST_STEPS))
      killed.kill()
      await servers.time.pass(500)
      await servers.time.until(killed.restart(Buffer.from(share)))
      const { present, next } = await authorities(servers, primary)
      outcomes.add(present !== first.present ? 'changed' : next === undefined ? 'nothing' : 'begun')
      await write(primary, 3, 'after')
      await servers.level(primary, secondary, 5 * MINUTE_MS)
      if (present === first.present && next === undefined) await rotate(primary)
      await servers.time.pass(2 * MINUTE_MS)
      const last = await authorities(servers, primary)
      assert.deepEqual([last.next, last.old], [undefined, first.present], `point ${point}`)
      assert.deepEqual(await trusted(servers, secondary), [first.present, last.present])
      await servers.level(primary, secondary)
      await servers.requireSame(primary, secondary)
    }
    assert.ok(outcomes.has('changed') && outcomes.size > 1, [...outcomes].join())
  })
}

test('T35: a secondary that was away comes back with a leaf of the old authority, and gets the new one', async () => {
  const { servers, primary, secondary } = await followedServers(354)
  const share = shareOf(primary)
  secondary.kill()
  assert.deepEqual(await rotate(primary), ['two'])
  const { present, next } = await authorities(servers, primary)
  // It may come at any time as long as its leaf holds, and has heard of one authority alone: it is waited for.
  await servers.time.leap(85 * DAY_MS)
  await write(primary, 5, 'away')
  assert.deepEqual(await authorities(servers, primary), { present, next, old: undefined })
  await servers.time.until(secondary.restart(share))
  await servers.level(primary, secondary, 5 * MINUTE_MS)
  await servers.time.pass(2 * MINUTE_MS)
  await servers.level(primary, secondary)
  assert.equal((await authorities(servers, primary)).present, next)
  assert.ok((await trusted(servers, secondary)).includes(next ?? ''))
  await servers.requireSame(primary, secondary)
})

test('T35: one that was away until its leaf ended says so, is waited for till revoked, and needs a token', async () => {
  const { servers, primary, secondary } = await followedServers(355)
  const share = shareOf(primary)
  secondary.kill()
  await rotate(primary)
  const { next } = await authorities(servers, primary)
  await servers.time.leap(100 * DAY_MS)
  await servers.time.until(secondary.restart(share))
  await servers.time.pass(2 * MINUTE_MS)
  const { state, idle_reason: reason, idle_sentence: sentence } = await secondary.status()
  assert.deepEqual([state, reason], ['idle', 'clock'])
  assert.match(String(sentence), /a new activation token lets it in again/)
  assert.deepEqual(await rotate(primary), ['two'])
  await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: 'two' })
  await servers.time.pass(2 * MINUTE_MS)
  assert.deepEqual(await authorities(servers, primary), { present: next, next: undefined, old: undefined })
  await servers.time.until(secondary.wipe())
  await servers.activate(primary, secondary)
  await servers.level(primary, secondary)
  assert.deepEqual(await trusted(servers, secondary), [next])
  await servers.requireSame(primary, secondary)
})

test('T35: a token that was made in between lets in before the change and behind it', async () => {
  for (const isBehind of [false, true]) {
    const { servers, primary, secondary } = await followedServers(356)
    const third = await servers.start('three')
    servers.cut(primary, secondary)
    await servers.time.pass(15_000)
    await rotate(primary)
    const { present, next } = await authorities(servers, primary)
    const { body } = await third.must('POST', `${DR}/secondary/generate-public-key`)
    const token = await servers.token(primary, 'three', { secondary_public_key: body.data?.secondary_public_key })
    if (isBehind) servers.heal(primary, secondary)
    await servers.time.pass(MINUTE_MS)
    assert.equal((await authorities(servers, primary)).present, isBehind ? next : present)
    await third.must('POST', `${DR}/secondary/enable`, { token })
    await servers.level(primary, third)
    servers.heal(primary, secondary)
    await servers.time.pass(MINUTE_MS)
    assert.equal((await authorities(servers, primary)).present, next)
    for (const each of [secondary, third]) {
      await servers.level(primary, each)
      await servers.requireSame(primary, each)
    }
  }
})

for (const isChanged of [false, true]) {
  test(`T35: a takeover ${isChanged ? 'behind' : 'before'} the change reaches the former primary`, async () => {
    const { servers, primary, secondary, token } = await pair(357)
    const { present } = await authorities(servers, primary)
    const third = await servers.start('three')
    await servers.activate(primary, third)
    await servers.level(primary, third)
    // The third one does not hear of it, so that the change waits.
    if (!isChanged) third.kill()
    await rotate(primary)
    await servers.time.pass(MINUTE_MS)
    assert.equal((await authorities(servers, primary)).present === present, !isChanged)
    await servers.level(primary, secondary)
    // The former primary cannot be asked, and is told by the certificate of a secondary.
    servers.cut(primary, secondary)
    await write(primary, 1, 'lost')
    await servers.time.pass(15_000)
    assert.equal((await promote(secondary, token, { force: true })).status, 200)
    servers.heal(primary, secondary)
    await servers.time.pass(30_000)
    assert.equal((await primary.status()).fenced, true)
    assert.equal((await secondary.status()).former_primary, undefined)
    // A fenced one makes no authority, whatever the hour.
    const fenced = await authorities(servers, primary)
    await servers.time.leap(3_000 * DAY_MS)
    await servers.time.pass(2 * MINUTE_MS)
    assert.deepEqual(await authorities(servers, primary), fenced)
    assert.equal((await primary.call('POST', ROTATE)).status, 503)
    assert.ok(await has(secondary, 'p0'))
  })
}

test('T35: while the clock is years ahead nothing is done that keeps the set apart when it is set', async () => {
  const { servers, primary, secondary } = await followedServers(358)
  const { present } = await authorities(servers, primary)
  primary.aheadMs = 11 * 365 * DAY_MS
  await servers.time.pass(5 * MINUTE_MS)
  const ahead = await authorities(servers, primary)
  assert.equal(ahead.present, present, 'not all trust the next one, so it is the present one still')
  primary.aheadMs = 0
  await write(primary, 3, 'set')
  await servers.level(primary, secondary, 5 * MINUTE_MS)
  await servers.time.pass(65 * MINUTE_MS)
  assert.equal((await authorities(servers, primary)).present, ahead.next)
  await live(servers, primary, secondary, 80)
  await servers.requireSame(primary, secondary)
})

test('T35: one that trusts the old authority alone when the next one signs is told that it needs a token', async () => {
  const { servers, primary, secondary } = await followedServers(359)
  const share = shareOf(primary)
  const files = secondary.tables.copy()
  await rotate(primary)
  await servers.time.pass(1_000)
  assert.equal((await authorities(servers, primary)).next, undefined)
  // Its files are those of before: an image of the machine.
  secondary.kill()
  secondary.putBack(files)
  await servers.time.until(secondary.restart(share))
  await servers.time.pass(2 * MINUTE_MS)
  const { connection_state: connection, idle_reason: reason, idle_sentence: sentence } = await secondary.status()
  assert.deepEqual([connection, reason], ['transient_failure', 'untrusted'])
  assert.match(String(sentence), /another authority by now: a new activation token is needed/)
})
