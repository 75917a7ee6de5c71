// A soak: three clusters under a steady load, one misfortune after the other, and a calm behind each. In the end all
// that was acknowledged is there, the clusters have the same entries, and nobody met what no client may meet.
import { setTimeout as sleep } from 'node:timers/promises'
import { markdownTable } from '../../../../bench/report.ts'
import { type PseudoRandom, pseudoRandom } from '../../../fixtures/pseudo-random.ts'
import type { Cluster } from '../../../fixtures/real-cluster.ts'
import { until } from '../../../fixtures/until.ts'
import { requireSameEntries } from '../compared.ts'
import { SoakFigures } from './figures.ts'
import { drawnStep, happen, type Span } from './misfortunes.ts'
import { SHORT_TTL, SoakClient, type StoredThing } from './soak-clients.ts'
import { SoakSet } from './soak-set.ts'
import { SoakTally } from './soak-tally.ts'

const SAMPLE_MS = 10_000
const STATUS_MS = 1_000
const MINUTE_MS = 60_000
const PAIR_CLIENTS = 3
const REGION_CLIENTS = 2
/** Tokens that were given to nobody: their answers were lost on the way. */
const MOST_UNKNOWN_TOKENS = 5
const LAST_TOKENS_MS = 1_000 * SHORT_TTL

export type SoakOptions = {
  readonly root: string
  readonly seed: number
  /** How many steps, or how long. */
  readonly steps: readonly (readonly string[])[] | { readonly seconds: number }
  readonly span: Span
  /** False: a machine that stands still for seconds may break a link, and with it what is judged while all is well. */
  readonly isCalmJudged: boolean
  /** Between two requests of one client, on average. */
  readonly pauseMs: number
  readonly say: (line: string) => void
}

export type SoakResult = {
  readonly faults: readonly string[]
  /** What grows beyond its bound; nothing in a run that is too short to say. */
  readonly growing: readonly string[]
}

/** Runs it. The clusters' data and output stay below the root where there is something to look for. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const set = await SoakSet.make(options.root)
  try {
    return await new Soak(set, options).run()
  } finally {
    await set.end()
  }
}

class Soak {
  readonly #set: SoakSet
  readonly #options: SoakOptions
  readonly #random: PseudoRandom
  readonly #tally = new SoakTally()
  readonly #figures: SoakFigures
  readonly #clients: readonly SoakClient[]
  readonly #happened = new Map<string, number>()
  #isOver = false
  #steps = 0

  constructor(set: SoakSet, options: SoakOptions) {
    this.#set = set
    this.#options = options
    this.#random = pseudoRandom(options.seed)
    this.#figures = new SoakFigures(set)
    const clientOf = (name: string, clusters: readonly Cluster[], isOfRegion: boolean): SoakClient => {
      const random = pseudoRandom(this.#random.int(2 ** 31))
      return new SoakClient({ name, clusters, isOfRegion, random, tally: this.#tally, pauseMs: options.pauseMs })
    }
    this.#clients = [
      ...Array.from({ length: PAIR_CLIENTS }, (_, i) => clientOf(`pair${i}`, set.pair, false)),
      ...Array.from({ length: REGION_CLIENTS }, (_, i) => clientOf(`region${i}`, [set.region], true)),
    ]
  }

  async run(): Promise<SoakResult> {
    await this.#set.settled()
    const beside = [
      ...this.#clients.map((client) => client.run(() => this.#isOver)),
      ...this.#set.all.map((cluster) => this.#watchStatus(cluster)),
      this.#every(SAMPLE_MS, () => this.#figures.sample()),
      this.#every(MINUTE_MS, async () => this.#sayMinute()),
    ]
    try {
      // What goes wrong beside the steps ends the run at once, and so does what goes wrong in one.
      await Promise.race([this.#allSteps(), Promise.all(beside)])
      await this.#endLoad(beside)
      await this.#compare()
    } finally {
      await this.#endLoad(beside)
      this.#tell()
    }
    return { faults: this.#tally.faults, growing: this.#figures.verdict().growing }
  }

  async #endLoad(beside: readonly Promise<void>[]): Promise<void> {
    this.#isOver = true
    this.#tally.isCalm = false
    for (const { proxy } of this.#set.all) proxy.heal()
    await Promise.allSettled(beside)
  }

  async #allSteps(): Promise<void> {
    const { steps } = this.#options
    if ('seconds' in steps) {
      const endMs = steps.seconds * 1_000
      while (this.#figures.elapsedMs < endMs)
        await this.#step(drawnStep(this.#random, this.#figures.elapsedMs < endMs / 2))
    } else for (const step of steps) await this.#step(step)
  }

  async #step(names: readonly string[]): Promise<void> {
    const { span, say } = this.#options
    const name = names.join(' + ')
    const beganMs = this.#figures.elapsedMs
    try {
      await happen(names, { set: this.#set, random: this.#random, span })
      const healedMs = this.#figures.elapsedMs
      await this.#set.settled()
      const took = [healedMs - beganMs, this.#figures.elapsedMs - healedMs].map((ms) => (ms / 1_000).toFixed(1))
      say(`${(beganMs / 1_000).toFixed(0)} s: ${name} for ${took[0]} s, settled within ${took[1]} s`)
    } catch (cause) {
      throw new Error(`Step ${this.#steps}: ${name}`, { cause })
    }
    this.#steps += 1
    this.#happened.set(name, (this.#happened.get(name) ?? 0) + 1)
    this.#tally.isCalm = this.#options.isCalmJudged
    await sleep(span.leastMs + this.#random.int(span.mostMs - span.leastMs) / 2)
    this.#tally.isCalm = false
  }

  /** T96: status is answered whatever happens, unless nobody is there or the server is sealed. */
  async #watchStatus(cluster: Cluster): Promise<void> {
    while (!this.#isOver) {
      await this.#tally.ask(cluster, { method: 'GET', path: 'sys/replication/status', token: '' })
      await sleep(STATUS_MS)
    }
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    for (let dueMs = this.#figures.elapsedMs + ms; !this.#isOver; ) {
      await sleep(Math.min(ms, STATUS_MS))
      if (this.#figures.elapsedMs < dueMs) continue
      dueMs += ms
      await work()
    }
  }

  async #compare(): Promise<void> {
    const { primary, standIn, region } = this.#set
    await this.#set.level()
    await this.#requireThere(primary, ({ isOfRegion }) => !isOfRegion)
    await this.#requireThere(region, ({ isOfRegion, kind }) => isOfRegion || kind !== 'token')
    for (const cluster of [primary, region]) await this.#requireNoLeases(cluster)
    // So that the primary does not end one right behind the last look.
    await sleep(LAST_TOKENS_MS)
    await this.#set.stopLevel()
    const entries = await requireSameEntries(primary.directory, standIn.directory)
    const shared = await requireSameEntries(primary.directory, region.directory, 'performance')
    this.#options.say(`${entries} entries are the same in the pair, and ${shared} in the region`)
  }

  async #requireThere(cluster: Cluster, wants: (thing: StoredThing) => boolean): Promise<void> {
    for (const client of this.#clients)
      for (const missing of await client.missingAt(cluster, wants)) this.#tally.fault(missing)
  }

  /** Tokens whose time is over are taken away, and leave nothing. */
  async #requireNoLeases(cluster: Cluster): Promise<void> {
    const isRegion = cluster === this.#set.region
    const own = this.#clients.flatMap(({ stored }) => stored).filter(({ kind }) => kind === 'token')
    const valid = own.filter((each) => each.isOfRegion === isRegion && each.known !== 'absent').length
    const most = valid + this.#tally.open + MOST_UNKNOWN_TOKENS
    await until(async () => {
      const { body } = await cluster.must('LIST', 'auth/token/accessors')
      const { keys } = body.data as { readonly keys: readonly string[] }
      return keys.length <= most
    }, `${cluster.name} has ${most} tokens at most`)
  }

  #sayMinute(): void {
    const { acknowledged, refused, open, faults } = this.#tally
    const lives = [...this.#set.lives.values()].reduce((sum, each) => sum + each, 0)
    const minute = (this.#figures.elapsedMs / MINUTE_MS).toFixed(0)
    const counts = [minute, this.#steps, acknowledged, refused, open, faults.length, lives].map(String)
    this.#options.say(markdownTable(MINUTE_HEAD, [[...counts, ...this.#figures.newest()]]))
  }

  #tell(): void {
    const { say } = this.#options
    const { acknowledged, refused, open, answers, faults, sentences } = this.#tally
    const { rows } = this.#figures.verdict()
    const counted = (counts: ReadonlyMap<string, number>) =>
      [...counts].sort(([, a], [, b]) => b - a).map(([what, count]) => [what, String(count)])
    say(markdownTable(['what happened', 'times'], counted(this.#happened)))
    say(markdownTable(['503', 'times'], counted(sentences)))
    say(markdownTable(['cluster', 'figure', 'least', 'most', 'last', 'per hour', 'at most'], rows))
    say(
      `${this.#steps} steps, ${answers} answers, ${acknowledged} acknowledged writes, ${refused} refused, ` +
        `${open} without an answer, ${faults.length} faults`,
    )
  }
}

const MINUTE_HEAD = [
  'minute',
  'steps',
  'writes',
  'refused',
  'open',
  'faults',
  'lives',
  ...['one', 'region', 'two'].map((name) => `${name}: MiB, heap, files, store`),
]
