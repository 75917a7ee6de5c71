// In the writing thread: its links to all serving threads. Each hears the state of the seal when it joins, and every
// change after that. `S` is that state, opaque here.
import type { Port } from '../rpc/ports.ts'
import { ServingLink, type WriterService } from './writer-link.ts'

/** The serving threads that are alive, as the writing thread reaches them. */
export class ServingLinks<S> {
  readonly #links = new Set<ServingLink<S>>()
  readonly #service: WriterService
  readonly #current: () => S

  /** `current` returns what a thread that joins has to know. */
  constructor(service: WriterService, current: () => S) {
    this.#service = service
    this.#current = current
  }

  /** Adds a thread and tells it the current state. It is dropped when its port closes. */
  add(port: Port): void {
    const link = new ServingLink<S>(port, this.#service)
    this.#links.add(link)
    port.on('close', () => this.#links.delete(link))
    void link.tell(this.#current())
  }

  /**
   * Resolves when every thread has taken over the state, has failed to, or has ended. A thread that joins meanwhile
   * hears `current`.
   */
  async tell(state: S): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.tell(state)))
  }
}
