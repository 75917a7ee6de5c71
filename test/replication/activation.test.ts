// How a cluster becomes a secondary: whole servers, over the simulated network, in virtual time. The ids are those of
// README.md here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, ReplicatedServers } from '../fixtures/replicated-servers.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }
const ENABLE = 'sys/replication/dr/secondary/enable'
const DAY_MS = 86_400_000

/** A primary, and a cluster that is to be let in, which has something of its own. */
async function two(seed: number) {
  const servers = new ReplicatedServers(seed)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.enable(primary)
  await secondary.must('PUT', 'sys/policies/acl/own', POLICY)
  return { servers, primary, secondary }
}

type Two = Awaited<ReturnType<typeof two>>

/** A token of the primary for a key that the secondary makes now. */
async function sealedToken({ servers, primary, secondary }: Two, more: object = {}): Promise<string> {
  const { body } = await secondary.must('POST', 'sys/replication/dr/secondary/generate-public-key')
  return servers.token(primary, 'two', { secondary_public_key: body.data?.secondary_public_key, ...more })
}

/** It is refused with this sentence, and is what it was: its tokens and data are there. */
async function requireRefused(cluster: ReplicatedServer, given: object, sentence: RegExp): Promise<void> {
  const { status, body } = await cluster.call('POST', ENABLE, given)
  const [said = ''] = (body.errors ?? []) as readonly string[]
  assert.equal(status, 400, JSON.stringify(body))
  assert.match(said, sentence)
  assert.deepEqual(await cluster.status(), { mode: 'disabled' })
  assert.equal((await cluster.call('GET', 'sys/policies/acl/own')).status, 200)
}

const isSecondary = async (cluster: ReplicatedServer): Promise<boolean> => {
  const { mode } = await cluster.status()
  return mode === 'secondary' || mode === 'bootstrapping'
}

test('T1: a cluster without data of its users is followed: enable, token, activate, equal roots', async () => {
  const { servers, primary, secondary } = await two(1)
  await secondary.must('POST', ENABLE, { token: await servers.token(primary, 'two') })
  assert.ok((await servers.level(primary, secondary)) < 5_000)
  await servers.requireSame(primary, secondary)
  // The link is made anew when the copy is whole.
  await servers.time.pass(1_000)
  assert.equal((await secondary.status()).state, 'stream-wals')
  assert.equal((await secondary.call('GET', 'sys/health')).status, 472)
})

test('T2: a cluster is copied while its clients write, and the copy has all of what they wrote', async () => {
  const all = await two(2)
  const { servers, primary, secondary } = all
  const policy = `path "a" { capabilities = ["read"] } # ${'x'.repeat(4_000)}`
  for (let each = 0; each < 150; each++) await primary.must('PUT', `sys/policies/acl/before-${each}`, { policy })
  for (const [from, to] of bothWays(primary, secondary)) {
    servers.network.set(from, to, { bytesPerSecond: 400_000, delayMs: 20 })
  }
  await secondary.must('POST', ENABLE, { token: await sealedToken(all) })
  let written = 0
  for (; (await secondary.status()).mode !== 'secondary'; written++) {
    assert.ok(written < 2_000, 'it ends, whatever is written')
    await primary.must('PUT', `sys/policies/acl/before-${written % 200}`, { policy: `${policy} ${written}` })
    await servers.time.pass(30)
  }
  assert.ok(written > 50, `${written} writes while it was copied`)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T3: with a token for its key a cluster is let in where nobody reaches the API of the primary', async () => {
  const all = await two(3)
  const { servers, primary, secondary } = all
  const token = await sealedToken(all)
  primary.isApiClosed = true
  await secondary.must('POST', ENABLE, { token })
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T4: a wrapped token lets one cluster in, also where two come at once', async () => {
  for (const isAtOnce of [false, true]) {
    const { servers, primary, secondary } = await two(4)
    const third = await servers.start('three')
    const given = { token: await servers.token(primary, 'one of them') }
    const [first, second] = [
      secondary.server.call('POST', ENABLE, given),
      async () => third.call('POST', ENABLE, given),
    ]
    if (!isAtOnce) await servers.time.until(first)
    const answers = await Promise.all([servers.time.until(first), second()])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400])
    const refused = answers.find(({ status }) => status === 400)
    assert.match(JSON.stringify(refused?.body), /used already/)
    assert.deepEqual([await isSecondary(secondary), await isSecondary(third)].sort(), [false, true])
  }
})

test('T6: a token ends by the clock of its primary, however far ahead that of the secondary is', async () => {
  for (const isWrapped of [true, false]) {
    for (const [aheadMs, ageMs, refused] of [
      [0, 59_000, undefined],
      [DAY_MS, 50_000, undefined],
      [DAY_MS, 61_000, /expired|has ended/],
      [0, 61_000, /expired|has ended/],
    ] as const) {
      const all = await two(6)
      const { servers, primary, secondary } = all
      secondary.aheadMs = aheadMs
      const token = isWrapped
        ? await servers.token(primary, 'two', { ttl: '1m' })
        : await sealedToken(all, { ttl: '1m' })
      await servers.time.pass(ageMs)
      if (refused !== undefined) await requireRefused(secondary, { token }, refused)
      else {
        await secondary.must('POST', ENABLE, { token })
        await servers.level(primary, secondary)
      }
    }
  }
})

test('T6: a clock that is a day behind is told, and changes nothing; set right, the same token is good', async () => {
  const all = await two(7)
  const { servers, primary, secondary } = all
  secondary.aheadMs = -DAY_MS
  const token = await sealedToken(all)
  await requireRefused(
    secondary,
    { token },
    /valid only in 23 hours, by the clock here\. Set the clocks of both clusters/,
  )
  secondary.aheadMs = 0
  await secondary.must('POST', ENABLE, { token })
  await servers.level(primary, secondary)
})

test('T7: a token of an id that was revoked lets nobody in, and changes nothing', async () => {
  for (const isWrapped of [true, false]) {
    const all = await two(8)
    const { servers, primary, secondary } = all
    const token = isWrapped ? await servers.token(primary, 'two') : await sealedToken(all)
    await primary.must('POST', 'sys/replication/dr/primary/revoke-secondary', { id: 'two' })
    await requireRefused(secondary, { token }, /revoked/)
    await servers.time.pass(60_000)
    assert.deepEqual(await secondary.status(), { mode: 'disabled' })
  }
})

test('T8: wrong addresses and other clusters are told by their cause, and change nothing', async () => {
  const all = await two(9)
  const { servers, primary, secondary } = all
  const third = await servers.start('three')
  const wrapped = await servers.token(primary, 'two')
  const at = (address: string, given = wrapped) => ({ token: given, primary_api_addr: address })
  await requireRefused(secondary, at('https://nowhere:8200'), /nowhere:8200 refuses connections/)
  await requireRefused(secondary, at('https://three:8200'), /three:8200 refused the token with status 400/)
  third.kill()
  await requireRefused(secondary, at('https://three:8200'), /three:8200 refuses connections/)
  servers.network.host('one').foreign(8_201, 'tls')
  await requireRefused(secondary, { token: await sealedToken(all) }, /one:8201 .*must pass TCP through/)
  servers.network.host('one').foreign(8_201, 'http')
  await requireRefused(secondary, { token: await sealedToken(all) }, /one:8201 does not speak TLS/)
})

test('T9: a secondary that is older than its primary reads both versions, a newer one is let in', async () => {
  const servers = new ReplicatedServers(10)
  const primary = await servers.start('one', '1.2.0')
  await servers.enable(primary)
  const older = await servers.start('older', '1.1.9')
  await older.must('PUT', 'sys/policies/acl/own', POLICY)
  const wrapped = { token: await servers.token(primary, 'older') }
  const sentence = /primary has version 1\.2\.0, and the secondary 1\.1\.9: upgrade the secondary first/
  await requireRefused(older, wrapped, sentence)
  // The program is upgraded: the token that the primary gave is still good.
  older.version = '1.2.0'
  older.kill()
  await servers.time.until(older.restart(older.server.shares[0]))
  await older.must('POST', ENABLE, wrapped)
  await servers.level(primary, older)
  const newer = await servers.start('newer', '1.3.0')
  await servers.activate(primary, newer)
  await servers.level(primary, newer)
  await servers.requireSame(primary, newer)
})

test('T15: 20 clusters that are activated at once are let in, and all have what the primary has', async () => {
  const servers = new ReplicatedServers(11)
  const primary = await servers.start('one')
  await servers.enable(primary)
  for (let each = 0; each < 30; each++) await primary.must('PUT', `sys/policies/acl/p${each}`, POLICY)
  const secondaries: { cluster: ReplicatedServer; token: string }[] = []
  for (let each = 0; each < 20; each++) {
    const cluster = await servers.start(`s${each}`)
    secondaries.push({ cluster, token: await servers.token(primary, cluster.name) })
  }
  const enable = ({ cluster, token }: (typeof secondaries)[number]) => cluster.server.call('POST', ENABLE, { token })
  const answers = await servers.time.until(Promise.all(secondaries.map(enable)))
  const busy = secondaries.filter((_, at) => answers[at]?.status !== 200)
  assert.ok(busy.length > 0)
  for (const { status, body } of answers) {
    if (status !== 200) assert.match(JSON.stringify(body), /lets 16 other clusters in now: try again soon/)
  }
  // With the same tokens: nothing of them was used up.
  await servers.time.pass(2_000)
  for (const one of busy) {
    const { status, body } = await servers.time.until(enable(one))
    assert.equal(status, 200, JSON.stringify(body))
  }
  for (const { cluster } of secondaries) {
    await servers.level(primary, cluster)
    await servers.requireSame(primary, cluster)
  }
})
