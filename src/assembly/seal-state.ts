// The state of the seal, as the writing thread tells it to the serving threads.
import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'
import type { Keyring } from '../storage/keyring.ts'
import type { Seal, SealStatus } from '../system/seal/seal.ts'

/** A state to take over. The keyring comes along when the server opens, or when its keys change. */
export type SealState = {
  readonly status: SealStatus
  readonly keyring: Keyring | undefined
  /**
   * 'detached': no thread may have the store open now. 'attached': it may be opened again, and may be another store.
   */
  readonly store?: 'detached' | 'attached'
}

/** Tells all serving threads, through one function. */
export class SealAnnouncer {
  readonly #seal: Pick<Seal, 'status'>
  readonly #announce: (news: SealState) => Promise<void>
  readonly #log: Log

  /** `announce` resolves when every serving thread has taken over the state. */
  constructor(seal: Pick<Seal, 'status'>, announce: (news: SealState) => Promise<void>, log: Log) {
    this.#seal = seal
    this.#announce = announce
    this.#log = log
  }

  /**
   * Tells the present status. `keyring` goes along if the server is open; without it the threads keep the one they
   * have.
   */
  tell(keyring?: Keyring): Promise<void> {
    const status = this.#seal.status()
    return this.#announce({ status, keyring: status.sealed ? undefined : keyring })
  }

  /**
   * Like `tell`, after a change that stands even if some thread cannot be told: such a thread hears it with the next
   * state.
   */
  async tellDone(): Promise<void> {
    try {
      await this.tell()
    } catch (cause) {
      this.#log('error', 'Some threads could not be notified that the seal status changed', {
        cause: describeCause(cause),
      })
    }
  }

  /** Has the threads close the store, or open it again. Only while the server is sealed. */
  tellStore(store: 'detached' | 'attached'): Promise<void> {
    return this.#announce({ status: this.#seal.status(), keyring: undefined, store })
  }
}
