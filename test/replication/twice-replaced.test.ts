// A lost primary is replaced, and who replaced it is replaced as well before the lost one has heard of it: whoever is
// the primary then tells it. Whole servers, over the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMERS_FOLDER } from '../../src/replication/set/records.ts'
import { systemScope } from '../../src/storage/contract.ts'
import {
  DR,
  has,
  modeOf,
  operationToken,
  POLICY,
  pair,
  promote,
  shareOf,
  takeBack,
  write,
} from '../fixtures/failing-over.ts'
import { FourClusters } from '../fixtures/four-clusters.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import type { ReplicatedServers } from '../fixtures/replicated-servers.ts'

/** By then a link is known to be dead, and a former primary that can be reached was called. */
const KNOWN_MS = 20_000
/** The status of a link is that of a moment ago. */
const MOMENT_MS = 2_000
const FENCED = ['primary', true, 'fenced']
const GOES_ON = ['primary', false, undefined]

async function promoted(one: ReplicatedServer, token: string, more: object = {}): Promise<string> {
  const { status, body } = await promote(one, token, more)
  assert.equal(status, 200, JSON.stringify(body))
  return String(body.warnings)
}

/** A new cluster that stands in for the primary. */
async function standIn(servers: ReplicatedServers, primary: ReplicatedServer, name: string): Promise<ReplicatedServer> {
  const added = await servers.start(name)
  await servers.activate(primary, added, name)
  await servers.level(primary, added)
  await servers.time.pass(MOMENT_MS)
  added.rootToken = primary.rootToken
  return added
}

/** `one` is lost and replaced by `two`, for which `three` stands in. */
async function replaced(seed: number) {
  const { servers, primary: one, secondary: two, token } = await pair(seed)
  const share = shareOf(one)
  one.kill()
  await servers.time.pass(KNOWN_MS)
  assert.match(await promoted(two, token), /does not know yet/)
  two.rootToken = one.rootToken
  const three = await standIn(servers, two, 'three')
  /** One that was lost runs again. */
  const restarted = (again: ReplicatedServer): Promise<void> => servers.time.until(again.restart(Buffer.from(share)))
  return { servers, one, two, three, token, restarted }
}

const toldOf = async (primary: ReplicatedServer): Promise<unknown> => (await primary.status()).former_primary

test('T58: a primary that was replaced twice meanwhile hears of it from who is the primary now', async () => {
  const { servers, one, two, three, token, restarted } = await replaced(681)
  const warnings = await promoted(three, token)
  assert.match(warnings, /The former primary knows/)
  assert.match(warnings, /A primary from before the last one does not know/)
  await takeBack(servers, three, two, token)
  await servers.time.pass(KNOWN_MS)
  assert.match(String(await toldOf(three)), /one:8201 does not answer/)
  three.kill()
  await restarted(three)
  await servers.time.pass(KNOWN_MS)
  assert.match(String(await toldOf(three)), /one:8201 does not answer/)
  await restarted(one)
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual(await modeOf(one), FENCED)
  assert.match(String((await one.status()).idle_sentence), /https:\/\/three:8200 took over/)
  assert.deepEqual(await modeOf(three), GOES_ON)
  assert.equal(await toldOf(three), undefined)
  assert.equal((await one.call('PUT', 'sys/policies/acl/late', POLICY)).status, 503)
  await write(three, 1, 'on')
  await takeBack(servers, three, one, token)
})

test('T58: where who replaced it is lost as well, the third one tells both', async () => {
  const { servers, one, two, three, token, restarted } = await replaced(682)
  two.kill()
  await servers.time.pass(KNOWN_MS)
  await promoted(three, token)
  await servers.time.pass(KNOWN_MS)
  assert.match(String(await toldOf(three)), /one:8201 does not answer.*; two:8201 does not answer/)
  await restarted(one)
  // What only it has is kept aside when it comes back.
  await write(one, 1, 'alone')
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual(await modeOf(one), FENCED)
  assert.match(String(await toldOf(three)), /^two:8201 does not answer/)
  await restarted(two)
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual(await modeOf(two), FENCED)
  assert.equal(await toldOf(three), undefined)
  assert.deepEqual(await modeOf(three), GOES_ON)
  for (const former of [one, two]) await takeBack(servers, three, former, token)
  await servers.time.pass(MOMENT_MS)
  assert.equal((await one.status()).undone_records, 1)
  assert.equal((await two.status()).undone_records, undefined)
})

test('T58: who replaced it goes on calling after a demotion and another promotion', async () => {
  const { servers, one, two, token, restarted } = await replaced(683)
  await two.must('POST', `${DR}/primary/demote`)
  assert.match(await promoted(two, token, { force: true }), /A primary from before the last one does not know/)
  await restarted(one)
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual(await modeOf(one), FENCED)
  assert.deepEqual(await modeOf(two), GOES_ON)
  assert.equal(await toldOf(two), undefined)
})

test('T58: one that has heard of the first takes the next one for no other', async () => {
  const { servers, one, two, three, token, restarted } = await replaced(684)
  servers.cut(one, three)
  await restarted(one)
  two.kill()
  await servers.time.pass(KNOWN_MS)
  // It heard of the first, or did not, before that one was lost.
  await promoted(three, token)
  await restarted(two)
  await servers.time.pass(KNOWN_MS)
  assert.match(String((await one.status()).idle_sentence), /https:\/\/two:8200 took over/)
  servers.heal(one, three)
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual(await modeOf(one), FENCED)
  assert.deepEqual(await modeOf(two), FENCED)
  assert.deepEqual(await modeOf(three), GOES_ON)
  assert.equal(await toldOf(three), undefined)
})

for (const isFirst of [true, false])
  test(`T58: of two lines that replaced it the ${isFirst ? 'later' : 'longer'} one writes nothing`, async () => {
    const { servers, primary: one, secondary: two, token } = await pair(isFirst ? 685 : 686)
    const share = shareOf(one)
    const other = await standIn(servers, one, 'other')
    one.kill()
    await servers.time.pass(KNOWN_MS)
    await promoted(two, token)
    await promoted(other, token, { force: true })
    for (const each of [two, other]) each.rootToken = one.rootToken
    const three = await standIn(servers, two, 'three')
    await promoted(three, token)
    const [first, second] = isFirst ? [three, other] : [other, three]
    servers.cut(one, second)
    // It has the place of the other no more, and would call as well.
    servers.cut(one, two)
    await servers.time.until(one.restart(Buffer.from(share)))
    await servers.time.pass(KNOWN_MS)
    servers.heal(one, second)
    await servers.time.pass(KNOWN_MS)
    assert.deepEqual(await modeOf(one), FENCED)
    assert.deepEqual(await modeOf(first), GOES_ON)
    assert.deepEqual(await modeOf(second), FENCED)
    assert.match(String((await second.status()).idle_sentence), /Two clusters were promoted/)
  })

test('T58: a set that has ended calls nobody', async () => {
  const { servers, one, two, restarted } = await replaced(687)
  await two.must('POST', `${DR}/primary/disable`)
  await two.must('POST', `${DR}/primary/enable`)
  assert.equal(await toldOf(two), undefined)
  const left = await two.server.store.list('root/core/replication/former/', { limit: 1 })
  assert.deepEqual(left, [])
  await restarted(one)
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual(await modeOf(one), GOES_ON)
})

test('T58: a region that comes back does not go on at a primary that was replaced twice', async () => {
  const { a, b, servers } = await FourClusters.start(688)
  const token = await operationToken(a.serving)
  for (const { serving, standIn } of [a, b]) await servers.level(serving, standIn)
  await servers.time.pass(MOMENT_MS)
  const [one, oneDr, two, twoDr] = [a.serving, a.standIn, b.serving, b.standIn]
  const share = shareOf(one)
  for (const lost of [one, two]) lost.kill()
  await servers.time.pass(KNOWN_MS)
  // In each region who took over is replaced as well.
  const now: ReplicatedServer[] = []
  for (const [stands, name] of [
    [oneDr, 'one-third'],
    [twoDr, 'two-third'],
  ] as const) {
    await promoted(stands, token)
    const third = await standIn(servers, stands, name)
    await promoted(third, token, { force: true })
    now.push(third)
  }
  const [primary = assert.fail(), region = assert.fail()] = now
  await write(primary, 1, 'third')
  for (const lost of [one, two]) await servers.time.until(lost.restart(Buffer.from(share)))
  await servers.time.pass(KNOWN_MS)
  for (const lost of [one, two]) assert.deepEqual(await modeOf(lost), FENCED, lost.name)
  assert.equal((await one.status('performance')).fenced, true)
  assert.equal((await two.call('PUT', 'sys/policies/acl/through', POLICY)).status, 503)
  assert.equal(await has(one, 'through'), false)
  for (const each of [primary, region]) {
    assert.deepEqual(await modeOf(each), GOES_ON, each.name)
    assert.equal(await toldOf(each), undefined)
  }
})

test('who lost a conflict calls nobody: who is to go on is not fenced by those that are back later', async () => {
  const { servers, one, two, three, token, restarted } = await replaced(689)
  const four = await standIn(servers, two, 'four')
  two.kill()
  await servers.time.pass(KNOWN_MS)
  await promoted(three, token)
  await promoted(four, token, { force: true })
  servers.cut(two, three)
  await restarted(two)
  await servers.time.pass(KNOWN_MS)
  servers.heal(two, three)
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual([await modeOf(three), await modeOf(four)], [FENCED, GOES_ON])
  servers.cut(one, four)
  await restarted(one)
  await servers.time.pass(KNOWN_MS)
  servers.heal(one, four)
  await servers.time.pass(KNOWN_MS)
  assert.deepEqual([await modeOf(one), await modeOf(three), await modeOf(four)], [FENCED, FENCED, GOES_ON])
})

test('a record of a former primary that cannot be opened keeps nobody from being promoted', async () => {
  const { servers, two, three, token } = await replaced(690)
  const folder = `root/core/replication/${FORMERS_FOLDER}`
  const [name] = await servers.time.until(two.server.store.list(folder, { limit: 5 }))
  const damaged = two.server.store.transaction(async (tx) => {
    tx.put(systemScope, `${folder}${name}replaced`, Buffer.alloc(80, 7))
  })
  await servers.time.until(damaged)
  await servers.level(two, three)
  two.kill()
  await servers.time.pass(KNOWN_MS)
  await promoted(three, token)
  assert.deepEqual(await modeOf(three), GOES_ON)
})

test('the keys by which a cluster proves who it is are not shown among its undone records', async () => {
  const { servers, primary: one, secondary: two, token } = await pair(691)
  const share = shareOf(one)
  const other = await standIn(servers, one, 'other')
  one.kill()
  await servers.time.pass(KNOWN_MS)
  await promoted(two, token)
  await promoted(other, token, { force: true })
  for (const each of [two, other]) each.rootToken = one.rootToken
  servers.cut(one, other)
  await servers.time.until(one.restart(Buffer.from(share)))
  await servers.time.pass(KNOWN_MS)
  servers.heal(one, other)
  await servers.time.pass(KNOWN_MS)
  await takeBack(servers, two, other, token)
  await servers.time.pass(MOMENT_MS)
  two.kill()
  await servers.time.pass(KNOWN_MS)
  await promoted(other, token)
  const { undone } = (await other.must('GET', 'sys/replication/undone')).body.data as {
    readonly undone: readonly { readonly id: string }[]
  }
  const { body } = await other.must('GET', `sys/replication/undone/${undone[0]?.id}?values=true`)
  const records = (body.data as { readonly records: readonly { readonly operations: readonly object[] }[] }).records
  const ofFormers = records
    .flatMap(({ operations }) => operations as { readonly kind: string; readonly path: string }[])
    .filter(({ kind, path }) => kind === 'put' && path.startsWith('core/replication/former/'))
  assert.ok(ofFormers.length > 0)
  for (const operation of ofFormers) assert.deepEqual({ ...operation, readable: false }, operation)
})
