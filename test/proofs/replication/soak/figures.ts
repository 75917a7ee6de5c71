// What the processes of a soak take: memory, heap, open files and store, once in a while, by life of each process.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { memoryOf } from '../../../fixtures/process-figures.ts'
import { readExposition } from '../../../fixtures/prometheus-text.ts'
import type { Cluster } from '../../../fixtures/real-cluster.ts'
import { type Drift, driftOf, type Sample } from './drift.ts'
import type { SoakSet } from './soak-set.ts'

const MIB = 2 ** 20
/** A process that stands still says nothing. */
const LONGEST_ANSWER_MS = 2_000

const FIGURES = ['memory', 'heap', 'files', 'store'] as const
type Figure = (typeof FIGURES)[number]

/**
 * What each may grow by in an hour, beyond twice the standard error. Memory and heap in MiB: half a MiB for each minute
 * in which links broke, processes stood still and hands changed. Open files: a link that leaves one behind shows as a
 * hundred or more. The store in MiB: it keeps so much of its log, and clients remove what they make.
 */
const MOST_PER_HOUR: Readonly<Record<Figure, number>> = { memory: 32, heap: 16, files: 6, store: 8 }

/** All samples of a run. */
export class SoakFigures {
  readonly #set: SoakSet
  readonly #startMs = performance.now()
  readonly #samples = new Map<Cluster, Readonly<Record<Figure, Sample[]>>>()
  readonly #lives = new Map<string, number>()

  constructor(set: SoakSet) {
    this.#set = set
    for (const each of set.all) this.#samples.set(each, { memory: [], heap: [], files: [], store: [] })
  }

  get elapsedMs(): number {
    return performance.now() - this.#startMs
  }

  async sample(): Promise<void> {
    await Promise.all([...this.#samples.keys()].map((each) => this.#sampleOf(each)))
  }

  async #sampleOf(cluster: Cluster): Promise<void> {
    const life = `${cluster.name} ${this.#set.lives.get(cluster)}`
    const values = await valuesOf(cluster)
    // It ended meanwhile, or is another one.
    if (values === undefined || life !== `${cluster.name} ${this.#set.lives.get(cluster)}`) return
    const atMs = this.elapsedMs
    const bornMs = this.#lives.get(life) ?? atMs
    this.#lives.set(life, bornMs)
    for (const figure of FIGURES) {
      const value = values[figure]
      if (value !== undefined) this.#samples.get(cluster)?.[figure].push({ life, atMs, ageMs: atMs - bornMs, value })
    }
  }

  /** The newest ones of each cluster: `one 140 60 55`. */
  newest(): readonly string[] {
    return [...this.#samples]
      .sort(([a], [b]) => (a.name < b.name ? -1 : 1))
      .map(([, samples]) => FIGURES.map((figure) => samples[figure].at(-1)?.value.toFixed(0) ?? '?').join(' '))
  }

  /** Rows of the table at the end, and what grows beyond its bound. */
  verdict(): { readonly rows: readonly (readonly string[])[]; readonly growing: readonly string[] } {
    const rows: string[][] = []
    const growing: string[] = []
    for (const [{ name }, samples] of this.#samples) {
      for (const figure of FIGURES) {
        const drift = driftOf(samples[figure], this.elapsedMs / 2)
        const isGrowing = drift !== undefined && drift.perHour - 2 * drift.error > MOST_PER_HOUR[figure]
        if (isGrowing) growing.push(`${figure} of ${name} grows by ${shown(drift)} in an hour`)
        rows.push([name, figure, ...lastOf(samples[figure]), shown(drift), String(MOST_PER_HOUR[figure])])
      }
    }
    return { rows, growing }
  }
}

const shown = (drift: Drift | undefined): string =>
  drift === undefined ? 'too short' : `${drift.perHour.toFixed(1)} ± ${drift.error.toFixed(1)} of ${drift.buckets}`

function lastOf(samples: readonly Sample[]): readonly string[] {
  const values = samples.map(({ value }) => value)
  return [Math.min(...values), Math.max(...values), values.at(-1) ?? Number.NaN].map((value) => value.toFixed(0))
}

async function valuesOf(cluster: Cluster): Promise<Partial<Record<Figure, number>> | undefined> {
  try {
    const { pid } = cluster
    const memory = memoryOf(pid).bytes / MIB
    const files = readdirSync(`/proc/${pid}/fd`).length
    const store = statSync(join(cluster.directory, 'keywright.db')).size / MIB
    const heap = await heapOf(cluster)
    return { memory, files, store, ...(heap === undefined ? {} : { heap }) }
  } catch {
    return undefined
  }
}

/** All threads together. */
async function heapOf({ address }: Cluster): Promise<number | undefined> {
  try {
    const signal = AbortSignal.timeout(LONGEST_ANSWER_MS)
    const response = await fetch(`${address}/v1/sys/metrics?format=prometheus`, { signal })
    const { samples } = readExposition(await response.text())
    const heaps = [...samples].filter(([name]) => name.startsWith('keywright_heap_used_bytes'))
    return heaps.length === 0 ? undefined : heaps.reduce((sum, [, bytes]) => sum + bytes, 0) / MIB
  } catch {
    return undefined
  }
}
