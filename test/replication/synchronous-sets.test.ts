// What a cluster that takes over must not lack of what operators were answered, and of what was given out: writes that
// wait for a synchronous secondary although they are not all well, or are not data that the set shares.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SynchronousSettings } from '../../src/replication/synchronous/settings.ts'
import { DR, operationToken, POLICY, promote, shareOf } from '../fixtures/failing-over.ts'
import type { Called } from '../fixtures/memory-server.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import {
  bothWays,
  followedServers,
  performanceServers,
  type ReplicatedServers,
} from '../fixtures/replicated-servers.ts'

const ALWAYS: SynchronousSettings = { ids: ['two'], timeoutMs: undefined }
const FOR_TEN_S: SynchronousSettings = { ids: ['two'], timeoutMs: 10_000 }
const PERFORMANCE = 'sys/replication/performance/primary'
const WAY_MS = 50

async function synchronousPair(seed: number, settings = ALWAYS) {
  const stage = await followedServers(seed)
  const { servers, primary, secondary } = stage
  await servers.time.until(primary.server.node.replication.waitFor(settings))
  await servers.time.pass(2_000)
  const slow = (delayMs = WAY_MS): void => {
    for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs })
  }
  const state = async (): Promise<string | undefined> => {
    const { synchronous } = await primary.status()
    return (synchronous as readonly { readonly state: string }[] | undefined)?.[0]?.state
  }
  /** A status may be a second old. */
  const stateNow = () => primary.server.node.replication.synchronous?.told[0]?.state
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startMs = servers.time.nowMs
    await work()
    return servers.time.nowMs - startMs
  }
  assert.equal(await state(), 'in-step')
  return { ...stage, token: await operationToken(primary), slow, state, stateNow, timed }
}

async function withRegion(seed: number) {
  const stage = await synchronousPair(seed)
  const { servers, primary, state } = stage
  const region = await servers.start('region')
  await servers.activate(primary, region, 'region', 'performance')
  await servers.level(primary, region, 60_000, 'performance')
  await servers.time.pass(3_000)
  assert.equal(await state(), 'in-step')
  return { ...stage, region }
}

test('a secondary that is revoked while clients write is unknown from then on, and waited for no more', async () => {
  const { servers, primary, slow, state } = await synchronousPair(900)
  slow(10)
  for (let each = 0; each < 60; each++) {
    primary.server.call('PUT', `sys/policies/acl/load${each}`, POLICY, primary.rootToken).catch(() => {})
    await servers.time.pass(1)
  }
  await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: 'two' })
  await servers.time.pass(3_000)
  assert.equal(await state(), 'unknown')
  assert.equal(primary.server.node.replication.synchronous?.waiting, 0)
})

test('a filter that was answered is there when the synchronous secondary takes over', async () => {
  const { servers, primary, secondary, token, slow } = await withRegion(920)
  await primary.must('POST', 'sys/mounts/kept', { type: 'transit' })
  slow()
  await primary.must('POST', `${PERFORMANCE}/paths-filter/region`, { mode: 'deny', paths: ['kept'] })
  primary.kill()
  await servers.time.pass(20_000)
  // Without force: nothing is known to be missing.
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(5_000)
  const { body } = await secondary.call('GET', `${PERFORMANCE}/paths-filter/region`, undefined, primary.rootToken)
  assert.deepEqual(body.data, { mode: 'deny', paths: ['kept/'] })
})

test('what sends somebody away waits in the set for performance, not in that of the secondary itself', async () => {
  const { primary, slow, timed } = await withRegion(921)
  slow()
  const operations = [
    () => primary.must('POST', `${PERFORMANCE}/paths-filter/region`, { mode: 'deny', paths: [] }),
    () => primary.must('DELETE', `${PERFORMANCE}/paths-filter/region`),
    () => primary.must('POST', `${PERFORMANCE}/rotate-authority`),
    () => primary.must('POST', `${PERFORMANCE}/revoke-secondary`, { id: 'region' }),
    () => primary.must('POST', `${PERFORMANCE}/disable`),
  ]
  for (const [at, operation] of operations.entries()) {
    const ms = await timed(operation)
    assert.ok(ms >= 2 * WAY_MS, `${at}: ${ms} ms`)
  }
  assert.equal(await timed(() => primary.must('POST', `${DR}/primary/revoke-secondary`, { id: 'two' })), 0)
})

test('what a filter would change is shown at once, while writes wait for a secondary that is away', async () => {
  const { servers, primary, secondary, timed } = await withRegion(929)
  await primary.must('POST', 'sys/mounts/kept', { type: 'transit' })
  servers.cut(primary, secondary)
  const filter = `${PERFORMANCE}/paths-filter/region`
  const trial = { mode: 'deny', paths: ['kept'], dry_run: true }
  assert.equal((await primary.call('PUT', 'sys/policies/acl/first', POLICY)).status, 503)
  const ms = await timed(async () => {
    const { body } = await primary.must('POST', filter, trial)
    assert.deepEqual(body.data, { would_appear: [], would_vanish: ['kept/'] })
  })
  assert.equal(ms, 0)
})

test('a demotion that was answered holds where the synchronous secondary takes over', async () => {
  const { servers, primary, secondary, region, token, slow, timed } = await withRegion(922)
  await servers.giveRootToken(primary, region)
  slow()
  const ms = await timed(() => primary.must('POST', `${PERFORMANCE}/demote`))
  assert.ok(ms >= 2 * WAY_MS, `${ms} ms`)
  await region.must('POST', 'sys/replication/performance/secondary/promote', {})
  primary.kill()
  await servers.time.pass(20_000)
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(5_000)
  secondary.rootToken = primary.rootToken
  assert.equal((await secondary.status('performance')).mode, 'secondary')
  assert.equal((await region.status('performance')).mode, 'primary')
})

test('a demotion that nobody confirms is answered in the end, with a warning', async () => {
  const { servers, primary, secondary, timed } = await withRegion(923)
  servers.cut(primary, secondary)
  const ms = await timed(async () => {
    const { body } = await primary.must('POST', `${PERFORMANCE}/demote`)
    assert.match(
      String((body.warnings as readonly string[]).at(-1)),
      /^This is stored here, but not all of the secondaries .* confirmed/,
    )
  })
  assert.ok(ms >= 50_000, `${ms} ms`)
})

const OF_A_REGION = { 'update-primary': { token: '' }, disable: {} }
for (const [at, [path, body]] of Object.entries(OF_A_REGION).entries())
  test(`secondary/${path} of a region waits for the synchronous secondary of that region`, async () => {
    const { servers, secondary: region } = await performanceServers(924 + at)
    const standIn = await servers.start('two')
    await servers.activate(region, standIn, 'two')
    await servers.level(region, standIn)
    await servers.time.until(region.server.node.replication.waitFor(ALWAYS))
    await servers.time.pass(20_000)
    for (const [from, to] of bothWays(region, standIn)) servers.network.set(from, to, { delayMs: WAY_MS })
    const startMs = servers.time.nowMs
    await region.must('POST', `sys/replication/performance/secondary/${path}`, body)
    assert.ok(servers.time.nowMs - startMs >= 2 * WAY_MS, `${servers.time.nowMs - startMs} ms`)
  })

test('what a region has the primary write goes on, or is refused, as configured', async () => {
  const { servers, primary, secondary, region, timed } = await withRegion(928)
  await servers.giveRootToken(primary, region)
  await region.must('POST', 'sys/namespaces/team', {})
  const waitFor = async (timeoutMs: number | undefined): Promise<void> => {
    await servers.time.until(primary.server.node.replication.waitFor({ ids: ['two'], timeoutMs }))
  }
  await waitFor(10_000)
  servers.cut(primary, secondary)
  const goingOn = await timed(() => region.must('PUT', 'sys/policies/acl/first', POLICY))
  assert.ok(goingOn >= 10_000 && goingOn < 11_000, `${goingOn} ms`)
  await waitFor(undefined)
  servers.heal(primary, secondary)
  await servers.time.pass(20_000)
  servers.cut(primary, secondary)
  const refused = await region.call('PUT', 'sys/policies/acl/second', POLICY)
  assert.equal(refused.status, 503)
  assert.match(JSON.stringify(refused.body), /The primary has stored this, but not all of the secondaries that its/)
  const { body } = await region.must('POST', 'sys/namespaces/api-lock/lock/team', {})
  assert.match(String((body.warnings as readonly string[]).at(-1)), /^The primary has stored this, but/)
  assert.match(String(body.data?.unlock_key), /./)
})

/** A region and its primary, each with a stand-in that it waits for, until its writes go on without it. */
async function withStandIns(seed: number, primaryMs: number | undefined, regionMs: number | undefined) {
  const { servers, primary, secondary: region } = await performanceServers(seed)
  await primary.must('POST', 'sys/mounts/t', { type: 'transit' })
  const standInOf = async (of: ReplicatedServer, id: string, timeoutMs: number | undefined) => {
    const standIn = await servers.start(id)
    await servers.activate(of, standIn, id)
    await servers.level(of, standIn)
    await servers.time.until(of.server.node.replication.waitFor({ ids: [id], timeoutMs }))
    return standIn
  }
  const ofPrimary = await standInOf(primary, 'd1', primaryMs)
  const ofRegion = await standInOf(region, 'd2', regionMs)
  await servers.time.pass(3_000)
  return { servers, primary, region, ofPrimary, ofRegion }
}

const OF_BOTH = [
  { primaryMs: undefined, regionMs: undefined, status: 503, atMost: 50_000 },
  { primaryMs: 30_000, regionMs: undefined, status: 503, atMost: 50_000 },
  { primaryMs: 50_000, regionMs: 50_000, status: 503, atMost: 52_000 },
  { primaryMs: 10_000, regionMs: 10_000, status: 200, atMost: 20_000 },
]
for (const [at, { primaryMs, regionMs, status, atMost }] of OF_BOTH.entries())
  test(`a write through a region is answered in time though both stand-ins are away: ${at}`, async () => {
    const { servers, primary, region, ofPrimary, ofRegion } = await withStandIns(950 + at, primaryMs, regionMs)
    servers.cut(primary, ofPrimary)
    servers.cut(region, ofRegion)
    const startMs = servers.time.nowMs
    const { status: answered, body } = await region.call('POST', 't/keys/k')
    const ms = servers.time.nowMs - startMs
    assert.ok(answered === status && ms <= atMost + 100, `${answered} after ${ms} ms: ${JSON.stringify(body)}`)
    if (status === 503) assert.match(JSON.stringify(body), /stored (here|this), but/)
    assert.equal((await primary.call('GET', 't/keys/k')).status, 200)
  })

test('a write that waited for long at the primary is well if the stand-in of the region has it', async () => {
  const { servers, primary, region, ofPrimary, ofRegion } = await withStandIns(956, 50_000, 50_000)
  for (const [from, to] of bothWays(region, ofRegion)) servers.network.set(from, to, { delayMs: WAY_MS })
  servers.cut(primary, ofPrimary)
  const startMs = servers.time.nowMs
  await region.must('PUT', 'sys/policies/acl/long', POLICY)
  assert.ok(servers.time.nowMs - startMs >= 50_000)
})

/** A region with users at a login mount of its own and at one that the set shares, and nobody to confirm writes. */
async function withUnconfirmedLogins(seed: number) {
  const stage = await withRegion(seed)
  const { servers, primary, secondary, region } = stage
  await servers.giveRootToken(primary, region)
  await region.must('POST', 'sys/auth/own', { type: 'userpass', local: true })
  await region.must('POST', 'auth/own/users/ann', USER)
  await primary.must('POST', 'sys/auth/shared', { type: 'userpass' })
  await primary.must('POST', 'auth/shared/users/bob', USER)
  await servers.level(primary, region, 60_000, 'performance')
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  const entities = async () => (await primary.call('LIST', 'identity/entity/id')).body.data?.keys ?? []
  return { ...stage, entities }
}

const USER = { password: 'x' }

test('a first login at a shared mount waits for an entity of its own that nobody confirmed yet', async () => {
  const { servers, primary, region, entities } = await withUnconfirmedLogins(951)
  for (const [from, to] of bothWays(primary, region)) servers.network.set(from, to, { delayMs: 200 })
  const first = begun(region, 'auth/shared/login/bob', USER)
  await servers.time.pass(10)
  const again = begun(region, 'auth/shared/login/bob', USER)
  await servers.time.pass(2_000)
  assert.deepEqual([first, again], [{}, {}])
  await servers.time.pass(60_000)
  assert.deepEqual([first.status, again.status], [503, 503])
  assert.equal(((await entities()) as unknown[]).length, 1)
})

test('a batch with a bad item gives out ciphertexts of a new key only when the secondary has the key', async () => {
  const { servers, primary, slow, secondary, token } = await synchronousPair(930)
  await primary.must('POST', 'sys/mounts/t', { type: 'transit' })
  await servers.time.pass(1_000)
  slow()
  const batch = { batch_input: [{ plaintext: 'YQ==' }, { plaintext: '!!' }] }
  const { status, body } = await servers.time.until(primary.server.call('POST', 't/encrypt/new', batch, 'root'))
  const [{ ciphertext } = { ciphertext: '' }] = (body.data?.batch_results ?? []) as { ciphertext: string }[]
  assert.equal(status, 400)
  assert.match(ciphertext, /^vault:v1:/)
  primary.kill()
  await servers.time.pass(20_000)
  assert.equal((await promote(secondary, token)).status, 200)
  await servers.time.pass(2_000)
  const decrypted = await secondary.call('POST', 't/decrypt/new', { ciphertext }, primary.rootToken)
  assert.equal(decrypted.status, 200, JSON.stringify(decrypted.body))
})

type Answer = { status?: number; body?: Called['body'] }

/** Asks for a call's answer without waiting for it. */
function begun({ server }: ReplicatedServer, path: string, body: object): Answer {
  const answer: Answer = {}
  const over = server.call('POST', path, body).then(({ status, body: answered }) => {
    Object.assign(answer, { status, body: answered })
  })
  over.catch(() => {})
  return answer
}

/** Gives the old share of a rekey; whoever calls it lets time pass. */
async function rekeying(primary: ReplicatedServer, share: Buffer, more: object = {}): Promise<Answer> {
  const { body } = await primary.must('POST', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1, ...more })
  return begun(primary, 'sys/rekey/update', { key: share.toString('hex'), nonce: body.nonce })
}

/** What an answer tells, in its envelope or without one. */
const dataOf = ({ body: { data, ...plain } }: Pick<Called, 'body'>): Record<string, unknown> => data ?? plain

/** The new share of an answer. */
const newShare = ({ status, body }: Answer): Buffer => {
  assert.equal(status, 200, JSON.stringify(body))
  return Buffer.from(String((body?.keys as readonly string[] | undefined)?.[0]), 'hex')
}

/** Ends a server, and begins it again with a share. */
async function reopened(servers: ReplicatedServers, one: ReplicatedServer, share: Buffer): Promise<void> {
  one.kill()
  await servers.time.until(one.restart(Buffer.from(share)))
}

const isWrongShare = ({ code }: { readonly code: string }): boolean => code === 'key_share_wrong'

/** The primary is gone; the other one takes over without force, and opens with the new share alone. */
async function takesOver(stage: Awaited<ReturnType<typeof synchronousPair>>, old: Buffer, fresh: Buffer) {
  const { servers, primary, secondary, token } = stage
  primary.kill()
  await servers.time.pass(20_000)
  assert.equal((await promote(secondary, token)).status, 200)
  await assert.rejects(reopened(servers, secondary, old), isWrongShare)
  await reopened(servers, secondary, fresh)
}

test('new shares are answered when the secondary opens with them, those of the next rekey too', async () => {
  const stage = await synchronousPair(940)
  const { servers, primary, slow, stateNow } = stage
  slow()
  let share = shareOf(primary)
  for (const turn of ['first', 'next']) {
    const answer = await rekeying(primary, share)
    await servers.time.pass(2 * WAY_MS - 5)
    assert.deepEqual([answer, stateNow()], [{}, 'waiting'], turn)
    await servers.time.pass(20)
    assert.deepEqual([answer.status, stateNow()], [200, 'in-step'], turn)
    share = newShare(answer)
  }
  await takesOver(stage, shareOf(primary), share)
})

test('new shares that are verified are in force on both sides when that is answered', async () => {
  const stage = await synchronousPair(941)
  const { servers, primary, slow, stateNow } = stage
  slow()
  const old = shareOf(primary)
  const answer = await rekeying(primary, old, { require_verification: true })
  await servers.time.pass(1)
  const fresh = newShare(answer)
  assert.equal(stateNow(), 'in-step', 'they are not in force yet')
  const nonce = answer.body?.verification_nonce
  const verified = begun(primary, 'sys/rekey/verify', { key: fresh.toString('hex'), nonce })
  await servers.time.pass(2 * WAY_MS - 5)
  assert.deepEqual([verified, stateNow()], [{}, 'waiting'])
  await servers.time.pass(20)
  assert.deepEqual([verified.status, stateNow()], [200, 'in-step'])
  await takesOver(stage, old, fresh)
})

test('a cluster that was rekeyed alone has the shares of whom it follows, and so has its stand-in', async () => {
  const { servers, primary, secondary, region, stateNow } = await withRegion(944)
  await servers.giveRootToken(primary, region)
  const shared = shareOf(primary)
  servers.cut(primary, region)
  const answer = await rekeying(primary, shared)
  await servers.time.pass(2_000)
  const alone = newShare(answer)
  await region.must('POST', 'sys/replication/performance/secondary/promote', { force: true })
  await servers.time.pass(2_000)
  await primary.must('POST', `${PERFORMANCE}/demote`)
  servers.heal(primary, region)
  const { body } = await region.must('POST', `${PERFORMANCE}/secondary-token`, { id: 'back' })
  const { token } = body.wrap_info as { readonly token: string }
  await primary.must('POST', 'sys/replication/performance/secondary/update-primary', { token })
  await servers.time.pass(60_000)
  assert.equal(new Set([primary, secondary, region].map(({ server }) => server.node.seal.id)).size, 1)
  assert.equal(stateNow(), 'in-step')
  for (const one of [primary, secondary]) {
    await assert.rejects(reopened(servers, one, alone), isWrongShare)
    await reopened(servers, one, shared)
  }
})

test('after its time new shares go on without the secondary, which is not in step until it has them', async () => {
  const stage = await synchronousPair(942, FOR_TEN_S)
  const { servers, primary, secondary, slow, stateNow } = stage
  const old = shareOf(primary)
  servers.cut(primary, secondary)
  const answer = await rekeying(primary, old)
  await servers.time.pass(9_900)
  assert.deepEqual([answer, stateNow()], [{}, 'waiting'])
  await servers.time.pass(200)
  assert.deepEqual([answer.status, stateNow()], [200, 'away'])
  slow(200)
  servers.heal(primary, secondary)
  const seals = () => [primary, secondary].map(({ server }) => server.node.seal.id)
  for (let waitedMs = 0; stateNow() !== 'in-step'; waitedMs += 10) {
    assert.ok(waitedMs < 50_000, 'it comes back')
    await servers.time.pass(10)
  }
  assert.equal(new Set(seals()).size, 1)
  await takesOver(stage, old, newShare(answer))
})

test('without a timeout new shares are given in the end, and the log says that nobody else has them', async () => {
  const stage = await synchronousPair(943)
  const { servers, primary, secondary, stateNow } = stage
  const old = shareOf(primary)
  servers.cut(primary, secondary)
  const answer = await rekeying(primary, old)
  const startMs = servers.time.nowMs
  await servers.time.pass(49_900)
  assert.deepEqual([answer, stateNow()], [{}, 'waiting'])
  await primary.must('GET', 'sys/seal-status', undefined, '')
  assert.equal(servers.time.nowMs, startMs + 49_900, 'what tells of the server waits for nothing')
  await servers.time.pass(200)
  const fresh = newShare(answer)
  const lines = primary.server.logged.filter((line) => line.includes('only copy'))
  assert.match(lines.join(), / error An answer is given though no secondary confirmed it: it is the only copy/)
  assert.equal(stateNow(), 'waiting')
  servers.heal(primary, secondary)
  await servers.time.pass(20_000)
  assert.equal(stateNow(), 'in-step')
  await takesOver(stage, old, fresh)
})

test('a verification that no secondary confirmed is a 503, and the new shares are in force', async () => {
  const stage = await synchronousPair(945)
  const { servers, primary, secondary, stateNow } = stage
  const old = shareOf(primary)
  const answer = await rekeying(primary, old, { require_verification: true })
  await servers.time.pass(1)
  const fresh = newShare(answer)
  servers.cut(primary, secondary)
  const nonce = answer.body?.verification_nonce
  const verified = begun(primary, 'sys/rekey/verify', { key: fresh.toString('hex'), nonce })
  await servers.time.pass(49_900)
  assert.deepEqual([verified, stateNow()], [{}, 'waiting'])
  await servers.time.pass(200)
  assert.equal(verified.status, 503)
  await assert.rejects(reopened(servers, primary, old), isWrongShare)
  await reopened(servers, primary, fresh)
  servers.heal(primary, secondary)
  await servers.time.pass(30_000)
  await takesOver(stage, old, fresh)
})

test('a secondary that begins anew while shares wait for it says what it has when it comes', async () => {
  const stage = await synchronousPair(944)
  const { servers, primary, secondary, stateNow } = stage
  const old = shareOf(primary)
  secondary.kill()
  const answer = await rekeying(primary, old)
  await servers.time.pass(5_000)
  await servers.time.until(secondary.restart(Buffer.from(old)))
  assert.deepEqual([answer, stateNow()], [{}, 'waiting'])
  await servers.time.pass(10_000)
  const fresh = newShare(answer)
  assert.equal(stateNow(), 'in-step')
  await reopened(servers, secondary, fresh)
  await servers.time.pass(10_000)
  assert.equal(stateNow(), 'in-step')
  // A primary that begins anew was told nothing yet.
  primary.synchronous = ALWAYS
  await reopened(servers, primary, fresh)
  assert.equal(stateNow(), 'waiting')
  await servers.time.pass(10_000)
  assert.equal(stateNow(), 'in-step')
  await takesOver(stage, old, fresh)
})

test('a root token by shares is given in the end, and the log says so: nobody else could end it', async () => {
  const { servers, primary, secondary, timed } = await synchronousPair(945, ALWAYS)
  servers.cut(primary, secondary)
  const ms = await timed(() => servers.giveRootToken(primary, primary))
  assert.ok(ms >= 50_000 && ms < 51_000, `${ms} ms`)
  const { body } = await primary.must('GET', 'auth/token/lookup-self')
  assert.deepEqual([body.data?.policies, body.data?.ttl], [['root'], 0])
  assert.ok(primary.server.logged.some((line) => line.includes('it is the only copy')))
  const twin = 'sys/generate-root-token'
  const { nonce } = dataOf(await primary.must('POST', `${twin}/attempt`, {}))
  const given = await primary.must('POST', `${twin}/update`, { key: shareOf(primary).toString('hex'), nonce })
  assert.match(String(given.body.warnings), /^This is stored here, but/)
})

test('shares wait for nothing until they make something, nor do new ones that are to be verified', async () => {
  const { servers, primary, secondary, timed } = await synchronousPair(946, ALWAYS)
  servers.cut(primary, secondary)
  assert.equal((await primary.call('PUT', 'sys/policies/acl/first', POLICY)).status, 503)
  const key = shareOf(primary).toString('hex')
  const wanted = { secret_shares: 2, secret_threshold: 2, require_verification: true }
  const ms = await timed(async () => {
    for (const place of ['sys/rekey', 'sys/rotate/root']) {
      const { nonce } = dataOf(await primary.must('POST', `${place}/init`, wanted))
      const made = dataOf(await primary.must('POST', `${place}/update`, { key, nonce }))
      const [share] = made.keys as readonly string[]
      const given = { key: share, nonce: made.verification_nonce }
      assert.equal(dataOf(await primary.must('POST', `${place}/verify`, given)).progress, 1)
      await primary.must('DELETE', `${place}/init`)
    }
  })
  assert.equal(ms, 0)
})
