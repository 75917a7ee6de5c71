// A set changes hands: promotion, demotion and what becomes of the former primary. Whole servers, over the simulated
// network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Called } from '../fixtures/memory-server.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }
const DR = 'sys/replication/dr'

async function write(primary: ReplicatedServer, count: number, name = 'p'): Promise<void> {
  for (let each = 0; each < count; each++) await primary.must('PUT', `sys/policies/acl/${name}${each}`, POLICY)
}

const has = async (server: ReplicatedServer, name: string): Promise<boolean> =>
  (await server.call('GET', `sys/policies/acl/${name}`)).status === 200

/** A batch token of the set that promotes, demotes and leads on. */
async function operationToken(primary: ReplicatedServer): Promise<string> {
  const policy = 'path "sys/replication/dr/secondary/*" { capabilities = ["update"] }'
  await primary.must('PUT', 'sys/policies/acl/failover', { policy })
  const made = await primary.must('POST', 'auth/token/create-orphan', {
    policies: ['failover'],
    type: 'batch',
    ttl: '8h',
  })
  return String((made.body.auth as { readonly client_token: string }).client_token)
}

const promote = (secondary: ReplicatedServer, token: string, more: object = {}): Promise<Called> =>
  secondary.call('POST', `${DR}/secondary/promote`, { dr_operation_token: token, ...more }, '')

/** A token of the new primary leads the old one back. */
async function follow(
  servers: ReplicatedServers,
  primary: ReplicatedServer,
  secondary: ReplicatedServer,
  token: string,
) {
  const given = await servers.token(primary, secondary.name)
  const body = { dr_operation_token: token, token: given }
  return secondary.call('POST', `${DR}/secondary/update-primary`, body, '')
}

test('T53: a primary that can be reached hands over, and nothing that it acknowledged is lost', async () => {
  const { servers, primary, secondary } = await followedServers(53)
  const token = await operationToken(primary)
  await servers.level(primary, secondary)
  await write(primary, 20)
  const promoted = await promote(secondary, token)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  assert.match(String(promoted.body.warnings), /The former primary knows/)
  const [before, after] = [await primary.status(), await secondary.status()]
  assert.deepEqual([before.mode, before.fenced, before.idle_reason], ['primary', true, 'fenced'])
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

const modeOf = async (server: ReplicatedServer): Promise<unknown> => {
  const { mode, fenced, state, idle_reason: reason } = await server.status()
  return [mode, mode === 'primary' ? fenced : state, reason]
}

const shareOf = ({ server }: ReplicatedServer): Buffer => Buffer.from(server.shares[0] ?? assert.fail('it has a share'))

/** A pair that is level, and a token that both judge. */
async function pair(seed: number) {
  const { servers, primary, secondary } = await followedServers(seed)
  const token = await operationToken(primary)
  await write(primary, 5)
  await servers.level(primary, secondary)
  return { servers, primary, secondary, token }
}

/** The new primary takes the former one back. */
async function takeBack(
  servers: ReplicatedServers,
  primary: ReplicatedServer,
  former: ReplicatedServer,
  token: string,
) {
  await former.must('POST', `${DR}/primary/demote`)
  const followed = await follow(servers, primary, former, token)
  assert.equal(followed.status, 200, JSON.stringify(followed.body))
  await servers.level(primary, former)
  await servers.requireSame(primary, former)
}

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
  primary.kill()
  await servers.time.until(primary.restart(shareOf(primary)))
  assert.deepEqual(await modeOf(primary), ['primary', true, 'fenced'])
  await takeBack(servers, secondary, primary, token)
})

test('T55: without its primary a secondary is promoted where nothing was missing; else it says what, and is forced', async () => {
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

test('a demoted primary follows nobody, also after a restart, and is promoted again where nobody took over', async () => {
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
  assert.equal((await promote(primary, token)).status, 200)
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
  const followed = await follow(servers, secondary, primary, token)
  assert.equal(followed.status, 200, JSON.stringify(followed.body))
  await servers.level(secondary, primary)
  await servers.requireSame(secondary, primary)
  await servers.time.pass(20_000)
  assert.equal((await secondary.status()).former_primary, undefined, 'it is called no more')
})

test('a blank token: a secondary follows nobody, also after a restart, until it is given its primary again', async () => {
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
