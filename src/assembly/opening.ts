// Opens and closes the whole server: its barrier, its caches, its other threads. Never two of these at once.

import { fail } from '../api/errors.ts'
import { addMissingIndexes } from '../auth/token-indexes.ts'
import { nameOf } from '../core/cause-name.ts'
import type { Log } from '../lib/log.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import { Sealed, StorageFull, type Store } from '../storage/contract.ts'
import type { Keyring } from '../storage/keyring.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import type { KeyringRotation } from '../system/seal/keyring-rotation.ts'
import type { Seal, SealStatus } from '../system/seal/seal.ts'
import type { OpenedKeys } from '../system/seal/seal-records.ts'
import { VERSION } from '../version.ts'
import type { House } from './house.ts'

/** What the other threads are told; the keyring comes with the news that the server opened. */
export type SealNews = {
  readonly status: SealStatus
  readonly keyring: Keyring | undefined
  /** 'away': nobody may have the store open now. 'here': it may be opened, another one than before perhaps. */
  readonly store?: 'away' | 'here'
}

export type OpeningParts = {
  readonly seal: Seal
  readonly house: House
  readonly store: Store
  readonly rotation: KeyringRotation
  /** What holds shares or keys while the server is open. */
  readonly attempts: readonly { forget(): void }[]
  /** Resolves when every thread that serves has taken it over. */
  readonly announce: (news: SealNews) => Promise<void>
  /** What forgets with the server what it holds of keys: the pool for slow work, devices. */
  readonly forgetful: readonly { forget(): Promise<void> }[]
  readonly log: Log
}

export class Opening {
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
      else await this.announce()
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
      await this.announce()
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
  exchange(openings: number, adopt: () => Promise<void>): Promise<void> {
    const { seal, house, announce } = this.#parts
    return this.exclusively(async () => {
      if (seal.status().sealed) throw new Sealed('The server is sealed')
      if (seal.openings !== openings)
        throw fail('changed_meanwhile', ['The server was sealed while the snapshot was on its way: send it again'])
      await this.#close()
      try {
        await announce({ status: seal.status(), keyring: undefined, store: 'away' })
        try {
          await adopt()
          await seal.load()
        } finally {
          house.invalidation.reset()
          await announce({ status: seal.status(), keyring: undefined, store: 'here' })
        }
      } finally {
        // The store is another one by now, whatever hinders its opening: that is no failure of what made it so.
        await this.#tryToOpen('restored')
      }
    })
  }

  /** Tells the other threads how it is; with the keyring where it is open. */
  announce(keyring?: Keyring): Promise<void> {
    const status = this.#parts.seal.status()
    return this.#parts.announce({ status, keyring: status.sealed ? undefined : keyring })
  }

  /** The same where what was done stays done, whoever could not be told: they hear it with the next news. */
  async announceDone(): Promise<void> {
    try {
      await this.announce()
    } catch (cause) {
      this.#parts.log('error', 'Not all threads could be told of the seal', { cause: nameOf(cause) })
    }
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
      await this.announce()
      throw cause
    }
  }

  async #open({ keyring: stored, leafKey }: OpenedKeys): Promise<void> {
    const { store, rotation, house } = this.#parts
    store.setLeafKey(leafKey)
    leafKey.fill(0)
    try {
      const keyring = await rotation.open(stored)
      await house.open(keyring)
      await rotation.watch()
      await house.mounts.addMissing()
      await house.mounts.finishUnmounts()
      await addMissingIndexes(house.tokens.view)
      await this.#noteVersion()
      await house.wrappingJwt.addKey()
      house.expiry.start()
      house.policySweep.start()
      house.upkeep.start()
      house.mounts.start()
      await this.announce(keyring)
    } catch (cause) {
      await this.#forget()
      throw cause
    }
  }

  /** A full disk is no reason to stay sealed: the next opening notes it. */
  async #noteVersion(): Promise<void> {
    const { house, log } = this.#parts
    try {
      await house.services.versions.note(VERSION)
    } catch (cause) {
      if (!(cause instanceof StorageFull)) throw cause
      log('warn', 'The version of this program could not be noted: the storage device is full')
    }
  }

  async #close(): Promise<void> {
    await this.rest()
    await this.#forget()
  }

  async #forget(): Promise<void> {
    const { attempts, rotation, seal, store, house, forgetful } = this.#parts
    for (const attempt of attempts) attempt.forget()
    rotation.close()
    house.expiry.stop()
    house.policySweep.stop()
    house.upkeep.stop()
    // The others first: while they still hold keys, nothing may say that the server is sealed.
    seal.close()
    await this.announce()
    store.setLeafKey(undefined)
    house.close()
    await Promise.all(forgetful.map((one) => one.forget()))
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
