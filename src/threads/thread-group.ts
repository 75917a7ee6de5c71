// Threads of one kind that stand for each other. A thread that dies is replaced; its callers saw their connections
// break. If threads keep dying, new ones do not mend the cause, and the process ends.
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/world.ts'

/** One thread of a group, as its starter hands it over. */
export type GroupThread = {
  /** Resolves with the reason when the thread has ended, by itself or because it was stopped. */
  readonly ended: Promise<string>
  /** Lets the thread finish what it began; resolves when it has ended. */
  stop(): Promise<void>
}

/** The threads of a group, and the one to tell when it gives up. */
export type GroupOptions = {
  /** The name of their kind, for the log: 'serving'. */
  readonly kind: string
  readonly count: number
  readonly start: () => Promise<GroupThread>
  readonly clock: Clock
  readonly log: Log
  readonly onFatal: (reason: string) => void
  /**
   * Waits before a thread is replaced that died too often. Missing: the group gives up then, as it does when a thread
   * cannot be replaced. What the rest of the server can go without rests instead.
   */
  readonly rest?: () => Promise<void>
}

/** With more deaths than this within DEATHS_WITHIN_MS the group gives up. */
const MAX_DEATHS = 5
const DEATHS_WITHIN_MS = 60_000

/** Keeps `count` threads running until it is stopped. */
export class ThreadGroup {
  readonly #options: GroupOptions
  readonly #threads = new Set<GroupThread>()
  readonly #replacements = new Set<Promise<void>>()
  #deathsAtMs: number[] = []
  #stopping = false

  private constructor(options: GroupOptions) {
    this.#options = options
  }

  /** Starts all threads. @throws what `start` throws; then no thread is left running */
  static async start(options: GroupOptions): Promise<ThreadGroup> {
    const group = new ThreadGroup(options)
    try {
      for (let i = 0; i < options.count; i++) await group.#startOne()
      return group
    } catch (cause) {
      await group.stop()
      throw cause
    }
  }

  get size(): number {
    return this.#threads.size
  }

  /** Stops all threads, those being started included; resolves when they have ended. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#replacements)
    await Promise.all([...this.#threads].map((thread) => thread.stop()))
  }

  async #startOne(): Promise<void> {
    const thread = await this.#options.start()
    this.#threads.add(thread)
    void thread.ended.then((reason) => this.#died(thread, reason))
  }

  #died(thread: GroupThread, reason: string): void {
    this.#threads.delete(thread)
    if (this.#stopping) return
    const { clock, log, onFatal, kind, rest } = this.#options
    log('error', `A ${kind} thread ended unexpectedly and is being replaced`, { reason })
    const nowMs = clock.monotonicMs()
    this.#deathsAtMs = [...this.#deathsAtMs.filter((atMs) => nowMs - atMs < DEATHS_WITHIN_MS), nowMs]
    const isTooOften = this.#deathsAtMs.length > MAX_DEATHS
    if (isTooOften && rest === undefined) {
      onFatal(`${this.#deathsAtMs.length} ${kind} threads ended within a minute`)
      return
    }
    const replacement = this.#replace(isTooOften ? rest : undefined)
      .catch((cause: unknown) => onFatal(`a ${kind} thread that ended could not be replaced: ${messageOf(cause)}`))
      .finally(() => this.#replacements.delete(replacement))
    this.#replacements.add(replacement)
  }

  async #replace(rest: GroupOptions['rest']): Promise<void> {
    await rest?.()
    if (!this.#stopping) await this.#startOne()
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : 'unknown')
