// The copy of a primary with many keys, and then the search for the few that differ: how long they take, what goes over
// the link, and what the primary's writers notice of it.
import { lastSent } from '../../test/fixtures/followed-stores.ts'
import { activate, type Cluster } from '../../test/fixtures/real-cluster.ts'
import { type Beside, besideWriter, longestBusyMs, ms, turnsNotedIn } from './beside.ts'
import { machineMs } from './helpers.ts'
import { plant, plantUntilGone } from './plant.ts'
import type { Figure, Stage } from './stage.ts'

const PER_RECORD = 500
const MEBIBYTE = 1 << 20

/** A copy of so many keys into a cluster that has none, then a difference. */
export async function measureCopy(stage: Stage, keys: number): Promise<Figure[]> {
  const { turns, env } = turnsNotedIn(stage.path)
  const primary = await stage.primary({ env })
  await primary.stop()
  const valueBytes = await plant(primary, { entries: keys, perRecord: PER_RECORD })
  await primary.restart()
  const secondary = await stage.cluster()
  const quiet = await besideWriter(stage, primary, 'quiet', () => stage.pause())
  let activatedMs = 0
  const copied = await besideWriter(stage, primary, 'copied', async () => {
    await activate(primary, secondary)
    activatedMs = machineMs()
    await stage.untilFollowed(primary, secondary)
  })
  const longest = ({ startMs, endMs }: Beside): string => longestBusyMs(turns, startMs, endMs).toFixed(0)
  const what = `copy of ${keys} keys of ${valueBytes} bytes`
  const seconds = (copied.endMs - activatedMs) / 1_000
  return [
    { what: `${what}: time, rate`, figure: `${seconds.toFixed(1)} s, ${(keys / seconds).toFixed(0)} keys/s` },
    { what: `${what}: bytes at the proxy`, figure: mebibytes(copied.bytes) },
    { what: `${what}: longest write beside it; quiet`, figure: `${ms(copied.longestMs)}; ${ms(quiet.longestMs)}` },
    {
      what: `${what}: longest turn of the writing thread; quiet`,
      figure: `${longest(copied)} ms; ${longest(quiet)} ms`,
    },
    ...(await measureDifference(stage, primary, secondary, keys)),
  ]
}

/** The secondary misses changes that the log does not have any more when it comes back. */
async function measureDifference(stage: Stage, primary: Cluster, secondary: Cluster, keys: number): Promise<Figure[]> {
  const { different } = stage.sizes
  await secondary.stop()
  const index = await lastSent(primary.directory)
  await primary.stop()
  await plantUntilGone(primary, Math.min(different, keys), index)
  await primary.restart()
  const { bytes, turns } = primary.proxy
  await secondary.restart()
  const startMs = machineMs()
  await stage.untilFollowed(primary, secondary)
  const seconds = (machineMs() - startMs) / 1_000
  await requireEqual(stage, primary, secondary)
  const what = `difference of ${different} in ${keys} entries`
  return [
    { what: `${what}: time from the unseal`, figure: `${seconds.toFixed(1)} s` },
    { what: `${what}: round trips at the proxy`, figure: String(Math.ceil((primary.proxy.turns - turns) / 2)) },
    { what: `${what}: bytes at the proxy`, figure: mebibytes(primary.proxy.bytes - bytes) },
  ]
}

/** Both tell the same root when nothing is written. */
async function requireEqual(stage: Stage, primary: Cluster, secondary: Cluster): Promise<void> {
  await stage.until(async () => {
    const [one, other] = [await primary.status(), await secondary.status()]
    return one.merkle_root !== undefined && one.merkle_root === other.merkle_root
  }, 'both have the same entries')
}

const mebibytes = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(2)} MiB`
