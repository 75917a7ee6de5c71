// In the thread that writes: all threads that serve. Each hears the state as it is when it joins, and from then on
// every change; `S` is that state, opaque here.
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import { type Answerer, answerNothing, type Port, ServingLink } from './writer-link.ts'

export class ServingLinks<S> {
  readonly #links = new Set<ServingLink<S>>()
  readonly #handle: (request: WireRequest) => Promise<WireResponse>
  readonly #current: () => S
  readonly #answer: Answerer

  /** `current` gives what a thread that joins has to know, `answer` what its engines ask. */
  constructor(
    handle: (request: WireRequest) => Promise<WireResponse>,
    current: () => S,
    answer: Answerer = answerNothing,
  ) {
    this.#handle = handle
    this.#current = current
    this.#answer = answer
  }

  add(port: Port): void {
    const link = new ServingLink<S>(port, this.#handle, this.#answer)
    this.#links.add(link)
    port.on('close', () => this.#links.delete(link))
    void link.tell(this.#current())
  }

  /** Resolves when every thread has taken it over, or is no more; those that join meanwhile hear `current`. */
  async tell(state: S): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.tell(state)))
  }
}
