// A reload on all threads, through the one that watches over them: it tells each of them, and hears when it is done.
// The thread that writes may ask for one (sys/config/reload). A thread that takes no part in time, or ends, is no
// reason to wait: it counts as one where something goes on as before.
import { nameOf } from '../core/cause-name.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadPart } from '../lib/reload.ts'
import type { Timers } from '../lib/world.ts'

/** As much of a thread, or of a message port, as is needed. Other messages on it are left alone. */
export type ReloadPort = {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: unknown) => void): unknown
}

/** To a thread: `state` is what it reads anew; no part stands for all. */
export type ReloadOrder<S> = {
  readonly kind: 'reload'
  readonly id: number
  readonly part: ReloadPart | undefined
  readonly state: S
}
type FromThread =
  | { readonly kind: 'reloaded'; readonly id: number; readonly isWhole: boolean }
  | { readonly kind: 'want-reload'; readonly id: number; readonly part: ReloadPart }
/** To the thread that asked. */
export type ReloadAnswer = { readonly kind: 'reload-done'; readonly id: number; readonly isWhole: boolean }

type Open = { readonly waitingFor: Set<ReloadPort>; isWhole: boolean; readonly finish: () => void }

/** In the thread that watches. */
export class ReloadDesk<S> {
  readonly #log: Log
  readonly #timers: Timers
  readonly #patienceMs: number
  /** With what each is told of a state. */
  readonly #threads = new Map<ReloadPort, (state: S) => S>()
  readonly #open = new Map<number, Open>()
  #lastId = 0
  /** Carries out what a thread asks for; missing: it is too early. */
  onWanted: ((part: ReloadPart) => Promise<boolean>) | undefined

  constructor(timers: Timers, patienceMs: number, log: Log) {
    this.#log = log
    this.#timers = timers
    this.#patienceMs = patienceMs
  }

  /** `told` leaves out what this thread needs not know. Gives what is to be called when the thread has ended. */
  add(thread: ReloadPort, told: (state: S) => S = (state) => state): () => void {
    this.#threads.set(thread, told)
    thread.on('message', (received) => {
      const message = received as FromThread
      if (message.kind === 'reloaded') this.#told(thread, message.id, message.isWhole)
      else if (message.kind === 'want-reload') void this.#answer(thread, message.id, message.part)
    })
    return () => {
      this.#threads.delete(thread)
      for (const id of [...this.#open.keys()]) this.#told(thread, id, false)
    }
  }

  /** False where something goes on as before on one of the threads. Never rejects. */
  tell(state: S, part: ReloadPart | undefined): Promise<boolean> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      const finish = (): void => {
        timer.cancel()
        this.#open.delete(id)
        resolve(open.isWhole && open.waitingFor.size === 0)
      }
      const timer = this.#timers.after(this.#patienceMs, finish)
      const open: Open = { waitingFor: new Set(this.#threads.keys()), isWhole: true, finish }
      this.#open.set(id, open)
      for (const [thread, told] of this.#threads) {
        try {
          thread.postMessage({ kind: 'reload', id, part, state: told(state) } satisfies ReloadOrder<S>)
        } catch (cause) {
          this.#log('error', 'A thread could not be told of a reload', { cause: nameOf(cause) })
          open.waitingFor.delete(thread)
          open.isWhole = false
        }
      }
      if (open.waitingFor.size === 0) finish()
    })
  }

  #told(thread: ReloadPort, id: number, isWhole: boolean): void {
    const open = this.#open.get(id)
    if (open === undefined || !open.waitingFor.delete(thread)) return
    open.isWhole &&= isWhole
    if (open.waitingFor.size === 0) open.finish()
  }

  async #answer(thread: ReloadPort, id: number, part: ReloadPart): Promise<void> {
    const isWhole = await this.#carriedOut(part)
    thread.postMessage({ kind: 'reload-done', id, isWhole } satisfies ReloadAnswer)
  }

  /** A failure has no other way to the thread that asked, which would wait for good. */
  async #carriedOut(part: ReloadPart): Promise<boolean> {
    try {
      return (await this.onWanted?.(part)) ?? false
    } catch (cause) {
      this.#log('error', 'A reload that a thread asked for failed', { cause: nameOf(cause) })
      return false
    }
  }
}

/** In a thread that is told: says that it is done. */
export function reportReload(port: Pick<ReloadPort, 'postMessage'>, id: number, isWhole: boolean): void {
  port.postMessage({ kind: 'reloaded', id, isWhole } satisfies FromThread)
}

/** In the thread that asks. */
export class ReloadAsker {
  readonly #port: Pick<ReloadPort, 'postMessage'>
  readonly #waiting = new Map<number, (isWhole: boolean) => void>()
  #lastId = 0

  constructor(port: Pick<ReloadPort, 'postMessage'>) {
    this.#port = port
  }

  take({ id, isWhole }: ReloadAnswer): void {
    this.#waiting.get(id)?.(isWhole)
    this.#waiting.delete(id)
  }

  /** False where something goes on as before on one of the threads. */
  ask(part: ReloadPart): Promise<boolean> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      // Sent before it is noted: one that cannot be sent must not be waited for.
      this.#port.postMessage({ kind: 'want-reload', id, part } satisfies FromThread)
      this.#waiting.set(id, resolve)
    })
  }
}
