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
  const watcher = stage.helper<AppliedCalls>('applied.ts')
  await watcher.ask('begin', secondary.directory)
  await secondary.restart()
  const startMs = performance.now()
  await stage.untilFollowed(primary, secondary)
  const seconds = (performance.now() - startMs) / 1_000
  const { seenMs } = await watcher.ask('end')
  // The first that was seen is where it stood before.
  const streaming = ((seenMs.at(-1) ?? Number.NaN) - (seenMs[1] ?? Number.NaN)) / 1_000
  return [
    { what: `${missed} records missed: from the unseal until they are applied`, figure: `${seconds.toFixed(1)} s` },
    { what: 'the same, from the first applied group', figure: `${(missed / streaming).toFixed(0)} records/s` },
  ]
}
