// What a part of the measurements works with: a directory, processes that are ended with it, and the time that it has.
import { setTimeout as sleep } from 'node:timers/promises'
import { untilFollowed } from '../../test/fixtures/followed-stores.ts'
import { activate, addRegion, Cluster, type ClusterOptions, isLevel } from '../../test/fixtures/real-cluster.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { until } from '../../test/fixtures/until.ts'
import { Connection } from '../../test/model/connection.ts'
import { KEY, MOUNT } from '../targets.ts'
import { Helper, type HelperCalls } from './helpers.ts'
import type { LoadCalls, LoadFigures, LoadOrder } from './load.ts'

/** A figure, as it stands in the table. */
export type Figure = { readonly what: string; readonly figure: string }

/** How much is measured. */
export type Sizes = {
  /** Of each stretch of time that is measured. */
  readonly seconds: number
  readonly rounds: number
  /** Writes a second over HTTP, one stretch each. */
  readonly rates: readonly number[]
  /** Records a second below HTTP. */
  readonly records: number
  /** Records that a secondary misses while it is off. */
  readonly missed: number
  /** Keys that are copied, one copy each. */
  readonly keys: readonly number[]
  /** Entries that are different afterwards. */
  readonly different: number
  /** Leases of a cluster that is promoted. */
  readonly leases: number
  /** One behind the other, each timed. */
  readonly writes: number
  /** Hand-overs at each rate of writes. */
  readonly switchovers: number
  /** Numbers of secondaries, growing. */
  readonly secondaries: readonly number[]
}

/** Where one part is measured. */
export class Stage {
  readonly path: string
  readonly sizes: Sizes
  readonly #endMs: number
  readonly #ends: (() => Promise<void> | void)[] = []
  #isOver = false
  #clusters = 0

  private constructor(path: string, sizes: Sizes, limitMs: number) {
    this.path = path
    this.sizes = sizes
    this.#endMs = performance.now() + limitMs
  }

  /** Runs the work, for so long at most. All processes have ended afterwards. */
  static async run<T>(
    work: (stage: Stage) => Promise<T>,
    { sizes, limitMs, directory }: { readonly sizes: Sizes; readonly limitMs: number; readonly directory?: string },
  ): Promise<T> {
    const temporary = temporaryDirectory(directory)
    const stage = new Stage(temporary.path, sizes, limitMs)
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not within ${Math.round(limitMs / 1_000)} s`)), limitMs)
    })
    const working = work(stage)
    // Whatever it waits for ends with the processes.
    working.catch(() => {})
    try {
      return await Promise.race([working, limit])
    } finally {
      clearTimeout(timer)
      stage.#isOver = true
      await Promise.allSettled(stage.#ends.map((end) => end()))
      temporary.cleanUp()
    }
  }

  /** A cluster of one server, open. */
  async cluster(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = await Cluster.make(`c${++this.#clusters}`, this.path, options)
    await this.#endWith(() => cluster.end())
    return cluster
  }

  /** A cluster with a mount and a key, for the loads. */
  async primary(options: ClusterOptions = {}): Promise<Cluster> {
    const primary = await this.cluster(options)
    await primary.must('POST', `sys/mounts/${MOUNT}`, { type: 'transit' })
    await primary.must('POST', `${MOUNT}/keys/${KEY}`)
    return primary
  }

  /** A secondary of the primary, that has all. No proxy is between them if the primary is direct. */
  async follower(primary: Cluster): Promise<Cluster> {
    const secondary = await this.cluster()
    await activate(primary, secondary)
    await this.untilFollowed(primary, secondary)
    return secondary
  }

  /** A performance secondary of the primary, that has all. */
  async region(primary: Cluster): Promise<Cluster> {
    const secondary = await this.cluster()
    await addRegion(primary, secondary)
    await this.until(() => isLevel(primary, secondary, 'performance'), `${secondary.name} has all`)
    return secondary
  }

  /** Until the secondary is whole, and has all that the primary had when this was called. */
  untilFollowed(primary: Cluster, secondary: Cluster): Promise<void> {
    return untilFollowed(primary, secondary, (isSo, what) => this.until(isSo, what))
  }

  /** How long each of many creations of a key takes one caller, in milliseconds. The first ones are left out. */
  async timesOf(cluster: Cluster, name: string): Promise<readonly number[]> {
    const { writes } = this.sizes
    const connection = new Connection(cluster.address)
    const times: number[] = []
    for (let number = 0; number < writes; number++) {
      const startMs = performance.now()
      const { status } = await connection.call(cluster.token, 'POST', `${MOUNT}/keys/${name}-${number}`, {})
      if (status >= 300) throw new Error(`${cluster.name} made no key: ${status}`)
      times.push(performance.now() - startMs)
    }
    connection.renew()
    return times.slice(writes / 10)
  }

  until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    return until(isSo, what, Math.max(0, this.#endMs - performance.now()))
  }

  /** Starts a helper of this folder. */
  async helper<C extends HelperCalls>(file: string): Promise<Helper<C>> {
    const helper = Helper.start<C>(file)
    await this.#endWith(() => helper.end())
    return helper
  }

  /** Begins a load, from a process of its own. `end` waits for the answers that are on their way. */
  async load(order: LoadOrder): Promise<{ end(): Promise<LoadFigures> }> {
    const helper = await this.helper<LoadCalls>('load.ts')
    await helper.ask('begin', order)
    return {
      end: async () => {
        const figures = await helper.ask('end')
        helper.end()
        if (figures.failed > 0) throw new Error(`${figures.failed} requests for ${order.path} were refused`)
        return figures
      },
    }
  }

  /** What was started too late ends at once. */
  async #endWith(end: () => Promise<void> | void): Promise<void> {
    if (this.#isOver) {
      await end()
      throw new Error('the time of this part is over')
    }
    this.#ends.push(end)
  }

  pause(seconds = this.sizes.seconds): Promise<void> {
    return sleep(seconds * 1_000)
  }

  /** So long, or less if what is measured is shorter. */
  shortPause(seconds: number): Promise<void> {
    return this.pause(Math.min(seconds, this.sizes.seconds))
  }
}

/** Writes that each make a key: the names begin with `name`. */
export const creates = (
  cluster: Cluster,
  name: string,
): Pick<LoadOrder, 'address' | 'token' | 'path' | 'isNumbered'> => ({
  address: cluster.address,
  token: cluster.token,
  path: `${MOUNT}/keys/${name}-`,
  isNumbered: true,
})

/** Encryptions of 128 bytes. */
export const encrypts = (cluster: Cluster): Pick<LoadOrder, 'address' | 'token' | 'path' | 'isNumbered'> => ({
  address: cluster.address,
  token: cluster.token,
  path: `${MOUNT}/encrypt/${KEY}`,
  isNumbered: false,
})

/** The number that so large a part of them is below. */
export function quantile(numbers: Iterable<number>, part: number): number {
  const sorted = Float64Array.from(numbers).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
