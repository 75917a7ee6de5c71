// A thread asks all threads of its kind one question, through the thread that watches over them. Who does not answer in
// time is left out and counted: a thread that is busy must not hold up the one that asks.
import { nameOf } from '../core/cause-name.ts'
import type { Log } from '../lib/log.ts'
import type { Timers } from '../lib/world.ts'

/** As much of a message port, or of a thread, as is needed. Other messages on it are left alone. */
export type AskingPort = {
  postMessage(message: unknown): void
  on(event: 'message', listener: (message: unknown) => void): unknown
}

type ToWatcher<A> =
  | { readonly kind: 'ask'; readonly id: number }
  | { readonly kind: 'told'; readonly id: number; readonly answer: A }
  /** There is no answer, or none that can be sent to another thread: a defect, which its thread logs. */
  | { readonly kind: 'silent'; readonly id: number }
type ToThread<A> =
  | { readonly kind: 'asked'; readonly id: number }
  | { readonly kind: 'answers'; readonly id: number; readonly answers: readonly A[]; readonly silent: number }

export type Answers<A> = { readonly answers: readonly A[]; readonly silent: number }

/** Questions of one thread that may be open at once; one more is answered with nothing but silence. */
const MAX_OPEN = 16

type Open<A> = { readonly answers: A[]; waitingFor: number; silent: number; readonly finish: () => void }

/** In the thread that watches. */
export class QuestionDesk<A> {
  readonly #timers: Timers
  readonly #patienceMs: number
  readonly #threads = new Set<AskingPort>()
  readonly #open = new Map<number, Open<A>>()
  #lastId = 0

  constructor(timers: Timers, patienceMs: number) {
    this.#timers = timers
    this.#patienceMs = patienceMs
  }

  /** Gives what is to be called when the thread has ended. */
  add(thread: AskingPort): () => void {
    this.#threads.add(thread)
    thread.on('message', (received) => {
      const message = received as ToWatcher<A>
      if (message.kind === 'ask') this.#ask(thread, message.id)
      else if (message.kind === 'told') this.#told(message.id, [message.answer])
      else if (message.kind === 'silent') this.#told(message.id, [])
    })
    return () => this.#threads.delete(thread)
  }

  #ask(asker: AskingPort, askedAs: number): void {
    const id = ++this.#lastId
    const answers: A[] = []
    const finish = (): void => {
      timer.cancel()
      this.#open.delete(id)
      const silent = open.silent + open.waitingFor
      asker.postMessage({ kind: 'answers', id: askedAs, answers, silent } satisfies ToThread<A>)
    }
    const open = { answers, waitingFor: this.#threads.size, silent: 0, finish }
    const timer = this.#timers.after(this.#patienceMs, finish)
    this.#open.set(id, open)
    for (const thread of this.#threads) thread.postMessage({ kind: 'asked', id } satisfies ToThread<A>)
  }

  /** `answer` is one, or none. */
  #told(id: number, answer: readonly A[]): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    open.answers.push(...answer)
    if (answer.length === 0) open.silent++
    if (--open.waitingFor === 0) open.finish()
  }
}

/** In a thread that asks, and is asked. */
export class Questioner<A> {
  readonly #port: AskingPort
  readonly #waiting = new Map<number, (answers: Answers<A>) => void>()
  #lastId = 0

  /** `answer` gives this thread's own. */
  constructor(port: AskingPort, answer: () => A, log: Log) {
    this.#port = port
    port.on('message', (received) => {
      const message = received as ToThread<A>
      if (message.kind === 'asked') {
        const { id } = message
        try {
          port.postMessage({ kind: 'told', id, answer: answer() } satisfies ToWatcher<A>)
        } catch (cause) {
          log('error', 'What this thread was asked it could not answer', { cause: nameOf(cause) })
          port.postMessage({ kind: 'silent', id } satisfies ToWatcher<A>)
        }
      } else if (message.kind === 'answers') {
        this.#waiting.get(message.id)?.(message)
        this.#waiting.delete(message.id)
      }
    })
  }

  ask(): Promise<Answers<A>> {
    if (this.#waiting.size >= MAX_OPEN) return Promise.resolve({ answers: [], silent: 1 })
    const id = ++this.#lastId
    return new Promise((resolve) => {
      // Sent before it is noted: one that cannot be sent must not be waited for.
      this.#port.postMessage({ kind: 'ask', id } satisfies ToWatcher<A>)
      this.#waiting.set(id, resolve)
    })
  }
}
