// The state of the seal and the role of the node, which the writing thread sends to the serving threads.
import { FOLLOWS_NONE, type RoleState } from '../api/node-role.ts'
import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'
import type { Keyring } from '../storage/keyring.ts'
import type { Seal, SealStatus } from '../system/seal/seal.ts'

/** A state that a serving thread applies. It has a keyring if the thread does not have the newest one yet. */
export type SealState = {
  readonly status: SealStatus
  /** The role comes with each state: so no thread serves after an unseal in a role of before. */
  readonly role: RoleState
  readonly keyring: Keyring | undefined
  /**
   * 'detached': every serving thread must close the store. 'attached': it may open it again, and it may be another one.
   */
  readonly store?: 'detached' | 'attached'
}

/** The role in a thread that was told none yet; it serves nothing before. */
export const UNTOLD_ROLE: RoleState = FOLLOWS_NONE

/** Sends the present state to all serving threads. */
export class SealAnnouncer {
  readonly #seal: Pick<Seal, 'status'>
  readonly #role: { readonly state: RoleState }
  readonly #announce: (news: SealState) => Promise<void>
  readonly #log: Log

  /** `announce` sends a state. It resolves when every serving thread has applied it, failed to, or ended. */
  constructor(
    { seal, role }: { readonly seal: Pick<Seal, 'status'>; readonly role: { readonly state: RoleState } },
    announce: (news: SealState) => Promise<void>,
    log: Log,
  ) {
    this.#seal = seal
    this.#role = role
    this.#announce = announce
    this.#log = log
  }

  /**
   * Sends the present status. `keyring` is sent only while the server is unsealed; without one the threads keep theirs.
   */
  tell(keyring?: Keyring): Promise<void> {
    const status = this.#seal.status()
    return this.#announce({ status, role: this.#role.state, keyring: status.sealed ? undefined : keyring })
  }

  /**
   * Like `tell`, but logs a failure: the change has been made. A thread that was not told gets it with the next state.
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

  /** Makes the threads close the store, or open it again. Call it only while the server is sealed. */
  tellStore(store: 'detached' | 'attached'): Promise<void> {
    return this.#announce({ status: this.#seal.status(), role: this.#role.state, keyring: undefined, store })
  }
}
