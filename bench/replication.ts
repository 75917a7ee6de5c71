// `npm run bench:replication`: what following costs and how fast it is, part by part, with real servers and stores.
// bench/README.md says how to read what it prints.
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { syncsPerSecond } from './disk.ts'
import { measureCatchUp } from './replication/catch-up.ts'
import { measureCopy } from './replication/copy.ts'
import { measureLag, measureRegionLag } from './replication/lag.ts'
import { measurePromote } from './replication/promote.ts'
import { measureRecords } from './replication/records.ts'
import { measureRegion, measureRegionStart } from './replication/region.ts'
import { measureReindex } from './replication/reindex.ts'
import { type Figure, type Sizes, Stage } from './replication/stage.ts'
import { measureSwitchover } from './replication/switchover.ts'
import { measureSynchronous } from './replication/synchronous.ts'
import { measureEncrypt, measureThroughput } from './replication/throughput.ts'
import { markdownTable } from './report.ts'

const HELP = `npm run bench:replication -- [options]

  --parts A,B        Only these: lag, records, catch-up, copy, reindex, throughput, encrypt, region,
                     region-lag, region-start, promote, switchover, synchronous
  --seconds N        How long each stretch lasts, also part of a second (default 20)
  --rounds N         Rounds of throughput and encrypt; medians are taken (default 5)
  --rates A,B        Writes/s over HTTP for lag, encrypt, switchover (default 200,1000)
  --records N        Records/s below HTTP (default 5000)
  --missed N         Records that a secondary misses before it catches up (default 100000)
  --keys A,B         Keys to copy and to reindex, one each (default 100000,1000000)
  --different N      Entries that differ after each copy (default 1000)
  --leases N         Leases of a cluster that is promoted (default 100000)
  --writes N         Writes of one caller that are timed, near and far (default 300)
  --switchovers N    Hand-overs at each rate (default 20)
  --secondaries A,B  Numbers of secondaries for throughput (default 0,1,3)
  --small            Little of everything, to see that it works; other options come on top
  --minutes N        The most that each part may take (default 40)
  --directory DIR    Where the data are meanwhile (default: the system's temporary directory)
  --json FILE        Write the figures to a file
`
const MOST = 10_000_000
const MS_PER_MINUTE = 60_000

const USUAL = {
  seconds: '20',
  rounds: '5',
  rates: '200,1000',
  records: '5000',
  missed: '100000',
  keys: '100000,1000000',
  different: '1000',
  leases: '100000',
  writes: '300',
  switchovers: '20',
  secondaries: '0,1,3',
}
const SMALL: typeof USUAL = {
  seconds: '2',
  rounds: '2',
  rates: '50,200',
  records: '1000',
  missed: '2000',
  keys: '2000',
  different: '100',
  leases: '2000',
  writes: '100',
  switchovers: '2',
  secondaries: '0,1',
}

const text = { type: 'string' } as const
const { values: options } = parseArgs({
  options: {
    parts: text,
    ...{ seconds: text, rounds: text, rates: text, records: text, missed: text },
    ...{ keys: text, different: text, leases: text, writes: text, switchovers: text, secondaries: text },
    small: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '40' },
    directory: text,
    json: text,
    help: { type: 'boolean', default: false },
  },
})

type Part = { readonly name: string; readonly measure: (stage: Stage) => Promise<Figure[]> }

const partsOf = ({ keys }: Sizes): readonly Part[] => [
  { name: 'lag', measure: measureLag },
  { name: 'records', measure: measureRecords },
  { name: 'catch-up', measure: measureCatchUp },
  ...keys.map((count) => ({ name: 'copy', measure: (stage: Stage) => measureCopy(stage, count) })),
  ...keys.map((count) => ({ name: 'reindex', measure: (stage: Stage) => measureReindex(stage, count) })),
  { name: 'throughput', measure: measureThroughput },
  { name: 'encrypt', measure: measureEncrypt },
  { name: 'region', measure: measureRegion },
  { name: 'region-lag', measure: measureRegionLag },
  ...keys.map((count) => ({ name: 'region-start', measure: (stage: Stage) => measureRegionStart(stage, count) })),
  { name: 'promote', measure: (stage: Stage) => measurePromote(stage, keys[0] ?? 0) },
  { name: 'switchover', measure: (stage: Stage) => measureSwitchover(stage, keys[0] ?? 0) },
  { name: 'synchronous', measure: measureSynchronous },
]

function sizesOf(): Sizes {
  const given = { ...(options.small ? SMALL : USUAL), ...options }
  const list = (name: keyof typeof USUAL, least = 1): number[] =>
    String(given[name])
      .split(',')
      .map((each) => wholeNumber(name, each, least))
  const single = (name: keyof typeof USUAL): number => wholeNumber(name, String(given[name]), 1)
  return {
    seconds: seconds(String(given.seconds)),
    rounds: single('rounds'),
    rates: list('rates'),
    records: single('records'),
    missed: single('missed'),
    keys: list('keys'),
    different: single('different'),
    leases: single('leases'),
    writes: single('writes'),
    switchovers: single('switchovers'),
    secondaries: list('secondaries', 0),
  }
}

function seconds(given: string): number {
  const number = Number(given)
  if (given !== '' && number > 0 && number <= MOST) return number
  throw new Error(`--seconds takes a number above 0 and to ${MOST}`)
}

function wholeNumber(name: string, given: string, least: number): number {
  const number = Number(given)
  if (given !== '' && Number.isInteger(number) && number >= least && number <= MOST) return number
  throw new Error(`--${name} takes whole numbers from ${least} to ${MOST}`)
}

function chosen(parts: readonly Part[]): readonly Part[] {
  const names = options.parts?.split(',') ?? parts.map(({ name }) => name)
  const unknown = names.find((name) => !parts.some((part) => part.name === name))
  if (unknown !== undefined) throw new Error(`--parts has no part "${unknown}"`)
  return parts.filter(({ name }) => names.includes(name))
}

type Row = Figure & { readonly part: string; readonly load: string; readonly isFault?: true }

/** A part that fails has a row that says so, and the others go on. */
async function measurePart({ name, measure }: Part, sizes: Sizes, limitMs: number): Promise<Row[]> {
  const { directory } = options
  const before = load()
  const told = (figures: readonly Figure[], isFault?: true): Row[] =>
    figures.map((figure) => ({ part: name, ...figure, load: `${before}, ${load()}`, ...(isFault && { isFault }) }))
  try {
    return told(await Stage.run(measure, { sizes, limitMs, ...(directory !== undefined && { directory }) }))
  } catch (cause) {
    console.error(cause)
    const sentence = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    return told([{ what: 'failed', figure: sentence.replaceAll('|', '/') }], true)
  }
}

const load = (): string => (loadavg()[0] ?? 0).toFixed(1)

async function bench(): Promise<void> {
  const sizes = sizesOf()
  const parts = chosen(partsOf(sizes))
  const limitMs = wholeNumber('minutes', options.minutes, 1) * MS_PER_MINUTE
  const when = new Date().toISOString()
  const syncs = Math.round(syncsPerSecond(options.directory ?? tmpdir(), 1))
  const rows: Row[] = []
  for (const part of parts) {
    const more = await measurePart(part, sizes, limitMs)
    // Whoever waits sees how far it is, and has what was measured if the machine goes down.
    for (const { part: name, what, figure, load } of more) console.error(`${name}: ${what}: ${figure} (load ${load})`)
    rows.push(...more)
  }
  const { length } = cpus()
  console.log(
    `${length} cores (${cpus()[0]?.model}), ${availableParallelism()} to use, Node ${process.version}, ${when}`,
  )
  console.log(`stretches of ${sizes.seconds} s, medians of ${sizes.rounds} rounds; the disk: ${syncs} fdatasync/s\n`)
  const lines = rows.map(({ part, what, figure, load }) => [part, what, figure, load])
  console.log(markdownTable(['part', 'what', 'figure', 'load before, after'], lines))
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ when, node: process.version, syncs, sizes, rows }, null, 1)}\n`)
  }
  if (rows.some(({ isFault }) => isFault)) process.exitCode = 1
}

if (options.help) console.log(HELP)
else if (process.platform !== 'linux') console.log('bench:replication reads /proc, so it needs Linux')
else await bench()
