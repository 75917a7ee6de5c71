// One slow caller beside many quick ones: what the encryption of 128 bytes waits for while a neighbour has one large
// or laborious request after another answered.
import { Agent, request } from 'node:http'
import { api } from '../test/fixtures/server-process.ts'
import { OPERATIONS, REFERENCE } from './operations.ts'
import { markdownTable, median, medians, milliseconds, ratio } from './report.ts'
import { KEY, MOUNT, PLAINTEXT, type Target } from './targets.ts'
import { type Measurement, measure, measureSomething, NoAnswer } from './wrk.ts'

export type Neighbour = {
  readonly name: string
  /** Sent again and again, one at a time; `count` tells apart the names of what is created. */
  readonly path: (count: number) => string
  readonly body: () => object
  readonly control: boolean
  /** Asked with the administrator's token. */
  readonly creates: boolean
}

/** What the listener takes at most by default. */
const LARGEST_BODY_BYTES = 32 * 1024 * 1024
const ITEMS = 100_000
const RSA = 'rsa-4096'

const ENCRYPT = { path: () => `${MOUNT}/encrypt/${KEY}`, control: true, creates: false } as const

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

export type NeighbourRow = {
  readonly neighbour: string
  readonly target: string
  readonly quiet: Measurement
  readonly noisy: Measurement
  /** What the neighbour had answered, a second. */
  readonly neighboursPerSecond: number
  /** Its answers that were none of success. */
  readonly neighbourErrors: number
}

export type NeighbourPlan = {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly neighbours: readonly Neighbour[]
}

/** In turns: each server quiet and noisy in every round. Rows that no server can do are left out, and said. */
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

/** Where everybody waited all the time, the time is what there is to say. */
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

/** In the place of a status: the connection broke. */
const NO_ANSWER = 599

/** Tells the runs apart in the names of what they create. */
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
    /** After its last answer. */
    stop: async (): Promise<{ readonly perSecond: number; readonly errors: number }> => {
      stopping = true
      await loop
      agent.destroy()
      return { perSecond: (answered * 1000) / (performance.now() - startMs), errors }
    },
  }
}

/** Resolves with the status when the whole answer has been read. */
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
