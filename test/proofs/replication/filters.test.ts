// Filters with real processes: what a secondary is not to have never crosses the link, is gone from it, and within a
// minute from its disk too, whatever happens while a filter changes. The ids are those of test/replication/README.md.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { activate, addRegion, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'
import { requireSameEntries } from './compared.ts'
import { bytesHiddenFrom, type Filter, foundIn, requireShown, untilFiltered, untilForgotten } from './filtered.ts'

/** Changes of a filter under load. */
const CHANGES = Number(process.env.CHANGES ?? '4')
/** Changes in which a server is killed. */
const FILTER_KILLS = Number(process.env.FILTER_KILLS ?? '2')
const MB = 1_000_000
/** Decision 4c.23: what is forbidden is gone from files within this time. */
const FORGOTTEN_MS = 60_000
const WRITERS = 3
const ASKED_AT_ONCE = 8
const WRITE_PAUSE_MS = 5
const MOST_LOAD_MS = 200
const MOST_KILL_MS = 300
const BASE64 = Buffer.from('plaintext').toString('base64')

const temporary = temporaryDirectory()
let [primary, secondary, filtered, standby]: Cluster[] = []
const clusters = () => [primary, secondary, filtered, standby].filter((one) => one !== undefined)
const pair = () => [primary as Cluster, secondary as Cluster] as const

const filterPath = ({ name }: Cluster): string => `sys/replication/performance/primary/paths-filter/${name}`

/** Undefined: everything is allowed. */
async function setFilter(cluster: Cluster, filter: Filter | undefined): Promise<void> {
  const [one] = pair()
  if (filter === undefined) await one.must('DELETE', filterPath(cluster))
  else await one.must('POST', filterPath(cluster), filter)
}

/** What the filter of `three` keeps back all the time; no other thing has this name. */
const NAME = 'zurich'
const ZURICH: Filter = { mode: 'deny', paths: ['zurich-keys', 'auth/zurich-people', 'zurich-team'] }

before(async () => {
  // One after the other: ports are looked for when they are needed.
  primary = await Cluster.make('one', temporary.path)
  secondary = await Cluster.make('two', temporary.path)
  filtered = await Cluster.make('three', temporary.path)
  standby = await Cluster.make('four', temporary.path)
  const [one, two] = pair()
  for (const path of ['open', 'keys-0', 'keys-1', 'keys-2', 'zurich-keys']) {
    await one.must('POST', `sys/mounts/${path}`, { type: 'transit' })
    await one.must('POST', `${path}/keys/k`, {})
  }
  for (const path of ['people', 'zurich-people']) {
    await one.must('POST', `sys/auth/${path}`, { type: 'userpass' })
    await one.must('POST', `auth/${path}/users/ann`, { password: 'x', token_policies: 'default' })
  }
  for (const path of ['team', 'zurich-team']) {
    await one.must('POST', `sys/namespaces/${path}`)
    await one.must('POST', `${path}/sys/namespaces/inner`)
    for (const each of [path, `${path}/inner`]) {
      await one.must('POST', `${each}/sys/mounts/keys`, { type: 'transit' })
      await one.must('POST', `${each}/keys/keys/k`, {})
    }
  }
  await addRegion(one, two)
})

after(async () => {
  for (const cluster of clusters()) await cluster.end()
  temporary.cleanUp()
})

test('5 MB that are written to a filtered mount move less than 200 KB, and else more than 5 MB', async (t) => {
  const [one, two] = pair()
  const policies = Array.from({ length: 250 }, (_, number) => `policy-${number}-${'x'.repeat(100)}`)
  await one.must('POST', 'auth/people/users/user', { password: 'x' })
  const write = async (): Promise<number> => {
    const before = one.proxy.bytes
    for (let each = 0; each < 220; each++)
      await one.must('POST', 'auth/people/users/user/policies', { token_policies: policies })
    await one.must('POST', 'open/keys/k/rotate', {})
    await levelled(one, two, 'performance')
    return one.proxy.bytes - before
  }
  await levelled(one, two, 'performance')
  const all = await write()
  await setFilter(two, { mode: 'deny', paths: ['auth/people'] })
  const some = await write()
  t.diagnostic(`${all} bytes without the filter, ${some} with it`)
  assert.ok(all > 5 * MB, `${all} bytes: all that was written`)
  assert.ok(some < 200_000, `${some} bytes: nothing of it`)
})

/** Clients of the primary that write wherever there is something, and move it about. */
class Load {
  readonly #random: PseudoRandom
  readonly #mounts = ['open', 'keys-0', 'keys-1', 'keys-2', 'team/keys', 'team/inner/keys']
  readonly faults: string[] = []
  #made = 0
  writes = 0

  constructor(random: PseudoRandom) {
    this.#random = random
  }

  /** Writes until the work is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    let isOver = false
    const writers = Array.from({ length: WRITERS }, async () => {
      while (!isOver) {
        await this.#step()
        await sleep(WRITE_PAUSE_MS)
      }
    })
    try {
      return await work()
    } finally {
      isOver = true
      await Promise.all(writers)
    }
  }

  async #step(): Promise<void> {
    const number = this.#made++
    const mount = this.#random.pick(this.#mounts)
    switch (this.#random.int(8)) {
      case 0:
        return this.#make(number)
      case 1:
        return this.#move(number)
      case 2:
        return this.#remove()
      case 3:
        return this.#send('POST', `auth/people/users/user-${number % 20}`, { password: `x${number}` })
      case 4:
        return this.#send('POST', `team/sys/policies/acl/p-${number}`, { policy: 'path "a" {}' })
      default:
        return this.#send('POST', `${mount}/keys/key-${number}`, {})
    }
  }

  async #make(number: number): Promise<void> {
    const path = this.#random.pick(['made-', 'team/made-', 'team/inner/made-']) + number
    if (this.#mounts.length > 12) return
    await this.#send('POST', inNamespace('sys/mounts', path), { type: 'transit' })
    this.#mounts.push(path)
  }

  async #move(number: number): Promise<void> {
    const at = 6 + this.#random.int(Math.max(1, this.#mounts.length - 6))
    const from = this.#mounts[at]
    if (from === undefined) return
    this.#mounts.splice(at, 1)
    const to = this.#random.pick(['keys-2-', 'moved-', 'team/moved-']) + number
    await this.#send('POST', 'sys/remount', { from, to })
    this.#mounts.push(to)
  }

  async #remove(): Promise<void> {
    if (this.#mounts.length < 10) return
    const path = this.#mounts.splice(6, 1)[0] ?? assert.fail('there are ten')
    await this.#send('DELETE', inNamespace('sys/mounts', path))
  }

  /** A mount may be gone when a client writes to it: that is the client's mistake. A killed primary gives no answer. */
  async #send(method: string, path: string, body?: object): Promise<void> {
    try {
      const { status, body: answer } = await pair()[0].call(method, path, body)
      if (status >= 500 && status !== 503) this.faults.push(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
      this.writes++
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause
    }
  }
}

/** `sys/mounts` of the namespace in which a path lies, with the rest of the path. */
function inNamespace(table: string, path: string): string {
  const slash = path.lastIndexOf('/') + 1
  return `${path.slice(0, slash)}${table}/${path.slice(slash)}`
}

const PATHS = [
  'keys-0',
  'keys-1',
  'keys-2',
  'auth/people',
  'team',
  'team/keys',
  'team/inner',
  'team/inner/keys',
  'open',
]

function someFilter(random: PseudoRandom): Filter | undefined {
  if (random.int(6) === 0) return undefined
  const paths = [...new Set(random.several(1, 4, () => random.pick(PATHS)))]
  return { mode: random.chance(0.5) ? 'deny' : 'allow', paths }
}

test(`T82: ${CHANGES} changes under load, and each time the secondary has what it is to have`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const [one, two] = pair()
  const load = new Load(random)
  let [filter, compared]: [Filter | undefined, number] = [undefined, 0]
  for (let change = 0; change < CHANGES; change++) {
    filter = someFilter(random)
    await load.during(async () => {
      await sleep(random.int(MOST_LOAD_MS))
      await setFilter(two, filter)
      await sleep(random.int(MOST_LOAD_MS))
    })
    compared += await untilFiltered(one, two, filter)
    await requireShown(one, two, filter)
  }
  t.diagnostic(`${load.writes} writes, ${compared} entries compared`)
  assert.deepEqual(load.faults, [])
  assert.ok(load.writes > 4 * CHANGES, `${load.writes} writes`)
})

test(`T85: ${FILTER_KILLS} changes in which a server dies: what is forbidden is gone, from files too`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const [one, two] = pair()
  const load = new Load(random)
  await setFilter(two, undefined)
  for (let kill = 0; kill < FILTER_KILLS; kill++) {
    await untilFiltered(one, two, undefined)
    await two.must('POST', 'auth/people/login/ann', { password: 'x' })
    // It counts what it seals, and keeps a lease of who logged in.
    await until(
      async () => (await two.call('POST', 'keys-0/encrypt/k', { plaintext: BASE64 })).status === 200,
      'two encrypts',
    )
    const filter: Filter =
      kill % 2 === 0 ? { mode: 'deny', paths: ['auth/people', 'keys-0', 'team'] } : { mode: 'allow', paths: ['open'] }
    const victim = random.pick([one, two])
    await load.during(async () => {
      const changed = one.call('POST', filterPath(two), filter).catch(() => undefined)
      await sleep(random.int(MOST_KILL_MS))
      await victim.kill()
      await changed
      await victim.restart()
    })
    for (const cluster of [one, two])
      await until(async () => (await cluster.call('GET', 'sys/mounts')).status === 200, `${cluster.name} serves`)
    // The answer may have been lost, and the change with it.
    await setFilter(two, filter)
    await untilFiltered(one, two, filter)
    await requireShown(one, two, filter)
    const hidden = await bytesHiddenFrom(one, filter)
    const forgottenMs = Math.round(await untilForgotten(two, hidden, FORGOTTEN_MS))
    t.diagnostic(`${victim.name} died; ${hidden.size} things were gone from files ${forgottenMs} ms later`)
    // So that a scan that finds nothing can be believed.
    assert.notDeepEqual(foundIn(one.directory, hidden), [])
    await setFilter(two, undefined)
  }
  assert.deepEqual(load.faults, [])
})

/** All that a cluster answers to a root token that names nothing by itself, by the paths that it says it has. */
async function answersOf(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const { body } = await cluster.must('GET', 'sys/internal/specs/openapi')
  const paths = Object.keys(body.paths as object).filter((path) => !path.includes('{'))
  const answers = new Map<string, string>()
  const ask = async (method: string, path: string, sent?: object): Promise<void> => {
    const { status, body: answer } = await cluster.call(method, path, sent)
    answers.set(`${method} ${path}`, `${status} ${JSON.stringify(answer)}`)
  }
  // These end the cluster, or what is listened to.
  const asked = paths.map((path) => path.slice(1)).filter((path) => !/seal|step-down|monitor|snapshot|pprof/.test(path))
  const more = ['sys/namespaces', 'sys/policies/acl', 'identity/entity/id', 'identity/entity-alias/id']
  const left = [...asked, ...more].values()
  const askSome = async (): Promise<void> => {
    for (const path of left) for (const method of ['GET', 'LIST']) await ask(method, path)
  }
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askSome))
  await ask('POST', 'sys/replication/performance/secondary/promote', {})
  await ask('POST', 'sys/mounts/open', { type: 'transit' })
  await ask('POST', 'sys/remount', { from: 'nothing', to: 'open' })
  return answers
}

test('T81: a filter that was there first: neither files nor log, answers or audit know of the rest', async (t) => {
  const [one] = pair()
  const [three, four] = [filtered ?? assert.fail(), standby ?? assert.fail()]
  const audit = join(temporary.path, 'audit.log')
  await one.must('POST', 'sys/audit/file', { type: 'file', options: { file_path: audit } })
  await one.must('DELETE', 'sys/audit/file')
  await addRegion(one, three, () => setFilter(three, ZURICH))
  await three.must('POST', 'sys/audit/own', { type: 'file', local: true, options: { file_path: audit } })
  await activate(three, four)
  await levelled(three, four)
  for (let round = 0; round < 5; round++) {
    await one.must('POST', `zurich-keys/keys/made-${round}`, {})
    await one.must('POST', 'sys/mounts/zurich-keys/tune', { description: `zurich ${round}` })
    await one.must('POST', 'zurich-team/keys/keys/k/rotate', {})
    await one.call('POST', 'auth/zurich-people/login/ann', { password: 'x' }, '')
    await one.must('POST', 'open/keys/k/rotate', {})
  }
  await untilFiltered(one, three, ZURICH)
  await levelled(three, four)
  const hidden = await bytesHiddenFrom(one, ZURICH)
  hidden.hide({ texts: [NAME] })
  assert.deepEqual(foundIn(three.directory, hidden), [])
  assert.deepEqual(foundIn(four.directory, hidden), [])
  assert.notDeepEqual(foundIn(one.directory, hidden), [])
  const answers = await answersOf(three)
  const naming = [...answers].filter(([, answer]) => answer.includes(NAME)).map(([path]) => path)
  t.diagnostic(`${answers.size} answers`)
  assert.ok(answers.size > 50, `${answers.size} answers`)
  assert.deepEqual(naming, [])
  const written = readFileSync(audit, 'utf8')
  assert.ok(written.includes('sys/remount'), 'requests are in the audit log')
  for (const text of [written, three.output(), four.output()]) assert.equal(text.includes(NAME), false)
  // The operator may ask; the answer is that of the primary.
  const { body } = await three.must('GET', `sys/replication/performance/secondary/dynamic-filter/${three.name}`)
  assert.match(JSON.stringify(body), /zurich-keys/)
})

test('the DR secondary of a filtered secondary has what that one has, and forgets what that one forgets', async (t) => {
  const [one] = pair()
  const [three, four] = [filtered ?? assert.fail(), standby ?? assert.fail()]
  const filter: Filter = { mode: 'deny', paths: [...ZURICH.paths, 'keys-1', 'team'] }
  await setFilter(three, filter)
  await untilFiltered(one, three, filter)
  const hidden = await bytesHiddenFrom(one, filter)
  const [ofThree, ofFour] = [
    await untilForgotten(three, hidden, FORGOTTEN_MS),
    await untilForgotten(four, hidden, FORGOTTEN_MS),
  ]
  t.diagnostic(
    `gone from files after ${Math.round(ofThree)} ms, and of its DR secondary ${Math.round(ofFour)} ms later`,
  )
  await levelled(three, four)
  for (const cluster of [three, four]) await cluster.stop()
  await requireSameEntries(three.directory, four.directory)
})
