// One slow caller beside many quick ones: how long encryptions of 128 bytes wait while a neighbour sends one large or
// laborious request after another.
import { Agent, request } from 'node:http'
import { api } from '../test/fixtures/server-process.ts'
import { OPERATIONS, REFERENCE } from './operations.ts'
import { markdownTable, median, medians, milliseconds, ratio } from './report.ts'
import { KEY, MOUNT, PLAINTEXT, type Target } from './targets.ts'
import { type Measurement, measure, measureSomething, NoAnswer } from './wrk.ts'

/** A slow caller. */
export type Neighbour = {
  readonly name: string
  /** The path of its requests, which are sent one at a time; `count` makes names of what is created differ. */
  readonly path: (count: number) => string
  readonly body: () => object
  readonly control: boolean
  /** True if it creates things, for which the administrator's token is used. */
  readonly creates: boolean
}

/** The largest body that a listener accepts by default. */
const LARGEST_BODY_BYTES = 32 * 1024 * 1024
const ITEMS = 100_000
const RSA = 'rsa-4096'

const ENCRYPT = { path: () => `${MOUNT}/encrypt/${KEY}`, control: true, creates: false } as const

/** The slow callers, each with one kind of work. */
export const NEIGHBOURS: readonly Neighbour[] = [
  { ...ENCRYPT, name: 'a body of 32 MB', body: () => ({ plaintext: 'A'.repeat(LARGEST_BODY_BYTES - 64) }) },
  {
    ...ENCRYPT,
    name: `a batch of ${ITEMS.toLocaleString('en')}`,
    body: () => ({ batch_input: Array.from({ length: ITEMS }, () => ({ plaintext: PLAINTEXT })) }),
  },
  {
    name: `new keys ${RSA}`,
    path: (count) => `${MOUNT}/keys/neighbour-${count}`,
    body: () => ({ type: RSA }),
    control: false,
    creates: true,
  },
  {
    name: `signatures ${RSA}`,
    path: () => `${MOUNT}/sign/${RSA}`,
    body: () => ({ input: PLAINTEXT }),
    control: false,
    creates: false,
  },
]

/** Measurements of one server with one neighbour. */
export type NeighbourRow = {
  readonly neighbour: string
  readonly target: string
  readonly quiet: Measurement
  readonly noisy: Measurement
  /** Requests of the neighbour that were answered, a second. */
  readonly neighboursPerSecond: number
  /** Answers to the neighbour that were errors. */
  readonly neighbourErrors: number
}

/** The runs to make. */
export type NeighbourPlan = {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly neighbours: readonly Neighbour[]
}

/** Measures each server quiet and noisy in every round, by turns. Rows that no server can do are left out and named. */
export async function runNeighbours(plan: NeighbourPlan, targets: readonly Target[]): Promise<NeighbourRow[]> {
  const rows: NeighbourRow[] = []
  for (const neighbour of plan.neighbours) {
    const busy = targets.filter(({ name }) => neighbour.control || name !== 'control')
    if (neighbour.creates && !(await knowsType(busy, RSA))) {
      console.log(`left out: ${neighbour.name}, because the server does not know the type ${RSA}`)
      continue
    }
    const body = Buffer.from(JSON.stringify(neighbour.body()))
    const rounds = new Map(busy.map((target): [Target, Round[]] => [target, []]))
    for (const target of busy) if (plan.warmUpSeconds > 0) await oneRound(target, neighbour, body, plan.warmUpSeconds)
    for (let round = 0; round < plan.rounds; round++) {
      for (const [target, all] of rounds) all.push(await oneRound(target, neighbour, body, plan.seconds))
    }
    for (const [target, all] of rounds) rows.push(rowOf(neighbour.name, target.name, all))
  }
  return rows
}

async function knowsType(targets: readonly Target[], type: string): Promise<boolean> {
  for (const { server, rootToken } of targets) {
    const known = { address: server.address, token: rootToken }
    if ((await api(known, 'POST', `${MOUNT}/keys/probe`, { type })).status >= 300) return false
  }
  return true
}

type Round = {
  readonly quiet: Measurement
  readonly noisy: Measurement
  readonly perSecond: number
  readonly errors: number
}

async function oneRound(target: Target, neighbour: Neighbour, body: Buffer, seconds: number): Promise<Round> {
  const encrypt = OPERATIONS.find(({ name }) => name === REFERENCE)
  if (encrypt === undefined) throw new Error(`there is no load ${REFERENCE}`)
  const quiet = await measureSomething(target, encrypt, seconds)
  const running = startNeighbour(target, neighbour, body)
  try {
    const noisy = await measure(target, encrypt, seconds).catch((cause) => stalled(cause, seconds))
    return { quiet, noisy, ...(await running.stop()) }
  } finally {
    await running.stop()
  }
}

/** The measurement of a run without one answer: all callers waited for the whole time. */
function stalled(cause: unknown, seconds: number): Measurement {
  if (!(cause instanceof NoAnswer)) throw cause
  const waited = seconds * 1e6
  return {
    requestsPerSecond: 0,
    cpuMicrosecondsPerRequest: 0,
    p50Microseconds: waited,
    p99Microseconds: waited,
    errors: 0,
  }
}

/** Stands for a status if the connection broke. */
const NO_ANSWER = 599

/** Makes the names of what runs create differ. */
let sent = 0

function startNeighbour(target: Target, { path, creates }: Neighbour, body: Buffer) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const token = creates ? target.rootToken : target.token
  const startMs = performance.now()
  let [stopping, answered, errors] = [false, 0, 0]
  const loop = (async () => {
    while (!stopping) {
      const url = `${target.server.address}/v1/${path(++sent)}`
      const status = await post(agent, url, token, body).catch(() => NO_ANSWER)
      answered += 1
      if (status >= 300) errors += 1
    }
  })()
  return {
    /** Resolves after its last answer. */
    stop: async (): Promise<{ readonly perSecond: number; readonly errors: number }> => {
      stopping = true
      await loop
      agent.destroy()
      return { perSecond: (answered * 1000) / (performance.now() - startMs), errors }
    },
  }
}

/** Sends a body. Resolves with the status when the whole answer has been read. */
function post(agent: Agent, url: string, token: string, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'X-Vault-Token': token, 'Content-Type': 'application/json', 'Content-Length': body.length }
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
      incoming.on('error', reject)
      incoming.on('end', () => resolve(incoming.statusCode ?? 0))
      incoming.resume()
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function rowOf(neighbour: string, target: string, rounds: readonly Round[]): NeighbourRow {
  return {
    neighbour,
    target,
    quiet: medians(rounds.map(({ quiet }) => quiet)),
    noisy: medians(rounds.map(({ noisy }) => noisy)),
    neighboursPerSecond: median(rounds.map(({ perSecond }) => perSecond)),
    neighbourErrors: rounds.reduce((sum, { errors }) => sum + errors, 0),
  }
}

const HEAD = ['neighbour', 'server', 'p50 quiet', 'p50 beside it', 'p99 quiet', 'p99 beside it', 'p99 ratio']
const MORE = ['requests/s quiet', 'beside it', 'its own/s', 'errors']

/** Returns the table in Markdown. */
export function neighbourTable(rows: readonly NeighbourRow[]): string {
  const lines = rows.map(({ neighbour, target, quiet, noisy, neighboursPerSecond, neighbourErrors }) => [
    neighbour,
    target,
    ...[quiet.p50Microseconds, noisy.p50Microseconds, quiet.p99Microseconds, noisy.p99Microseconds].map(milliseconds),
    ratio(noisy.p99Microseconds / quiet.p99Microseconds),
    quiet.requestsPerSecond.toFixed(0),
    noisy.requestsPerSecond.toFixed(0),
    neighboursPerSecond.toFixed(1),
    String(quiet.errors + noisy.errors + neighbourErrors),
  ])
  return markdownTable([...HEAD, ...MORE], lines)
}
