// What happens to the clusters of a soak: what a proxy and signals can do, and what operators do. One step is one of
// them, or a fault of the links with a fault of a process within it. A step ends with the cause gone.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../../../fixtures/fault-proxy.ts'
import type { PseudoRandom } from '../../../fixtures/pseudo-random.ts'
import type { Cluster } from '../../../fixtures/real-cluster.ts'
import type { SoakSet } from './soak-set.ts'

/** How long a fault lasts. */
export type Span = { readonly leastMs: number; readonly mostMs: number }

type Step = { readonly set: SoakSet; readonly random: PseudoRandom; readonly span: Span }
type Misfortune = {
  /** How often it comes, of all. */
  readonly weight: number
  readonly happens: (step: Step) => Promise<void>
}

const pause = ({ random, span: { leastMs, mostMs } }: Step): Promise<void> =>
  sleep(leastMs + random.int(mostMs - leastMs))

const onLinks =
  (faultOf: (random: PseudoRandom) => Fault, directions?: readonly ('up' | 'down')[]) =>
  async (step: Step): Promise<void> => {
    // Links lead to the primary, both of them.
    step.set.primary.proxy.set(faultOf(step.random), directions)
    await pause(step)
  }

const stopped = (who: (set: SoakSet) => Cluster) => async (step: Step) => {
  const { pid } = who(step.set)
  process.kill(pid, 'SIGSTOP')
  try {
    await pause(step)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
}

const gone = (how: 'kill' | 'stop', who: (set: SoakSet) => readonly Cluster[]) => async (step: Step) => {
  const clusters = who(step.set)
  await Promise.all(clusters.map((each) => step.set[how](each)))
  await pause(step)
  await Promise.all(clusters.map((each) => step.set.restart(each)))
}

const LINKS: Readonly<Record<string, Misfortune>> = {
  'links half-open': { weight: 6, happens: onLinks(() => ({ isCut: true })) },
  'links cut upwards': { weight: 6, happens: onLinks(() => ({ isCut: true }), ['up']) },
  'links cut downwards': { weight: 6, happens: onLinks(() => ({ isCut: true }), ['down']) },
  'links delayed': { weight: 6, happens: onLinks((random) => ({ delayMs: 20 + random.int(300) })) },
  'links slow': { weight: 6, happens: onLinks((random) => ({ bytesPerSecond: 10_000 + random.int(100_000) })) },
  'bits flipped': { weight: 6, happens: onLinks((random) => ({ flipEvery: 2_000 + random.int(20_000) })) },
  'links refused': {
    weight: 6,
    happens: async (step) => {
      step.set.primary.proxy.refuse()
      await pause(step)
    },
  },
  'links reset': {
    weight: 6,
    happens: async (step) => {
      for (let each = 0; each < 3; each++) {
        step.set.primary.proxy.reset()
        await sleep(step.random.int(step.span.leastMs))
      }
    },
  },
}

const STANDSTILLS: Readonly<Record<string, Misfortune>> = {
  'primary stands still': { weight: 5, happens: stopped(({ primary }) => primary) },
  'stand-in stands still': { weight: 5, happens: stopped(({ standIn }) => standIn) },
  'region stands still': { weight: 5, happens: stopped(({ region }) => region) },
}

const ENDS: Readonly<Record<string, Misfortune>> = {
  'primary killed': { weight: 1, happens: gone('kill', ({ primary }) => [primary]) },
  'stand-in killed': { weight: 1, happens: gone('kill', ({ standIn }) => [standIn]) },
  'region killed': { weight: 1, happens: gone('kill', ({ region }) => [region]) },
  'pair killed': { weight: 0.6, happens: gone('kill', ({ pair }) => pair) },
  'all killed': { weight: 0.4, happens: gone('kill', ({ all }) => all) },
  'primary restarted': { weight: 0.6, happens: gone('stop', ({ primary }) => [primary]) },
  'region restarted': { weight: 0.6, happens: gone('stop', ({ region }) => [region]) },
}

const OPERATORS: Readonly<Record<string, Misfortune>> = {
  'keyring rotated': { weight: 4, happens: async ({ set }) => void (await set.primary.must('POST', 'sys/rotate')) },
  rekeyed: { weight: 3, happens: ({ set }) => set.rekey() },
  reindexed: {
    weight: 3,
    happens: async ({ set }) => void (await set.primary.must('POST', 'sys/replication/reindex', {})),
  },
  'handed over': { weight: 8, happens: ({ set }) => set.handOver() },
  'stand-in revoked, and back': { weight: 1, happens: ({ set }) => set.replace('dr') },
  'region revoked, and back': { weight: 1, happens: ({ set }) => set.replace('performance') },
  nothing: { weight: 4, happens: pause },
}

/** All of them, by name. */
export const MISFORTUNES: Readonly<Record<string, Misfortune>> = { ...LINKS, ...STANDSTILLS, ...ENDS, ...OPERATORS }
/** So many faults of the links have one of a process within. */
const BOTH = 0.2

/**
 * One step as the seed has it: the name of what happens, or of both. Without ends every process lives on: whether its
 * memory is flat shows in long lives alone.
 */
export function drawnStep(random: PseudoRandom, hasEnds: boolean): readonly string[] {
  const ofProcesses = { ...STANDSTILLS, ...(hasEnds ? ENDS : {}) }
  const name = drawn({ ...LINKS, ...ofProcesses, ...OPERATORS }, random)
  return name in LINKS && random.chance(BOTH) ? [name, drawn(ofProcesses, random)] : [name]
}

/** Lets the first happen, and the others within it. */
export async function happen(names: readonly string[], step: Step): Promise<void> {
  await Promise.all(names.map((name) => misfortuneOf(name).happens(step)))
}

function misfortuneOf(name: string): Misfortune {
  const found = MISFORTUNES[name]
  if (found === undefined) throw new Error(`There is no misfortune "${name}"`)
  return found
}

function drawn(among: Readonly<Record<string, Misfortune>>, random: PseudoRandom): string {
  const all = Object.entries(among)
  let left = (random.int(1_000_000) / 1_000_000) * all.reduce((sum, [, { weight }]) => sum + weight, 0)
  for (const [name, { weight }] of all) {
    left -= weight
    if (left < 0) return name
  }
  return 'nothing'
}
