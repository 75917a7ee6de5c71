// A reload on all threads, through the one that watches over them: it tells each of them, and hears when it is done.
// The thread that writes may ask for one (sys/config/reload). A thread that takes no part in time, or ends, is no
// reason to wait: it counts as one where something goes on as before.
import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadPart } from '../lib/reload.ts'
import { CallLate, PeerGone } from '../rpc/errors.ts'

/** To a thread: `state` is what it reads anew; no part stands for all. */
export type ReloadOrder<S> = { readonly part: ReloadPart | undefined; readonly state: S }

/** Has one thread reload; false where something goes on as before there. */
export type ReloadThread<S> = (order: ReloadOrder<S>) => Promise<boolean>

/** In the thread that watches. */
export class ReloadCoordinator<S> {
  readonly #log: Log
  /** With what each is told of a state. */
  readonly #threads = new Map<ReloadThread<S>, (state: S) => S>()
  /** Carries out what a thread asks for; missing: it is too early. */
  onWanted: ((part: ReloadPart) => Promise<boolean>) | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /** `told` leaves out what this thread needs not know. Gives what is to be called when the thread has ended. */
  add(thread: ReloadThread<S>, told: (state: S) => S = (state) => state): () => void {
    this.#threads.set(thread, told)
    return () => this.#threads.delete(thread)
  }

  /** False where something goes on as before on one of the threads. Never rejects. */
  async tell(state: S, part: ReloadPart | undefined): Promise<boolean> {
    const told = [...this.#threads].map(([thread, known]) => this.#tellOne(thread, { part, state: known(state) }))
    return (await Promise.all(told)).every((isWhole) => isWhole)
  }

  /** What a thread asked for. A failure has no other way to it than that something goes on as before. Never rejects. */
  async wanted(part: ReloadPart): Promise<boolean> {
    try {
      return (await this.onWanted?.(part)) ?? false
    } catch (cause) {
      this.#log('error', 'A reload that a thread asked for failed', { cause: describeCause(cause) })
      return false
    }
  }

  async #tellOne(thread: ReloadThread<S>, order: ReloadOrder<S>): Promise<boolean> {
    try {
      return await thread(order)
    } catch (cause) {
      const isBusyOrGone = cause instanceof CallLate || cause instanceof PeerGone
      if (!isBusyOrGone) this.#log('error', 'A thread could not be told of a reload', { cause: describeCause(cause) })
      return false
    }
  }
}
