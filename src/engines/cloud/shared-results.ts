// Answers of the cloud, kept for a short time. Concurrent callers of one key share a call; failures are never kept
// (threats V-06).
import type { Clock } from '../../lib/world.ts'
import type { LoginDeadline } from './deadline.ts'

const MAX_ENTRIES = 10_000

/** A bounded cache whose entries expire. Keys must contain everything that the answer depends on (threats L-06). */
export class SharedResults<T> {
  readonly #clock: Clock
  readonly #keptMs: number
  readonly #maxEntries: number
  readonly #isKept: (value: T) => boolean
  readonly #found = new Map<string, { readonly value: T; readonly untilMs: number }>()
  readonly #underWay = new Map<string, Promise<T>>()

  /** `isKept` says whether an answer is worth keeping. */
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

  /** Number of kept answers. */
  get size(): number {
    return this.#found.size
  }

  /**
   * Returns the answer, kept or loaded. `load` goes on if the caller that began it stops waiting, since others may
   * share it.
   */
  get(key: string, deadline: LoginDeadline, load: () => Promise<T>): Promise<T> {
    this.#dropOld()
    const found = this.#found.get(key)
    if (found !== undefined && found.untilMs > this.#clock.monotonicMs()) return Promise.resolve(found.value)
    const underWay = this.#underWay.get(key) ?? this.#begin(key, load)
    return deadline.within(underWay)
  }

  /** Returns the kept answer; undefined if it would be loaded. */
  kept(key: string): T | undefined {
    this.#dropOld()
    return this.#found.get(key)?.value
  }

  /**
   * Returns an answer other than `known`, which was kept. It is loaded again, unless another caller has done so or is
   * doing so. The kept answer serves others until the newer one arrives.
   */
  newerThan(known: T, key: string, deadline: LoginDeadline, load: () => Promise<T>): Promise<T> {
    const kept = this.kept(key)
    if (kept !== undefined && kept !== known) return Promise.resolve(kept)
    return deadline.within(this.#underWay.get(key) ?? this.#begin(key, load))
  }

  /** Forgets the kept answer. */
  drop(key: string): void {
    this.#found.delete(key)
  }

  #begin(key: string, load: () => Promise<T>): Promise<T> {
    // Age counts from the question, since the answer may be that old.
    const untilMs = this.#clock.monotonicMs() + this.#keptMs
    const underWay = load()
      .then((value) => {
        if (this.#isKept(value)) this.#keep(key, value, untilMs)
        return value
      })
      .finally(() => this.#underWay.delete(key))
    // All callers may have stopped waiting before it fails; the failure must not end the process.
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

  /** Drops expired entries. The first ones are the oldest, except for calls that overlapped, so it may stop early. */
  #dropOld(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [key, { untilMs }] of this.#found) {
      if (untilMs > nowMs) return
      this.#found.delete(key)
    }
  }
}
