// Clients of several clusters of a performance set, each a process: nobody reads older than what it wrote, or than the
// state that it asks for, and what a broken link leaves open was done once or not at all.
import { strict as assert } from 'node:assert'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { addRegion, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'

/** Keys that are made through a secondary and read there at once. */
const CREATES = Number(process.env.CREATES ?? '100')
/** Rotations through a secondary whose link breaks. */
const ROTATIONS = Number(process.env.ROTATIONS ?? '15')
/** Steps of each session. */
const STEPS = Number(process.env.SESSION_STEPS ?? '20')
const SESSIONS = 6
const KEYS = 3
const AT_ONCE = 8
const MOST_QUIET_MS = 150

/** A primary, and secondaries of it. */
async function regions(context: TestContext, secondaries: number): Promise<readonly [Cluster, ...Cluster[]]> {
  const temporary = temporaryDirectory()
  const clusters: Cluster[] = []
  context.after(async () => {
    for (const cluster of clusters) await cluster.end()
    temporary.cleanUp()
  })
  const primary = await Cluster.make('home', temporary.path)
  clusters.push(primary)
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  for (let number = 1; number <= secondaries; number++) {
    const secondary = await Cluster.make(`region${number}`, temporary.path, { threads: 2 })
    clusters.push(secondary)
    await addRegion(primary, secondary)
  }
  return [primary, ...clusters.slice(1)]
}

type Answered = { readonly status: number; readonly index: string; readonly body: Record<string, unknown> }

async function send(to: Cluster, method: string, path: string, body?: object, index = ''): Promise<Answered> {
  const response = await fetch(`${to.address}/v1/${path}`, {
    method,
    headers: {
      'X-Vault-Token': to.token,
      ...(index === '' ? {} : { 'X-Vault-Index': index, 'X-Vault-Inconsistent': 'await-state' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const found = response.headers.get('x-vault-index') ?? ''
  return { status: response.status, index: found, body: text === '' ? {} : JSON.parse(text) }
}

test(`T70: ${CREATES} keys made through a secondary are read there at once`, async (context) => {
  const [primary, secondary] = await regions(context, 1)
  assert.ok(secondary !== undefined)
  const wanted = Array.from({ length: CREATES }, (_, number) => `transit/keys/k${number}`)
  let late = 0
  const worker = async (): Promise<void> => {
    for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
      const made = await send(secondary, 'POST', path, {})
      assert.ok(made.status < 300, `${path}: ${JSON.stringify(made.body)}`)
      if (Array.isArray(made.body.warnings)) late++
      const read = await send(secondary, 'GET', path)
      assert.equal(read.status, 200, path)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const { body } = await primary.must('GET', 'transit/keys?list=true')
  assert.equal((body.data?.keys as string[] | undefined)?.length, CREATES)
  context.diagnostic(`${late} of ${CREATES} answers warned that the key may not be here yet`)
})

/** What is known of one policy: how often it was written, as far as an answer said so. */
type Known = { sent: number }

/** One client: what it wrote or saw last, and the states that it was told. */
class Session {
  readonly #clusters: readonly Cluster[]
  readonly #random: PseudoRandom
  readonly #all: readonly Known[]
  /** By cluster and key: the newest number that this client wrote or saw there. */
  readonly #seen = new Map<string, number>()
  /** By key: the newest number that it wrote anywhere, with the state behind it. */
  readonly #wrote = new Map<number, { readonly number: number; readonly index: string }>()
  reads = 0

  constructor(clusters: readonly Cluster[], random: PseudoRandom, all: readonly Known[]) {
    this.#clusters = clusters
    this.#random = random
    this.#all = all
  }

  async step(): Promise<void> {
    const key = this.#random.int(KEYS)
    const at = this.#clusters[this.#random.int(this.#clusters.length)] ?? assert.fail()
    if (this.#random.int(3) === 0) return this.#write(at, key)
    const wrote = this.#wrote.get(key)
    if (wrote !== undefined && this.#random.int(2) === 0) return this.#readBehind(at, key, wrote)
    const read = await this.#read(at, key)
    this.#saw(at, key, read)
  }

  /** Only this client writes its own rows of a policy, so its numbers grow. */
  async #write(at: Cluster, key: number): Promise<void> {
    const known = this.#all[key] ?? assert.fail()
    const number = ++known.sent
    const path = `sys/policies/acl/p${key}-${number}`
    const { status, index, body } = await send(at, 'POST', path, { policy: `path "n${number}" {}` })
    assert.ok(status < 300, `${at.name} ${path}: ${JSON.stringify(body)}`)
    assert.notEqual(index, '', path)
    this.#wrote.set(key, { number, index })
    if (!Array.isArray(body.warnings)) this.#saw(at, key, number)
  }

  /** The newest number that is there. */
  async #read(at: Cluster, key: number, index = ''): Promise<number> {
    this.reads++
    const { status, body } = await send(at, 'GET', 'sys/policies/acl?list=true', undefined, index)
    assert.equal(status, 200, JSON.stringify(body))
    const { keys } = body.data as { readonly keys: readonly string[] }
    const numbers = keys.filter((name) => name.startsWith(`p${key}-`)).map((name) => Number(name.split('-')[1]))
    return Math.max(0, ...numbers)
  }

  async #readBehind(at: Cluster, key: number, wrote: { readonly number: number; readonly index: string }) {
    const read = await this.#read(at, key, wrote.index)
    assert.ok(read >= wrote.number, `${at.name} shows p${key}-${read} with the index of p${key}-${wrote.number}`)
    this.#saw(at, key, read)
  }

  #saw(at: Cluster, key: number, number: number): void {
    const name = `${at.name} ${key}`
    const before = this.#seen.get(name) ?? 0
    assert.ok(number >= before, `${at.name} shows p${key}-${number}, and showed p${key}-${before} before`)
    this.#seen.set(name, number)
  }
}

test('sessions over three clusters never read older than they wrote, saw or asked for', async (context) => {
  const seed = testSeed(context)
  const clusters = await regions(context, 2)
  const all = Array.from({ length: KEYS }, (): Known => ({ sent: 0 }))
  const sessions = Array.from(
    { length: SESSIONS },
    (_, number) => new Session(clusters, pseudoRandom(seed + number), all),
  )
  const run = async (session: Session): Promise<void> => {
    for (let step = 0; step < STEPS; step++) await session.step()
  }
  await Promise.all(sessions.map(run))
  const reads = sessions.reduce((sum, session) => sum + session.reads, 0)
  assert.ok(reads > (SESSIONS * STEPS) / 3, String(reads))
  context.diagnostic(`${reads} reads, ${all.reduce((sum, { sent }) => sum + sent, 0)} writes`)
})

test(`T72: ${ROTATIONS} rotations through a link that breaks are done once, or not at all`, async (context) => {
  const [primary, secondary] = await regions(context, 1)
  assert.ok(secondary !== undefined)
  await secondary.must('POST', 'transit/keys/k', {})
  const random = pseudoRandom(testSeed(context))
  let isOver = false
  const breaking = (async () => {
    while (!isOver) {
      await sleep(random.int(MOST_QUIET_MS))
      if (random.int(3) === 0) {
        primary.proxy.refuse()
        await sleep(random.int(MOST_QUIET_MS))
        primary.proxy.heal()
      } else primary.proxy.reset()
    }
  })()
  let [acknowledged, open, refused] = [0, 0, 0]
  for (let sent = 0; sent < ROTATIONS; sent++) {
    const { status, body } = await send(secondary, 'POST', 'transit/keys/k/rotate')
    const said = String(body.errors)
    if (status < 300) acknowledged++
    else if (status === 503 && /is not known/.test(said)) open++
    else if (status === 503 && /cannot be reached|nothing was written|was not carried out/.test(said)) refused++
    else assert.fail(`${status} ${said}`)
    if (status === 503) await sleep(MOST_QUIET_MS)
  }
  isOver = true
  await breaking
  primary.proxy.heal()
  const versions = Number((await primary.must('GET', 'transit/keys/k')).body.data?.latest_version) - 1
  context.diagnostic(`${acknowledged} acknowledged, ${open} open, ${refused} not done, ${versions} versions`)
  assert.ok(versions >= acknowledged && versions <= acknowledged + open, `${versions} versions`)
  await levelled(primary, secondary, 'performance')
  assert.equal((await secondary.must('GET', 'transit/keys/k')).body.data?.latest_version, versions + 1)
})
