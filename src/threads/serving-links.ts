// In the thread that writes: all threads that serve. Each hears the state as it is when it joins, and from then on
// every change; `S` is that state, opaque here.
import type { Port } from '../rpc/ports.ts'
import { ServingLink, type WriterService } from './writer-link.ts'

export class ServingLinks<S> {
  readonly #links = new Set<ServingLink<S>>()
  readonly #service: WriterService
  readonly #current: () => S

  /** `current` gives what a thread that joins has to know. */
  constructor(service: WriterService, current: () => S) {
    this.#service = service
    this.#current = current
  }

  add(port: Port): void {
    const link = new ServingLink<S>(port, this.#service)
    this.#links.add(link)
    port.on('close', () => this.#links.delete(link))
    void link.tell(this.#current())
  }

  /** Resolves when every thread has taken it over, or is no more; those that join meanwhile hear `current`. */
  async tell(state: S): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.tell(state)))
  }
}
