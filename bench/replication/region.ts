// What a performance secondary does for its callers: encryptions beside those of its primary, what a write costs that
// the primary carries out, and how soon it serves with many keys.

import type { Cluster } from '../../test/fixtures/real-cluster.ts'
import { median, ratio } from '../report.ts'
import { KEY, MOUNT, PLAINTEXT } from '../targets.ts'
import { plant } from './plant.ts'
import { encrypts, type Figure, quantile, type Stage } from './stage.ts'
import { type Rate, rateOf, text } from './throughput.ts'

/** Round trips of the link between the two, in milliseconds. */
const ROUND_TRIPS = [0, 20]
const PER_RECORD = 500

/** Encryptions on both, in turns, and writes through the secondary at two distances. */
export async function measureRegion(stage: Stage): Promise<Figure[]> {
  const primary = await stage.primary()
  const secondary = await stage.region(primary)
  return [
    ...(await measureEncryptions(stage, primary, secondary)),
    ...(await measureForwarded(stage, primary, secondary)),
  ]
}

async function measureEncryptions(stage: Stage, primary: Cluster, secondary: Cluster): Promise<Figure[]> {
  const rates = new Map<Cluster, Rate[]>([
    [primary, []],
    [secondary, []],
  ])
  for (const cluster of [primary, secondary]) await rateOf(stage, cluster, encrypts(cluster))
  for (let round = 0; round < stage.sizes.rounds; round++) {
    const turns = round % 2 === 0 ? [primary, secondary] : [secondary, primary]
    for (const cluster of turns) rates.get(cluster)?.push(await rateOf(stage, cluster, encrypts(cluster)))
  }
  const of = (cluster: Cluster): Rate[] => rates.get(cluster) ?? []
  const ratioOf = (pick: (rate: Rate) => number): string =>
    ratio(median(of(secondary).map((rate, round) => pick(rate) / pick(of(primary)[round] ?? rate))))
  return [
    { what: 'encrypt on the primary', figure: text(of(primary)) },
    { what: 'encrypt on the secondary', figure: text(of(secondary)) },
    {
      what: 'encrypt: secondary to primary, rate, CPU',
      figure: [ratioOf((rate) => rate.perSecond), ratioOf((rate) => rate.cpuMicroseconds)].join(', '),
    },
  ]
}

/** One caller makes keys, each when the last one is there. */
async function measureForwarded(stage: Stage, primary: Cluster, secondary: Cluster): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const roundTripMs of ROUND_TRIPS) {
    primary.proxy.set({ delayMs: roundTripMs / 2 })
    await stage.shortPause(1)
    const direct = await stage.timesOf(primary, `direct-${roundTripMs}`)
    const forwarded = await stage.timesOf(secondary, `forwarded-${roundTripMs}`)
    const more = Math.max(0, quantile(forwarded, 0.5) - quantile(direct, 0.5) - roundTripMs)
    figures.push(
      { what: `create on the primary, p50, p99`, figure: milliseconds(direct) },
      { what: `create through the secondary, ${roundTripMs} ms away, p50, p99`, figure: milliseconds(forwarded) },
      { what: `what that adds to the round trip, p50`, figure: `${more.toFixed(1)} ms` },
    )
    primary.proxy.heal()
  }
  return figures
}

/** A secondary with so many keys is started: how long until it has encrypted something. */
export async function measureRegionStart(stage: Stage, keys: number): Promise<Figure[]> {
  const primary = await stage.primary()
  await primary.stop()
  await plant(primary, { entries: keys, perRecord: PER_RECORD })
  await primary.restart()
  const secondary = await stage.region(primary)
  const path = `${MOUNT}/encrypt/${KEY}`
  await stage.until(
    async () => (await secondary.call('POST', path, { plaintext: PLAINTEXT })).status === 200,
    'it encrypts',
  )
  const times: number[] = []
  for (let start = 0; start < stage.sizes.rounds; start++) {
    await secondary.stop()
    const startMs = performance.now()
    await secondary.restart()
    await secondary.must('POST', path, { plaintext: PLAINTEXT })
    times.push(performance.now() - startMs)
  }
  return [{ what: `start of a secondary with ${keys} keys, to its first encryption`, figure: seconds(median(times)) }]
}

const milliseconds = (times: readonly number[]): string =>
  `${quantile(times, 0.5).toFixed(1)} ms, ${quantile(times, 0.99).toFixed(1)} ms`

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`
