// How a cluster becomes a performance secondary: either side ends at any point of it, a token is used twice, the copy
// is cut off, or given up. Whole servers, over the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { has, POLICY, shareOf, write } from '../fixtures/failing-over.ts'
import type { Called } from '../fixtures/memory-server.ts'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { ReplicatedServers } from '../fixtures/replicated-servers.ts'
import { testSeed } from '../fixtures/seed.ts'

const PERFORMANCE = 'sys/replication/performance'
const ENABLE = `${PERFORMANCE}/secondary/enable`
const FAMILY = 'performance'
const POINTS = Number(process.env.POINTS ?? 10)
/** An activation of these sizes takes so long over links of a millisecond, until its copy is whole. */
const ACTIVATION_MS = 40
/** In one moment some of what is due has run, and some not. */
const MOST_STEPS = 40

/** A primary, and a cluster that is to be let in, which has something of its own. */
async function begun(seed: number) {
  const servers = new ReplicatedServers(seed)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.enable(primary, FAMILY)
  await write(primary, 10)
  await secondary.must('PUT', 'sys/policies/acl/own', POLICY)
  return { servers, primary, secondary }
}

type Begun = Awaited<ReturnType<typeof begun>>

/** A token of the primary, wrapped or for a key that the secondary makes now. */
async function tokenFor({ servers, primary, secondary }: Begun, isWrapped: boolean): Promise<string> {
  if (isWrapped) return servers.token(primary, 'two', {}, FAMILY)
  const { body } = await secondary.must('POST', `${PERFORMANCE}/secondary/generate-public-key`)
  return servers.token(primary, 'two', { secondary_public_key: body.data?.secondary_public_key }, FAMILY)
}

const level = ({ servers, primary, secondary }: Begun) => servers.level(primary, secondary, 120_000, FAMILY)

/** It was not let in, and is what it was: its tokens and data are there. */
async function requireUntouched(cluster: ReplicatedServer): Promise<void> {
  assert.deepEqual(await cluster.status(FAMILY), { mode: 'disabled' })
  assert.equal((await cluster.call('GET', 'sys/policies/acl/own')).status, 200)
  await cluster.must('PUT', 'sys/policies/acl/own', POLICY)
}

/** It has what the set shares and nothing of before, and tokens and an audit key of its own. */
async function requireLetIn({ servers, primary, secondary }: Begun, share = shareOf(primary)): Promise<void> {
  await servers.giveRootToken(primary, secondary, share)
  assert.ok(await has(secondary, 'p9'))
  assert.ok(!(await has(secondary, 'own')))
  const { body } = await secondary.must('POST', 'auth/token/create', { policies: ['default'] })
  await secondary.must('GET', 'auth/token/lookup-self', undefined, tokenIn(body))
  assert.equal((await primary.call('GET', 'auth/token/lookup-self', undefined, tokenIn(body))).status, 403)
  await secondary.must('PUT', 'sys/audit/log', { type: 'file', local: true, options: { file_path: '/own.log' } })
  assert.equal((await secondary.call('GET', 'sys/health', undefined, '')).status, 200)
  const { known_secondaries: known } = await primary.status(FAMILY)
  assert.deepEqual(known, ['two'])
}

const tokenIn = ({ auth }: Called['body']): string => (auth as { readonly client_token: string }).client_token

/** Opens it with the one of the shares that does. */
async function reopened(servers: ReplicatedServers, cluster: ReplicatedServer, shares: readonly Buffer[]) {
  await servers.time.until(cluster.restart())
  for (const share of shares) {
    await cluster.call('POST', 'sys/unseal', { key: share.toString('hex') }, '')
    if ((await cluster.call('GET', 'sys/seal-status', undefined, '')).body.sealed === false) return
  }
  assert.fail('no share opens it')
}

/** Ends one side at a point of the activation; true if the secondary was let in by then. */
async function killedAt(ms: number, steps: number, who: 'primary' | 'secondary', isWrapped: boolean) {
  const all = await begun(101)
  const { servers, primary, secondary } = all
  const token = await tokenFor(all, isWrapped)
  const shares = [shareOf(primary), shareOf(secondary)]
  const killed = all[who]
  const asked = secondary.server.call('POST', ENABLE, { token })
  asked.catch(() => {})
  await servers.time.pass(ms)
  await servers.time.steps(steps)
  killed.kill()
  await servers.time.pass(500)
  await reopened(servers, killed, shares)
  if (who === 'primary') await servers.time.pass(30_000)
  const isLetIn = (await secondary.status(FAMILY)).mode !== 'disabled'
  if (!isLetIn) {
    await requireUntouched(secondary)
    // The token may be used up: by it, or by an answer that was lost.
    const again = await secondary.call('POST', ENABLE, { token })
    if (again.status !== 200) {
      assert.match(JSON.stringify(again.body), /used already/)
      await secondary.must('POST', ENABLE, { token: await tokenFor(all, true) })
    }
  }
  await level(all)
  await requireLetIn(all, shares[0])
  return isLetIn
}

for (const [id, who, isWrapped] of [
  ['T10', 'secondary', true],
  ['T11', 'primary', false],
] as const) {
  test(`${id}: a ${who} that ends at any of ${POINTS} points of a performance activation leaves no half`, async (t) => {
    const outcomes = new Set<boolean>()
    const random = pseudoRandom(testSeed(t))
    for (let point = 0; point < POINTS; point++) {
      const [ms, steps] = [Math.floor((ACTIVATION_MS * point) / POINTS), random.int(MOST_STEPS)]
      try {
        outcomes.add(await killedAt(ms, steps, who, isWrapped))
      } catch (cause) {
        throw new Error(`${steps} steps after ${ms} ms`, { cause })
      }
    }
    assert.equal(outcomes.size, 2, 'some points are before it was let in, some after')
  })
}

test('T5: a token for a performance secondary lets one cluster in, once', async () => {
  for (const isWrapped of [true, false]) {
    const all = await begun(102)
    const { servers, primary, secondary } = all
    const token = await tokenFor(all, isWrapped)
    await secondary.must('POST', ENABLE, { token })
    await level(all)
    await servers.time.pass(1_000)
    const third = await servers.start('three')
    await third.must('PUT', 'sys/policies/acl/own', POLICY)
    const refused = await third.call('POST', ENABLE, { token })
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
    await requireUntouched(third)
    await requireLetIn(all)
    // A cluster that is one already is given another primary, and not let in again.
    const again = await secondary.call('POST', ENABLE, { token: await servers.token(primary, 'again', {}, FAMILY) })
    assert.equal(again.status, 400, JSON.stringify(again.body))
  }
})

test('T7, T8: an activation for performance that is refused leaves the cluster as it was', async () => {
  const all = await begun(103)
  const { servers, primary, secondary } = all
  await secondary.must('POST', 'auth/token/create', { policies: ['default'] })
  const revoked = await tokenFor(all, false)
  await primary.must('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'two' })
  await servers.enable(primary)
  for (const [given, says] of [
    [{ token: revoked }, /revoked/],
    [{ token: 'garbage' }, /token/],
    [{ token: await tokenFor(all, true), primary_api_addr: 'https://nowhere:8200' }, /nowhere:8200/],
    [{ token: await servers.token(primary, 'two') }, /is for dr.*used up by now/],
  ] as const) {
    const refused = await secondary.call('POST', ENABLE, given)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
    assert.match(JSON.stringify(refused.body), says)
    await requireUntouched(secondary)
  }
  servers.network.host('one').foreign(8_201, 'tls')
  assert.equal((await secondary.call('POST', ENABLE, { token: await tokenFor(all, false) })).status, 400)
  await requireUntouched(secondary)
})

test('the check takes a token of the former path, and none of the other family, which stays good', async () => {
  const { servers, primary, secondary } = await begun(105)
  await servers.enable(primary, 'performance')
  await servers.enable(primary)
  const check = async (family: string, token: unknown) => {
    const { body } = await secondary.must('POST', `sys/replication/${family}/secondary/check`, { token })
    const { checks } = body.data as { readonly checks: readonly { readonly what: string; readonly result: string }[] }
    return checks.find(({ what }) => what === 'api')?.result
  }
  const { body } = await primary.must('POST', 'sys/replication/primary/secondary-token', { id: 'three' })
  const { token } = body.wrap_info as { readonly token: string }
  assert.deepEqual([await check('dr', token), await check('performance', token)], ['bad', 'good'])
  const ofDr = await servers.token(primary, 'four')
  assert.deepEqual([await check('performance', ofDr), await check('dr', ofDr)], ['bad', 'good'])
  await secondary.must('POST', ENABLE, { token })
})

test('T13: a copy that is cut off and whose primary forgets its log goes on; the cluster says what it is', async () => {
  const all = await begun(104)
  const { servers, primary, secondary } = all
  const policy = `path "a" { capabilities = ["read"] } # ${'x'.repeat(20_000)}`
  for (let each = 0; each < 200; each++) await primary.must('PUT', `sys/policies/acl/q${each}`, { policy })
  servers.network.set('one', 'two', { bytesPerSecond: 1_000_000 })
  const token = await tokenFor(all, false)
  await secondary.must('POST', ENABLE, { token })
  const begunAt = servers.sentBytes
  await servers.time.pass(2_500)
  const copied = servers.sentBytes - begunAt
  servers.cut(primary, secondary)
  for (let each = 0; each < 5; each++) {
    await primary.must('PUT', `sys/policies/acl/q${each}`, { policy: `${policy} again` })
    await servers.time.pass(30_000)
  }
  assert.equal((await secondary.status(FAMILY)).mode, 'bootstrapping')
  const health = await secondary.call('GET', 'sys/health', undefined, '')
  assert.notEqual(health.status, 200)
  assert.equal(health.body.sealed, false)
  await servers.giveRootToken(primary, secondary)
  const refused = await secondary.call('GET', 'sys/policies/acl/q0')
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  secondary.kill()
  await reopened(servers, secondary, [shareOf(primary)])
  await primary.forgetLog()
  servers.heal(primary, secondary)
  servers.sentBytes = 0
  await level(all)
  assert.ok(servers.sentBytes < 4_500_000 - copied + 2_000_000, `${servers.sentBytes} bytes, ${copied} before`)
  const own = await secondary.call('GET', 'sys/policies/acl/q0')
  assert.equal(own.status, 200, 'the root token of before is its own')
  await requireLetIn(all)
})

test('a copy that will never be whole is given up, with a root token by the shares of the primary', async () => {
  const all = await begun(105)
  const { servers, primary, secondary } = all
  servers.network.set('one', 'two', { bytesPerSecond: 10_000 })
  const policy = `path "a" { capabilities = ["read"] } # ${'x'.repeat(20_000)}`
  for (let each = 0; each < 50; each++) await primary.must('PUT', `sys/policies/acl/q${each}`, { policy })
  await secondary.must('POST', ENABLE, { token: await tokenFor(all, false) })
  await servers.time.pass(2_000)
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  assert.equal((await secondary.call('POST', `${PERFORMANCE}/secondary/disable`, {}, 'root')).status, 403)
  await servers.giveRootToken(primary, secondary)
  for (const operation of ['secondary/promote', 'secondary/update-primary'])
    assert.equal((await secondary.call('POST', `${PERFORMANCE}/${operation}`, { token: ' ' })).status, 503, operation)
  await secondary.must('POST', `${PERFORMANCE}/secondary/disable`)
  assert.deepEqual(await secondary.status(FAMILY), { mode: 'disabled' })
  // It is a cluster by itself, which may begin again.
  await secondary.must('PUT', 'sys/policies/acl/own', POLICY)
  await primary.must('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'two' })
  servers.heal(primary, secondary)
  servers.network.set('one', 'two', { bytesPerSecond: Number.POSITIVE_INFINITY })
  await secondary.must('POST', ENABLE, { token: await tokenFor(all, true) })
  await level(all)
  await requireLetIn(all)
})

test('a shared audit device whose file a performance secondary cannot open keeps nothing sealed there', async () => {
  const all = await begun(106)
  const { servers, primary, secondary } = all
  const { files } = secondary.server.machine
  const open = files.open.bind(files)
  files.open = async (path, flags, mode) => {
    if (path.startsWith('/of-one/')) throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' })
    return open(path, flags, mode)
  }
  const device = (path: string) => ({ type: 'file', options: { file_path: path } })
  await primary.must('PUT', 'sys/audit/first', device('/of-one/audit.log'))
  await primary.must('PUT', 'sys/audit/second', device('/audit.log'))
  await secondary.must('POST', ENABLE, { token: await tokenFor(all, false) })
  await level(all)
  await requireLetIn(all)
  await primary.must('PUT', 'sys/audit/third', device('/of-one/third.log'))
  await write(primary, 2, 'on')
  await level(all)
  assert.ok(await has(secondary, 'on1'))
  assert.match(String(files.read('/audit.log')), /sys\/policies\/acl\/on1/)
  secondary.kill()
  await reopened(servers, secondary, [shareOf(primary)])
  assert.ok(await has(secondary, 'on1'))
  await secondary.must('POST', 'auth/token/create', { policies: ['default'] })
})
