// Two real servers change places. By one command while clients write, and back: what a client has an answer to is there
// afterwards. By force, with a primary that cannot be reached: what is lost is the number that the two statuses give.
import { strict as assert } from 'node:assert'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runClient } from '../../fixtures/cli-run.ts'
import { activate, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const WRITERS = 4
/** The primary is written to for so long before it hands over. */
const WRITING_MS = 500

async function pair(context: TestContext) {
  const temporary = temporaryDirectory()
  const clusters: Cluster[] = []
  context.after(async () => {
    for (const cluster of clusters) await cluster.end()
    temporary.cleanUp()
  })
  for (const name of ['one', 'two']) clusters.push(await Cluster.make(name, temporary.path))
  const [primary, secondary] = clusters as [Cluster, Cluster]
  await activate(primary, secondary)
  // Tokens are part of what the secondary took over.
  secondary.token = primary.token
  await levelled(primary, secondary)
  return { primary, secondary }
}

/** A batch token without a parent, which both clusters take. */
async function operationToken(primary: Cluster): Promise<string> {
  const policy = 'path "sys/replication/dr/secondary/*" { capabilities = ["update"] }'
  await primary.must('PUT', 'sys/policies/acl/failover', { policy })
  const wanted = { type: 'batch', no_parent: true, ttl: '1h', policies: ['failover'] }
  const { body } = await primary.must('POST', 'auth/token/create', wanted)
  return (body.auth as { readonly client_token: string }).client_token
}

type Figures = {
  readonly write_pause_ms_at_most: number
  readonly drained_records: number
  readonly lost_records: number
  readonly same_root: boolean
  readonly steps: readonly { readonly step: string; readonly ms: number }[]
}

async function switchOver(former: Cluster, next: Cluster, token: string): Promise<Figures> {
  const options = [`-secondary-addr=${next.address}`, `-id=${former.name}`, '-yes', '-format=json']
  const env = {
    VAULT_ADDR: former.address,
    VAULT_TOKEN: former.token,
    KEYWRIGHT_OPERATION_TOKEN: token,
  }
  const ran = await runClient(['operator', 'replication', 'switchover', ...options], { env, sleep })
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  return JSON.parse(ran.stdout) as Figures
}

/** Writes to one cluster, and to the other where that one does not take it; remembers what had an answer. */
class Clients {
  readonly answered: string[] = []
  readonly #clusters: readonly Cluster[]
  #isOver = false
  #lastMs = performance.now()
  /** The longest time without an answer to a write. */
  longestMs = 0

  constructor(clusters: readonly Cluster[]) {
    this.#clusters = clusters
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => this.#write(writer)))
    try {
      await sleep(WRITING_MS)
      return await work()
    } finally {
      this.#isOver = true
      await writing
    }
  }

  async #write(writer: number): Promise<void> {
    for (let count = 0; !this.#isOver; count++) {
      const name = `p${this.answered.length}-${writer}-${count}`
      for (const cluster of this.#clusters) {
        const path = `sys/policies/acl/${name}`
        const { status } = await cluster.call('PUT', path, { policy: 'path "a" { capabilities = ["read"] }' })
        if (status !== 204) continue
        this.answered.push(name)
        this.longestMs = Math.max(this.longestMs, performance.now() - this.#lastMs)
        this.#lastMs = performance.now()
        break
      }
    }
  }
}

test('T53: a switchover under load loses nothing that had an answer, and so does the way back', async (context) => {
  const { primary, secondary } = await pair(context)
  const token = await operationToken(primary)
  await levelled(primary, secondary)
  for (const [former, next] of [
    [primary, secondary],
    [secondary, primary],
  ] as const) {
    const clients = new Clients([former, next])
    const figures = await clients.during(() => switchOver(former, next, token))
    context.diagnostic(
      `pause ${figures.write_pause_ms_at_most} ms at most, clients saw ${clients.longestMs.toFixed()} ms`,
    )
    assert.equal(figures.lost_records, 0)
    assert.deepEqual([(await next.status()).mode, (await former.status()).mode], ['primary', 'secondary'])
    await levelled(next, former)
    const { body } = await next.must('GET', 'sys/policies/acl?list=true')
    const there = new Set(body.data?.keys as readonly string[])
    assert.deepEqual(
      clients.answered.filter((name) => !there.has(name)),
      [],
    )
    assert.ok(clients.answered.length > WRITERS)
    const roots = [await next.status(), await former.status()].map((status) => status.merkle_root)
    assert.equal(roots[0], roots[1])
  }
})

const LOST = 7
/** Records that the server writes for itself meanwhile. */
const OWN = 3
const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }

test('a forced promotion loses as many records as the statuses of both tell, and they are those', async (context) => {
  const { primary, secondary } = await pair(context)
  const token = await operationToken(primary)
  await primary.must('PUT', 'sys/policies/acl/kept', POLICY)
  await levelled(primary, secondary)
  primary.proxy.set({ isCut: true })
  for (let each = 0; each < LOST; each++) await primary.must('PUT', `sys/policies/acl/lost${each}`, POLICY)
  const promote = (...options: readonly string[]) => {
    const env = { VAULT_ADDR: secondary.address, KEYWRIGHT_OPERATION_TOKEN: token }
    return runClient(['operator', 'replication', 'promote', ...options], { env })
  }
  const promoted = await promote('-force', '-yes')
  assert.equal(promoted.code, 0, promoted.stderr)
  assert.match(promoted.stderr, /The former primary does not know yet/)
  primary.proxy.heal()
  await until(async () => (await primary.status()).fenced === true, 'the former primary knows')
  const from = (await secondary.status()).promoted_from as { readonly history_id: string; readonly index: number }
  const fenced = await primary.status()
  assert.equal(from.history_id, fenced.history_id)
  const lost = Number(fenced.last_dr_wal) - from.index
  assert.ok(lost >= LOST && lost <= LOST + OWN, `${lost} records`)
  const { body } = await secondary.must('GET', 'sys/policies/acl?list=true')
  const names = new Set(body.data?.keys as readonly string[])
  assert.deepEqual([names.has('kept'), names.has('lost0'), names.has(`lost${LOST - 1}`)], [true, false, false])
})
