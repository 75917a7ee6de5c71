// Applies the states that the writing thread sends: a serving thread opens its store and takes its keys when told, and
// gives up both when told. One state is applied after another. So the writer hears of a closed store after the closing.
import type { NodeGate } from '../assembly/node-gate.ts'
import type { SealState } from '../assembly/seal-state.ts'
import type { ReadStore } from '../storage/contract.ts'
import type { ReplaceableReader } from '../storage/replaceable-store.ts'

/** The parts that the writer's states act on. */
export type ServingStateParts = {
  readonly store: ReplaceableReader
  readonly gate: Pick<NodeGate, 'open' | 'close'>
  /** Opens the store that is there now. */
  readonly openStore: () => Promise<ReadStore>
  /** Called when the first store is open, or another one than before. */
  readonly onStore: () => Promise<void>
  /** Called when the store cannot be opened again: the thread is then of no use. */
  readonly onLost: (cause: unknown) => void
}

/** Applies the states that the writer sends. */
export class ServingState {
  readonly #parts: ServingStateParts
  readonly #ready = Promise.withResolvers<void>()
  #isReady = false
  #last: Promise<void> = Promise.resolve()

  constructor(parts: ServingStateParts) {
    this.#parts = parts
  }

  /**
   * Resolves when there is a store and it is known whether the server is sealed. A thread that starts while the store
   * is being replaced waits here. Rejects if the first store does not open.
   */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /**
   * Resolves when the state is taken over. A state that fails leaves this thread sealed; the next one is tried all the
   * same.
   */
  take(state: SealState): Promise<void> {
    const taken = this.#last.then(() => this.#apply(state))
    this.#last = taken.catch(() => {})
    return taken
  }

  /** The store comes first, since the gate reads from it. A state without a keyring leaves an open gate as it is. */
  async #apply({ store, status, keyring }: SealState): Promise<void> {
    if (store !== undefined) await this.#parts.store.putAway()
    try {
      if (store === 'attached') await this.#openStore()
      if (status.sealed) this.#parts.gate.close()
      else if (keyring !== undefined) await this.#parts.gate.open(keyring)
    } catch (cause) {
      if (!this.#isReady) this.#ready.reject(cause)
      throw cause
    }
    if (store !== 'attached') return
    this.#isReady = true
    this.#ready.resolve()
  }

  async #openStore(): Promise<void> {
    const { store, openStore, onStore, onLost } = this.#parts
    try {
      store.putBack(await openStore())
      await onStore()
    } catch (cause) {
      if (this.#isReady) onLost(cause)
      throw cause
    }
  }
}
