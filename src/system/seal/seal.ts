// The seal of a store: the way from shares, or a static key, to the keyring that opens the barrier.
//
//   shares ──combine──▶ unseal key ─┐
//   static key ─────────────────────┴─opens─▶ root key ─opens─▶ keyring ─▶ barrier
//
// The root key never leaves the writing thread. src/assembly/unseal-controller.ts lets opening and closing never run
// side by side.

import type { KeyObject } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { copySecret } from '../../crypto/primitives/secret-bytes.ts'
import { exportSecret, importSecret } from '../../crypto/primitives/secret-key.ts'
import type { World } from '../../lib/world.ts'
import type { Barrier } from '../../storage/barrier.ts'
import { type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import { WrongCombination } from './attempt-limits.ts'
import { type AutoSeal, AutoSealFailed } from './auto-seal.ts'
import { combineKey, SHARED_KEY_BYTES, type ShareConfig, wipeAll } from './key-shares.ts'
import { BundleRefused, type SealBundle } from './seal-bundle.ts'
import { decodeSealConfig, encodeSealConfig, SEAL_CONFIG, type SealConfig } from './seal-config.ts'
import { type AlsoWrites, createSeal } from './seal-creation.ts'
import { bundleOf, type Handover, handoverTo, type OwnKey, storedProof, writeHandover } from './seal-handover.ts'
import {
  type Cluster,
  type OpenedKeys,
  openRootKey,
  openWithRootKey,
  putRecord,
  RECOVERY_KEY,
  ROOT_KEY,
  readRecord,
  unsealStore,
} from './seal-records.ts'
import { ShareCollector } from './share-attempt.ts'
import { proves, wipeProof } from './share-proof.ts'

/** State of the seal that every thread shows. The writing thread tells the others when it changes. */
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

/** Keeps the unseal key in a file for the next start. Only for development servers, which protect nothing. */
export type KeyKeeper = {
  /** Called before a new key is committed. A crash may come before or after, so both keys are kept from then on. */
  readonly prepare: (key: Buffer) => void
  /**
   * Called before another cluster's shares open the store. Their key is not known here, so the root key itself is kept.
   */
  readonly prepareRoot: (rootKey: Buffer) => void
  /** Called after the commit: only the new key opens now. */
  readonly settle: () => void
  /** Called with the key that opened the store. After a restore it may differ from the one that is kept. */
  readonly opened: (key: Buffer) => void
}

/** The seal of one store, and the root key while it is open. */
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

  /** Reads the seal's configuration: at start, and after a restore. @throws AutoSealFailed for another kind of seal */
  async load(): Promise<void> {
    const bytes = await this.#store.get(SEAL_CONFIG)
    this.#config = bytes === undefined ? undefined : decodeSealConfig(bytes)
    if (this.#config !== undefined) this.requireFitting(this.#config)
  }

  /** Checks that a store has this server's kind of seal. @throws AutoSealFailed if it needs the other kind */
  requireFitting({ keyId }: SealConfig): void {
    if ((keyId === undefined) === (this.#auto === undefined)) return
    throw new AutoSealFailed(
      this.#auto === undefined
        ? 'This store is opened by a static key, so the configuration needs its seal "static"'
        : 'This store is opened by shares, so the configuration must not have a seal "static"',
    )
  }

  /** The status now; `progress` counts shares, and `nonce` is empty before the first. */
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

  /** Whether the shares belong to a recovery key. Such a key permits operations and opens nothing. */
  get hasRecoveryKey(): boolean {
    return this.#auto !== undefined
  }

  /** Grows each time the seal opens. Long work compares it to learn whether the server was sealed meanwhile. */
  get openings(): number {
    return this.#openings
  }

  /** @throws Refusal while sealed */
  get rootKey(): KeyObject {
    if (this.#rootKey === undefined) throw fail('sealed', [])
    return this.#rootKey
  }

  /** Numbers of the present shares. @throws Refusal before the initialisation */
  get shareConfig(): ShareConfig {
    return this.#requireConfig()
  }

  /** Names the present shares: another one with each rekey. @throws Refusal before the initialisation */
  get id(): string {
    return this.#requireConfig().id
  }

  #requireConfig(): SealConfig {
    if (this.#config === undefined) throw fail('not_initialized', [])
    return this.#config
  }

  /** @throws Refusal if the keys were made already, or are being made */
  requireUninitialised(): void {
    if (this.#config !== undefined) throw fail('seal_state_wrong', ['Vault is already initialized']) // Wire text.
    if (this.#initialising) throw fail('already_in_progress', ['The initialisation is under way'])
  }

  /**
   * Makes all keys and stores them, with what `also` writes, in one transaction. The server is sealed afterwards.
   * Returns the shares, which are stored nowhere; the caller wipes them.
   * @throws Refusal if it was initialised already
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

  /**
   * Takes one share. Returns the keys with the last one needed, else undefined.
   * @throws WrongCombination if the shares do not open the store; all of them are forgotten
   */
  async give(share: Buffer): Promise<OpenedKeys | undefined> {
    const config = this.#config
    if (config === undefined) throw fail('seal_state_wrong', ['Vault is not initialized'])
    // An open server ignores shares, as clients that repeat a call expect.
    if (this.#cluster !== undefined) return undefined
    if (config.keyId !== undefined) {
      throw fail('not_offered', ['This server opens by its static key when it starts: recovery shares open nothing'])
    }
    if (!this.#given.add(share)) return undefined
    if (this.#nonce === '') this.#nonce = this.#world.random.uuid()
    if (this.#given.count < config.threshold) return undefined
    // The shares are forgotten before they are tried, so a wrong combination starts anew from none.
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

  /** Opens with the unseal key itself instead of its shares. @throws WrongCombination if it is another key */
  async openWith(unsealKey: Buffer): Promise<OpenedKeys> {
    if (unsealKey.length !== SHARED_KEY_BYTES) throw invalidKey()
    try {
      return await this.#open(importSecret(unsealKey))
    } catch (cause) {
      throw cause instanceof AuthenticationFailed ? invalidKey(cause) : cause
    }
  }

  /** Opens with the root key itself, from outside. @throws WrongCombination if it is another key */
  async unsealWithRoot(rootKey: Buffer): Promise<OpenedKeys> {
    if (rootKey.length !== SHARED_KEY_BYTES) throw invalidKey()
    try {
      return await this.openWithRoot(importSecret(rootKey))
    } catch (cause) {
      throw cause instanceof AuthenticationFailed ? invalidKey(cause) : cause
    }
  }

  /** Forgets the shares given so far. */
  reset(): void {
    this.#given.clear()
    this.#nonce = ''
  }

  /**
   * Opens with the static key, if the server has one. A store that a previous key sealed is moved to the current one:
   * the operator can then drop the previous key from the configuration.
   * @throws AutoSealFailed
   */
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

  /** @throws AutoSealFailed if this server was not given the static key of that id */
  autoKey(keyId: string): KeyObject {
    const key = this.#auto?.key(keyId)
    if (key !== undefined) return key
    throw new AutoSealFailed(
      `The store is sealed by the static key "${keyId}", which is neither current_key_id nor previous_key_id`,
    )
  }

  /** Seals the root key by another static key. The keyring stays as it is: the root key never changes. */
  async #moveTo(keyId: string): Promise<void> {
    const rootKey = exportSecret(this.rootKey)
    const config = { ...this.#requireConfig(), keyId }
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
    return this.#opened(await unsealStore(this.#store, unsealKey, this.#world.random))
  }

  /**
   * Opens with the root key itself: after an activation, where the primary's shares open but were not given.
   * @throws AuthenticationFailed if it is another key
   */
  async openWithRoot(rootKey: KeyObject): Promise<OpenedKeys> {
    return this.#opened(await openWithRootKey(this.#store, rootKey, this.#world.random))
  }

  #opened({ rootKey, ...keys }: OpenedKeys & { readonly rootKey: KeyObject }): OpenedKeys {
    this.#rootKey = rootKey
    this.#cluster = keys.cluster
    this.#openings++
    return keys
  }

  /**
   * Whether the shares are the present ones; wipes them. Those of an unseal key must open the root key. Those of a
   * recovery key must give what is stored of it (share-proof.ts).
   */
  async accepts(given: readonly Buffer[]): Promise<boolean> {
    const key = combineKey(given, this.shareConfig)
    wipeAll(given)
    if (key === undefined) return false
    try {
      if (!this.hasRecoveryKey) return await this.#opens(key)
      const proof = await storedProof(this.#store, this.rootKey)
      const isRight = proves(proof, key)
      wipeProof(proof)
      return isRight
    } finally {
      key.fill(0)
    }
  }

  /** Whether this is the unseal key, tried on the stored record: the server keeps no copy to compare with. */
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
   * Replaces the key that the shares give, together with what `also` writes; only while open. The caller has tried the
   * new shares before (share-trial.ts): afterwards the old ones open nothing.
   */
  async replaceSharedKey(sharedKey: Buffer, shareConfig: ShareConfig, also: (tx: Transaction) => void): Promise<void> {
    const rootKey = exportSecret(this.rootKey)
    // The attempt that has the key may be forgotten, and its key wiped, while the transaction waits for others.
    const key = copySecret(sharedKey)
    const before = this.#requireConfig()
    const { shares, threshold } = shareConfig
    const config = { ...before, shares, threshold, id: this.#world.random.uuid() }
    const keeper = this.hasRecoveryKey ? undefined : this.#keeper
    try {
      // Before the commit: after it the kept key would open nothing.
      keeper?.prepare(key)
      await this.#store.transaction(async (tx) => {
        if (this.hasRecoveryKey) putRecord(tx, this.#world.random, RECOVERY_KEY, this.rootKey, key)
        else putRecord(tx, this.#world.random, ROOT_KEY, importSecret(key), rootKey)
        tx.put(systemScope, SEAL_CONFIG, encodeSealConfig(config))
        also(tx)
      })
    } finally {
      wipeAll([rootKey, key])
    }
    this.#config = config
    keeper?.settle()
  }

  /** This seal, for another cluster of the set; the caller wipes it. `barrier` is open. @throws Refusal while sealed */
  async bundle(barrier: Barrier): Promise<SealBundle> {
    const snapshot = await this.#store.snapshot()
    try {
      return await bundleOf(snapshot, this.rootKey, barrier)
    } finally {
      await snapshot.close()
    }
  }

  /**
   * What this cluster stores to take the bundle over, with the seal of its configuration. `barrier` has the keyring
   * that will stand beside it. @throws AutoSealFailed
   */
  handover(bundle: SealBundle, barrier: Barrier): Handover {
    const keyId = this.#auto?.keyId
    const own: OwnKey | undefined = keyId === undefined ? undefined : { keyId, key: this.autoKey(keyId) }
    return handoverTo(own, bundle, barrier, this.#world.random)
  }

  /** Called before a handover is committed: afterwards shares open the store whose key is not known here. */
  keepRoot(bundle: SealBundle): void {
    this.#keeper?.prepareRoot(bundle.rootKey.reveal())
  }

  /**
   * Takes over the shares of the primary; the server stays open. `instead` is the id of those that they are to take the
   * place of. If others are stored meanwhile, or those of the bundle are, returns false and changes nothing: a bundle
   * that comes late would bring former shares back.
   * @throws BundleRefused for one of another root key, AutoSealFailed
   */
  async follow(bundle: SealBundle, barrier: Barrier, instead: string): Promise<boolean> {
    this.requireOwnRoot(bundle)
    const handover = this.handover(bundle, barrier)
    const isDue = (id: string): boolean => id === instead && id !== bundle.id
    if (isDue(this.id)) this.keepRoot(bundle)
    const isTaken = await this.#store.transaction(async (tx) => {
      const { id } = decodeSealConfig(await readRecord(tx, SEAL_CONFIG))
      if (!isDue(id)) return false
      writeHandover(tx, handover)
      return true
    })
    if (isTaken) this.#config = handover.config
    return isTaken
  }

  /** @throws BundleRefused for a bundle of another root key, Refusal while sealed */
  requireOwnRoot({ rootKey }: Pick<SealBundle, 'rootKey'>): void {
    const own = exportSecret(this.rootKey)
    const isOwn = constantTimeEqual(own, rootKey.reveal())
    own.fill(0)
    if (!isOwn) throw new BundleRefused('set', 'The seal bundle belongs to other data: its root key is another one')
  }

  /** Forgets the root key and the shares given so far. The caller closes the barrier. */
  close(): void {
    this.#cluster = undefined
    this.#rootKey = undefined
    this.reset()
  }
}

/** The one refusal for all wrong shares: it does not tell which share was wrong, nor how (threats P-60). */
function invalidKey(cause?: unknown) {
  return new WrongCombination(fail('key_share_wrong', ['unseal failed, invalid key'], cause)) // Wire text.
}
