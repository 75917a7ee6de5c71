// Opens and closes the whole server: its barrier, its caches, its other threads; and changes what it is among others.
// Only one such change runs at a time.
import type { KeyObject } from 'node:crypto'
import { fail, type Refusal } from '../api/errors.ts'
import { type RoleState, servesClients } from '../api/node-role.ts'
import { describeCause } from '../core/describe-cause.ts'
import type { Log } from '../lib/log.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import { oneByOne } from '../lib/one-by-one.ts'
import type { Timer, Timers } from '../lib/world.ts'
import type { Store } from '../storage/contract.ts'
import { Sealed } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { Keyring } from '../storage/keyring.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import type { KeyringRotation } from '../system/seal/keyring-rotation.ts'
import type { Seal } from '../system/seal/seal.ts'
import type { OpenedKeys } from '../system/seal/seal-records.ts'
import { type NewKeys, openedByEither, type ReplaceData } from './activation.ts'
import type { NodeGate } from './node-gate.ts'
import type { RunningWork } from './own-work.ts'
import type { RoleHolder } from './role-holder.ts'
import type { SealAnnouncer } from './seal-state.ts'

/** The parts that open and close with the server. */
export type OpeningParts = {
  readonly seal: Seal
  /** The gate of this thread; other threads have their own, and are told. */
  readonly gate: NodeGate
  readonly invalidation: Invalidation
  readonly store: Store
  readonly rotation: KeyringRotation
  /** What the node does by itself while it is open, as far as its role allows. */
  readonly work: RunningWork
  readonly role: RoleHolder
  /** The role that the store says under the keyring; undefined: it says none, and the node keeps what it has. */
  readonly readRole: (keyring: Keyring) => Promise<RoleState | undefined>
  /** Operations that hold shares or keys between requests; they forget them at seal. */
  readonly attempts: readonly { forget(): void }[]
  readonly news: SealAnnouncer
  /** Holders of keys outside this thread, which must let go of them at seal: the pool for slow work, devices. */
  readonly secretHolders: readonly { forget(): Promise<void> }[]
  readonly timers: Timers
  readonly log: Log
}

/** When a role is tried again that could not be taken for want of what is vital. */
const RETRY_MS = 5_000

/** What a restore ends with if the server was sealed since its snapshot began to come. */
export const sealedMeanwhile = (): Refusal =>
  fail('changed_meanwhile', ['The server was sealed while the snapshot was on its way: send it again'])

/** Runs on the writing thread. Its public methods wait for each other, except `rest`. */
export class UnsealController {
  readonly #parts: OpeningParts
  readonly #changes = new OneAtATime()
  #retry: Timer | undefined

  constructor(parts: OpeningParts) {
    this.#parts = parts
  }

  /**
   * Takes one share. Resolves with true if it was the last one needed and the server is open now, with false if more
   * are needed. Undefined if the server was open before.
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

  /** Unseals with the unseal key itself. @throws Refusal for a wrong key */
  unsealWith(key: Buffer): Promise<void> {
    return this.exclusively(async () => this.#open(await this.#parts.seal.openWith(key)))
  }

  /** Unseals with the root key itself. @throws Refusal for a wrong key */
  unsealWithRoot(rootKey: Buffer): Promise<void> {
    return this.exclusively(async () => this.#open(await this.#parts.seal.unsealWithRoot(rootKey)))
  }

  /** Drops the shares given so far. */
  reset(): Promise<void> {
    return this.exclusively(async () => {
      this.#parts.seal.reset()
      await this.#parts.news.tell()
    })
  }

  /** Seals the server. Resolves when no thread holds a key any more. */
  close(): Promise<void> {
    return this.exclusively(() => this.#close())
  }

  /**
   * Unseals with a seal that can do so by itself. A failure of the seal is logged, and the server stays sealed.
   * @throws StorageError
   */
  openByItself(): Promise<void> {
    return this.exclusively(() => this.#openByItself())
  }

  /**
   * Unseals after the initialisation. Never rejects, since the caller must get the new keys: a failure is only logged.
   */
  openNew(): Promise<void> {
    return this.exclusively(() => this.#tryToOpen('new'))
  }

  /**
   * Makes the node another one among others, open or sealed. What it may no longer do by itself ends before the gate of
   * the store closes. What it may do begins once all threads know, except the lines 'before serving', which end before
   * that. Resolves then. Other work of an open server goes on.
   * @throws what the first work that cannot begin throws. The role is changed all the same, all other work has begun,
   *   and the next call begins that one again. But a node that served no clients goes on so without what is vital, and
   *   tries again by itself.
   */
  changeRole(to: RoleState): Promise<void> {
    return this.exclusively(async () => {
      const { role, work, news, seal } = this.#parts
      this.#retry?.cancel()
      work.keepTo(to.role)
      if (!seal.status().sealed) return this.#beginMore(() => this.#takeRole(to))
      await role.take(to)
      await news.tell()
    })
  }

  /** Takes the role, and begins its work 'before serving': first, if this node served no clients yet and now will. */
  async #takeRole(to: RoleState): Promise<void> {
    const { role, work } = this.#parts
    const begin = (): Promise<void> => work.begin(to.role, 'before serving')
    if (servesClients(role.role) || !servesClients(to.role)) {
      await role.take(to)
      return begin()
    }
    await role.open(to.role)
    try {
      await begin()
    } finally {
      await role.take(work.lacksVital ? role.state : to)
      if (work.lacksVital) this.#retry = this.#parts.timers.after(RETRY_MS, () => void this.#changeRoleAgain(to))
    }
  }

  /** Never rejects: a failure is logged, and followed by the next try. */
  async #changeRoleAgain(to: RoleState): Promise<void> {
    try {
      await this.changeRole(to)
    } catch (cause) {
      this.#parts.log(
        'error',
        'This cluster serves no clients yet: what must be done before fails, and is tried again',
        {
          cause: describeCause(cause),
        },
      )
    }
  }

  /** Begins what waits for a data key, now that there is another one. Never rejects: a failure is logged. */
  async newTerm(): Promise<void> {
    const { work, role, seal, log } = this.#parts
    try {
      await this.exclusively(async () => {
        if (!seal.status().sealed && work.isWaiting)
          await this.#beginMore(() => work.begin(role.role, 'before serving'))
      })
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : 'unknown'
      log('warn', 'Work of the server that waited for a data key could not begin', { cause: message })
    }
  }

  /**
   * Begins what an open node does not do yet, in its role and under its present data key. `first` is what must end
   * before it serves.
   */
  #beginMore(first: () => Promise<void>): Promise<void> {
    const { role, work, news, gate, rotation } = this.#parts
    return oneByOne([
      first,
      // With the keyring the gates take over the key of tokens that a node may lack until now.
      () => (rotation.keyring === undefined ? undefined : gate.open(rotation.keyring)),
      () => news.tell(rotation.keyring),
      () => work.begin(role.role),
    ])
  }

  /** Runs `work` while the server is neither opened nor closed by anyone else. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return this.#changes.run(work)
  }

  /**
   * Seals the server, and lets `adopt` put another store in the place of the present one. Then unseals, if the seal can
   * do so by itself. `openings` is the value of `Seal.openings` when the other store was checked. `requireFit` throws
   * if that store does not fit any more. It runs on the open server, and again behind the last write that could change
   * that. If it throws then, the server is opened again.
   * @throws Refusal if the server was sealed since then; Sealed if it is sealed now; what `requireFit` throws
   */
  replaceStore(openings: number, requireFit: () => Promise<void>, adopt: () => Promise<void>): Promise<void> {
    const { seal, store, invalidation, news } = this.#parts
    return this.exclusively(async () => {
      if (seal.status().sealed) throw new Sealed('The server is sealed')
      if (seal.openings !== openings) throw sealedMeanwhile()
      await requireFit()
      const former = seal.rootKey
      await this.#close()
      try {
        await store.keysReplaced('refused')
        await requireFit()
      } catch (cause) {
        await this.#tryToOpenAgain(former)
        throw cause
      }
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
        // The store has been replaced by now. A failure to unseal it is not a failure of the restore.
        await this.#tryToOpen('restored')
      }
    })
  }

  /**
   * Puts the keys of a primary in the place of this cluster's own, while `replace` does that with the data. The server
   * is open afterwards without a share being given: under the new keys, or under the former ones if it failed.
   * @throws what `prepare` and `replace` throw or, and the server is then sealed, what opening throws
   */
  replaceKeys(prepare: () => NewKeys, replace: ReplaceData): Promise<void> {
    const { seal } = this.#parts
    return this.exclusively(async () => {
      const former = seal.rootKey
      const keys = prepare()
      try {
        await this.#close()
        await this.#replaced(keys, replace)
      } finally {
        keys.leafKey.fill(0)
        await this.#open(await openedByEither(seal, keys.rootKey, former))
      }
    })
  }

  async #replaced({ leafKey, prepare, write }: NewKeys, replace: ReplaceData): Promise<void> {
    const { seal, store, invalidation, news } = this.#parts
    await news.tellStore('detached')
    try {
      try {
        // Also if the keys of the leaves are the same: the data keys are not.
        await store.keysReplaced('refused')
        prepare()
        await replace(write, leafKey)
      } finally {
        store.setLeafKey(undefined)
        await seal.load()
      }
    } finally {
      invalidation.reset()
      await news.tellStore('attached')
    }
  }

  /** Called before the store is closed: stores the count of uses of the data key, which is otherwise in memory only. */
  async rest(): Promise<void> {
    const { seal, rotation, log } = this.#parts
    if (seal.status().sealed) return
    try {
      await rotation.rest()
    } catch (cause) {
      // The stored count is above the true one, which is safe: the key is rotated earlier.
      log('warn', 'The usage count of the data key could not be stored', {
        cause: cause instanceof Error ? cause.name : '',
      })
    }
  }

  async #give(share: Buffer): Promise<OpenedKeys | undefined> {
    try {
      return await this.#parts.seal.give(share)
    } catch (cause) {
      // A wrong combination dropped the earlier shares; other threads show them as progress.
      await this.#parts.news.tell()
      throw cause
    }
  }

  /**
   * Opens everything in this order: the key of the tree, the role, the data keys, own work 'before serving', caches and
   * audit, other own work. Other threads come last, so that they serve only what is complete. After a failure all is
   * closed again.
   */
  async #open({ keyring: stored, leafKey }: OpenedKeys): Promise<void> {
    const { store, rotation, gate, work, news, readRole } = this.#parts
    store.setLeafKey(leafKey)
    leafKey.fill(0)
    try {
      // First: what the node may do, and whether it may add a term, depends on it.
      const state = await readRole(stored)
      if (state !== undefined) await this.#parts.role.take(state)
      const { role } = this.#parts.role
      const keyring = await rotation.open(stored)
      await gate.open(keyring, () => work.begin(role, 'before serving'))
      await work.begin(role)
      // Not the one of the beginning: the work that began may have added a term.
      await news.tell(rotation.keyring)
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
    const { attempts, seal, store, gate, work, news, secretHolders } = this.#parts
    for (const attempt of attempts) attempt.forget()
    this.#retry?.cancel()
    work.end()
    // Other threads close first: while they hold keys, none may say that the server is sealed.
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

  /** Why the server was closed for nothing is what the caller is told. */
  async #tryToOpenAgain(rootKey: KeyObject): Promise<void> {
    const { seal, log } = this.#parts
    try {
      await this.#open(await openedByEither(seal, rootKey, rootKey))
    } catch (cause) {
      log('error', 'The server stays sealed: it could not be opened again', { cause: describeCause(cause) })
    }
  }

  async #tryToOpen(what: 'new' | 'restored'): Promise<void> {
    try {
      await this.#openByItself()
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : 'unknown'
      this.#parts.log('error', `The server stays sealed: the ${what} store could not be opened`, { cause: message })
    }
  }
}
