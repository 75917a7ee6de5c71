// A real server under each kind of overload, and a caller beside it who behaves: that one is always answered, memory
// stays within what the configuration says, and the server goes on when it is over (threats H-01, P-40 to P-45, Q-13,
// OVERLOAD=long: with 10,000 idle connections, ten seconds each, and the sizes of the defaults.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startAttack } from '../../fixtures/attack-processes.ts'
import { type AttackName, type AttackReport, largeBatch } from '../../fixtures/attacks.ts'
import { cpuMicroseconds, memoryOf, resetPeak } from '../../fixtures/process-figures.ts'
import { RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { startSteadyCaller } from '../../fixtures/steady-caller.ts'
import { until } from '../../fixtures/until.ts'

const isLong = process.env.OVERLOAD === 'long'
const skip = process.platform !== 'linux' && 'it reads /proc, and attacks from many addresses of loopback'

const MEBIBYTE = 1 << 20
const PATH = 'transit/encrypt/steady'
const BODY_MEMORY = isLong ? 256 * MEBIBYTE : 64 * MEBIBYTE
/** What a connection may take (P-40). */
const CONNECTION_BYTES = 65_536
/**
 * What the runtime keeps for itself under load: buffers, and bodies that are done with until its collector comes to
 * them. 70 to 90 MiB as a rule, 140 at times.
 */
const SLACK_BYTES = 192 * MEBIBYTE
/** Of the processor: what the server may still have to do when it is over, before it comes to a new caller. */
const RECOVERY_CPU_MS = 5_000
const LEAST_STEADY = 10

const temporary = temporaryDirectory()
let server: ServerProcess
/** The listener that waits for nobody. The other leaves the time that callers on a slow machine may need. */
let impatient: string

before(async () => {
  if (skip !== false) return
  const config = join(temporary.path, 'server.hcl')
  const listener = `listener "tcp" {
    address = "127.0.0.1:0"
    http_read_header_timeout = "60s"
    http_read_timeout = "60s"
  }
  listener "tcp" {
    address = "127.0.0.1:0"
    http_read_header_timeout = "1s"
    http_read_timeout = "1s"
  }`
  writeFileSync(config, `threads = 2\nmax_body_memory = ${BODY_MEMORY}\n${listener}\n`, { mode: 0o600 })
  server = await startServerProcess({ directory: join(temporary.path, 'data'), args: ['-config', config] })
  impatient = [...server.output().matchAll(/Listening on (\S+)\n/g)][1]?.[1] ?? assert.fail('one listener')
  assert.equal((await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })).status, 204)
  assert.equal((await api(server, 'POST', 'transit/keys/steady')).status, 200)
  // What the code itself takes, and the pool's threads, is not counted: all of it has run before.
  await pause(500, startSteadyCaller({ ...server, path: PATH }))
  assert.equal((await api(server, 'POST', PATH, largeBatch().toString())).status, 200)
})
after(async () => {
  await server?.stop()
  temporary.cleanUp()
})

/** These are about time; the others are not to be cut off because their own machine is slow. */
const SLOW: readonly AttackName[] = ['slow headers', 'slow bodies', 'large bodies', 'large bodies of a token']

const planOf = (name: AttackName, connections: number) => ({
  name,
  connections,
  address: SLOW.includes(name) ? impatient : server.address,
  token: server.token,
  path: PATH,
})

/** For so long at least, and until there is something to be seen. */
async function pause<T>(ms: number, running: { stop(): Promise<T> }, isEnough = () => true): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, ms))
  try {
    await until(isEnough, 'enough to be judged')
  } catch (cause) {
    // Else it goes on, and this file with it.
    await running.stop()
    throw cause
  }
  return running.stop()
}

type Case = {
  readonly id: string
  readonly name: AttackName
  readonly connections: number
  readonly longConnections?: number
  readonly seconds?: number
  /** Beyond bodies and connections: what a request takes that is carried out. */
  readonly moreBytes?: number
  /** What the attack is to have met before it is judged. */
  readonly isEnough: (report: AttackReport, connections: number) => boolean
  readonly holds: (report: AttackReport) => void
}

const only = (report: AttackReport, statuses: readonly string[]): void => {
  const others = Object.keys(report.statuses).filter((status) => !statuses.includes(status))
  assert.deepEqual(others, [], JSON.stringify(report))
  assert.equal(report.withoutRetryAfter, 0, 'a 503 says when to come again')
}
const answered = (report: AttackReport): number => Object.values(report.statuses).reduce((sum, count) => sum + count, 0)

const CASES: readonly Case[] = [
  {
    id: 'P-44, Q-13',
    name: 'slow headers',
    connections: 200,
    seconds: 3,
    holds: (report) => {
      only(report, ['408'])
      assert.ok(report.cut >= 200, JSON.stringify(report))
    },
    isEnough: ({ cut }) => cut >= 200,
  },
  {
    id: 'P-44, Q-13',
    name: 'slow bodies',
    connections: 200,
    seconds: 3,
    holds: (report) => {
      only(report, ['408'])
      assert.ok((report.statuses['408'] ?? 0) >= 200, JSON.stringify(report))
    },
    isEnough: ({ statuses }) => (statuses['408'] ?? 0) >= 200,
  },
  {
    id: 'H-01, P-45, Q-14',
    name: 'large bodies',
    connections: 50,
    longConnections: 200,
    holds: (report) => {
      only(report, ['403', '408', '503'])
      assert.ok(answered(report) > 0, JSON.stringify(report))
    },
    isEnough: (report) => answered(report) > 0,
  },
  {
    id: 'A8, P-45, Q-14',
    name: 'large bodies of a token',
    connections: 50,
    longConnections: 200,
    holds: (report) => {
      // Those that come whole are no JSON.
      only(report, ['400', '408', '503'])
      assert.ok(answered(report) > 0, JSON.stringify(report))
    },
    isEnough: (report) => answered(report) > 0,
  },
  {
    id: 'H-06, Q-14',
    name: 'header flood',
    connections: 50,
    longConnections: 200,
    holds: (report) => {
      only(report, ['431'])
      assert.ok(report.cut > 50, JSON.stringify(report))
    },
    isEnough: ({ cut }) => cut > 50,
  },
  {
    id: 'P-40, Q-14',
    name: 'idle connections',
    connections: 2_000,
    // With the caller's own the default for all is reached.
    longConnections: 9_900,
    holds: (report) => {
      assert.deepEqual([report.cut, report.failed], [0, 0])
      assert.deepEqual(report.statuses, { 200: report.opened })
    },
    isEnough: ({ statuses }, connections) => statuses['200'] === connections,
  },
  {
    id: 'P-42, Q-14',
    name: 'batches',
    connections: 1,
    // One takes a second, and more where the machine has other work.
    seconds: 4,
    moreBytes: 320 * MEBIBYTE,
    holds: (report) => {
      only(report, ['200'])
      assert.ok(answered(report) > 0, JSON.stringify(report))
    },
    isEnough: (report) => answered(report) > 0,
  },
  {
    id: 'Q-14',
    name: 'nested bodies',
    connections: 8,
    holds: (report) => {
      only(report, ['400'])
      assert.ok(answered(report) > 0, JSON.stringify(report))
    },
    isEnough: (report) => answered(report) > 0,
  },
  {
    id: 'P-41, Q-14',
    name: 'no token',
    connections: 50,
    holds: (report) => {
      only(report, ['403'])
      assert.ok(answered(report) > 100, JSON.stringify(report))
    },
    isEnough: (report) => answered(report) > 100,
  },
]

for (const { id, name, connections, longConnections = connections, seconds = 1.5, moreBytes = 0, ...one } of CASES) {
  test(`${id}: others are served beside ${name}, within the memory that is stated`, { skip }, async (context) => {
    const count = isLong ? longConnections : connections
    const beforeBytes = memoryOf(server.pid).bytes
    resetPeak(server.pid)
    const caller = startSteadyCaller({ ...server, path: PATH })
    context.after(() => caller.stop())
    const attack = await startAttack(planOf(name, count))
    const cpu = cpuMicroseconds(server.pid)
    const isEnough = () => one.isEnough(attack.report(), count) && caller.answered() >= LEAST_STEADY
    const report = await pause(isLong ? 10_000 : seconds * 1_000, attack, isEnough)
    const usedMicroseconds = cpuMicroseconds(server.pid) - cpu
    const cpuBefore = cpuMicroseconds(server.pid)
    const recoveryMs = await recovery()
    const recoveryCpuMs = (cpuMicroseconds(server.pid) - cpuBefore) / 1_000
    const steady = await caller.stop()
    const { bytes, peakBytes } = memoryOf(server.pid)
    const grown = peakBytes - beforeBytes
    const bound = BODY_MEMORY + count * CONNECTION_BYTES + SLACK_BYTES + moreBytes
    context.diagnostic(
      `${count} connections: ${JSON.stringify(report)}; the other caller: ${steady.answered} answers, ` +
        `p50 ${steady.p50Ms.toFixed(1)} ms, p99 ${steady.p99Ms.toFixed(1)} ms, most ${steady.mostMs.toFixed(0)} ms; ` +
        `memory ${mebibytes(beforeBytes)}, at most ${mebibytes(peakBytes)}, then ${mebibytes(bytes)} MiB ` +
        `(+${mebibytes(grown)} of ${mebibytes(bound)}); CPU ${Math.round(usedMicroseconds / 1_000)} ms; ` +
        `a new caller is answered ${recoveryMs.toFixed(0)} ms after it, for ${recoveryCpuMs} ms of CPU`,
    )
    assert.deepEqual(steady.others, [], 'the other caller is always answered 200')
    assert.ok(steady.answered >= LEAST_STEADY, `${steady.answered} answers`)
    assert.ok(grown < bound, `${mebibytes(grown)} MiB were taken, ${mebibytes(bound)} are stated`)
    assert.ok(recoveryCpuMs < RECOVERY_CPU_MS, `a new caller waited ${recoveryCpuMs} ms of CPU`)
    one.holds(report)
  })
}

test('P-41: a request without a token costs less than half a millisecond of CPU, and no lasting memory', {
  skip,
}, async (context) => {
  const beforeBytes = memoryOf(server.pid).bytes
  const cpu = cpuMicroseconds(server.pid)
  const attack = await startAttack(planOf('no token', 20))
  const report = await pause(isLong ? 20_000 : 1_000, attack, () => answered(attack.report()) > 100)
  const each = (cpuMicroseconds(server.pid) - cpu) / answered(report)
  const grown = memoryOf(server.pid).bytes - beforeBytes
  context.diagnostic(`${answered(report)} requests, ${each.toFixed(0)} µs of CPU each, ${mebibytes(grown)} MiB more`)
  assert.ok(each < 500, `${each} µs`)
  assert.ok(grown < SLACK_BYTES, `${mebibytes(grown)} MiB`)
})

/** How long a caller waits who comes anew. */
async function recovery(): Promise<number> {
  const startMs = performance.now()
  const connection = await RawConnection.open(server.address)
  const token = ['X-Vault-Token', server.token] as const
  const answer = await connection.exchange(rawRequest('POST', `/v1/${PATH}`, [token], '{"plaintext": "eHg="}'), 60_000)
  connection.close()
  assert.equal(answer?.status, 200)
  return performance.now() - startMs
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / MEBIBYTE)
}
