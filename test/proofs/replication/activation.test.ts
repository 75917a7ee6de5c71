// A server is killed at a random moment of an activation: the secondary is what it was, or follows. KILLS is the number
// of kills of each side; the exact test has the points of one step each (test/replication/activation-kills.test.ts).
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { activate, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const KILLS = Number(process.env.KILLS ?? 1)
/** An activation takes about as long until its answer. */
const ACTIVATION_MS = 300
const ENABLE = 'sys/replication/dr/secondary/enable'

async function withClusters(work: (primary: Cluster, make: (name: string) => Promise<Cluster>) => Promise<void>) {
  const temporary = temporaryDirectory()
  const clusters: Cluster[] = []
  const make = async (name: string): Promise<Cluster> => {
    const made = await Cluster.make(name, temporary.path)
    clusters.push(made)
    return made
  }
  try {
    const primary = await make('one')
    await primary.must('POST', 'sys/replication/dr/primary/enable', {})
    for (let each = 0; each < 20; each++) await primary.must('PUT', `sys/policies/acl/p${each}`, policyOf(20_000))
    await work(primary, make)
  } finally {
    for (const cluster of clusters) await cluster.end()
    temporary.cleanUp()
  }
}

const policyOf = (bytes: number): object => ({ policy: `path "a" { capabilities = ["read"] } # ${'x'.repeat(bytes)}` })

async function tokenFor(primary: Cluster, secondary: Cluster): Promise<string> {
  const { body } = await primary.must('POST', 'sys/replication/dr/primary/secondary-token', { id: secondary.name })
  return (body.wrap_info as { readonly token: string }).token
}

/** Opens it with its own share, or with that of the primary. */
async function opened(secondary: Cluster, primary: Cluster): Promise<void> {
  await secondary.start()
  for (const key of [secondary.share, primary.share]) await secondary.call('POST', 'sys/unseal', { key }, '')
  const { body } = await secondary.call('GET', 'sys/seal-status', undefined, '')
  assert.equal(body.sealed, false, 'one of the shares opens it')
}

async function killedOnce(primary: Cluster, secondary: Cluster, who: Cluster, random: PseudoRandom): Promise<string> {
  const token = await tokenFor(primary, secondary)
  const asked = secondary.call('POST', ENABLE, { token }).catch(() => undefined)
  const afterMs = random.int(ACTIVATION_MS)
  await sleep(afterMs)
  await who.kill()
  if (who === primary) await primary.restart()
  else await opened(secondary, primary)
  await asked
  const isLetIn = async (): Promise<boolean> => (await secondary.status()).mode !== 'disabled'
  const wasLetIn = await isLetIn()
  if (!wasLetIn) {
    assert.equal((await secondary.call('GET', 'sys/policies/acl/own')).status, 200, 'it is what it was')
    await activate(primary, secondary)
  }
  await until(isLetIn)
  secondary.share = primary.share
  await levelled(primary, secondary)
  assert.equal((await primary.status()).merkle_root, (await secondary.status()).merkle_root)
  return `${wasLetIn ? 'let in' : 'as before'} after ${afterMs} ms`
}

for (const [id, side] of [
  ['T10', 'secondary'],
  ['T11', 'primary'],
] as const) {
  test(`${id}: a ${side} that is killed in an activation, ${KILLS} times, leaves no half of one`, async (t) => {
    const random = pseudoRandom(testSeed(t))
    await withClusters(async (primary, make) => {
      for (let kill = 0; kill < KILLS; kill++) {
        const secondary = await make(`two-${kill}`)
        await secondary.must('PUT', 'sys/policies/acl/own', policyOf(10))
        t.diagnostic(await killedOnce(primary, secondary, side === 'primary' ? primary : secondary, random))
      }
    })
  })
}
