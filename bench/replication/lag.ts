// How long after the answer of a write the secondary has applied it.
import { locationIn } from '../../src/storage/drivers.ts'
import type { Cluster } from '../../test/fixtures/real-cluster.ts'
import { type Applied, type AppliedCalls, seenAt } from './applied.ts'
import type { LoadFigures } from './load.ts'
import { creates, type Figure, quantile, type Stage } from './stage.ts'

/** With fewer writes there is one connection for each of a second. */
const MOST_CONNECTIONS = 128
const WARM_UP_SECONDS = 2
const RECORDS_PER_READ = 1_000

/** A stretch at each rate of writes over HTTP. */
export async function measureLag(stage: Stage): Promise<Figure[]> {
  const primary = await stage.primary({ isDirect: true })
  const secondary = await stage.follower(primary)
  const figures: Figure[] = []
  for (const perSecond of stage.sizes.rates) {
    const pace = { perSecond, connections: Math.min(perSecond, MOST_CONNECTIONS) }
    const warming = await stage.load({ ...creates(primary, `warm-${perSecond}`), ...pace })
    await stage.pause(WARM_UP_SECONDS)
    await warming.end()
    await stage.untilFollowed(primary, secondary)
    const watcher = await stage.helper<AppliedCalls>('applied.ts')
    await watcher.ask('begin', secondary.directory)
    const name = `lag-${perSecond}`
    const load = await stage.load({ ...creates(primary, name), ...pace })
    await stage.pause()
    const written = await load.end()
    await stage.untilFollowed(primary, secondary)
    const applied = await watcher.ask('end')
    watcher.end()
    figures.push(...figuresOf(perSecond, written, lags(written, await indexesOf(primary, name), applied)))
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

function figuresOf(perSecond: number, { dueMs, answeredMs }: LoadFigures, found: Float64Array): Figure[] {
  const what = `${perSecond} writes/s over HTTP`
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
