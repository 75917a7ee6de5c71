// Between a thread that serves requests and the one that writes: requests go up whole, responses come down, and the
// state of the seal is told by the writer and confirmed before it goes on. `S` is that state, opaque here.
import type { ByteStream } from '../api/request.ts'
import { nameOf } from '../core/cause-name.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'

/** As much of a message port as is needed. */
export type Port = {
  /** What is in `moved` is the other side's alone from then on. */
  postMessage(message: unknown, moved: ByteStream[]): void
  on(event: 'message' | 'close', listener: (message: unknown) => void): unknown
}

type Up =
  | { readonly kind: 'request'; readonly id: number; readonly request: WireRequest }
  | { readonly kind: 'ask'; readonly id: number; readonly mount: string; readonly question: unknown }
  | { readonly kind: 'confirmed'; readonly id: number }
type Down<S> =
  | { readonly kind: 'response'; readonly id: number; readonly response: WireResponse }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: unknown }
  /** The question had no answer. */
  | { readonly kind: 'unanswered'; readonly id: number }
  /** There is no response, or it or the answer cannot be sent to another thread: a defect, which `cause` names. */
  | { readonly kind: 'unsent'; readonly id: number; readonly cause: string }
  | { readonly kind: 'state'; readonly id: number; readonly state: S }

/** What a mount, by its UUID, answers to itself on a thread that serves. */
export type Answerer = (mount: string, question: unknown) => Promise<unknown>

/** Where no engine asks anything. */
export const answerNothing: Answerer = async () => {
  throw new Error('Nothing is answered here')
}

/** Requests that may wait for the writer at once; beyond it the caller is told to come back. */
const MAX_WAITING = 10_000

function streamsOf({ stream }: WireRequest | WireResponse): ByteStream[] {
  return stream === undefined ? [] : [stream]
}

export class WriterGone extends Error {
  override name = 'WriterGone'
}

/** Its name is all that the log shows of an error. */
class NoResponse extends Error {
  constructor(cause: string) {
    super('The writing thread gave no response')
    this.name = `NoResponse, for ${cause}`
  }
}

type Waiting<T> = { readonly resolve: (value: T) => void; readonly reject: (cause: Error) => void }

/** The end in a thread that serves. */
export class WriterLink<S> {
  readonly #port: Port
  readonly #waiting = new Map<number, Waiting<WireResponse>>()
  readonly #asking = new Map<number, Waiting<unknown>>()
  #lastId = 0
  #gone = false

  /** `apply` takes over a new state; the writer waits until it is done. */
  constructor(port: Port, apply: (state: S) => Promise<void>) {
    this.#port = port
    port.on('message', (received) => {
      const message = received as Down<S>
      if (message.kind === 'response') this.#answered(message.id, message.response)
      else if (message.kind === 'answer') this.#told(message.id, (asked) => asked.resolve(message.answer))
      else if (message.kind === 'unanswered')
        this.#told(message.id, (asked) => asked.reject(new WriterGone('The writing thread has no answer')))
      else if (message.kind === 'unsent') this.#unsent(message.id, message.cause)
      else if (message.kind === 'state') {
        const confirm = () => port.postMessage({ kind: 'confirmed', id: message.id } satisfies Up, [])
        apply(message.state).then(confirm, confirm)
      }
    })
    port.on('close', () => this.close())
  }

  #answered(id: number, response: WireResponse): void {
    this.#waiting.get(id)?.resolve(response)
    this.#waiting.delete(id)
  }

  #unsent(id: number, cause: string): void {
    for (const waiting of [this.#waiting, this.#asking]) {
      waiting.get(id)?.reject(new NoResponse(cause))
      waiting.delete(id)
    }
  }

  #told(id: number, tell: (asked: Waiting<unknown>) => void): void {
    const asked = this.#asking.get(id)
    this.#asking.delete(id)
    if (asked !== undefined) tell(asked)
  }

  /**
   * What the same mount answers there.
   * @throws WriterGone where it does not; another error where the question or its answer cannot be sent
   */
  ask(mount: string, question: unknown): Promise<unknown> {
    if (this.#gone || this.#asking.size >= MAX_WAITING)
      return Promise.reject(new WriterGone('The writing thread takes no questions'))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#port.postMessage({ kind: 'ask', id, mount, question } satisfies Up, [])
      this.#asking.set(id, { resolve, reject })
    })
  }

  /**
   * @throws WriterGone where the writer ended, or is overloaded: whether the request was carried out is not known;
   * another error where the request or its response is nothing that threads can send each other
   */
  forward(request: WireRequest): Promise<WireResponse> {
    if (this.#gone || this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new WriterGone('The writing thread takes no requests'))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      // Sent before it is noted: one that cannot be sent must not be waited for.
      this.#port.postMessage({ kind: 'request', id, request } satisfies Up, streamsOf(request))
      this.#waiting.set(id, { resolve, reject })
    })
  }

  /** The writer is no more: nobody waits for it in vain. */
  close(): void {
    this.#gone = true
    for (const waiting of [this.#waiting, this.#asking]) {
      for (const { reject } of waiting.values()) reject(new WriterGone('The writing thread ended'))
      waiting.clear()
    }
  }
}

/** The end in the thread that writes; one for each thread that serves. */
export class ServingLink<S> {
  readonly #port: Port
  readonly #confirmations = new Map<number, () => void>()
  #lastId = 0
  #closed = false

  constructor(port: Port, handle: (request: WireRequest) => Promise<WireResponse>, answer: Answerer = answerNothing) {
    this.#port = port
    port.on('message', (received) => {
      const message = received as Up
      if (message.kind === 'request') {
        const { id } = message
        const send = (response: WireResponse): void =>
          port.postMessage({ kind: 'response', id, response } satisfies Down<S>, streamsOf(response))
        // What nobody read of it is thrown away where it comes from; its way here would stay open.
        const drop = (): void => void message.request.stream?.cancel().catch(() => {})
        const fail = (cause: unknown): void =>
          port.postMessage({ kind: 'unsent', id, cause: nameOf(cause) } satisfies Down<S>, [])
        const handled = handle(message.request)
        handled.then(drop, drop)
        handled.then((response) => {
          try {
            send(response)
          } catch (cause) {
            // What it reads from would stay open.
            response.stream?.cancel().catch(() => {})
            fail(cause)
          }
        }, fail)
      } else if (message.kind === 'ask') {
        const { id } = message
        const tell = (down: Down<S>): void => port.postMessage(down, [])
        answer(message.mount, message.question).then(
          (answered) => {
            try {
              tell({ kind: 'answer', id, answer: answered })
            } catch (cause) {
              tell({ kind: 'unsent', id, cause: nameOf(cause) })
            }
          },
          () => tell({ kind: 'unanswered', id }),
        )
      } else if (message.kind === 'confirmed') {
        this.#confirmations.get(message.id)?.()
        this.#confirmations.delete(message.id)
      }
    })
    port.on('close', () => {
      this.#closed = true
      for (const confirm of this.#confirmations.values()) confirm()
      this.#confirmations.clear()
    })
  }

  /** The other thread is no more. */
  get closed(): boolean {
    return this.#closed
  }

  /** Resolves when the other thread has taken it over, or is no more. */
  tell(state: S): Promise<void> {
    if (this.#closed) return Promise.resolve()
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#port.postMessage({ kind: 'state', id, state } satisfies Down<S>, [])
      this.#confirmations.set(id, resolve)
    })
  }
}
