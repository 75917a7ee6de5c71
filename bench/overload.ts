// `npm run torture:overload`: the server under one attack after another, beside a caller that behaves. It prints how
// that caller fared, quiet and under attack, and the memory before, at its peak and after. It needs Linux.
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startAttack } from '../test/fixtures/attack-processes.ts'
import { ATTACK_NAMES, type AttackName, type AttackReport } from '../test/fixtures/attacks.ts'
import { cpuMicroseconds, memoryOf, resetPeak } from '../test/fixtures/process-figures.ts'
import { temporaryDirectory } from '../test/fixtures/server-process.ts'
import { type SteadyFigures, startSteadyCaller } from '../test/fixtures/steady-caller.ts'
import { markdownTable } from './report.ts'
import { KEY, MOUNT, startKeywright, type Target } from './targets.ts'

const HELP = `npm run torture:overload -- [options]

  --seconds N     How long each attack lasts, and the quiet before it (default 10)
  --attacks A,B   Only these: ${ATTACK_NAMES.join(', ')}
  --idle N        How many connections are idle (default 9900: with others, the default limit)
  --threads N     Serving threads (default: one for each core)
`

/** Connections of each attack; those of the one of idle connections come from the command line. */
const CONNECTIONS: Readonly<Record<Exclude<AttackName, 'idle connections'>, number>> = {
  'slow headers': 200,
  'slow bodies': 200,
  'large bodies': 200,
  'large bodies of a token': 200,
  'header flood': 200,
  batches: 1,
  'nested bodies': 8,
  'no token': 100,
}
const SETTLE_MS = 2_000

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    attacks: { type: 'string', default: ATTACK_NAMES.join(',') },
    idle: { type: 'string', default: '9900' },
    threads: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

type Row = {
  readonly name: AttackName
  readonly connections: number
  readonly quiet: SteadyFigures
  readonly beside: SteadyFigures
  readonly beforeBytes: number
  readonly peakBytes: number
  readonly afterBytes: number
  /** CPU time of all threads of the server, divided by the time: 2 if two cores were busy. */
  readonly cores: number
  readonly report: AttackReport
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function beside(target: Target, name: AttackName, ms: number): Promise<Row> {
  const connections = name === 'idle connections' ? Number(options.idle) : CONNECTIONS[name]
  const { address, pid } = target.server
  const call = { address, token: target.token, path: `${MOUNT}/encrypt/${KEY}` }
  const alone = startSteadyCaller(call)
  await sleep(ms)
  const quiet = await alone.stop()
  const { bytes: beforeBytes } = memoryOf(pid)
  resetPeak(pid)
  const attack = await startAttack({ ...call, name, connections })
  const caller = startSteadyCaller(call)
  const [startMs, cpu] = [performance.now(), cpuMicroseconds(pid)]
  await sleep(ms)
  const cores = (cpuMicroseconds(pid) - cpu) / 1_000 / (performance.now() - startMs)
  const met = await caller.stop()
  const report = await attack.stop()
  const { peakBytes } = memoryOf(pid)
  await sleep(SETTLE_MS)
  return {
    name,
    connections,
    quiet,
    beside: met,
    beforeBytes,
    peakBytes,
    afterBytes: memoryOf(pid).bytes,
    cores,
    report,
  }
}

const HEAD = ['attack', 'what it met', 'connections', 'p50 quiet', 'beside it', 'p99 quiet', 'beside it']
const MORE = ['most', 'answers/s', 'errors', 'cores', 'MiB before', 'at most', 'after']

function table(rows: readonly Row[], seconds: number): string {
  const lines = rows.map((row) => [
    row.name,
    met(row.report),
    String(row.connections),
    ...[row.quiet.p50Ms, row.beside.p50Ms, row.quiet.p99Ms, row.beside.p99Ms].map((ms) => ms.toFixed(1)),
    row.beside.mostMs.toFixed(0),
    (row.beside.answered / seconds).toFixed(0),
    String(row.quiet.others.length + row.beside.others.length),
    row.cores.toFixed(1),
    ...[row.beforeBytes, row.peakBytes, row.afterBytes].map((bytes) => (bytes / (1 << 20)).toFixed(0)),
  ])
  return markdownTable([...HEAD, ...MORE], lines)
}

function met({ statuses, cut }: AttackReport): string {
  const answers = Object.entries(statuses).map(([status, count]) => `${count} x ${status}`)
  return [...answers, `${cut} cut`].join(', ')
}

async function overload(): Promise<void> {
  const seconds = Number(options.seconds)
  const names = ATTACK_NAMES.filter((name) => options.attacks.split(',').includes(name))
  if (!(seconds > 0) || names.length === 0) throw new Error(HELP)
  const temporary = temporaryDirectory()
  const load = loadavg()[0] ?? 0
  const threads = options.threads === undefined ? undefined : Number(options.threads)
  const target = await startKeywright(join(temporary.path, 'data'), { threads, audit: true })
  try {
    const rows: Row[] = []
    for (const name of names) rows.push(await beside(target, name, seconds * 1_000))
    console.log(`load average before: ${load.toFixed(2)}; ${seconds} s each; times in ms\n\n${table(rows, seconds)}`)
  } finally {
    await target.server.kill()
    temporary.cleanUp()
  }
}

if (options.help) console.log(HELP)
else await overload()
