// Between a thread that serves requests and the one that writes: requests go up whole, responses come down, and the
// state of the seal is told by the writer and confirmed before it goes on. `S` is that state, opaque here.
import type { WireRequest, WireResponse } from '../core/exchange.ts'

/** As much of a message port as is needed. */
export type Port = {
  postMessage(message: unknown): void
  on(event: 'message' | 'close', listener: (message: unknown) => void): unknown
}

type Up =
  | { readonly kind: 'request'; readonly id: number; readonly request: WireRequest }
  | { readonly kind: 'confirmed'; readonly id: number }
type Down<S> =
  | { readonly kind: 'response'; readonly id: number; readonly response: WireResponse }
  | { readonly kind: 'state'; readonly id: number; readonly state: S }

/** Requests that may wait for the writer at once; beyond it the caller is told to come back. */
const MAX_WAITING = 10_000

export class WriterGone extends Error {
  override name = 'WriterGone'
}

/** The end in a thread that serves. */
export class WriterLink<S> {
  readonly #port: Port
  readonly #waiting = new Map<number, { resolve: (response: WireResponse) => void; reject: (cause: Error) => void }>()
  #lastId = 0
  #gone = false

  /** `apply` takes over a new state; the writer waits until it is done. */
  constructor(port: Port, apply: (state: S) => Promise<void>) {
    this.#port = port
    port.on('message', (received) => {
      const message = received as Down<S>
      if (message.kind === 'response') this.#answered(message.id, message.response)
      else if (message.kind === 'state') {
        const confirm = () => port.postMessage({ kind: 'confirmed', id: message.id } satisfies Up)
        apply(message.state).then(confirm, confirm)
      }
    })
    port.on('close', () => this.close())
  }

  #answered(id: number, response: WireResponse): void {
    this.#waiting.get(id)?.resolve(response)
    this.#waiting.delete(id)
  }

  /** @throws WriterGone where the writer ended, or is overloaded: whether the request was carried out is not known */
  forward(request: WireRequest): Promise<WireResponse> {
    if (this.#gone || this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new WriterGone('The writing thread takes no requests'))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#port.postMessage({ kind: 'request', id, request } satisfies Up)
    })
  }

  /** The writer is no more: nobody waits for it in vain. */
  close(): void {
    this.#gone = true
    for (const { reject } of this.#waiting.values()) reject(new WriterGone('The writing thread ended'))
    this.#waiting.clear()
  }
}

/** The end in the thread that writes; one for each thread that serves. */
export class ServingLink<S> {
  readonly #port: Port
  readonly #confirmations = new Map<number, () => void>()
  #lastId = 0
  #closed = false

  constructor(port: Port, handle: (request: WireRequest) => Promise<WireResponse>) {
    this.#port = port
    port.on('message', (received) => {
      const message = received as Up
      if (message.kind === 'request') {
        void handle(message.request).then((response) => {
          port.postMessage({ kind: 'response', id: message.id, response } satisfies Down<S>)
        })
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
      this.#confirmations.set(id, resolve)
      this.#port.postMessage({ kind: 'state', id, state } satisfies Down<S>)
    })
  }
}
