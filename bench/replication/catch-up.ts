// How fast a secondary that was off catches up from the log.
import type { AppliedCalls } from './applied.ts'
import { plant } from './plant.ts'
import type { Figure, Stage } from './stage.ts'

/** The records are written while both are off: nothing but the secondary takes the machine when it catches up. */
export async function measureCatchUp(stage: Stage): Promise<Figure[]> {
  const { missed } = stage.sizes
  const primary = await stage.primary({ isDirect: true })
  const secondary = await stage.follower(primary)
  await Promise.all([primary.stop(), secondary.stop()])
  await plant(primary, { entries: missed, perRecord: 1 })
  await primary.restart()
  const watcher = await stage.helper<AppliedCalls>('applied.ts')
  await watcher.ask('begin', { directory: secondary.directory, family: 'dr' })
  await secondary.restart()
  const startMs = performance.now()
  await stage.untilFollowed(primary, secondary)
  const seconds = (performance.now() - startMs) / 1_000
  const { seenMs, indexes } = await watcher.ask('end')
  // The first that was seen is where it stood before.
  const [, firstMs = Number.NaN] = seenMs
  const [, first = Number.NaN] = indexes
  const rate = (((indexes.at(-1) ?? 0) - first) * 1_000) / ((seenMs.at(-1) ?? 0) - firstMs)
  return [
    { what: `${missed} records missed: from the unseal until they are applied`, figure: `${seconds.toFixed(1)} s` },
    { what: 'the same: rate with all of that time', figure: `${(missed / seconds).toFixed(0)} records/s` },
    // A few records are applied in one group.
    ...(rate > 0
      ? [{ what: 'the same: rate behind the first applied group', figure: `${rate.toFixed(0)} records/s` }]
      : []),
  ]
}
