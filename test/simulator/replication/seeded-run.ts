// A run of replication from its seed: of stores with links that follow (set-run.ts), or change hands (failover-run.ts),
// and one of ten of whole servers (server-run.ts). Those of a set for performance are a kind by themselves
// (performance-run.ts, and whole servers in performance-server-run.ts), and so are those with filters
// (filtered-run.ts).
import { randomInt } from 'node:crypto'
import { runFailovers } from './failover-run.ts'
import { runFiltered } from './filtered-run.ts'
import { runPerformance } from './performance-run.ts'
import { runPerformanceServers } from './performance-server-run.ts'
import { type HandOverCounts, noHandOvers } from './role-watcher.ts'
import { runServers } from './server-run.ts'
import { runSet } from './set-run.ts'

/** What a run has come to. */
export type Outcome = {
  /** What was wrong; undefined: nothing. */
  readonly fault: string | undefined
  /** All that happened, in order: two runs of a seed have the same. */
  readonly lines: readonly string[]
}

/** One run of so many is one of whole servers, and one of so many changes hands. */
const WHOLE_SERVERS = 10
const FAILOVERS = 4

export async function runSeed(seed: number): Promise<Outcome & { readonly handOvers?: HandOverCounts }> {
  if (seed % WHOLE_SERVERS === 0) return runServers(seed)
  return seed % FAILOVERS === 1 ? runFailovers(seed) : runSet(seed)
}

/** A run of a set for performance: of stores, and one of ten of whole servers. */
export async function runFamily(seed: number): Promise<Outcome & { readonly handOvers?: HandOverCounts }> {
  return seed % WHOLE_SERVERS === 0 ? runPerformanceServers(seed) : runPerformance(seed)
}

function sum(all: HandOverCounts, one: HandOverCounts): void {
  all.graceful += one.graceful
  all.others += one.others
  all.conflicts += one.conflicts
  all.undone += one.undone
  all.rejoined += one.rejoined
  all.pausesMs.push(...one.pausesMs)
}

/** What is told of all hand-overs: what one loses is a fault, which is told beside it. */
function toldOf({ graceful, others, conflicts, undone, rejoined, pausesMs }: HandOverCounts): string {
  const sorted = [...pausesMs].sort((one, other) => one - other)
  const part = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return (
    `${graceful} graceful hand-overs, with a pause of writes of ${part(0.5)} ms at p50 and ${part(0.99)} ms at p99; ` +
    `${others} other promotions, ${conflicts} conflicts; ${rejoined} rejoins behind a fork, ${undone} undone records`
  )
}

// npm run torture:replication: RUNS seeds from SEED on, and how many a second of processor time. Of one seed alone it
// tells what happened, too. FAILOVERS=1 takes those runs alone that change hands, PERFORMANCE=1 those of a set for
// performance, and FILTERS=1 those of one with filters.
if (import.meta.main) {
  const { SEED = 'new', RUNS = '1000', FAILOVERS, PERFORMANCE, FILTERS } = process.env
  const kinds = [
    ['FAILOVERS=1 ', FAILOVERS, runFailovers],
    ['PERFORMANCE=1 ', PERFORMANCE, runFamily],
    ['FILTERS=1 ', FILTERS, runFiltered],
  ] as const
  const [kind, , run] = kinds.find(([, asked]) => asked !== undefined) ?? ['', '', runSeed]
  const first = SEED === 'new' ? randomInt(2 ** 31) : Number(SEED)
  const count = Number(RUNS)
  const from = process.cpuUsage()
  const failed: number[] = []
  const handOvers = noHandOvers()
  for (let seed = first; seed < first + count; seed++) {
    const { fault, lines, handOvers: counted } = await run(seed)
    if (counted !== undefined) sum(handOvers, counted)
    if (count === 1) process.stdout.write(`${lines.join('\n')}\n`)
    if (fault === undefined) continue
    failed.push(seed)
    process.stdout.write(`${kind}SEED=${seed} RUNS=1 repeats it: ${fault}\n`)
  }
  const { user, system } = process.cpuUsage(from)
  const rate = ((count * 1e6) / (user + system)).toFixed(1)
  const faults = `${failed.length} with a fault, ${rate} a second of processor time`
  process.stdout.write(`${count} seeds from ${first} on, ${faults}\n${toldOf(handOvers)}\n`)
  process.exitCode = failed.length === 0 ? 0 : 1
}
