// A run of following from its seed: of stores with links (set-run.ts), and every tenth of whole servers (server-run.ts).
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

// node seeded-run.ts SEED [COUNT]: runs so many seeds, and says how many a second of processor time; of one seed also
// what happened.
if (import.meta.main) {
  const [first = 1, count = 1] = process.argv.slice(2).map(Number)
  const from = process.cpuUsage()
  let faults = 0
  for (let seed = first; seed < first + count; seed++) {
    const { fault, lines } = await runSeed(seed)
    if (count === 1) process.stdout.write(`${lines.join('\n')}\n`)
    if (fault === undefined) continue
    faults++
    process.stdout.write(`seed ${seed}: ${fault}\n`)
  }
  const { user, system } = process.cpuUsage(from)
  const rate = ((count * 1e6) / (user + system)).toFixed(1)
  process.stdout.write(`${count} seeds, ${faults} with a fault, ${rate} a second of processor time\n`)
}
