// Writes that are answered when the secondary has them on its disk, with real processes, files and TLS between the
// clusters: the primary is killed under load, and the secondary takes over without it, there and back. A longer form
// has SYNCHRONOUS_KILLS=50. What waits for what is in test/replication/synchronous.test.ts, in virtual time.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DR, operationToken, promote } from '../../fixtures/failing-over.ts'
import { untilFollowed } from '../../fixtures/followed-stores.ts'
import { pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { activate, Cluster, takeBack } from '../../fixtures/real-cluster.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'
import { Connection } from '../../model/connection.ts'

const KILLS = Number(process.env.SYNCHRONOUS_KILLS ?? '2')
const WRITERS = 8
/** Answered before the kill, at least, so that it says something. */
const LEAST_ANSWERED = 20
const MOST_MORE_MS = 400
const WAY_MS = 3

const temporary = temporaryDirectory()
const waitsFor = (id: string) => ({
  more: `replication {
  synchronous_secondaries = ["${id}"]
  synchronous_timeout     = "never"
}`,
})
let [now, next]: Cluster[] = []
let token = ''

before(async () => {
  now = await Cluster.make('one', temporary.path, waitsFor('two'))
  next = await Cluster.make('two', temporary.path, waitsFor('one'))
  await now.must('POST', 'sys/mounts/transit', { type: 'transit' })
  token = await operationToken(now)
  await activate(now, next)
  next.token = now.token
})

after(async () => {
  for (const cluster of [now, next]) await cluster?.end()
  temporary.cleanUp()
})

const isInStep = async (primary: Cluster): Promise<boolean> => {
  const { synchronous } = await primary.status()
  const [first] = (synchronous ?? []) as readonly { readonly state: string }[]
  return first?.state === 'in-step'
}

/** Makes keys one behind the other until there is no answer any more. */
async function write(primary: Cluster, name: string, answered: string[]): Promise<void> {
  const connection = new Connection(primary.address)
  try {
    for (let each = 0; ; each++) {
      const { status } = await connection.call(primary.token, 'POST', `transit/keys/${name}-${each}`, {})
      if (status < 300) answered.push(`${name}-${each}`)
    }
  } catch {
    connection.renew()
  }
}

test(`a primary that is killed under load loses no write that was answered, ${KILLS} times`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  for (let kill = 0; kill < KILLS; kill++) {
    const [primary, secondary] = [now as Cluster, next as Cluster]
    await until(() => isInStep(primary), 'writes wait for the secondary')
    primary.proxy.set({ delayMs: WAY_MS })
    const answered: string[] = []
    const writers = Array.from({ length: WRITERS }, (_, at) => write(primary, `k${kill}-w${at}`, answered))
    await until(() => answered.length >= LEAST_ANSWERED, 'writes are answered')
    await sleep(random.int(MOST_MORE_MS))
    await primary.kill()
    await Promise.all(writers)
    primary.proxy.heal()
    const promoted = await promote(secondary, token, { force: true })
    assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
    for (const name of answered) {
      const { status } = await secondary.call('GET', `transit/keys/${name}`)
      assert.equal(status, 200, `${name} was answered, as one of ${answered.length}`)
    }
    await primary.restart()
    await until(async () => (await primary.status()).fenced === true, 'the former primary knows of it')
    await takeBack(secondary, primary, token)
    await untilFollowed(secondary, primary)
    ;[now, next] = [secondary, primary]
  }
})

test('a write without its secondary is stored and waits, and a revocation lets it go', async () => {
  const [primary, secondary] = [now as Cluster, next as Cluster]
  await until(() => isInStep(primary), 'writes wait for the secondary')
  await secondary.kill()
  const waiting = primary.call('POST', 'transit/keys/waiting', {})
  await until(async () => (await primary.metrics()).get('keywright_replication_synchronous_waiting') === 1, 'it waits')
  assert.equal((await primary.call('GET', 'transit/keys/waiting')).status, 200, 'it is stored')
  await primary.must('POST', `${DR}/primary/revoke-secondary`, { id: secondary.name })
  assert.ok((await waiting).status < 300)
  const { synchronous } = await primary.status()
  assert.deepEqual(synchronous, [{ id: secondary.name, state: 'unknown' }])
})
