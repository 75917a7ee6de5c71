// `npm run bench:message`: what records of a log cost on their way from a cluster to itself, below HTTP, in one process
// on one thread. Steps take turns with a control, in rounds, since the machine changes.
import { createSecretKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { realWorld } from '../src/lib/world.ts'
import type { LogRecord, ReadStore, Store } from '../src/storage/contract.ts'
import { createMemoryStore } from '../src/storage/memory-store.ts'
import { openSqliteStore } from '../src/storage/sqlite/sqlite-store.ts'
import { temporaryDirectory } from '../test/fixtures/server-process.ts'
import {
  type Cost,
  type Costs,
  controlAll,
  fill,
  LEAF_KEY,
  newBarrier,
  requireEqual,
  type Sender,
  sealAll,
  sendAll,
} from './message-steps.ts'
import { markdownTable, median } from './report.ts'

const HELP = `npm run bench:message -- [options]

  --records N      Records of the log (default 20000)
  --batch N        Records in a message (default 256)
  --value N        Bytes of a value before it is sealed (default 1024)
  --rounds N       Rounds; medians are taken (default 5)
  --directory DIR  Where the stores are meanwhile (default: the system's temporary directory)
  --json FILE      Write what was measured to a file
`
const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '20000' },
    batch: { type: 'string', default: '256' },
    value: { type: 'string', default: '1024' },
    rounds: { type: 'string', default: '5' },
    directory: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function wholeNumber(name: 'records' | 'batch' | 'value' | 'rounds'): number {
  const number = Number(options[name])
  if (Number.isInteger(number) && number >= 1 && number <= 1_000_000) return number
  throw new Error(`--${name} is a number from 1 to 1000000`)
}

const KINDS = ['memory', 'SQLite'] as const
const LINK = ['read', 'frame', 'unframe', 'decode', 'adopt']
const world = realWorld()
const { clock, random } = world

type Round = { readonly steps: Readonly<Record<string, Cost>> }

function opened(store: Store): Store {
  store.setLeafKey(LEAF_KEY)
  return store
}

async function allRecords(store: ReadStore): Promise<readonly LogRecord[]> {
  const all: LogRecord[] = []
  for (let index = 0; ; index = all.at(-1)?.index ?? 0) {
    const run = await store.records(index, Number.POSITIVE_INFINITY)
    if (run.length === 0) return all
    all.push(...run)
  }
}

/** Sends the log to a new store of each kind, and does the rest of the steps beside it. */
async function measure(sender: Sender, directory: string): Promise<Round> {
  const costs: Costs = new Map()
  const records = await allRecords(sender.store)
  await controlAll(records, createSecretKey(random.bytes(32)), costs)
  await sealAll(newBarrier(random), records.length, wholeNumber('value'), costs)
  for (const kind of KINDS) {
    const isInMemory = kind === 'memory'
    const store = isInMemory ? createMemoryStore(world) : await openSqliteStore({ directory, clock, random })
    opened(store)
    await store.roots()
    const sent: Costs = new Map()
    await sendAll(sender, store, sent)
    await requireEqual(store, sender.store)
    await store.close()
    for (const [name, cost] of sent) costs.set(`${name}, ${kind}`, cost)
    costs.set(`whole, ${kind}`, sumOf(LINK.map((name) => sent.get(name) ?? { ms: 0, cpuMs: 0 })))
  }
  return { steps: Object.fromEntries(costs) }
}

function sumOf(costs: readonly Cost[]): Cost {
  return costs.reduce((sum, { ms, cpuMs }) => ({ ms: sum.ms + ms, cpuMs: sum.cpuMs + cpuMs }), { ms: 0, cpuMs: 0 })
}

const ROWS: readonly (readonly [string, string])[] = [
  ['control', 'copy, SHA-256, AES-256-GCM by the runtime alone'],
  ['seal', 'one value through the barrier'],
  ['open', 'the same'],
  ['read, SQLite', 'raw records from the log in SQLite'],
  ['frame, SQLite', 'head and record of each, one message'],
  ['unframe, SQLite', 'views of the message'],
  ['decode, SQLite', 'checksum, form and chain of each record; what is sent of it'],
  ['adopt, memory', 'checked, applied, tree and caches told'],
  ['adopt, SQLite', 'the same, and durable: one step a message'],
  ['whole, memory', 'from the log in SQLite to a store in memory'],
  ['whole, SQLite', 'from the log in SQLite to a store in SQLite'],
]

type Row = {
  readonly step: string
  readonly recordsPerSecond: number
  readonly cpuMicroseconds: number
  readonly cpuRatio: number
}

function rowsOf(rounds: readonly Round[], records: number): Row[] {
  const of = (name: string, pick: (cost: Cost) => number): number =>
    median(rounds.map(({ steps }) => pick(steps[name] ?? { ms: Number.NaN, cpuMs: Number.NaN })))
  const control = of('control', ({ cpuMs }) => cpuMs)
  return ROWS.map(([step]) => {
    const cpuMs = of(step, (cost) => cost.cpuMs)
    return {
      step,
      recordsPerSecond: Math.round((records * 1000) / of(step, ({ ms }) => ms)),
      cpuMicroseconds: (cpuMs * 1000) / records,
      cpuRatio: cpuMs / control,
    }
  })
}

function table(rows: readonly Row[]): string {
  const head = ['step', 'what', 'records/s', 'CPU µs', 'CPU ratio']
  const lines = rows.map(({ step, recordsPerSecond, cpuMicroseconds, cpuRatio }) => {
    const what = ROWS.find(([name]) => name === step)?.[1] ?? ''
    return [step, what, String(recordsPerSecond), cpuMicroseconds.toFixed(1), `${cpuRatio.toFixed(2)} x`]
  })
  return markdownTable(head, lines)
}

async function bench(): Promise<void> {
  const [records, batch, rounds] = [wholeNumber('records'), wholeNumber('batch'), wholeNumber('rounds')]
  const temporary = temporaryDirectory(options.directory)
  try {
    const store = opened(await openSqliteStore({ directory: join(temporary.path, 'sender'), clock, random }))
    await fill(store, newBarrier(random), records, wholeNumber('value'))
    const sender = { store, histories: await store.histories(), batch }
    const loadBefore = loadavg()[0] ?? 0
    const measured: Round[] = []
    for (let round = 0; round < rounds; round++) {
      measured.push(await measure(sender, join(temporary.path, `receiver-${round}`)))
    }
    await store.close()
    const rows = rowsOf(measured, records)
    const { length } = cpus()
    const machine = `${length} cores (${cpus()[0]?.model}), Node ${process.version}`
    console.log(`${machine}, load average before: ${loadBefore.toFixed(2)}`)
    console.log(`${records} records of ${options.value} bytes in messages of ${batch}; medians of ${rounds} rounds\n`)
    console.log(table(rows))
    if (options.json !== undefined) {
      const result = { machine, loadBefore, options, rows, rounds: measured }
      writeFileSync(options.json, `${JSON.stringify(result, null, 1)}\n`)
    }
  } finally {
    temporary.cleanUp()
  }
}

if (options.help) console.log(HELP)
else await bench()
