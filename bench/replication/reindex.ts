// A reindex of a primary with many keys while clients write: how long it takes in each mode, and what they see of it.
import type { Cluster } from '../../test/fixtures/real-cluster.ts'
import { besideWriter, longestBusyMs, ms, turnsNotedIn } from './beside.ts'
import { plant } from './plant.ts'
import type { Figure, Stage } from './stage.ts'

const PER_RECORD = 500
/** A load that keeps the writing thread busy with groups of commits, beside which the steps come in. */
const WRITER = { connections: 32, perSecond: 200 }

const MODES = [
  { name: 'default', body: {} },
  { name: 'diff', body: { diff: true } },
  { name: 'force, skip_flush', body: { force: true, skip_flush: true } },
] as const

/** All modes, one after the other, over so many keys. */
export async function measureReindex(stage: Stage, keys: number): Promise<Figure[]> {
  const { turns, env } = turnsNotedIn(stage.path)
  const primary = await stage.primary({ env })
  await primary.must('POST', 'sys/replication/dr/primary/enable', {})
  await primary.stop()
  await plant(primary, { entries: keys, perRecord: PER_RECORD })
  await primary.restart()
  const quiet = await besideWriter(stage, primary, 'quiet', () => stage.pause(), WRITER)
  const figures: Figure[] = []
  for (const [number, { name, body }] of MODES.entries()) {
    const beside = await besideWriter(stage, primary, `mode${number}`, () => reindexed(stage, primary, body), WRITER)
    const seconds = (beside.endMs - beside.startMs) / 1_000
    const longest = longestBusyMs(turns, beside.startMs, beside.endMs).toFixed(0)
    const what = `reindex (${name}) of ${keys} keys`
    figures.push(
      { what: `${what}: time, rate`, figure: `${seconds.toFixed(1)} s, ${(keys / seconds).toFixed(0)} keys/s` },
      { what: `${what}: longest write beside it; quiet`, figure: `${ms(beside.longestMs)}; ${ms(quiet.longestMs)}` },
      {
        what: `${what}: longest turn of the writing thread; quiet`,
        figure: `${longest} ms; ${longestBusyMs(turns, quiet.startMs, quiet.endMs).toFixed(0)} ms`,
      },
    )
  }
  return figures
}

async function reindexed(stage: Stage, primary: Cluster, body: object): Promise<void> {
  await primary.must('POST', 'sys/replication/reindex', body)
  const isOver = async (): Promise<boolean> => (await primary.status()).reindex_in_progress === undefined
  await stage.until(isOver, 'the reindex has ended')
}
