// `npm run bench`: Keywright beside the control, in turns, under the loads of operations.ts. bench/README.md says how
// to read what it prints.
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { memoryOf } from '../test/fixtures/process-figures.ts'
import { temporaryDirectory } from '../test/fixtures/server-process.ts'
import { syncsPerSecond } from './disk.ts'
import { NEIGHBOURS, type Neighbour, neighbourTable, runNeighbours } from './neighbours.ts'
import { OPERATIONS, type Operation } from './operations.ts'
import { type Measurements, median, type Name, rowsOf, table } from './report.ts'
import { type Setting, startControl, startKeywright, type Target } from './targets.ts'
import { type Measurement, measureSomething, wrkIsInstalled } from './wrk.ts'

const HELP = `npm run bench -- [options]

  --rounds N         How often each load runs against each server; medians are taken (default 5)
  --seconds N        How long each of them lasts, 0.2 to 3 (default 3)
  --warm-up N        Seconds of each load before it is measured, 0 to 3 (default 1)
  --ops A,B          Only loads, or neighbours, whose name holds one of these words
  --threads A,B      A Keywright for each of these numbers of serving threads (default: one, with its own default)
  --without-audit    Each Keywright once more, with no audit device
  --neighbours       Instead of the loads: encryption alone, and beside one slow caller
  --directory DIR    Where Keywright keeps its data meanwhile (default: the system's temporary directory)
  --json FILE        Write everything that was measured to a file
`
const MEBIBYTE = 1 << 20
const MOST_SECONDS = 3
/** The shortest run, which shows that a load works; it gives no figure. */
const LEAST_SECONDS = 0.2
const MOST_THREADS = 64

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: String(MOST_SECONDS) },
    'warm-up': { type: 'string', default: '1' },
    ops: { type: 'string', default: '' },
    threads: { type: 'string' },
    'without-audit': { type: 'boolean', default: false },
    neighbours: { type: 'boolean', default: false },
    directory: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function seconds(): number {
  const number = Number(options.seconds)
  if (number >= LEAST_SECONDS && number <= MOST_SECONDS) return number
  throw new Error(`--seconds is a number from ${LEAST_SECONDS} to ${MOST_SECONDS}`)
}

function wholeNumber(name: 'rounds' | 'warm-up', least: number, most: number): number {
  const number = Number(options[name])
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw new Error(`--${name} is a number from ${least} to ${most}`)
}

type Plan = {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly operations: readonly Operation[]
  readonly neighbours: readonly Neighbour[]
  /** Settings of the servers to compare. */
  readonly settings: readonly Setting[]
}

function plan(): Plan {
  const words = options.ops.split(',').filter((word) => word !== '')
  const named = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] =>
    all.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
  const [operations, chosenNeighbours] = [named(OPERATIONS), named(NEIGHBOURS)]
  const [chosen, all] = options.neighbours ? [chosenNeighbours, NEIGHBOURS] : [operations, OPERATIONS]
  if (chosen.length === 0) throw new Error(`--ops names none of: ${all.map(({ name }) => name).join(', ')}`)
  return {
    rounds: wholeNumber('rounds', 1, 1_000),
    seconds: seconds(),
    warmUpSeconds: wholeNumber('warm-up', 0, MOST_SECONDS),
    operations,
    neighbours: chosenNeighbours,
    settings: settings(),
  }
}

function settings(): Setting[] {
  const threads = options.threads === undefined ? [undefined] : options.threads.split(',').map(threadCount)
  const audits = options['without-audit'] ? [true, false] : [true]
  return threads.flatMap((count) => audits.map((audit) => ({ threads: count, audit })))
}

function threadCount(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= MOST_THREADS) return number
  throw new Error(`--threads is a list of numbers from 1 to ${MOST_THREADS}`)
}

async function runLoads(
  { rounds, seconds, warmUpSeconds, operations }: Plan,
  targets: readonly Target[],
): Promise<Measurements> {
  const measurements = new Map<string, Map<Name, Measurement[]>>()
  for (const operation of operations) {
    const busy = targets.filter(({ name }) => operation.control || name !== 'control')
    const byTarget = new Map<Name, Measurement[]>(busy.map(({ name }) => [name, []]))
    if (warmUpSeconds > 0) for (const target of busy) await measureSomething(target, operation, warmUpSeconds)
    for (let round = 0; round < rounds; round++) {
      for (const target of busy) byTarget.get(target.name)?.push(await measureSomething(target, operation, seconds))
    }
    measurements.set(operation.name, byTarget)
    if (process.stderr.isTTY) process.stderr.write(`${operation.name}: done\n`)
  }
  return measurements
}

async function bench(chosen: Plan): Promise<void> {
  const temporary = temporaryDirectory(options.directory)
  const loadBefore = loadavg()[0] ?? 0
  const targets: Target[] = []
  try {
    targets.push(await startControl())
    for (const [at, setting] of chosen.settings.entries()) {
      targets.push(await startKeywright(join(temporary.path, `data-${at}`), setting))
    }
    const syncs = [syncsPerSecond(temporary.path, 1)]
    const measured = options.neighbours ? await neighbours(chosen, targets) : await loads(chosen, targets)
    syncs.push(syncsPerSecond(temporary.path, 1))
    const memory = targets.map(({ name, server }) => ({
      name,
      mebibytes: Math.round(memoryOf(server.pid).bytes / MEBIBYTE),
    }))
    const machine = {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      node: process.version,
      when: new Date().toISOString(),
      loadBefore,
      syncsPerSecond: Math.round(median(syncs)),
    }
    const { rounds, seconds } = chosen
    console.log(`${machine.cores} cores (${machine.cpu}), Node ${machine.node}, ${machine.when}`)
    console.log(`load average before: ${loadBefore.toFixed(2)}; the disk: ${machine.syncsPerSecond} fdatasync/s`)
    console.log(`medians of ${rounds} rounds of ${seconds} s\n\n${measured.table}\n`)
    for (const { name, mebibytes } of memory) console.log(`memory of ${name} after it: ${mebibytes} MiB`)
    if (options.json !== undefined) {
      const everything = { machine, rounds, seconds, memory, ...measured.details }
      writeFileSync(options.json, `${JSON.stringify(everything, null, 1)}\n`)
    }
  } catch (cause) {
    for (const { name, server } of targets) {
      if (!isRunning(server.pid))
        console.error(`${name} ended; the last that it said:\n${server.output().slice(-4_000)}`)
    }
    throw cause
  } finally {
    for (const { server } of targets) await server.kill()
    temporary.cleanUp()
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

type Measured = { readonly table: string; readonly details: object }

async function loads(chosen: Plan, targets: readonly Target[]): Promise<Measured> {
  const measurements = await runLoads(chosen, targets)
  const rows = rowsOf(measurements)
  return { table: table(rows), details: { rows, measurements: objectOf(measurements) } }
}

async function neighbours(chosen: Plan, targets: readonly Target[]): Promise<Measured> {
  const rows = await runNeighbours(chosen, targets)
  return { table: neighbourTable(rows), details: { rows } }
}

function objectOf(measurements: Measurements): object {
  return Object.fromEntries([...measurements].map(([name, targets]) => [name, Object.fromEntries(targets)]))
}

/** Checks the command line first, so that mistakes are reported even on machines without wrk. */
async function benchWhereItCan(): Promise<void> {
  const chosen = plan()
  if (wrkIsInstalled()) await bench(chosen)
  else console.log('bench: the Debian package wrk is not installed, so nothing is measured')
}

if (options.help) console.log(HELP)
else await benchWhereItCan()
