// What a primary does for its callers while others follow it. All of them share one machine here, which takes more of a
// primary than the work for them: so its own processor time is told too.

import { availableParallelism } from 'node:os'
import { cpuMicroseconds, threadMicroseconds } from '../../test/fixtures/process-figures.ts'
import type { Cluster } from '../../test/fixtures/real-cluster.ts'
import { median, ratio } from '../report.ts'
import { creates, encrypts, type Figure, type Stage } from './stage.ts'

const CONNECTIONS = 16
const WARM_UP_SECONDS = 2
const MICROSECONDS_PER_SECOND = 1_000_000

/** The thread of a server that serves its links. */
const LINK_THREAD = 'linking'

/** Requests a second, and processor time of the server for each. */
export type Rate = {
  readonly perSecond: number
  readonly cpuMicroseconds: number
  /** Processor time of the thread of the links, in microseconds a second. */
  readonly linkPerSecond: number
}

/** Creations and encryptions with each number of secondaries, and at the end with none again. */
export async function measureThroughput(stage: Stage): Promise<Figure[]> {
  const primary = await stage.primary({ isDirect: true })
  const secondaries: Cluster[] = []
  const figures: Figure[] = []
  await warm(stage, primary)
  const measure = async (count: string): Promise<void> => {
    const [encryptions, creations]: [Rate[], Rate[]] = [[], []]
    let lastMs = 0
    for (let round = 0; round < stage.sizes.rounds; round++) {
      encryptions.push(await rateOf(stage, primary, encrypts(primary)))
      creations.push(await rateOf(stage, primary, creates(primary, `made-${figures.length}-${round}`)))
      const startMs = performance.now()
      for (const secondary of secondaries) await stage.untilFollowed(primary, secondary)
      lastMs = performance.now() - startMs
    }
    figures.push(
      { what: `encrypt, ${count}`, figure: text(encryptions) },
      { what: `create, ${count}`, figure: text(creations) },
    )
    if (secondaries.length === 0) return
    figures.push({ what: `create, ${count}: until all have all`, figure: `${(lastMs / 1_000).toFixed(1)} s` })
  }
  for (const count of stage.sizes.secondaries) {
    while (secondaries.length < count) secondaries.push(await stage.follower(primary))
    await measure(count === 1 ? '1 secondary' : `${count} secondaries`)
  }
  if (secondaries.length === 0) return figures
  for (const secondary of secondaries.splice(0)) await secondary.stop()
  await measure('none any more')
  return figures
}

/** Encryptions of a primary that is followed, in turns with one that is not. Both get the same writes meanwhile. */
export async function measureEncrypt(stage: Stage): Promise<Figure[]> {
  const [followed, alone] = [await stage.primary({ isDirect: true }), await stage.primary({ isDirect: true })]
  const secondary = await stage.follower(followed)
  for (const primary of [followed, alone]) await warm(stage, primary)
  const figures: Figure[] = []
  for (const perSecond of stage.sizes.rates) {
    figures.push(...(await encryptBeside(stage, { followed, alone, secondary }, perSecond)))
  }
  return figures
}

type Compared = { readonly followed: Cluster; readonly alone: Cluster; readonly secondary: Cluster }

async function encryptBeside(
  stage: Stage,
  { followed, alone, secondary }: Compared,
  perSecond: number,
): Promise<Figure[]> {
  const pace = { perSecond, connections: Math.min(perSecond, CONNECTIONS) }
  const rates = new Map<Cluster, Rate[]>([
    [followed, []],
    [alone, []],
  ])
  for (let round = 0; round < stage.sizes.rounds; round++) {
    // Each is the first of a round as often as the other.
    for (const primary of round % 2 === 0 ? [followed, alone] : [alone, followed]) {
      const writes = await stage.load({ ...creates(primary, `write-${perSecond}-${round}`), ...pace })
      rates.get(primary)?.push(await rateOf(stage, primary, encrypts(primary)))
      await writes.end()
      await stage.untilFollowed(followed, secondary)
    }
  }
  const of = (primary: Cluster): Rate[] => rates.get(primary) ?? []
  // Of each round by itself: what else the machine does changes from round to round.
  const ratioOf = (pick: (rate: Rate) => number): string => {
    const without = of(alone).map(pick)
    return ratio(median(of(followed).map((rate, round) => pick(rate) / (without[round] ?? Number.NaN))))
  }
  const what = `encrypt beside ${perSecond} writes/s`
  return [
    { what: `${what}, no secondary`, figure: text(of(alone)) },
    { what: `${what}, one that streams`, figure: text(of(followed)) },
    {
      what: `${what}: with to without, rate, CPU`,
      figure: [ratioOf((rate) => rate.perSecond), ratioOf((rate) => rate.cpuMicroseconds)].join(', '),
    },
    {
      what: `${what}: the link of the primary, for a write, and of the cores`,
      figure: linkText(median(of(followed).map(({ linkPerSecond }) => linkPerSecond)), perSecond),
    },
  ]
}

/** What a primary with as many cores for itself would lack for encryptions: the secondary has a machine of its own. */
function linkText(linkPerSecond: number, writes: number): string {
  const share = linkPerSecond / (availableParallelism() * MICROSECONDS_PER_SECOND)
  return `${(linkPerSecond / writes).toFixed(0)} µs, ${(share * 100).toFixed(1)} %`
}

/** Compiled code and caches are there before anything is measured. */
async function warm(stage: Stage, primary: Cluster): Promise<void> {
  for (const order of [encrypts(primary), creates(primary, 'warm')]) {
    const load = await stage.load({ ...order, connections: CONNECTIONS })
    await stage.shortPause(WARM_UP_SECONDS)
    await load.end()
  }
}

/** The rate of a load over a stretch of time. */
export async function rateOf(stage: Stage, primary: Cluster, order: ReturnType<typeof encrypts>): Promise<Rate> {
  const load = await stage.load({ ...order, connections: CONNECTIONS })
  const { pid } = primary
  const [startMs, cpu, link] = [performance.now(), cpuMicroseconds(pid), threadMicroseconds(pid, LINK_THREAD)]
  await stage.pause()
  const { answeredMs } = await load.end()
  const used = cpuMicroseconds(pid) - cpu
  const linkUsed = threadMicroseconds(pid, LINK_THREAD) - link
  const { length } = answeredMs
  const seconds = (performance.now() - startMs) / 1_000
  return { perSecond: length / seconds, cpuMicroseconds: used / length, linkPerSecond: linkUsed / seconds }
}

/** Medians. */
export function text(rates: readonly Rate[]): string {
  const [perSecond, cpu] = [rates.map((rate) => rate.perSecond), rates.map((rate) => rate.cpuMicroseconds)]
  return `${median(perSecond).toFixed(0)}/s, ${median(cpu).toFixed(0)} µs`
}
