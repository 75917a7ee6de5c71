// A set changes hands: promotion, demotion and what becomes of the former primary. Whole servers, over the simulated
// network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DR,
  follow,
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
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

test('T53: a primary that can be reached hands over, and nothing that it acknowledged is lost', async () => {
  const { servers, primary, secondary } = await followedServers(53)
  const token = await operationToken(primary)
  await servers.level(primary, secondary)
  await write(primary, 20)
  const promoting = promote(secondary, token)
  const meanwhile = new Set<string>()
  for (let each = 0; each < 100; each++) {
    const { status, body } = await primary.call('PUT', 'sys/policies/acl/meanwhile', POLICY)
    if (status !== 204) meanwhile.add(`${status} ${body.errors}`)
    await servers.time.pass(1)
  }
  const promoted = await promoting
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  assert.deepEqual(
    [...meanwhile],
    [
      '503 This node changes no data now: another one is the primary, or is about to be. Try again',
      '503 This node changes no data in its role: its primary does, at https://two:8200',
    ],
  )
  assert.match(String(promoted.body.warnings), /The former primary knows/)
  const [before, after] = [await primary.status(), await secondary.status()]
  assert.deepEqual([before.mode, before.fenced, before.idle_reason], ['primary', true, 'fenced'])
  assert.equal(before.may_have_taken_over, undefined)
  assert.deepEqual([after.mode, after.fenced, after.cluster_id], ['primary', false, before.cluster_id])
  assert.equal(after.ssct_generation_counter, 1)
  for (let each = 0; each < 20; each++) assert.ok(await has(secondary, `p${each}`))
  await write(secondary, 3, 'new')
  const refused = await primary.call('PUT', 'sys/policies/acl/late', POLICY)
  assert.equal(refused.status, 503)
  await primary.must('POST', `${DR}/primary/demote`)
  assert.equal((await primary.status()).state, 'idle')
  servers.sentBytes = 0
  const followed = await follow(servers, secondary, primary, token)
  assert.equal(followed.status, 200, JSON.stringify(followed.body))
  await servers.level(secondary, primary)
  await servers.requireSame(secondary, primary)
  await servers.time.pass(2_000)
  assert.equal((await primary.status()).state, 'stream-wals')
  assert.ok(servers.sentBytes < 100_000, `${servers.sentBytes} bytes`)
})

test('a promotion with an address that cannot be one is refused before the primary stops to write', async () => {
  const { servers, primary, secondary, token } = await pair(531)
  const promoting = promote(secondary, token, { primary_cluster_addr: 'http://two:8201' })
  const statuses = new Set<number>()
  for (let each = 0; each < 50; each++) {
    statuses.add((await primary.call('PUT', `sys/policies/acl/meanwhile${each}`, POLICY)).status)
    await servers.time.pass(1)
  }
  const { status, body } = await promoting
  assert.equal(status, 400)
  assert.match(JSON.stringify(body), /primary_cluster_addr/)
  assert.deepEqual([...statuses], [204])
})

test('T53: what a primary says of a promotion that was given up is no answer to the next one', async () => {
  const { servers, primary, secondary, token } = await pair(531)
  // Slower than the secondary waits: it hears of the first drain in the second promotion.
  servers.network.set('one', 'two', { delayMs: 6_000 })
  const given = await promote(secondary, token)
  assert.match(JSON.stringify(given.body), /did not hand over within 5 s/)
  await servers.time.pass(300)
  await write(primary, 1, 'between')
  const refused = await promote(secondary, token)
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  servers.network.set('one', 'two', { delayMs: 1 })
  await servers.time.pass(15_000)
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(1_000)
  assert.ok(await has(secondary, 'between0'))
})

test('T54: a former primary that can be reached writes nothing from the promotion on, and is not lost', async () => {
  const { servers, primary, secondary, token } = await pair(54)
  assert.equal((await promote(secondary, token)).status, 200)
  for (let each = 0; each < 5; each++) {
    const refused = await primary.call('PUT', 'sys/policies/acl/late', POLICY)
    assert.equal(refused.status, 503)
    assert.match(JSON.stringify(refused.body), /https:\/\/two:8200/)
  }
  assert.deepEqual(await modeOf(primary), ['primary', true, 'fenced'])
  assert.equal((await primary.call('GET', 'sys/policies/acl/p1')).status, 200, 'it reads on')
  const healthOf = async (of: ReplicatedServer, query = '') => (await of.call('GET', `sys/health${query}`)).status
  assert.deepEqual([await healthOf(primary), await healthOf(secondary)], [473, 200], 'clients go to the new primary')
  assert.equal(await healthOf(primary, '?perfstandbyok=true'), 200)
  primary.kill()
  await servers.time.until(primary.restart(shareOf(primary)))
  assert.deepEqual(await modeOf(primary), ['primary', true, 'fenced'])
  await takeBack(servers, secondary, primary, token)
})

test('T55: without its primary it is promoted where nothing was missing; else it says what', async () => {
  const whole = await pair(55)
  whole.servers.cut(whole.primary, whole.secondary)
  await whole.servers.time.pass(15_000)
  const promoted = await promote(whole.secondary, whole.token)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  assert.match(String(promoted.body.warnings), /does not know yet/)
  await whole.servers.time.pass(8_000)
  assert.match(String((await whole.secondary.status()).former_primary), /one:8201/)

  const { servers, primary, secondary, token } = await pair(56)
  servers.network.set('one', 'two', { bytesPerSecond: 1_000 })
  await write(primary, 60, 'lost')
  await servers.time.pass(5_000)
  servers.cut(primary, secondary)
  await servers.time.pass(15_000)
  const refused = await promote(secondary, token)
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /not caught up: its link was slow/)
  assert.deepEqual(((await modeOf(secondary)) as unknown[])[0], 'secondary')
  assert.equal((await promote(secondary, token, { force: true })).status, 200)
  assert.deepEqual(await modeOf(secondary), ['primary', false, undefined])
  await write(primary, 3, 'alone')
  await write(secondary, 3, 'new')
  servers.network.set('one', 'two', { bytesPerSecond: Number.POSITIVE_INFINITY })
  servers.heal(primary, secondary)
  // What was sent over the slow network arrives first.
  await servers.time.pass(60_000)
  assert.deepEqual(await modeOf(primary), ['primary', true, 'fenced'])
  assert.equal((await secondary.status()).former_primary, undefined)
  await takeBack(servers, secondary, primary, token)
  assert.equal(await has(secondary, 'alone1'), false)
  assert.equal(await has(secondary, 'new1'), true)
})

test('T55: right behind the loss it is not promoted, is told to be asked again, and then needs no force', async () => {
  const { servers, primary, secondary, token } = await pair(553)
  servers.cut(primary, secondary)
  await servers.time.pass(100)
  const early = await promote(secondary, token)
  assert.equal(early.status, 503)
  assert.match(JSON.stringify(early.body), /did not hand over\..* If it is gone, .* ask again then, without/)
  assert.doesNotMatch(JSON.stringify(early.body), /can be reached/)
  await servers.time.pass(15_000)
  assert.equal((await promote(secondary, token)).status, 200)
})

test('T55: a secondary that never heard of its primary since its start knows not what is missing', async () => {
  const { servers, primary, secondary, token } = await pair(57)
  primary.kill()
  secondary.kill()
  await servers.time.until(secondary.restart(shareOf(primary)))
  await servers.time.pass(5_000)
  const refused = await promote(secondary, token)
  assert.equal(refused.status, 503)
  assert.match(JSON.stringify(refused.body), /has not heard of its primary/)
  assert.equal((await promote(secondary, token, { force: true })).status, 200)
  await servers.time.until(primary.restart(shareOf(primary)))
  await servers.time.pass(15_000)
  assert.deepEqual(await modeOf(primary), ['primary', true, 'fenced'])
})

for (const how of ['is revoked', 'has its id given to another one'])
  test(`T55: a secondary that ${how} is not promoted without force, also when the primary is gone`, async () => {
    const { servers, primary, secondary, token } = await pair(58)
    if (how === 'is revoked') await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: secondary.name })
    else {
      servers.cut(primary, secondary)
      await servers.time.pass(15_000)
      await servers.token(primary, secondary.name)
      servers.heal(primary, secondary)
    }
    await servers.time.pass(15_000)
    await write(primary, 3, 'late')
    for (const isGone of [false, true]) {
      if (isGone) primary.kill()
      await servers.time.pass(60_000)
      const refused = await promote(secondary, token)
      assert.equal(refused.status, 503, JSON.stringify(refused.body))
      assert.match(JSON.stringify(refused.body), /not caught up: its primary went on without it/)
    }
    assert.equal((await promote(secondary, token, { force: true })).status, 200)
  })

test('T56: a secondary that is not whole is not promoted, not even by force', async () => {
  const servers = new ReplicatedServers(58)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  const token = await operationToken(primary)
  for (const [from, to] of [
    ['one', 'two'],
    ['two', 'one'],
  ] as const)
    servers.network.set(from, to, { bytesPerSecond: 20_000 })
  await write(primary, 100)
  await servers.activate(primary, secondary)
  for (const force of [false, true]) {
    const refused = await promote(secondary, token, { force })
    assert.ok(refused.status === 503 || refused.status === 403, JSON.stringify(refused))
  }
  assert.equal((await secondary.status()).mode, 'bootstrapping')
  await servers.level(primary, secondary)
  await servers.time.pass(1_000)
  assert.equal((await promote(secondary, token)).status, 200)
})

test('T58: of two secondaries that were promoted the second one writes nothing, and says so', async () => {
  const { servers, primary, secondary, token } = await pair(59)
  const third = await servers.start('three')
  await servers.activate(primary, third)
  await servers.level(primary, third)
  await servers.time.pass(1_000)
  servers.cut(primary, third)
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(15_000)
  assert.equal((await promote(third, token, { force: true })).status, 200)
  await write(third, 2, 'third')
  servers.heal(primary, third)
  await servers.time.pass(15_000)
  assert.deepEqual(await modeOf(third), ['primary', true, 'fenced'])
  assert.match(String((await third.status()).idle_sentence), /Two clusters were promoted/)
  assert.deepEqual(await modeOf(secondary), ['primary', false, undefined])
  for (const former of [third, primary]) await takeBack(servers, secondary, former, token)
  assert.equal(await has(secondary, 'third1'), false)
})

test('T58: the second one of two that were promoted is demoted, and not promoted again without force', async () => {
  const { servers, primary, secondary, token } = await pair(591)
  const third = await servers.start('three')
  await servers.activate(primary, third)
  await servers.level(primary, third)
  primary.kill()
  await servers.time.pass(15_000)
  for (const one of [secondary, third]) assert.equal((await promote(one, token, { force: true })).status, 200)
  await servers.time.until(primary.restart(shareOf(primary)))
  await servers.time.pass(40_000)
  const isThird = (await third.status()).fenced === true
  const [fenced, other] = isThird ? [third, secondary] : [secondary, third]
  assert.deepEqual([(await fenced.status()).fenced, (await other.status()).fenced], [true, false])
  await fenced.must('POST', `${DR}/primary/demote`)
  fenced.kill()
  await servers.time.until(fenced.restart(shareOf(primary)))
  const refused = await promote(fenced, token)
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /another cluster was promoted as well/)
  assert.equal((await promote(fenced, token, { force: true })).status, 200)
})

test('T60: ten failbacks under writes, with a full comparison each time', async () => {
  const { servers, primary, secondary, token } = await pair(60)
  let [now, next] = [primary, secondary]
  for (let each = 0; each < 10; each++) {
    await write(now, 3, `era${each}-`)
    const promoted = await promote(next, token)
    assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
    await write(next, 2, `after${each}-`)
    await takeBack(servers, next, now, token)
    await servers.time.pass(2_000)
    ;[now, next] = [next, now]
  }
  for (let each = 0; each < 10; each++) {
    assert.ok(await has(now, `era${each}-2`))
    assert.ok(await has(now, `after${each}-1`))
  }
  assert.equal((await now.status()).ssct_generation_counter, 10)
})

test('T67: a family that is disabled and enabled is a new set, and old members are none of it', async () => {
  const { servers, primary, secondary, token } = await pair(61)
  const before = (await primary.status()).cluster_id
  const disabled = await secondary.call('POST', `${DR}/secondary/disable`, { dr_operation_token: token }, '')
  assert.equal(disabled.status, 200, JSON.stringify(disabled.body))
  assert.deepEqual(await secondary.status(), { mode: 'disabled' })
  await write(secondary, 2, 'own')
  assert.ok(await has(secondary, 'p1'))
  await secondary.must('POST', `${DR}/primary/enable`)
  assert.notEqual((await secondary.status()).cluster_id, before)
  await primary.must('POST', `${DR}/primary/disable`)
  await primary.must('POST', `${DR}/primary/enable`)
  assert.notEqual((await primary.status()).cluster_id, before)
  await servers.time.pass(5_000)
  assert.deepEqual((await primary.status()).secondaries, [])
})

test('a demoted primary follows nobody, also after a restart, and can be promoted again', async () => {
  const { servers, primary, secondary, token } = await pair(62)
  await primary.must('POST', `${DR}/primary/demote`)
  for (let each = 0; each < 2; each++) {
    assert.deepEqual(await modeOf(primary), ['secondary', 'idle', 'no_primary'])
    primary.kill()
    await servers.time.until(primary.restart(shareOf(primary)))
  }
  assert.equal((await primary.call('GET', 'sys/policies/acl/p1')).status, 400)
  await servers.time.pass(2_000)
  assert.deepEqual(((await modeOf(secondary)) as unknown[])[0], 'secondary')
  const refused = await promote(primary, token)
  assert.equal(refused.status, 503)
  assert.match(JSON.stringify(refused.body), /was demoted, and hears of nobody/)
  const promoted = await promote(primary, token, { force: true })
  assert.equal(promoted.status, 200)
  assert.match(String(promoted.body.warnings), /followed nobody, so no former primary is told/)
  assert.equal((await primary.status()).former_primary, undefined)
  await write(primary, 2, 'again')
  const followed = await follow(servers, primary, secondary, token)
  assert.equal(followed.status, 200, JSON.stringify(followed.body))
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('a demotion comes first too: the secondary has all, and is promoted without force', async () => {
  const { servers, primary, secondary, token } = await pair(63)
  await write(primary, 20, 'last')
  await primary.must('POST', `${DR}/primary/demote`)
  const promoted = await promote(secondary, token)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  for (let each = 0; each < 20; each++) assert.ok(await has(secondary, `last${each}`))
  await servers.time.pass(2_000)
  const said = String((await secondary.status()).former_primary)
  assert.match(said, /one:8201 is not the primary of this set: that was demoted or disabled/)
  assert.doesNotMatch(said, /activation token/, 'which is for secondaries')
  const followed = await follow(servers, secondary, primary, token)
  assert.equal(followed.status, 200, JSON.stringify(followed.body))
  await servers.level(secondary, primary)
  await servers.requireSame(secondary, primary)
  await servers.time.pass(20_000)
  assert.equal((await secondary.status()).former_primary, undefined, 'it is called no more')
})

test('a blank token: a secondary follows nobody, also after a restart, until it is given one', async () => {
  const { servers, primary, secondary, token } = await pair(64)
  const left = await secondary.call(
    'POST',
    `${DR}/secondary/update-primary`,
    { dr_operation_token: token, token: '' },
    '',
  )
  assert.equal(left.status, 200, JSON.stringify(left.body))
  await write(primary, 3, 'missed')
  for (let each = 0; each < 2; each++) {
    await servers.time.pass(5_000)
    assert.deepEqual(await modeOf(secondary), ['secondary', 'idle', 'no_primary'])
    secondary.kill()
    await servers.time.until(secondary.restart(shareOf(primary)))
  }
  await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: 'two' })
  assert.equal((await follow(servers, primary, secondary, token)).status, 200)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('update-primary refuses a token of another set, garbage, and a token that the primary does not take', async () => {
  const { servers, primary, secondary, token } = await pair(65)
  const other = await servers.start('other')
  await servers.enable(other)
  const foreign = await servers.token(other, 'two')
  const given = (body: object) =>
    secondary.call('POST', `${DR}/secondary/update-primary`, { dr_operation_token: token, ...body }, '')
  for (const [body, says] of [
    [{ token: foreign }, /of another set/],
    [{ token: 'garbage' }, /token/],
    [{ token: null }, /field \\"token\\": is null: send the activation token/],
    [{}, /token/],
  ] as const) {
    const refused = await given(body)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
    assert.match(JSON.stringify(refused.body), says)
  }
  await write(primary, 2, 'on')
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T47: a primary is given while streaming, and twice quickly: one is followed, and nothing is lost', async () => {
  const { servers, primary, secondary, token } = await pair(47)
  for (let each = 0; each < 4; each++) {
    const given = await servers.token(primary, `name${each}`)
    const body = { dr_operation_token: token, token: given }
    const asked = secondary.server.call('POST', `${DR}/secondary/update-primary`, body, '')
    const again = secondary.server.call('POST', `${DR}/secondary/update-primary`, body, '')
    await write(primary, 3, `during${each}-`)
    const answers = [await servers.time.until(asked), await servers.time.until(again)]
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
    assert.match(JSON.stringify(answers), /under way/)
  }
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
  assert.equal((await secondary.status()).secondary_id, 'name3')
})

test('T47: what an earlier primary has sent is not taken for what the present one did', async () => {
  const { servers, primary, secondary, token } = await pair(471)
  const [third, fourth] = [await servers.start('three'), await servers.start('four')]
  for (const one of [third, fourth]) {
    await servers.activate(primary, one)
    await servers.level(primary, one)
  }
  await servers.time.pass(1_000)
  primary.kill()
  await servers.time.pass(15_000)
  for (const one of [secondary, third]) assert.equal((await promote(one, token, { force: true })).status, 200)
  const { store } = fourth.server
  const adopt = store.adopt.bind(store)
  const gate = Promise.withResolvers<void>()
  let held = 0
  store.adopt = async (...input) => {
    held++
    await gate.promise
    return adopt(...input)
  }
  assert.equal((await follow(servers, secondary, fourth, token)).status, 200)
  for (let each = 0; held === 0; each++) {
    assert.ok(each < 200, 'the first one sends nothing')
    await servers.time.pass(50)
  }
  const given = follow(servers, third, fourth, token)
  await servers.time.pass(2_000)
  gate.resolve()
  assert.equal((await given).status, 200)
  await servers.level(third, fourth)
  await servers.requireSame(third, fourth)
})

test('T47: a primary is given in the middle of a comparison, which then ends with the other one', async () => {
  const { servers, primary, secondary, token } = await pair(48)
  servers.cut(primary, secondary)
  await write(primary, 30, 'missed')
  await servers.time.pass(20_000)
  await primary.forgetLog()
  for (const [from, to] of [
    ['one', 'two'],
    ['two', 'one'],
  ] as const)
    servers.network.set(from, to, { delayMs: 200 })
  const given = await servers.token(primary, 'again')
  servers.heal(primary, secondary)
  for (let passed = 0; (await secondary.status()).state !== 'merkle-diff'; passed += 100) {
    assert.ok(passed < 30_000, 'a comparison begins')
    await servers.time.pass(100)
  }
  const body = { dr_operation_token: token, token: given }
  assert.equal((await secondary.call('POST', `${DR}/secondary/update-primary`, body, '')).status, 200)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

const OPERATIONS = [
  'primary/enable',
  'primary/demote',
  'primary/disable',
  'primary/secondary-token',
  'primary/revoke-secondary',
  'secondary/enable',
  'secondary/promote',
  'secondary/disable',
  'secondary/update-primary',
]
const BODY = { id: 'nobody', token: 'garbage' }

test('T68: what a mode does not allow is a 400 that changes nothing, or the answer of a DR secondary', async () => {
  const { servers, primary, secondary, token } = await pair(68)
  const third = await servers.start('three')
  await third.must('POST', `${DR}/primary/enable`)
  const alone = await servers.start('alone')
  const allowed: Readonly<Record<string, readonly string[]>> = {
    disabled: ['primary/enable'],
    primary: ['primary/demote', 'primary/disable', 'primary/secondary-token'],
    secondary: ['secondary/promote', 'secondary/disable'],
  }
  for (const [mode, server] of [
    ['disabled', alone],
    ['primary', primary],
    ['secondary', secondary],
  ] as const) {
    const before = await server.status()
    for (const operation of OPERATIONS.filter((one) => !allowed[mode]?.includes(one))) {
      const answer = await server.call('POST', `${DR}/${operation}`, { ...BODY, dr_operation_token: token })
      const isUnknown = mode === 'primary' && operation === 'primary/revoke-secondary'
      assert.equal(answer.status, isUnknown ? 404 : 400, `${mode} ${operation} ${JSON.stringify(answer.body)}`)
    }
    const { mode: now, cluster_id: id } = await server.status()
    assert.deepEqual([now, id], [before.mode, before.cluster_id])
  }
})

test('another secondary of a primary that was replaced hears of it, and follows the new one with a token', async () => {
  const { servers, primary, secondary, token } = await pair(69)
  const third = await servers.start('three')
  await servers.activate(primary, third)
  await servers.level(primary, third)
  await servers.time.pass(2_000)
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(5_000)
  assert.deepEqual(await modeOf(third), ['secondary', 'idle', 'fenced'])
  servers.sentBytes = 0
  assert.equal((await follow(servers, secondary, third, token)).status, 200)
  await servers.level(secondary, third)
  await servers.requireSame(secondary, third)
  assert.ok(servers.sentBytes < 60_000, `${servers.sentBytes} bytes`)
})

test('T56: while a secondary is being reindexed it is promoted by force alone', async () => {
  const { servers, secondary, token } = await pair(70)
  const reindex = secondary.server.call(
    'POST',
    `${DR}/secondary/reindex`,
    { dr_operation_token: token, force: true },
    '',
  )
  const asked = promote(secondary, token)
  assert.equal((await servers.time.until(reindex)).status, 200)
  const refused = await asked
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /a reindex is running/)
  await servers.time.pass(1_000)
  assert.equal((await promote(secondary, token)).status, 200)
})

test('T53: a primary that was just started anew is asked too, although there is no link as yet', async () => {
  const { servers, primary, secondary, token } = await pair(71)
  primary.kill()
  await servers.time.pass(20_000)
  await servers.time.until(primary.restart(shareOf(primary)))
  await write(primary, 5, 'fresh')
  const promoted = await promote(secondary, token)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  assert.match(String(promoted.body.warnings), /The former primary knows/)
  for (let each = 0; each < 5; each++) assert.ok(await has(secondary, `fresh${each}`))
})

test('update-primary refuses a token of a primary that another cluster took over from', async () => {
  const { servers, primary, secondary, token } = await pair(72)
  const third = await servers.start('three')
  await servers.activate(primary, third)
  await servers.level(primary, third)
  await servers.time.pass(1_000)
  const stale = await servers.token(primary, 'three-again')
  servers.cut(primary, secondary)
  await servers.time.pass(15_000)
  assert.equal((await promote(secondary, token)).status, 200)
  assert.equal((await follow(servers, secondary, third, token)).status, 200)
  await servers.level(secondary, third)
  const body = { dr_operation_token: token, token: stale }
  const refused = await third.call('POST', `${DR}/secondary/update-primary`, body, '')
  assert.equal(refused.status, 400, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /another cluster took over from/)
  await write(secondary, 2, 'on')
  await servers.level(secondary, third)
})
