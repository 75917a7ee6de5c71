// How long after the answer of a write the secondary has applied it.
import { locationIn } from '../../src/storage/drivers.ts'
import type { ReplicationFamily } from '../../src/storage/peer-log.ts'
import { type Cluster, isLevel } from '../../test/fixtures/real-cluster.ts'
import { type Applied, type AppliedCalls, seenAt } from './applied.ts'
import type { LoadFigures } from './load.ts'
import { creates, type Figure, quantile, type Stage } from './stage.ts'

/** With fewer writes there is one connection for each of a second. */
const MOST_CONNECTIONS = 128
const WARM_UP_SECONDS = 2
const RECORDS_PER_READ = 1_000
/** The mount that the filter keeps back. */
const KEPT = 'kept'

/** A primary and who follows it. `level` resolves when that one has all of before. */
type Followed = {
  readonly primary: Cluster
  readonly secondary: Cluster
  readonly family: ReplicationFamily
  readonly level: () => Promise<void>
}

/** A stretch at each rate of writes over HTTP. */
export async function measureLag(stage: Stage): Promise<Figure[]> {
  const primary = await stage.primary({ isDirect: true })
  const secondary = await stage.follower(primary)
  const level = (): Promise<void> => stage.untilFollowed(primary, secondary)
  return measureRates(stage, { primary, secondary, family: 'dr', level }, '')
}

/** The same for a performance secondary, without a filter, and with one beside as many writes that it keeps back. */
export async function measureRegionLag(stage: Stage): Promise<Figure[]> {
  const primary = await stage.primary({ isDirect: true })
  const secondary = await stage.region(primary)
  const level = (): Promise<void> =>
    stage.until(() => isLevel(primary, secondary, 'performance'), 'the region has all of before')
  const followed = { primary, secondary, family: 'performance', level } as const
  const open = await measureRates(stage, followed, 'no filter, ')
  await primary.must('POST', `sys/mounts/${KEPT}`, { type: 'transit' })
  const filter = { mode: 'deny', paths: [`${KEPT}/`] }
  await primary.must('POST', `sys/replication/performance/primary/paths-filter/${secondary.name}`, filter)
  const filtered = await measureRates(stage, followed, 'filtered, ', `${KEPT}/keys/`)
  return [...open, ...filtered]
}

/** `beside`: where as many other writes go meanwhile, by the beginning of their paths. */
async function measureRates(stage: Stage, followed: Followed, label: string, beside?: string): Promise<Figure[]> {
  const { primary, secondary, family, level } = followed
  const figures: Figure[] = []
  for (const perSecond of stage.sizes.rates) {
    const pace = { perSecond, connections: Math.min(perSecond, MOST_CONNECTIONS) }
    const begun = `${beside === undefined ? '' : 'beside-'}${perSecond}`
    const warming = await stage.load({ ...creates(primary, `warm-${begun}`), ...pace })
    await stage.shortPause(WARM_UP_SECONDS)
    await warming.end()
    await level()
    const watcher = await stage.helper<AppliedCalls>('applied.ts')
    await watcher.ask('begin', { directory: secondary.directory, family })
    const name = `lag-${begun}`
    const load = await stage.load({ ...creates(primary, name), ...pace })
    const other = beside && (await stage.load({ ...creates(primary, name), ...pace, path: `${beside}other-${begun}-` }))
    await stage.pause()
    const written = await load.end()
    if (other) await other.end()
    await level()
    const applied = await watcher.ask('end')
    watcher.end()
    figures.push(...figuresOf(perSecond, written, lags(written, await indexesOf(primary, name), applied), label))
  }
  return figures
}

/** Below 0 where a write was applied before it was answered. */
function lags({ answeredMs }: LoadFigures, indexes: ReadonlyMap<number, number>, applied: Applied): Float64Array {
  return answeredMs.map((ms, number) => seenAt(applied, indexes.get(number) ?? Number.POSITIVE_INFINITY) - ms)
}

/** By the number of a write, the index of its record in the log of the primary: the key has the number in its name. */
async function indexesOf({ directory }: Cluster, name: string): Promise<Map<number, number>> {
  const reader = await locationIn(directory).openReader()
  const indexes = new Map<number, number>()
  try {
    for (let after = 0; ; ) {
      const changes = await reader.changesSince(after, RECORDS_PER_READ)
      for (const { index, operations } of changes) {
        for (const { key } of operations) {
          const [, number] = key.split(`/key/${name}-`)
          if (number !== undefined) indexes.set(Number(number), index)
        }
      }
      const last = changes.at(-1)
      if (last === undefined) return indexes
      after = last.index
    }
  } finally {
    await reader.close()
  }
}

function figuresOf(
  perSecond: number,
  { dueMs, answeredMs }: LoadFigures,
  found: Float64Array,
  label: string,
): Figure[] {
  const what = `${label}${perSecond} writes/s over HTTP`
  const waits = answeredMs.map((ms, number) => ms - (dueMs[number] ?? Number.NaN))
  const seconds = ((answeredMs.at(-1) ?? 0) - (dueMs[0] ?? 0)) / 1_000
  const both = (of: Float64Array): string =>
    [0.5, 0.99].map((part) => Math.max(0, quantile(of, part)).toFixed(1)).join(', ')
  return [
    { what: `${what}: answered`, figure: `${(found.length / seconds).toFixed(0)}/s` },
    { what: `${what}: answer, p50, p99`, figure: `${both(waits)} ms` },
    { what: `${what}: lag, p50, p99`, figure: `${both(found)} ms` },
  ]
}
