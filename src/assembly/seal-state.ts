// What the threads that serve are told of the seal by the one that writes.
import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'
import type { Keyring } from '../storage/keyring.ts'
import type { Seal, SealStatus } from '../system/seal/seal.ts'

/** The keyring comes with the news that the server opened. */
export type SealState = {
  readonly status: SealStatus
  readonly keyring: Keyring | undefined
  /** 'detached': nobody may have the store open now. 'attached': it may be opened, another one than before perhaps. */
  readonly store?: 'detached' | 'attached'
}

export class SealAnnouncer {
  readonly #seal: Pick<Seal, 'status'>
  readonly #announce: (news: SealState) => Promise<void>
  readonly #log: Log

  /** `announce` resolves when every thread that serves has taken it over. */
  constructor(seal: Pick<Seal, 'status'>, announce: (news: SealState) => Promise<void>, log: Log) {
    this.#seal = seal
    this.#announce = announce
    this.#log = log
  }

  /** How it is now; with the keyring where it is open. */
  tell(keyring?: Keyring): Promise<void> {
    const status = this.#seal.status()
    return this.#announce({ status, keyring: status.sealed ? undefined : keyring })
  }

  /** The same where what was done stays done, whoever could not be told: they hear it with the next news. */
  async tellDone(): Promise<void> {
    try {
      await this.tell()
    } catch (cause) {
      this.#log('error', 'Not all threads could be told of the seal', { cause: describeCause(cause) })
    }
  }

  /** Only while the server is sealed. */
  tellStore(store: 'detached' | 'attached'): Promise<void> {
    return this.#announce({ status: this.#seal.status(), keyring: undefined, store })
  }
}
