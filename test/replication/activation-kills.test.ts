// Either side ends at any point of an activation: whole servers, over the simulated network, in virtual time. The
// secondary is what it was, or follows with what the primary has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { ReplicatedServers } from '../fixtures/replicated-servers.ts'
import { testSeed } from '../fixtures/seed.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }
const ENABLE = 'sys/replication/dr/secondary/enable'
const POINTS = Number(process.env.POINTS ?? 20)
/** An activation of these sizes takes so long over links of a millisecond, until its copy is whole. */
const ACTIVATION_MS = 40
/** In one moment some of what is due has run, and some not. */
const MOST_STEPS = 40

async function begun(seed: number) {
  const servers = new ReplicatedServers(seed)
  const [primary, secondary] = [await servers.start('one'), await servers.start('two')]
  await servers.enable(primary)
  for (let each = 0; each < 10; each++) await primary.must('PUT', `sys/policies/acl/p${each}`, POLICY)
  await secondary.must('PUT', 'sys/policies/acl/own', POLICY)
  return { servers, primary, secondary, token: await servers.token(primary, 'two') }
}

/** Opens it with the one of the shares that does. */
async function reopened(servers: ReplicatedServers, cluster: ReplicatedServer, shares: readonly Buffer[]) {
  const keys = shares.map((share) => Buffer.from(share))
  await servers.time.until(cluster.restart())
  for (const key of keys) {
    try {
      await servers.time.until(cluster.server.node.operations.unseal(key))
    } catch {
      // It is that of the other keys.
    }
    if ((await cluster.call('GET', 'sys/seal-status', undefined, '')).body.sealed === false) return
  }
  assert.fail('no share opens it')
}

/** Ends one side at a point of the activation; true if the secondary was let in by then. */
async function killedAt(ms: number, steps: number, who: 'primary' | 'secondary'): Promise<boolean> {
  const { servers, primary, secondary, token } = await begun(21)
  const shares = [primary, secondary].map(({ server }) => server.shares[0] ?? assert.fail())
  const killed = who === 'primary' ? primary : secondary
  const asked = secondary.server.call('POST', ENABLE, { token })
  asked.catch(() => {})
  await servers.time.pass(ms)
  await servers.time.steps(steps)
  killed.kill()
  await servers.time.pass(500)
  await reopened(servers, killed, shares)
  if (who === 'primary') await servers.time.pass(30_000)
  const isLetIn = (await secondary.status()).mode !== 'disabled'
  if (!isLetIn) {
    assert.equal((await secondary.call('GET', 'sys/policies/acl/own')).status, 200, 'it is what it was')
    // The token may be used up: by it, or by an answer that was lost.
    const again = await secondary.call('POST', ENABLE, { token })
    if (again.status !== 200) {
      assert.match(JSON.stringify(again.body), /used already/)
      await secondary.must('POST', ENABLE, { token: await servers.token(primary, 'two') })
    }
  }
  await servers.level(primary, secondary, 120_000)
  await servers.requireSame(primary, secondary)
  assert.equal((await secondary.call('GET', 'sys/health', undefined, '')).status, 472)
  return isLetIn
}

for (const [id, who] of [
  ['T10', 'secondary'],
  ['T11', 'primary'],
] as const) {
  test(`${id}: a ${who} that ends at any of ${POINTS} points of an activation leaves no half of one`, async (t) => {
    const outcomes = new Set<boolean>()
    const random = pseudoRandom(testSeed(t))
    for (let point = 0; point < POINTS; point++) {
      const [ms, steps] = [Math.floor((ACTIVATION_MS * point) / POINTS), random.int(MOST_STEPS)]
      try {
        outcomes.add(await killedAt(ms, steps, who))
      } catch (cause) {
        throw new Error(`${steps} steps after ${ms} ms`, { cause })
      }
    }
    assert.equal(outcomes.size, 2, 'some points are before it was let in, some after')
  })
}

test('T13: a link that is cut for ten minutes in a copy, and a log that was shortened: no copy anew', async () => {
  const { servers, primary, secondary, token } = await begun(23)
  const policy = `path "a" { capabilities = ["read"] } # ${'x'.repeat(20_000)}`
  for (let each = 0; each < 300; each++) await primary.must('PUT', `sys/policies/acl/q${each}`, { policy })
  servers.network.set('one', 'two', { bytesPerSecond: 1_000_000 })
  await secondary.must('POST', ENABLE, { token })
  const begunAt = servers.sentBytes
  // The copy has 6 MB, and comes in pieces of 1 MiB.
  await servers.time.pass(3_500)
  const copied = servers.sentBytes - begunAt
  assert.ok(copied > 2_500_000 && copied < 5_000_000, `${copied} bytes before the cut`)
  servers.cut(primary, secondary)
  for (let each = 0; each < 20; each++) {
    await primary.must('PUT', `sys/policies/acl/q${each}`, { policy: `${policy} again` })
    await servers.time.pass(30_000)
  }
  assert.equal((await secondary.status()).mode, 'bootstrapping')
  await primary.forgetLog()
  servers.heal(primary, secondary)
  servers.sentBytes = 0
  await servers.level(primary, secondary, 120_000)
  await servers.requireSame(primary, secondary)
  const left = servers.sentBytes
  // What it had stays: at most one piece is sent twice, and what was written meanwhile.
  assert.ok(left < 6_500_000 - copied + 2_000_000, `${left} bytes after the cut, ${copied} before`)
})
