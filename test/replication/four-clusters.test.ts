// Two regions with a DR secondary each: either is lost, or both, and they come back. Whole servers, over the simulated
// network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { has, POLICY, write } from '../fixtures/failing-over.ts'
import { FourClusters } from '../fixtures/four-clusters.ts'

/** Over a slow link it takes a while. */
const LONG_POLICY = { policy: `${POLICY.policy} # ${'long '.repeat(400)}` }

type Step = 'lose a' | 'lose b' | 'take a' | 'take b'
type Order = readonly ['a' | 'b', 'a' | 'b']

/** Each order in which both regions can be lost and taken over; then, in which they come back. */
const ORDERS: readonly (readonly [readonly Step[], Order])[] = [
  [
    ['lose a', 'take a', 'lose b', 'take b'],
    ['a', 'b'],
  ],
  [
    ['lose b', 'take b', 'lose a', 'take a'],
    ['b', 'a'],
  ],
  [
    ['lose a', 'lose b', 'take a', 'take b'],
    ['b', 'a'],
  ],
  [
    ['lose a', 'lose b', 'take b', 'take a'],
    ['a', 'b'],
  ],
  [
    ['lose b', 'lose a', 'take b', 'take a'],
    ['b', 'a'],
  ],
  [
    ['lose b', 'lose a', 'take a', 'take b'],
    ['a', 'b'],
  ],
]

async function taken(four: FourClusters, step: Step): Promise<void> {
  const region = step.endsWith('a') ? four.a : four.b
  if (step.startsWith('lose')) return four.lose(region)
  await four.takeOver(region)
  // Who took over knows where the primary was when it was lost itself.
  if (!four.a.isLost && !four.b.isLost && four.a.serving.name !== 'one') await four.tellAddress()
}

for (const [at, [steps, back]] of ORDERS.entries()) {
  test(`T62, T63: four clusters, ${steps.join(', ')}, and back: ${back.join(', ')}`, async () => {
    const four = await FourClusters.start(2310 + at)
    for (const step of steps) {
      await taken(four, step)
      await four.requireState()
    }
    for (const name of back) {
      await four.takeBack(four[name])
      await four.requireServing()
    }
    await four.requireSame()
    // By plan, with all of them running.
    for (const name of back) {
      await four.takeOver(four[name])
      if (name === 'a') await four.tellAddress()
      await four.requireServing()
      await four.standInAgain(four[name])
    }
    assert.deepEqual([four.a.serving.name, four.b.serving.name], ['one', 'two'])
    await four.requireServing()
    await four.requireSame()
  })
}

test('X-Vault-Index through takeovers: what was kept is read everywhere, what was lost is told so', async () => {
  const four = await FourClusters.start(2320)
  const { a, b, servers } = four
  const kept = await four.writeThrough(b.serving, 'kept')
  await four.requireLevel()
  servers.cut(a.serving, a.standIn)
  const lost = await four.writeThrough(b.serving, 'lost')
  a.serving.kill()
  await servers.time.pass(15_000)
  await four.takeOver(a, { force: true })
  const after = await four.ask(a.serving, 'PUT', 'sys/policies/acl/after', POLICY)
  await four.tellAddress()
  await servers.level(a.serving, b.serving, 60_000, 'performance')
  await four.requireReadAt(b.serving, 'after', after.index)
  const again = await four.writeThrough(b.serving, 'again')
  await four.requireLost(lost)
  for (const { serving } of [a, b]) {
    await four.requireReadAt(serving, 'kept', kept)
    await four.requireReadAt(serving, 'again', again)
  }
  // The region's own cluster changes as well.
  await servers.level(b.serving, b.standIn)
  await four.lose(b)
  await four.takeOver(b)
  await servers.level(a.serving, b.serving, 60_000, 'performance')
  await four.requireLost(lost)
  for (const { serving } of [a, b]) await four.requireReadAt(serving, 'again', again)
  const last = await four.writeThrough(b.serving, 'last')
  servers.heal(a.serving, a.standIn)
  for (const region of [a, b]) await four.takeBack(region)
  await four.takeOver(a)
  await four.tellAddress()
  await four.requireServing()
  await four.requireLost(lost)
  for (const { serving } of [a, b]) await four.requireReadAt(serving, 'last', last)
})

test('while a secondary is compared with the primary that took over, it shows no state that is not whole', async () => {
  const four = await FourClusters.start(2321)
  const { a, b, servers } = four
  await four.lose(a)
  await four.takeOver(a)
  for (let each = 0; each < 40; each++) await a.serving.must('PUT', `sys/policies/acl/new${each}`, LONG_POLICY)
  const { index } = await four.ask(a.serving, 'PUT', 'sys/policies/acl/new40', LONG_POLICY)
  servers.network.set(a.serving.name, b.serving.name, { bytesPerSecond: 20_000 })
  await four.tellAddress()
  let refused = 0
  for (let each = 0; each < 200; each++) {
    const { status } = await four.ask(b.serving, 'GET', 'sys/policies/acl/new40', undefined, index, 'fail')
    if (status === 200) break
    assert.equal(status, 412)
    refused++
    await servers.time.pass(100)
  }
  assert.ok(refused > 5 && refused < 200, `${refused}`)
  await four.requireReadAt(b.serving, 'new0', index)
})

test('T63: the former two go on behind a partition; what they wrote is undone, and all come together', async () => {
  const four = await FourClusters.start(2322)
  const { a, b, servers } = four
  const former = [a.serving, b.serving]
  const present = [a.standIn, b.standIn]
  for (const one of former) for (const other of present) servers.cut(one, other)
  await servers.time.pass(15_000)
  await four.takeOver(b)
  await four.takeOver(a)
  await four.tellAddress()
  await four.requireServing()
  const [primary, secondary] = former as [typeof a.serving, typeof b.serving]
  // Nobody has told them: clients there are served, and what they write is of another set of data.
  const astray = await four.writeThrough(secondary, 'astray')
  await write(primary, 2, 'alone')
  await four.writeThrough(b.serving, 'on')
  for (const one of former) for (const other of present) servers.heal(one, other)
  await servers.time.pass(30_000)
  for (const one of former) assert.equal((await one.status()).fenced, true, one.name)
  assert.equal((await primary.status('performance')).fenced, true)
  for (const one of former) assert.equal((await one.call('PUT', 'sys/policies/acl/late', POLICY)).status, 503)
  // The former secondary is known where it took itself for one, and by its successor.
  const { state, idle_reason: reason } = await secondary.status('performance')
  assert.deepEqual([state, reason], ['idle', 'fenced'])
  await four.requireServing()
  await four.requireLost(astray)
  for (const region of [a, b]) await four.standInAgain(region)
  await four.requireServing()
  await four.requireSame()
  assert.ok(!(await has(a.serving, 'astray')))
  assert.ok(Number((await primary.status()).undone_records) >= 3, JSON.stringify(await primary.status()))
})

test('2.9: regions change over by a demotion first: the other family waits, and nothing is lost', async () => {
  const four = await FourClusters.start(2323)
  const { a, b, servers } = four
  for (const region of [a, b]) {
    const { serving, standIn } = region
    const before = await serving.status('performance')
    await serving.must('PUT', 'sys/policies/acl/last', POLICY)
    await serving.must('POST', 'sys/replication/dr/primary/demote')
    // It is a DR secondary without a primary, and serves nothing.
    const refused = await serving.call('PUT', 'sys/policies/acl/late', POLICY)
    assert.deepEqual([refused.status, /path disabled/.test(JSON.stringify(refused.body))], [400, true])
    assert.equal((await serving.status()).mode, 'secondary')
    await servers.time.pass(1_000)
    await four.takeOver(region)
    if (region === a) await four.tellAddress()
    await four.requireServing()
    const after = await standIn.status('performance')
    assert.deepEqual([after.mode, after.cluster_id], [before.mode, before.cluster_id])
    assert.ok(await has(standIn, 'last'))
    await four.followAgain(region)
    assert.equal((await serving.status()).undone_records, undefined)
  }
  await four.requireServing()
  await four.requireSame()
})
