// Threads of one kind that stand for each other: one that dies is replaced, its callers having seen their connections
// break. If they keep dying there is something that a new thread does not mend, and the process ends.
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/world.ts'

export type GroupThread = {
  /** Resolves with the reason when the thread has ended, by itself or because it was told to. */
  readonly ended: Promise<string>
  /** Lets it finish what it began; resolves when it has ended. */
  stop(): Promise<void>
}

export type GroupOptions = {
  /** What they are, for the log: 'serving'. */
  readonly kind: string
  readonly count: number
  readonly start: () => Promise<GroupThread>
  readonly clock: Clock
  readonly log: Log
  readonly onFatal: (reason: string) => void
}

const MAX_DEATHS = 5
const DEATHS_WITHIN_MS = 60_000

export class ThreadGroup {
  readonly #options: GroupOptions
  readonly #threads = new Set<GroupThread>()
  readonly #replacements = new Set<Promise<void>>()
  #deathsAtMs: number[] = []
  #stopping = false

  private constructor(options: GroupOptions) {
    this.#options = options
  }

  /** @throws what `start` throws; then none is left running */
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
    const { clock, log, onFatal, kind } = this.#options
    log('error', `A ${kind} thread ended, another takes its place`, { reason })
    const nowMs = clock.monotonicMs()
    this.#deathsAtMs = [...this.#deathsAtMs.filter((atMs) => nowMs - atMs < DEATHS_WITHIN_MS), nowMs]
    if (this.#deathsAtMs.length > MAX_DEATHS) {
      onFatal(`${this.#deathsAtMs.length} ${kind} threads ended within a minute`)
      return
    }
    const replacement = this.#startOne()
      .catch((cause: unknown) => onFatal(`no ${kind} thread could take its place: ${messageOf(cause)}`))
      .finally(() => this.#replacements.delete(replacement))
    this.#replacements.add(replacement)
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : 'unknown')
