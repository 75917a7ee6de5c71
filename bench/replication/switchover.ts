// A set changes hands as planned, while clients write: how long nobody takes their writes, and how soon the new primary
// does. Real servers, with keys and leases, by the operations that an operator uses.
import { DR, operationToken, promote } from '../../test/fixtures/failing-over.ts'
import { type Cluster, takeBack } from '../../test/fixtures/real-cluster.ts'
import { MOUNT } from '../targets.ts'
import { machineMs } from './helpers.ts'
import type { MovingLoadCalls, Taken } from './moving-load.ts'
import { plant } from './plant.ts'
import { Sender } from './sender.ts'
import { type Figure, quantile, type Stage } from './stage.ts'

const PER_RECORD = 500
const CONNECTIONS = 32
/** Lends at once, so that many become durable together. */
const LENT_AT_ONCE = 64
/** The load before and behind each promotion. */
const LOAD_SECONDS = 1
const LEASE = JSON.stringify({ policies: ['default'], ttl: '24h' })
const MEBIBYTE = 1 << 20

/** Of one hand-over, in milliseconds. */
type HandOver = {
  /** From the last write that the former primary took to the first one of the new primary. */
  readonly pauseMs: number
  /** From the call of the promotion to that first write, and to its answer. */
  readonly servedMs: number
  readonly answeredMs: number
  /** From the demotion of the former primary until it has all again. */
  readonly returnMs: number
  readonly returnBytes: number
}

/** Hand-overs of a set with so many keys, and with the leases of the sizes, at each rate of writes. */
export async function measureSwitchover(stage: Stage, keys: number): Promise<Figure[]> {
  const { leases, switchovers, rates } = stage.sizes
  const primary = await stage.primary()
  await primary.stop()
  await plant(primary, { entries: keys, perRecord: PER_RECORD })
  await primary.restart()
  await lend(primary, leases)
  const token = await operationToken(primary)
  const secondary = await stage.follower(primary)
  secondary.token = primary.token
  let pair: readonly [Cluster, Cluster] = [primary, secondary]
  const figures: Figure[] = []
  for (const perSecond of rates) {
    const found: HandOver[] = []
    for (let each = 0; each < switchovers; each++) {
      found.push(await handOver(stage, pair, { token, perSecond, name: `moved-${perSecond}-${each}` }))
      pair = [pair[1], pair[0]]
    }
    figures.push(...figuresOf(`${keys} keys, ${leases} leases, ${perSecond} writes/s`, found))
  }
  return figures
}

type Under = { readonly token: string; readonly perSecond: number; readonly name: string }

async function handOver(stage: Stage, pair: readonly [Cluster, Cluster], under: Under): Promise<HandOver> {
  const { token, perSecond, name } = under
  const [former, primary] = pair
  const helper = await stage.helper<MovingLoadCalls>('moving-load.ts')
  const connections = Math.min(perSecond, CONNECTIONS)
  const addresses = [former.address, primary.address] as const
  await helper.ask('begin', { addresses, token: former.token, path: `${MOUNT}/keys/${name}-`, connections, perSecond })
  await stage.shortPause(LOAD_SECONDS)
  const askedMs = machineMs()
  const { status, body } = await promote(primary, token)
  const answeredMs = machineMs() - askedMs
  if (status !== 200) throw new Error(`${DR}/secondary/promote was refused: ${JSON.stringify(body)}`)
  await stage.shortPause(LOAD_SECONDS)
  const taken = await helper.ask('end')
  helper.end()
  const [bytes, returnsMs] = [primary.proxy.bytes, machineMs()]
  await takeBack(primary, former, token)
  await stage.untilFollowed(primary, former)
  const returned = { returnMs: machineMs() - returnsMs, returnBytes: primary.proxy.bytes - bytes }
  return { ...pauseOf(taken, askedMs), answeredMs, ...returned }
}

function pauseOf({ atMs, by }: Taken, askedMs: number): Pick<HandOver, 'pauseMs' | 'servedMs'> {
  const first = atMs[by.indexOf(1)]
  const last = atMs[by.lastIndexOf(0)]
  if (first === undefined || last === undefined) throw new Error('one of the two took no write')
  return { pauseMs: Math.max(0, first - last), servedMs: first - askedMs }
}

/** Tokens with leases, over HTTP. */
async function lend({ address, token }: Cluster, leases: number): Promise<void> {
  const sender = await Sender.open(address, LENT_AT_ONCE)
  let left = leases
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const status = await sender.send('POST', '/v1/auth/token/create', token, LEASE)
      if (status !== 200) throw new Error(`a token was answered by ${status}`)
    }
  }
  await Promise.all(Array.from({ length: LENT_AT_ONCE }, one))
  sender.close()
}

function figuresOf(what: string, found: readonly HandOver[]): Figure[] {
  const both = (member: keyof HandOver): string =>
    [0.5, 0.99].map((part) => quantile(of(found, member), part).toFixed(0)).join(', ')
  const mebibytes = (quantile(of(found, 'returnBytes'), 0.5) / MEBIBYTE).toFixed(2)
  return [
    { what: `${what}: write pause, p50, p99 of ${found.length}`, figure: `${both('pauseMs')} ms` },
    { what: `${what}: from promote to the first write, p50, p99`, figure: `${both('servedMs')} ms` },
    { what: `${what}: from promote to its answer, p50, p99`, figure: `${both('answeredMs')} ms` },
    { what: `${what}: return until it has all, p50, p99`, figure: `${both('returnMs')} ms` },
    { what: `${what}: bytes of a return at the proxy, p50`, figure: `${mebibytes} MiB` },
  ]
}

const of = (found: readonly HandOver[], member: keyof HandOver): readonly number[] => found.map((one) => one[member])
