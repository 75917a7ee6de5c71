// The state between a locked store and an open one. Shares rebuild the unseal key, or a seal that opens by itself has
// it; it opens the root key, which opens the keyring; with the keyring the barrier is open.

import type { KeyObject } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { exportSecret, importSecret } from '../../crypto/primitives/secret-key.ts'
import type { World } from '../../lib/world.ts'
import { openRecord } from '../../storage/barrier.ts'
import { type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import { WrongCombination } from './attempt-limits.ts'
import { type AutoSeal, AutoSealFailed } from './auto-seal.ts'
import { combineKey, SHARED_KEY_BYTES, type ShareConfig, wipeAll } from './key-shares.ts'
import { decodeSealConfig, encodeSealConfig, SEAL_CONFIG, type SealConfig } from './seal-config.ts'
import { type AlsoWrites, createSeal } from './seal-creation.ts'
import {
  type Cluster,
  type OpenedKeys,
  openRootKey,
  putRecord,
  RECOVERY_KEY,
  ROOT_KEY,
  readRecord,
  unsealStore,
} from './seal-records.ts'
import { ShareCollector } from './share-attempt.ts'

/** What every thread may show of the seal; the writer tells the others when it changes. */
export type SealStatus = {
  readonly type: 'shamir' | 'static'
  readonly initialized: boolean
  readonly sealed: boolean
  readonly threshold: number
  readonly shares: number
  readonly progress: number
  readonly nonce: string
  readonly cluster: Cluster | undefined
}

/** Keeps the unseal key where the server finds it when it starts: for a server that protects nothing. */
export type KeyKeeper = {
  /** Before another key takes effect: from then on either may be the one that opens. */
  readonly prepare: (key: Buffer) => void
  /** What was prepared opens, and nothing else does. */
  readonly settle: () => void
  /** This key opened what is stored: another one than is kept where the store was restored. */
  readonly opened: (key: Buffer) => void
}

export class Seal {
  readonly #store: Store
  readonly #world: World
  readonly #auto: AutoSeal | undefined
  readonly #keeper: KeyKeeper | undefined
  readonly #given = new ShareCollector()
  #config: SealConfig | undefined
  #cluster: Cluster | undefined
  #rootKey: KeyObject | undefined
  #nonce = ''
  #initialising = false
  #openings = 0

  constructor(store: Store, world: World, auto: AutoSeal | undefined, keeper?: KeyKeeper) {
    this.#store = store
    this.#world = world
    this.#auto = auto
    this.#keeper = keeper
  }

  /** Reads what is needed to show the status; call once at start. @throws AutoSealFailed for another kind of seal */
  async load(): Promise<void> {
    const bytes = await this.#store.get(SEAL_CONFIG)
    this.#config = bytes === undefined ? undefined : decodeSealConfig(bytes)
    if (this.#config !== undefined) this.requireFitting(this.#config)
  }

  /** @throws AutoSealFailed for a store that another kind of seal opens */
  requireFitting({ keyId }: SealConfig): void {
    if ((keyId === undefined) === (this.#auto === undefined)) return
    throw new AutoSealFailed(
      this.#auto === undefined
        ? 'This store is opened by a static key, so the configuration needs its seal "static"'
        : 'This store is opened by shares, so the configuration must not have a seal "static"',
    )
  }

  status(): SealStatus {
    return {
      type: this.#auto?.type ?? 'shamir',
      initialized: this.#config !== undefined,
      sealed: this.#cluster === undefined,
      threshold: this.#config?.threshold ?? 0,
      shares: this.#config?.shares ?? 0,
      progress: this.#given.count,
      nonce: this.#nonce,
      cluster: this.#cluster,
    }
  }

  /** Whether the shares are those of a recovery key, which opens nothing. */
  get hasRecoveryKey(): boolean {
    return this.#auto !== undefined
  }

  /** Another number each time that it opens: tells who began something before whether it was sealed meanwhile. */
  get openings(): number {
    return this.#openings
  }

  /** While open. */
  get rootKey(): KeyObject {
    if (this.#rootKey === undefined) throw fail('sealed', [])
    return this.#rootKey
  }

  /** Of the shares that there are; once initialised. */
  get shareConfig(): ShareConfig {
    if (this.#config === undefined) throw fail('not_initialized', [])
    return this.#config
  }

  /** @throws Refusal where the keys were made already, or are being made */
  requireUninitialised(): void {
    if (this.#config !== undefined) throw fail('seal_state_wrong', ['Vault is already initialized']) // Wire text.
    if (this.#initialising) throw fail('already_in_progress', ['The initialisation is under way'])
  }

  /**
   * Makes all keys and stores them, with what `also` writes, in one transaction; the server is sealed afterwards.
   * The shares are for the caller alone: they are stored nowhere.
   */
  async initialise(shareConfig: ShareConfig, clusterName: string, also: AlsoWrites): Promise<readonly Buffer[]> {
    this.requireUninitialised()
    this.#initialising = true
    try {
      const keyId = this.#auto?.keyId
      const auto = keyId === undefined ? undefined : { keyId, key: this.autoKey(keyId) }
      const { config, shares } = await createSeal(this.#store, this.#world, { shareConfig, clusterName, auto, also })
      this.#config = config
      return shares
    } finally {
      this.#initialising = false
    }
  }

  /** Takes one share. Undefined until enough are there; a wrong combination is refused and forgets them all. */
  async give(share: Buffer): Promise<OpenedKeys | undefined> {
    const config = this.#config
    if (config === undefined) throw fail('seal_state_wrong', ['Vault is not initialized'])
    if (this.#cluster !== undefined) return undefined
    if (config.keyId !== undefined) {
      throw fail('not_offered', ['This server opens by its static key when it starts: recovery shares open nothing'])
    }
    if (!this.#given.add(share)) return undefined
    if (this.#nonce === '') this.#nonce = this.#world.random.uuid()
    if (this.#given.count < config.threshold) return undefined
    const given = this.#given.take()
    this.reset()
    const unsealKey = combineKey(given, config)
    wipeAll(given)
    if (unsealKey === undefined) throw invalidKey()
    try {
      const keys = await this.openWith(unsealKey)
      this.#keeper?.opened(unsealKey)
      return keys
    } finally {
      unsealKey.fill(0)
    }
  }

  /** With the unseal key itself, in the place of its shares. @throws Refusal where it is another key */
  async openWith(unsealKey: Buffer): Promise<OpenedKeys> {
    if (unsealKey.length !== SHARED_KEY_BYTES) throw invalidKey()
    try {
      return await this.#open(importSecret(unsealKey))
    } catch (cause) {
      throw cause instanceof AuthenticationFailed ? invalidKey(cause) : cause
    }
  }

  /** Forgets the shares given so far. */
  reset(): void {
    this.#given.clear()
    this.#nonce = ''
  }

  /** With a seal that opens by itself. A previous key is replaced by the current one. @throws AutoSealFailed */
  async openByItself(): Promise<OpenedKeys | undefined> {
    const [config, auto] = [this.#config, this.#auto]
    if (config?.keyId === undefined || auto === undefined || this.#cluster !== undefined) return undefined
    try {
      const keys = await this.#open(this.autoKey(config.keyId))
      if (config.keyId !== auto.keyId) await this.#moveTo(auto.keyId)
      return keys
    } catch (cause) {
      this.close()
      if (!(cause instanceof AuthenticationFailed)) throw cause
      throw new AutoSealFailed(`The static key "${config.keyId}" is not the one that this store was sealed with`)
    }
  }

  /** @throws AutoSealFailed where this server was not given the static key of that name */
  autoKey(keyId: string): KeyObject {
    const key = this.#auto?.key(keyId)
    if (key !== undefined) return key
    throw new AutoSealFailed(
      `The store is sealed by the static key "${keyId}", which is neither current_key_id nor previous_key_id`,
    )
  }

  async #moveTo(keyId: string): Promise<void> {
    const rootKey = exportSecret(this.rootKey)
    const config = { ...this.shareConfig, keyId }
    try {
      await this.#store.transaction(async (tx) => {
        putRecord(tx, this.#world.random, ROOT_KEY, this.autoKey(keyId), rootKey)
        tx.put(systemScope, SEAL_CONFIG, encodeSealConfig(config))
      })
    } finally {
      rootKey.fill(0)
    }
    this.#config = config
  }

  async #open(unsealKey: KeyObject): Promise<OpenedKeys> {
    const { rootKey, ...keys } = await unsealStore(this.#store, unsealKey, this.#world.random)
    this.#rootKey = rootKey
    this.#cluster = keys.cluster
    this.#openings++
    return keys
  }

  /** Whether these shares are the ones that there are: told by what they open, or by what they give. Wipes them. */
  async accepts(given: readonly Buffer[]): Promise<boolean> {
    const key = combineKey(given, this.shareConfig)
    wipeAll(given)
    if (key === undefined) return false
    try {
      if (!this.hasRecoveryKey) return await this.#opens(key)
      const recoveryKey = openRecord(this.rootKey, 0, RECOVERY_KEY, await readRecord(this.#store, RECOVERY_KEY))
      const isRight = constantTimeEqual(recoveryKey, key)
      recoveryKey.fill(0)
      return isRight
    } finally {
      key.fill(0)
    }
  }

  async #opens(unsealKey: Buffer): Promise<boolean> {
    try {
      openRootKey(importSecret(unsealKey), await readRecord(this.#store, ROOT_KEY))
      return true
    } catch (cause) {
      if (cause instanceof AuthenticationFailed) return false
      throw cause
    }
  }

  /**
   * Puts a new key in the place of the one that the shares give, with what `also` writes; while open. The new shares
   * were tried before (share-trial.ts).
   */
  async replaceSharedKey(sharedKey: Buffer, shareConfig: ShareConfig, also: (tx: Transaction) => void): Promise<void> {
    const rootKey = exportSecret(this.rootKey)
    const { keyId } = this.shareConfig as SealConfig
    const config = keyId === undefined ? shareConfig : { ...shareConfig, keyId }
    const keeper = this.hasRecoveryKey ? undefined : this.#keeper
    try {
      keeper?.prepare(sharedKey)
      await this.#store.transaction(async (tx) => {
        if (this.hasRecoveryKey) putRecord(tx, this.#world.random, RECOVERY_KEY, this.rootKey, sharedKey)
        else putRecord(tx, this.#world.random, ROOT_KEY, importSecret(sharedKey), rootKey)
        tx.put(systemScope, SEAL_CONFIG, encodeSealConfig(config))
        also(tx)
      })
    } finally {
      rootKey.fill(0)
    }
    this.#config = config
    keeper?.settle()
  }

  /** The barrier is closed by the caller; here what is left to forget is the root key and the shares. */
  close(): void {
    this.#cluster = undefined
    this.#rootKey = undefined
    this.reset()
  }
}

/** Says nothing of which share it was. */
function invalidKey(cause?: unknown) {
  return new WrongCombination(fail('key_share_wrong', ['unseal failed, invalid key'], cause)) // Wire text.
}
