// F12: what a simulator of several clusters stands on. A run of whole servers follows from its seed alone.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generateKey } from 'openpgp'
import { Verification } from '../../src/audit/verify.ts'
import { mountAll, PLACED_ENDPOINTS } from '../fixtures/endpoint-table.ts'
import { START_MS } from '../fixtures/memory-server.ts'
import { inOrder, makeThings, plausibleCall } from '../fixtures/plausible-calls.ts'
import { testSeed } from '../fixtures/seed.ts'
import { type DrawnByNode, drawnByNode } from './drawn-by-node.ts'
import { digestOf, runSchedule, storedDigest } from './schedule.ts'
import { type SimulatedServer, Simulation } from './simulation.ts'

const POLICY = 'path "a" { capabilities = ["read"] }'

const seedsOf = (context: TestContext): readonly number[] => {
  const seed = testSeed(context)
  return [seed, seed + 1]
}

/** In a process of its own, with its own order of loading and its own memory. */
function runElsewhere(seed: number): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('schedule.ts', import.meta.url)), String(seed)],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  return stdout
}

/** The chains of the audit log hold. Only the present one has no end, and one that the kill cut off. */
function requireWhole(lines: readonly string[]): void {
  const verification = new Verification({})
  for (const [at, line] of lines.entries()) verification.take(Buffer.from(line, 'latin1'), `line ${at + 1}`)
  const { faults, entries, chains } = verification.finish()
  const others = faults.filter((fault) => !fault.includes('has no end'))
  assert.deepEqual(others, [])
  assert.ok(faults.length <= 2, String(faults))
  assert.ok(entries > 300 && chains.length > 1)
}

test('F12: a life of a server repeats from its seed: answers, commits, audit lines, stored bytes', async (context) => {
  const digests = new Set<string>()
  for (const seed of seedsOf(context)) {
    const [one, again] = [await runSchedule(seed), await runSchedule(seed)]
    assert.deepEqual(again, one)
    assert.equal(runElsewhere(seed), digestOf(one))
    digests.add(digestOf(one))
    const entries = one.audit.filter((line) => line.includes('"type":"request"'))
    assert.ok(one.records.length > 100 && entries.length > 150 && one.answers.length > 150, 'there is much to compare')
    requireWhole(one.audit)
    assert.ok(
      one.logged.some((line) => line.includes('A key was rotated by itself')),
      'time passed',
    )
  }
  assert.equal(digests.size, 2)
})

/** Not part of the program's state: figures of the machine and of this process. */
const OF_THE_MACHINE = new Set(['host-info', 'metrics'])
/** They end the session; the schedule has them. */
const SEALING = new Set(['seal', 'step-down'])

/** The answers of every endpoint, called once, and what is then stored. */
async function callAll(seed: number): Promise<{ answers: readonly string[]; stored: string }> {
  const { time, server } = await startOne(seed)
  await time.until(mountAll(server.call))
  const things = await time.until(makeThings(server))
  const answers: string[] = []
  for (const placed of inOrder(PLACED_ENDPOINTS)) {
    const { id } = placed.endpoint
    if (OF_THE_MACHINE.has(id) || SEALING.has(id)) continue
    const { method, path, body, token, wrapTtl } = plausibleCall(placed, things)
    const answer = await time.until(server.call(method, path, body, token, wrapTtl === undefined ? {} : { wrapTtl }))
    answers.push(`${id} ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  return { answers, stored: await time.until(storedDigest(server)) }
}

async function startOne(seed: number): Promise<{ time: Simulation['time']; server: SimulatedServer }> {
  const simulation = new Simulation(seed)
  return { time: simulation.time, server: await simulation.startServer('server', { shares: 1 }) }
}

test('F12: every endpoint answers the same and stores the same in two runs of one seed', async (context) => {
  const seed = testSeed(context)
  const one = await callAll(seed)
  assert.deepEqual(await callAll(seed), one)
})

test('F12: what node draws itself differs from run to run, and is stored where its row says so', async (context) => {
  const seed = testSeed(context)
  const made = await generateKey({ userIDs: [{ name: 'holder' }], format: 'binary', date: new Date(START_MS) })
  const rows = drawnByNode(Buffer.from(made.publicKey).toString('base64'))
  const run = async (asked: readonly DrawnByNode[]): Promise<{ answers: readonly string[]; stored: string }> => {
    const { time, server } = await startOne(seed)
    await time.until(server.call('POST', 'sys/mounts/transit', { type: 'transit' }))
    const answers: string[] = []
    for (const { needs, ask, what } of asked) {
      if (needs !== undefined) await time.until(needs(server.call))
      const { status, body } = await time.until(ask(server.call, server))
      assert.equal(status, 200, `${what}: ${JSON.stringify(body)}`)
      answers.push(JSON.stringify(body))
    }
    return { answers, stored: await time.until(storedDigest(server)) }
  }
  for (const isStored of [false, true]) {
    const asked = rows.filter((row) => (row.isStored === true) === isStored)
    const [one, again] = [await run(asked), await run(asked)]
    for (const [at, { what }] of asked.entries()) assert.notEqual(again.answers[at], one.answers[at], what)
    assert.equal(again.stored === one.stored, !isStored)
  }
})

test('F12: servers beside each other run in an order of the seed, and each repeats', async (context) => {
  const seed = testSeed(context)
  const run = async (of: number): Promise<{ order: string; stored: readonly string[] }> => {
    const simulation = new Simulation(of)
    const { time } = simulation
    const servers: SimulatedServer[] = []
    for (const name of ['a', 'b', 'c']) servers.push(await simulation.startServer(name, { shares: 1 }))
    const order: string[] = []
    const ask = async (server: SimulatedServer, at: number, key: number): Promise<void> => {
      const { status } = await server.call('POST', `sys/policies/acl/p${key}`, { policy: POLICY })
      order.push(`${at}/${key}/${status}`)
    }
    await time.until(Promise.all([0, 1, 2, 3].flatMap((key) => servers.map((server, at) => ask(server, at, key)))))
    const stored = []
    for (const server of servers) stored.push(await time.until(storedDigest(server)))
    return { order: order.join(' '), stored }
  }
  const one = await run(seed)
  assert.deepEqual(await run(seed), one)
  assert.equal(new Set(one.stored).size, 3)
  const orders = new Set<string>()
  for (let of = seed; of < seed + 8; of++) orders.add((await run(of)).order)
  assert.ok(orders.size > 1, 'the order is drawn')
})

test('F12: what a server answered before it was killed is there, and nothing of it runs on', async (context) => {
  const seed = testSeed(context)
  const counts = new Set<number>()
  for (let steps = 0; steps < 12; steps++) {
    const simulation = new Simulation(seed)
    const { time } = simulation
    const server = await simulation.startServer('server', { shares: 1 })
    const answered: string[] = []
    for (const name of ['p0', 'p1', 'p2', 'p3'])
      void server
        .call('POST', `sys/policies/acl/${name}`, { policy: POLICY })
        .then(({ status }) => answered.push(`${name} ${status}`))
    await time.steps(steps)
    server.kill()
    const before = answered.length
    await time.pass(60_000)
    assert.equal(answered.length, before)
    counts.add(before)
    const [key] = server.shares
    const next = await simulation.startServer('server', { machine: server.machine, ...(key && { key }) })
    const { body } = await time.until(next.call('LIST', 'sys/policies/acl'))
    const kept = new Set(body.data?.keys as string[])
    assert.deepEqual(
      answered.filter((name) => !kept.has(name.replace(' 204', ''))),
      [],
      `after ${steps} steps`,
    )
  }
  assert.ok(counts.has(0) && counts.size > 1, 'the power went before and after answers')
})
