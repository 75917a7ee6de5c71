// Answers of the cloud, kept for a short time. Whoever asks for one that is being fetched waits for the same; failures
// are never kept.
import type { Clock } from '../../lib/world.ts'
import type { LoginDeadline } from './deadline.ts'

const MAX_ENTRIES = 10_000

export class SharedResults<T> {
  readonly #clock: Clock
  readonly #keptMs: number
  readonly #maxEntries: number
  readonly #isKept: (value: T) => boolean
  readonly #found = new Map<string, { readonly value: T; readonly untilMs: number }>()
  readonly #underWay = new Map<string, Promise<T>>()

  /** `isKept`: whether an answer is worth keeping. */
  constructor(
    clock: Clock,
    keptMs: number,
    { maxEntries = MAX_ENTRIES, isKept = () => true }: { maxEntries?: number; isKept?: (value: T) => boolean } = {},
  ) {
    this.#clock = clock
    this.#keptMs = keptMs
    this.#maxEntries = maxEntries
    this.#isKept = isKept
  }

  /** How many are kept. */
  get size(): number {
    return this.#found.size
  }

  /** `load` goes on for those who wait longer than whoever began it. */
  get(key: string, deadline: LoginDeadline, load: () => Promise<T>): Promise<T> {
    this.#dropOld()
    const found = this.#found.get(key)
    if (found !== undefined && found.untilMs > this.#clock.monotonicMs()) return Promise.resolve(found.value)
    const underWay = this.#underWay.get(key) ?? this.#begin(key, load)
    return deadline.within(underWay)
  }

  /** What is kept; undefined: it would be fetched. */
  kept(key: string): T | undefined {
    this.#dropOld()
    return this.#found.get(key)?.value
  }

  /**
   * One that is not `known`, which was kept: fetched anew, unless somebody else has done so meanwhile or does. What is
   * kept goes on serving others as long as nothing newer is there.
   */
  newerThan(known: T, key: string, deadline: LoginDeadline, load: () => Promise<T>): Promise<T> {
    const kept = this.kept(key)
    if (kept !== undefined && kept !== known) return Promise.resolve(kept)
    return deadline.within(this.#underWay.get(key) ?? this.#begin(key, load))
  }

  drop(key: string): void {
    this.#found.delete(key)
  }

  #begin(key: string, load: () => Promise<T>): Promise<T> {
    // Age counts from when it was asked, not from when it came.
    const untilMs = this.#clock.monotonicMs() + this.#keptMs
    const underWay = load()
      .then((value) => {
        if (this.#isKept(value)) this.#keep(key, value, untilMs)
        return value
      })
      .finally(() => this.#underWay.delete(key))
    // Somebody may stop waiting before it fails.
    underWay.catch(() => {})
    this.#underWay.set(key, underWay)
    return underWay
  }

  #keep(key: string, value: T, untilMs: number): void {
    this.#found.delete(key)
    this.#dropOld()
    if (this.#found.size >= this.#maxEntries) {
      const oldest = this.#found.keys().next()
      if (oldest.done !== true) this.#found.delete(oldest.value)
    }
    this.#found.set(key, { value, untilMs })
  }

  /** The first ones are the oldest, but for what was fetched at the same time. */
  #dropOld(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [key, { untilMs }] of this.#found) {
      if (untilMs > nowMs) return
      this.#found.delete(key)
    }
  }
}
