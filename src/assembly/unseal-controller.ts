// Opens and closes the whole server: its barrier, its caches, its other threads. Never two of these at once.

import { fail } from '../api/errors.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Log } from '../lib/log.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import { Sealed, type Store } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import type { KeyringRotation } from '../system/seal/keyring-rotation.ts'
import type { Seal } from '../system/seal/seal.ts'
import type { OpenedKeys } from '../system/seal/seal-records.ts'
import type { NodeGate } from './node-gate.ts'
import { beginWork, endWork, type OwnWork } from './own-work.ts'
import type { SealAnnouncer } from './seal-state.ts'

export type OpeningParts = {
  readonly seal: Seal
  /** Of this thread. */
  readonly gate: NodeGate
  readonly invalidation: Invalidation
  readonly store: Store
  readonly rotation: KeyringRotation
  /** What is begun when it is open, as far as the role of this node allows. */
  readonly work: readonly OwnWork[]
  readonly nodeRole: () => NodeRole
  /** What holds shares or keys while the server is open. */
  readonly attempts: readonly { forget(): void }[]
  readonly news: SealAnnouncer
  /** What forgets with the server what it holds of keys: the pool for slow work, devices. */
  readonly secretHolders: readonly { forget(): Promise<void> }[]
  readonly log: Log
}

export class UnsealController {
  readonly #parts: OpeningParts
  readonly #turns = new OneAtATime()

  constructor(parts: OpeningParts) {
    this.#parts = parts
  }

  /**
   * Takes one share; true with the last that is needed: the server opens. Undefined where it was open already.
   * @throws Refusal for a wrong combination
   */
  unseal(share: Buffer): Promise<boolean | undefined> {
    return this.exclusively(async () => {
      const wasSealed = this.#parts.seal.status().sealed
      const keys = await this.#give(share)
      if (keys !== undefined) await this.#open(keys)
      else await this.#parts.news.tell()
      return wasSealed ? keys !== undefined : undefined
    })
  }

  /** With the unseal key itself. @throws Refusal where it is another key */
  unsealWith(key: Buffer): Promise<void> {
    return this.exclusively(async () => this.#open(await this.#parts.seal.openWith(key)))
  }

  /** Forgets the shares given so far. */
  reset(): Promise<void> {
    return this.exclusively(async () => {
      this.#parts.seal.reset()
      await this.#parts.news.tell()
    })
  }

  close(): Promise<void> {
    return this.exclusively(() => this.#close())
  }

  /** With a seal that opens by itself. Logs why it does not; the server then stays sealed. @throws StorageError */
  openByItself(): Promise<void> {
    return this.exclusively(() => this.#openByItself())
  }

  /** After the initialisation, whose keys must reach the caller: whatever hinders it is told by the log alone. */
  openNew(): Promise<void> {
    return this.exclusively(() => this.#tryToOpen('new'))
  }

  /** While `work` runs, the server is neither opened nor closed by anybody else. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run(work)
  }

  /**
   * Lets `adopt` put another store in the place of this one, which every thread has let go of by then; open afterwards
   * where it opens by itself. `openings`: when what is adopted was checked (Seal.openings).
   * @throws Refusal where the server was sealed since; Sealed where it is
   */
  replaceStore(openings: number, adopt: () => Promise<void>): Promise<void> {
    const { seal, invalidation, news } = this.#parts
    return this.exclusively(async () => {
      if (seal.status().sealed) throw new Sealed('The server is sealed')
      if (seal.openings !== openings)
        throw fail('changed_meanwhile', ['The server was sealed while the snapshot was on its way: send it again'])
      await this.#close()
      try {
        await news.tellStore('detached')
        try {
          await adopt()
          await seal.load()
        } finally {
          invalidation.reset()
          await news.tellStore('attached')
        }
      } finally {
        // The store is another one by now, whatever hinders its opening: that is no failure of what made it so.
        await this.#tryToOpen('restored')
      }
    })
  }

  /** Before the store is closed: what is worth keeping is kept. */
  async rest(): Promise<void> {
    const { seal, rotation, log } = this.#parts
    if (seal.status().sealed) return
    try {
      await rotation.rest()
    } catch (cause) {
      // What is stored is larger than the truth, which is safe.
      log('warn', 'The use of the data key could not be stored', { cause: cause instanceof Error ? cause.name : '' })
    }
  }

  async #give(share: Buffer): Promise<OpenedKeys | undefined> {
    try {
      return await this.#parts.seal.give(share)
    } catch (cause) {
      // A wrong combination made it forget the shares before it, which the others show as progress.
      await this.#parts.news.tell()
      throw cause
    }
  }

  async #open({ keyring: stored, leafKey }: OpenedKeys): Promise<void> {
    const { store, rotation, gate, work, nodeRole, news } = this.#parts
    store.setLeafKey(leafKey)
    leafKey.fill(0)
    try {
      const keyring = await rotation.open(stored)
      await gate.open(keyring)
      await rotation.watch()
      await beginWork(work, nodeRole())
      await news.tell(keyring)
    } catch (cause) {
      await this.#forget()
      throw cause
    }
  }

  async #close(): Promise<void> {
    await this.rest()
    await this.#forget()
  }

  async #forget(): Promise<void> {
    const { attempts, rotation, seal, store, gate, work, news, secretHolders } = this.#parts
    for (const attempt of attempts) attempt.forget()
    rotation.close()
    endWork(work)
    // The others first: while they still hold keys, nothing may say that the server is sealed.
    seal.close()
    await news.tell()
    store.setLeafKey(undefined)
    gate.close()
    await Promise.all(secretHolders.map((one) => one.forget()))
  }

  async #openByItself(): Promise<void> {
    try {
      const keys = await this.#parts.seal.openByItself()
      if (keys !== undefined) await this.#open(keys)
    } catch (cause) {
      if (!(cause instanceof AutoSealFailed)) throw cause
      this.#parts.log('error', `The server stays sealed. ${cause.message}`)
    }
  }

  async #tryToOpen(what: 'new' | 'restored'): Promise<void> {
    try {
      await this.#openByItself()
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : 'unknown'
      this.#parts.log('error', `The server stays sealed: the ${what} store does not open`, { cause: message })
    }
  }
}
