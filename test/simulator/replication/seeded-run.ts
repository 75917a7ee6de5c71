// A run of following from its seed: of stores with links (set-run.ts), and one of ten of whole servers (server-run.ts).
import { randomInt } from 'node:crypto'
import { runServers } from './server-run.ts'
import { runSet } from './set-run.ts'

/** What a run has come to. */
export type Outcome = {
  /** What was wrong; undefined: nothing. */
  readonly fault: string | undefined
  /** All that happened, in order: two runs of a seed have the same. */
  readonly lines: readonly string[]
}

/** One run of so many is one of whole servers. */
const WHOLE_SERVERS = 10

export const runSeed = (seed: number): Promise<Outcome> =>
  seed % WHOLE_SERVERS === 0 ? runServers(seed) : runSet(seed)

// npm run torture:replication: RUNS seeds from SEED on, and how many a second of processor time. Of one seed alone it
// tells what happened, too.
if (import.meta.main) {
  const { SEED = 'new', RUNS = '1000' } = process.env
  const first = SEED === 'new' ? randomInt(2 ** 31) : Number(SEED)
  const count = Number(RUNS)
  const from = process.cpuUsage()
  const failed: number[] = []
  for (let seed = first; seed < first + count; seed++) {
    const { fault, lines } = await runSeed(seed)
    if (count === 1) process.stdout.write(`${lines.join('\n')}\n`)
    if (fault === undefined) continue
    failed.push(seed)
    process.stdout.write(`SEED=${seed} RUNS=1 repeats it: ${fault}\n`)
  }
  const { user, system } = process.cpuUsage(from)
  const rate = ((count * 1e6) / (user + system)).toFixed(1)
  const faults = `${failed.length} with a fault, ${rate} a second of processor time`
  process.stdout.write(`${count} seeds from ${first} on, ${faults}\n`)
  process.exitCode = failed.length === 0 ? 0 : 1
}
