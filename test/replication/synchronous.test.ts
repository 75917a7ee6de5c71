// Writes that are answered when a secondary for disaster recovery has them: whole servers over the simulated network,
// in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SynchronousSettings } from '../../src/replication/synchronous/settings.ts'
import { DR, has, operationToken, POLICY, pair, promote, shareOf } from '../fixtures/failing-over.ts'
import type { Called } from '../fixtures/memory-server.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { operationsOf, type ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, followedServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'
import { testSeed } from '../fixtures/seed.ts'

const POINTS = Number(process.env.POINTS ?? 6)
const TO_TWO: SynchronousSettings = { ids: ['two'], timeoutMs: 10_000 }
const ALWAYS: SynchronousSettings = { ids: ['two'], timeoutMs: undefined }
const WAY_MS = 10

/** Has the writes of a primary wait, as a reload of its configuration does. */
const waitFor = (servers: ReplicatedServers, primary: ReplicatedServer, settings: SynchronousSettings): Promise<void> =>
  servers.time.until(primary.server.node.replication.waitFor(settings))

/** A pair whose primary waits for the other, which is in step. */
async function synchronousPair(seed: number, settings = TO_TWO) {
  const stage = await followedServers(seed)
  const { servers, primary, secondary } = stage
  await waitFor(servers, primary, settings)
  await servers.time.pass(2_000)
  assert.deepEqual(await stateOf(primary), ['two in-step'])
  return { ...stage, token: await operationToken(primary), slow: () => slow(servers, primary, secondary) }
}

/** Each message takes so long from now on. */
function slow(servers: ReplicatedServers, one: ReplicatedServer, other: ReplicatedServer): void {
  for (const [from, to] of bothWays(one, other)) servers.network.set(from, to, { delayMs: WAY_MS })
}

type Shown = { readonly id: string; readonly state: string }

async function stateOf(primary: ReplicatedServer): Promise<string[] | undefined> {
  const { synchronous } = await primary.status()
  return (synchronous as readonly Shown[] | undefined)?.map(({ id, state }) => `${id} ${state}`)
}

/** Begins a write without waiting for its answer. */
function begin({ server, rootToken }: ReplicatedServer, name: string) {
  const answer: { status?: number; body?: Called['body'] } = {}
  const over = server.call('PUT', `sys/policies/acl/${name}`, POLICY, rootToken).then(({ status, body }) => {
    Object.assign(answer, { status, body })
  })
  over.catch(() => {})
  return answer
}

test('a write costs one round trip to the secondary, however many there are at once', async () => {
  const { servers, primary, secondary, slow } = await synchronousPair(231)
  slow()
  const startMs = servers.time.nowMs
  await primary.must('PUT', 'sys/policies/acl/one', POLICY)
  const oneMs = servers.time.nowMs - startMs
  assert.ok(oneMs >= 2 * WAY_MS && oneMs <= 2 * WAY_MS + 5, `${oneMs} ms`)
  const many = Array.from({ length: 200 }, (_, at) => begin(primary, `many${at}`))
  await servers.time.pass(2 * WAY_MS + 10)
  assert.ok(
    many.every(({ status }) => status === 204),
    JSON.stringify(many.filter(({ status }) => status !== 204)),
  )
  assert.ok(await has(primary, 'many199'))
  assert.equal(await servers.isLevel(primary, secondary), true)
})

test('reads, and what changes nothing that is sent, wait for nothing', async () => {
  const { servers, primary, slow } = await synchronousPair(232)
  slow()
  const startMs = servers.time.nowMs
  await primary.must('GET', 'sys/policies/acl/default')
  await primary.must('LIST', 'sys/policies/acl')
  await primary.must('GET', 'auth/token/lookup-self')
  await primary.must('GET', 'sys/health', undefined, '')
  await primary.must('POST', 'sys/tools/random', { bytes: 8 })
  assert.equal(servers.time.nowMs, startMs)
})

test('tokens, their uses and wrapped answers wait as other writes do', async () => {
  const { servers, primary, slow } = await synchronousPair(233)
  slow()
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startMs = servers.time.nowMs
    await work()
    return servers.time.nowMs - startMs
  }
  let once = ''
  const made = await timed(async () => {
    const { body } = await primary.must('POST', 'auth/token/create', { num_uses: 3, policies: ['default'], ttl: '1h' })
    once = (body.auth as { readonly client_token: string }).client_token
  })
  const used = await timed(() => primary.must('GET', 'auth/token/lookup-self', undefined, once))
  const wrapped = await timed(() =>
    servers.time.until(primary.server.call('GET', 'sys/policies/acl/default', undefined, 'root', { wrapTtl: '1h' })),
  )
  for (const ms of [made, used, wrapped]) assert.ok(ms >= 2 * WAY_MS, JSON.stringify([made, used, wrapped]))
})

test('what is written while the secondary is cut off waits for it, and is answered when it comes back', async () => {
  const { servers, primary, secondary } = await synchronousPair(234)
  servers.cut(primary, secondary)
  const answer = begin(primary, 'cut')
  await servers.time.pass(5_000)
  assert.deepEqual(answer, {})
  servers.heal(primary, secondary)
  await servers.time.pass(3_000)
  assert.equal(answer.status, 204)
  assert.deepEqual(await stateOf(primary), ['two in-step'])
})

test('after its time writes go on without it, which status, metrics and log say until it has all', async () => {
  const { servers, primary, secondary } = await synchronousPair(235)
  servers.cut(primary, secondary)
  const answer = begin(primary, 'first')
  await servers.time.pass(9_900)
  assert.deepEqual(answer, {})
  await servers.time.pass(200)
  assert.equal(answer.status, 204)
  assert.deepEqual(await stateOf(primary), ['two away'])
  const beforeMs = servers.time.nowMs
  await primary.must('PUT', 'sys/policies/acl/alone', POLICY)
  assert.equal(servers.time.nowMs, beforeMs, 'nothing is waited for')
  const { synchronous } = primary.server.node.replication
  assert.deepEqual([synchronous?.counts.alone, synchronous?.waiting], [2, 0])
  const lines = () => primary.server.logged.filter((line) => line.includes('synchronous secondary'))
  assert.match(lines().at(-1) ?? '', /warn A synchronous secondary is away: writes go on without it/)
  servers.heal(primary, secondary)
  await servers.time.pass(20_000)
  assert.deepEqual(await stateOf(primary), ['two in-step'])
  assert.match(lines().at(-1) ?? '', /info A synchronous secondary has all, and writes wait for it/)
  servers.cut(primary, secondary)
  const again = begin(primary, 'again')
  await servers.time.pass(5_000)
  assert.deepEqual(again, {})
})

test('without a timeout a write is refused its answer, and is on both sides when the secondary is back', async () => {
  const { servers, primary, secondary, token } = await synchronousPair(236, ALWAYS)
  servers.cut(primary, secondary)
  const answer = begin(primary, 'kept')
  await servers.time.pass(49_000)
  assert.deepEqual([answer, await stateOf(primary)], [{}, ['two waiting']])
  await servers.time.pass(1_000)
  assert.equal(answer.status, 503)
  const [error] = (answer.body as unknown as { readonly errors: readonly string[] }).errors
  assert.match(
    error ?? '',
    /^This is stored here, but not all of the secondaries .* have it: two\. If one of them takes/,
  )
  assert.ok(await has(primary, 'kept'), 'it is read while nobody knows')
  // The same again writes nothing new, and rests on what was not confirmed.
  const same = begin(primary, 'kept')
  await servers.time.pass(1_000)
  assert.deepEqual(same, {})
  servers.heal(primary, secondary)
  await servers.time.pass(20_000)
  assert.equal(same.status, 204)
  primary.kill()
  assert.equal((await promote(secondary, token, { force: true })).status, 200)
  assert.ok(await has(secondary, 'kept'))
})

test('an operator has writes go on without it by a reload, or by revoking it', async () => {
  const { servers, primary, secondary } = await synchronousPair(237, ALWAYS)
  secondary.kill()
  const one = begin(primary, 'one')
  await servers.time.pass(15_000)
  assert.deepEqual(one, {})
  await waitFor(servers, primary, { ids: ['two'], timeoutMs: 1_000 })
  await servers.time.pass(10)
  assert.equal(one.status, 204)
  await waitFor(servers, primary, ALWAYS)
  const before = begin(primary, 'before')
  await servers.time.pass(5)
  assert.equal(before.status, 204, 'it is away, and asked for again when it has all')
  await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: 'two' })
  assert.deepEqual(await stateOf(primary), ['two unknown'])
  await primary.must('PUT', 'sys/policies/acl/after', POLICY)
})

test('nothing waits for a secondary before it has had all once; then it does, also behind a restart', async () => {
  const servers = new ReplicatedServers(238)
  const primary = await servers.start('one')
  primary.synchronous = ALWAYS
  const share = shareOf(primary)
  primary.kill()
  await servers.time.until(primary.restart(Buffer.from(share)))
  await primary.must('PUT', 'sys/policies/acl/alone', POLICY)
  await servers.enable(primary)
  assert.deepEqual(await stateOf(primary), ['two unknown'])
  const secondary = await servers.start('two')
  await servers.activate(primary, secondary)
  await primary.must('PUT', 'sys/policies/acl/while', POLICY)
  await servers.level(primary, secondary)
  await servers.time.pass(2_000)
  assert.deepEqual(await stateOf(primary), ['two in-step'])
  // Both end at once, so nothing more was noted.
  secondary.kill()
  primary.kill()
  await servers.time.until(primary.restart(Buffer.from(share)))
  assert.deepEqual(await stateOf(primary), ['two waiting'])
  const answer = begin(primary, 'behind')
  await servers.time.pass(30_000)
  assert.deepEqual(answer, {})
  await servers.time.until(secondary.restart(Buffer.from(share)))
  await servers.time.pass(20_000)
  assert.deepEqual([answer.status, await stateOf(primary)], [204, ['two in-step']])
})

test('a secondary whose trees are compared counts as away, and what it has of them confirms nothing', async () => {
  const { servers, primary, secondary } = await synchronousPair(239)
  servers.cut(primary, secondary)
  for (let each = 0; each < 40; each++) void begin(primary, `gone${each}`)
  await servers.time.pass(11_000)
  await primary.forgetLog()
  slow(servers, primary, secondary)
  servers.heal(primary, secondary)
  const seen = new Set<string>()
  for (let turns = 0; (await stateOf(primary))?.join() !== 'two in-step'; turns++) {
    assert.ok(turns < 4_000, 'it comes back')
    const told = await servers.time.until(operationsOf(secondary).told('dr'))
    const what = told?.primary?.progress?.what
    if (what === 'difference') seen.add(`${what} ${(await stateOf(primary))?.join()}`)
    await servers.time.pass(5)
  }
  assert.deepEqual([...seen], ['difference two away'])
  await servers.requireSame(primary, secondary)
})

test('requests that a performance secondary hands over wait for the disaster recovery of the primary', async () => {
  const { servers, primary, secondary } = await synchronousPair(240)
  const region = await servers.start('region')
  await servers.activate(primary, region, 'region', 'performance')
  await servers.level(primary, region, 60_000, 'performance')
  await servers.giveRootToken(primary, region)
  slow(servers, primary, secondary)
  const startMs = servers.time.nowMs
  await region.must('PUT', 'sys/policies/acl/handed', POLICY)
  assert.ok(servers.time.nowMs - startMs >= 2 * WAY_MS)
  servers.cut(primary, secondary)
  const answer = begin(region, 'handed2')
  await servers.time.pass(8_000)
  assert.deepEqual(answer, {})
})

/** Writes one behind the other until the cluster is killed; the names of those that were answered. */
async function load({ server }: ReplicatedServer, name: string, answered: string[]): Promise<never> {
  // A write that waits for nobody takes no time here.
  for (let each = 0; ; each++, await server.world.timers.sleep(1)) {
    const { status } = await server.call('PUT', `sys/policies/acl/${name}-${each}`, POLICY)
    if (status === 204) answered.push(`${name}-${each}`)
  }
}

const MISFORTUNES = ['none', 'cut', 'back', 'secondary'] as const

/** Kills the primary at some point, while something goes wrong, and has the secondary take over without it. */
async function tookOver(seed: number, random: PseudoRandom): Promise<number> {
  const { servers, primary, secondary, token } = await pair(seed)
  await waitFor(servers, primary, ALWAYS)
  await servers.time.pass(2_000)
  for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs: random.int(30) })
  const answered: string[] = []
  for (const name of ['a', 'b', 'c']) load(primary, name, answered).catch(() => {})
  await servers.time.pass(random.int(300))
  const misfortune = random.pick(MISFORTUNES)
  if (misfortune === 'cut' || misfortune === 'back') servers.cut(primary, secondary)
  if (misfortune === 'secondary') secondary.kill()
  if (misfortune !== 'none') await servers.time.pass(random.int(20_000))
  if (misfortune === 'back') {
    servers.heal(primary, secondary)
    await servers.time.pass(random.int(12_000))
  }
  await servers.time.steps(random.int(60))
  primary.kill()
  await servers.time.pass(500)
  if (misfortune === 'secondary') await servers.time.until(secondary.restart(shareOf(primary)))
  const promoted = await promote(secondary, token, { force: true })
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  for (const name of answered) assert.ok(await has(secondary, name), `${name} was answered (${misfortune})`)
  return answered.length
}

test(`a primary that ends at any of ${POINTS} points loses no write that was answered`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  let answered = 0
  for (let point = 0; point < POINTS; point++) answered += await tookOver(300 + point, random)
  assert.ok(answered > POINTS, 'writes were answered')
})
