// A reload on all threads, led by the watching thread: it tells each of them, and hears when each is done. The writing
// thread may ask for one (sys/config/reload). A thread that does not answer in time, or ends, is not waited for: it
// counts as one where some part could not be reloaded.
import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadPart } from '../lib/reload.ts'
import { CallLate, PeerGone } from '../rpc/errors.ts'

/** An order to a thread: `state` is what the watching thread has read again; no part stands for all parts. */
export type ReloadOrder<S> = { readonly part: ReloadPart | undefined; readonly state: S }

/** Has one thread reload. Resolves with false if some part of it goes on as before. */
export type ReloadThread<S> = (order: ReloadOrder<S>) => Promise<boolean>

/** Held by the watching thread. `S` is what was read again, opaque here. */
export class ReloadCoordinator<S> {
  readonly #log: Log
  /** The threads, each with the function that selects what it is told. */
  readonly #threads = new Map<ReloadThread<S>, (state: S) => S>()
  /** Carries out a reload that a thread asked for; undefined while it is too early for one. */
  onWanted: ((part: ReloadPart) => Promise<boolean>) | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /**
   * Adds a thread. `told` leaves out what that thread need not know. Returns what to call when the thread has ended.
   */
  add(thread: ReloadThread<S>, told: (state: S) => S = (state) => state): () => void {
    this.#threads.set(thread, told)
    return () => this.#threads.delete(thread)
  }

  /** Tells all threads. Resolves with false if some part goes on as before on one of them. Never rejects. */
  async tell(state: S, part: ReloadPart | undefined): Promise<boolean> {
    const told = [...this.#threads].map(([thread, known]) => this.#tellOne(thread, { part, state: known(state) }))
    return (await Promise.all(told)).every((isWhole) => isWhole)
  }

  /** Carries out what a thread asked for. A failure is logged here; the thread only hears false. Never rejects. */
  async wanted(part: ReloadPart): Promise<boolean> {
    try {
      return (await this.onWanted?.(part)) ?? false
    } catch (cause) {
      this.#log('error', 'A reload requested by a thread failed', { cause: describeCause(cause) })
      return false
    }
  }

  async #tellOne(thread: ReloadThread<S>, order: ReloadOrder<S>): Promise<boolean> {
    try {
      return await thread(order)
    } catch (cause) {
      const isBusyOrGone = cause instanceof CallLate || cause instanceof PeerGone
      if (!isBusyOrGone)
        this.#log('error', 'A thread could not be notified of a reload', { cause: describeCause(cause) })
      return false
    }
  }
}
