// What a write costs that waits until its secondary has it, against one that does not, at several distances.
import type { Cluster } from '../../test/fixtures/real-cluster.ts'
import { median } from '../report.ts'
import { creates, type Figure, quantile, type Stage } from './stage.ts'
import { rateOf } from './throughput.ts'

/** Round trips of the link between the two, in milliseconds. */
const ROUND_TRIPS = [0, 5, 20]
const SETTINGS = {
  asynchronous: '',
  synchronous: 'replication {\n  synchronous_secondaries = ["c2"]\n  synchronous_timeout = "never"\n}\n',
} as const
type Mode = keyof typeof SETTINGS
const MODES = Object.keys(SETTINGS) as Mode[]

/** In turns: one caller that writes when the last write is answered, and then as many as there are connections. */
export async function measureSynchronous(stage: Stage): Promise<Figure[]> {
  const primary = await stage.primary()
  const secondary = await stage.follower(primary)
  const figures: Figure[] = []
  for (const roundTripMs of ROUND_TRIPS) {
    primary.proxy.set({ delayMs: roundTripMs / 2 })
    await stage.shortPause(1)
    const found = new Map(
      MODES.map((mode) => [mode, { p50: [] as number[], p99: [] as number[], rate: [] as number[] }]),
    )
    for (let round = 0; round < stage.sizes.rounds; round++) {
      for (const mode of round % 2 === 0 ? MODES : MODES.toReversed()) {
        await change(stage, primary, mode)
        const of = found.get(mode)
        const name = `${mode}-${roundTripMs}-${round}`
        const times = await stage.timesOf(primary, name)
        of?.p50.push(quantile(times, 0.5))
        of?.p99.push(quantile(times, 0.99))
        of?.rate.push((await rateOf(stage, primary, creates(primary, `${name}-many`))).perSecond)
        await stage.untilFollowed(primary, secondary)
      }
    }
    for (const mode of MODES) {
      const { p50 = [], p99 = [], rate = [] } = found.get(mode) ?? {}
      const where = `${mode}, ${roundTripMs} ms away`
      figures.push(
        { what: `create, ${where}: p50, p99`, figure: `${median(p50).toFixed(1)} ms, ${median(p99).toFixed(1)} ms` },
        { what: `creates by many, ${where}`, figure: `${median(rate).toFixed(0)}/s` },
      )
    }
    primary.proxy.heal()
  }
  return figures
}

/** Has the primary take over other settings, and waits until they hold. */
async function change(stage: Stage, primary: Cluster, mode: Mode): Promise<void> {
  primary.configure(SETTINGS[mode])
  await primary.must('POST', 'sys/config/reload/replication')
  const isSo = async (): Promise<boolean> => {
    const { synchronous } = await primary.status()
    const [first] = (synchronous ?? []) as readonly { readonly state: string }[]
    return mode === 'asynchronous' ? first === undefined : first?.state === 'in-step'
  }
  await stage.until(isSo, `writes are ${mode}`)
}
