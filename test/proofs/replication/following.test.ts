// A secondary for disaster recovery follows its primary through whatever happens to both and to the link between them:
// in the end it has what the primary has, entry by entry, and stands alone with it. Nothing that the primary answered
// is lost there (P-50). `npm run torture:following` is the long form.
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../../fixtures/fault-proxy.ts'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { activate, Cluster, levelled } from '../../fixtures/real-cluster.ts'
import { seededRuns } from '../../fixtures/seeded-runs.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { Ledger, SHARED_KEY } from '../torture/ledger.ts'
import { SharedRotations, Writer } from '../torture/writer.ts'
import { requireSameEntries, takeOutOfSets } from './compared.ts'

const SCHEDULES = Number(process.env.SCHEDULES ?? '2')
const STEPS = 6
const WRITERS = 3
const MOST_STEP_MS = 1_500

type World = {
  readonly primary: Cluster
  readonly secondary: Cluster
  readonly random: PseudoRandom
  /** Writes until the work is done. The primary may be killed meanwhile. */
  readonly loaded: (work: () => Promise<void>) => Promise<void>
  /** Finds out what became of writes that had no answer, behind each kill of the primary. */
  readonly settled: () => Promise<void>
}

const pause = ({ random }: World): Promise<void> => sleep(random.int(MOST_STEP_MS))

async function withLink(world: World, fault: Fault, directions?: readonly ('up' | 'down')[]): Promise<void> {
  const { proxy } = world.primary
  await world.loaded(async () => {
    proxy.set(fault, directions)
    await pause(world)
    proxy.heal()
  })
}

/** The faults, one a step. */
const FAULTS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  none: (world) => world.loaded(() => pause(world)),
  'primary killed': async (world) => {
    await world.loaded(async () => {
      await pause(world)
      await world.primary.kill()
    })
    await world.primary.restart()
    await world.settled()
  },
  'secondary killed': async (world) => {
    await world.loaded(async () => {
      await pause(world)
      await world.secondary.kill()
      await pause(world)
    })
    await world.secondary.restart()
  },
  'both killed': async (world) => {
    await world.loaded(async () => {
      await pause(world)
      await Promise.all([world.primary.kill(), world.secondary.kill()])
    })
    await Promise.all([world.primary.restart(), world.secondary.restart()])
    await world.settled()
  },
  'secondary stands still': async (world) => {
    await world.loaded(async () => {
      process.kill(world.secondary.pid, 'SIGSTOP')
      await pause(world)
      process.kill(world.secondary.pid, 'SIGCONT')
    })
  },
  'connections reset': (world) =>
    world.loaded(async () => {
      await pause(world)
      world.primary.proxy.reset()
      await pause(world)
    }),
  'link cut': (world) => withLink(world, { isCut: true }),
  'link cut one way': (world) => withLink(world, { isCut: true }, [world.random.pick(['up', 'down'] as const)]),
  'link slow': (world) => withLink(world, { delayMs: 30, bytesPerSecond: 200_000 }),
  'bits flipped': (world) => withLink(world, { flipEvery: 20_000 }),
}

test(`T17 T18 T19 T26: a secondary has all of its primary after each of ${SCHEDULES} schedules`, (t) =>
  seededRuns(t, SCHEDULES, async (seed) => {
    const steps: string[] = []
    try {
      await schedule(t, pseudoRandom(seed), steps)
    } catch (cause) {
      throw new Error(steps.join(', '), { cause })
    }
  }))

async function schedule(t: TestContext, random: PseudoRandom, steps: string[]): Promise<void> {
  const temporary = temporaryDirectory()
  const clusters: Cluster[] = []
  try {
    const primary = await Cluster.make('one', temporary.path)
    clusters.push(primary)
    const secondary = await Cluster.make('two', temporary.path)
    clusters.push(secondary)
    await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
    await primary.must('POST', `transit/keys/${SHARED_KEY}`)
    const ledger = new Ledger()
    const shared = new SharedRotations(ledger)
    const writers = Array.from(
      { length: WRITERS },
      (_, i) => new Writer(`w${i}`, ledger, shared, pseudoRandom(random.int(2 ** 31))),
    )
    const loaded: World['loaded'] = async (work) => {
      let isOver = false
      const load = Promise.all(writers.map((writer) => writer.run(primary, false, () => isOver)))
      await work()
      isOver = true
      await load
    }
    const settled = async (): Promise<void> => {
      await shared.compare(primary)
      await ledger.compare(primary, random, false)
    }
    const world = { primary, secondary, random, loaded, settled }
    await loaded(() => activate(primary, secondary))
    for (let step = 0; step < STEPS; step++) {
      const name = random.pick(Object.keys(FAULTS))
      steps.push(name)
      await FAULTS[name]?.(world)
    }
    await levelled(primary, secondary)
    await ledger.compare(primary, random, true)
    assert.deepEqual(ledger.faults.slice(0, 5), [], 'the primary lost nothing')
    await Promise.all([primary.stop(), secondary.stop()])
    const entries = await requireSameEntries(primary.directory, secondary.directory)
    t.diagnostic(`${steps.join(', ')}: ${entries} entries, ${ledger.acknowledged} acknowledged writes`)
    await standsAlone(secondary, primary, temporary.path, (server) => ledger.compare(server, random, true))
    assert.deepEqual(ledger.faults.slice(0, 5), [], 'the secondary lost nothing')
  } finally {
    for (const cluster of clusters) await cluster.end()
    temporary.cleanUp()
  }
}

/** The copy of the secondary answers as the primary did: to its tokens, with its keys. */
async function standsAlone(
  secondary: Cluster,
  primary: Cluster,
  root: string,
  compare: (server: { readonly address: string; readonly token: string }) => Promise<void>,
): Promise<void> {
  const copy = join(root, 'alone')
  await takeOutOfSets(secondary.directory, copy)
  const alone = await Cluster.over('alone', root, copy)
  try {
    alone.share = primary.share
    alone.token = primary.token
    await alone.restart()
    await compare(alone)
  } finally {
    await alone.end()
  }
}
