// npm run torture:simulator: lives of sets from their seeds, of all kinds in turn, for SECONDS from SEED on. It prints
// each minute how many there were, how fast, and what was wrong.
import { randomInt } from 'node:crypto'
import { runFailovers } from './failover-run.ts'
import { runFiltered } from './filtered-run.ts'
import { type Outcome, runFamily, runSeed } from './seeded-run.ts'

const KINDS: readonly (readonly [kind: string, run: (seed: number) => Promise<Outcome>])[] = [
  ['', runSeed],
  ['FAILOVERS=1 ', runFailovers],
  ['PERFORMANCE=1 ', runFamily],
  ['FILTERS=1 ', runFiltered],
]
const MINUTE_MS = 60_000

const { SEED = 'new', SECONDS = '3600' } = process.env
const first = SEED === 'new' ? randomInt(2 ** 31) : Number(SEED)
const [startMs, startCpu] = [performance.now(), process.cpuUsage()]
const failed: string[] = []
let [count, toldMs] = [0, startMs]

function tell(): void {
  const { user, system } = process.cpuUsage(startCpu)
  const rate = ((count * 1e6) / (user + system)).toFixed(1)
  const seconds = Math.round((performance.now() - startMs) / 1_000)
  const last = first + Math.floor(count / KINDS.length)
  process.stdout.write(
    `${seconds} s: ${count} lives of ${KINDS.length} kinds, seeds ${first} to ${last}, ` +
      `${rate} a second of processor time, ${failed.length} with a fault\n`,
  )
}

for (; performance.now() - startMs < Number(SECONDS) * 1_000; count++) {
  const [kind, run] = KINDS[count % KINDS.length] ?? ['', runSeed]
  const seed = first + Math.floor(count / KINDS.length)
  const { fault } = await run(seed)
  if (fault !== undefined) {
    failed.push(`${kind}SEED=${seed} RUNS=1 npm run torture:replication repeats it: ${fault}`)
    process.stdout.write(`${failed.at(-1)}\n`)
  }
  if (performance.now() - toldMs < MINUTE_MS) continue
  toldMs = performance.now()
  tell()
}
tell()
if (failed.length > 0) process.stdout.write(`${failed.join('\n')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1
