// The state between a locked store and an open one. Shares rebuild the unseal key, or a seal that opens by itself has
// it; it opens the root key, which opens the keyring; with the keyring the barrier is open.
//
//   root/core/seal-config    seal-config.ts
//   root/core/root-key       the root key, sealed by the unseal key
//   root/core/keyring        the data keys (keyring.ts), sealed by the root key
//   root/core/recovery-key   sealed by the root key: what the shares of the recovery key must give
//   root/core/leaf-key       behind the barrier: the key of the leaves (docs/storage-format.md)
//   root/core/cluster        behind the barrier: name and id of this cluster
import type { KeyObject } from 'node:crypto'
import { fail } from '../api/errors.ts'
import { AuthenticationFailed } from '../crypto/aead.ts'
import { constantTimeEqual } from '../crypto/constant-time.ts'
import { exportSecret, importSecret } from '../crypto/secret-key.ts'
import { isJsonObject, parseStoredJson } from '../lib/json.ts'
import type { World } from '../lib/world.ts'
import { Barrier, openRecord, sealRecord } from '../storage/barrier.ts'
import { StorageCorrupt, type Store, systemScope, type Transaction } from '../storage/contract.ts'
import { DATA_KEY_BYTES, decodeKeyring, encodeKeyring, type Keyring } from '../storage/keyring.ts'
import { sealedTransaction } from '../storage/sealed-storage.ts'
import { type AutoSeal, AutoSealFailed } from './auto-seal.ts'
import { combineKey, type ShareConfig, splitKey, wipeAll } from './key-shares.ts'
import { encodeKeyUse, KEY_USE } from './key-use.ts'
import { decodeSealConfig, encodeSealConfig, SEAL_CONFIG, type SealConfig } from './seal-config.ts'
import { ShareCollector } from './share-attempt.ts'

const ROOT_KEY = 'root/core/root-key'
const RECOVERY_KEY = 'root/core/recovery-key'
export const KEYRING = 'root/core/keyring'
export const CORE_FOLDER = 'root/core/'
const NONCE_BYTES = 12
const KEY_BYTES = 32

export type Cluster = { readonly name: string; readonly id: string }

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

/** What opening yields: for this thread's barrier and store, and for those of the others. */
export type OpenedKeys = { readonly keyring: Keyring; readonly leafKey: Buffer; readonly cluster: Cluster }

/** What else the initialisation writes, in its one transaction. */
export type AlsoWrites = (tx: Transaction, barrier: Barrier, shares: readonly Buffer[]) => Promise<void>

export class Seal {
  readonly #store: Store
  readonly #world: World
  readonly #auto: AutoSeal | undefined
  readonly #given = new ShareCollector()
  #config: SealConfig | undefined
  #cluster: Cluster | undefined
  #rootKey: KeyObject | undefined
  #nonce = ''
  #initialising = false

  constructor(store: Store, world: World, auto: AutoSeal | undefined) {
    this.#store = store
    this.#world = world
    this.#auto = auto
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

  /** @throws AutoSealFailed also where it is sealed by a static key that this server was not given */
  requireOpenable(config: SealConfig): void {
    this.requireFitting(config)
    if (config.keyId !== undefined) this.#autoKey(config.keyId)
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
    if (this.#config !== undefined) throw fail('bad_request', ['Vault is already initialized']) // Wire text.
    if (this.#initialising) throw fail('bad_request', ['The initialisation is under way'])
  }

  /**
   * Makes all keys and stores them, with what `also` writes, in one transaction; the server is sealed afterwards.
   * The shares are for the caller alone: they are stored nowhere.
   */
  async initialise(shareConfig: ShareConfig, clusterName: string, also: AlsoWrites): Promise<readonly Buffer[]> {
    this.requireUninitialised()
    this.#initialising = true
    const { random, clock } = this.#world
    const [sharedKey, rootKey, leafKey, dataKey] = [KEY_BYTES, KEY_BYTES, KEY_BYTES, DATA_KEY_BYTES].map(random.bytes)
    if (sharedKey === undefined || rootKey === undefined || leafKey === undefined || dataKey === undefined)
      throw new RangeError('Four keys are made')
    const keyring: Keyring = {
      activeTerm: 1,
      terms: new Map([[1, { key: importSecret(dataKey), installedAtMs: clock.nowMs() }]]),
    }
    const barrier = new Barrier(random, keyring)
    const cluster: Cluster = {
      name: clusterName === '' ? `keywright-${random.uuid().slice(0, 8)}` : clusterName,
      id: random.uuid(),
    }
    const shares = splitKey(sharedKey, shareConfig, random)
    const config = this.#auto === undefined ? shareConfig : { ...shareConfig, keyId: this.#auto.keyId }
    try {
      const unsealKey = this.#auto === undefined ? importSecret(sharedKey) : this.#autoKey(this.#auto.keyId)
      this.#store.setLeafKey(leafKey)
      await this.#store.transaction(async (tx) => {
        const root = importSecret(rootKey)
        this.#put(tx, ROOT_KEY, unsealKey, rootKey)
        if (this.#auto !== undefined) this.#put(tx, RECOVERY_KEY, root, sharedKey)
        const encoded = encodeKeyring(keyring)
        this.#put(tx, KEYRING, root, encoded)
        encoded.fill(0)
        tx.put(systemScope, SEAL_CONFIG, encodeSealConfig(config))
        const core = sealedTransaction(barrier, systemScope, CORE_FOLDER, tx)
        core.put('leaf-key', leafKey)
        core.put('cluster', Buffer.from(JSON.stringify({ format: 1, ...cluster })))
        await also(tx, barrier, shares)
        this.#put(tx, KEY_USE, root, encodeKeyUse(barrier.encryptions))
      })
      this.#config = config
      return shares
    } finally {
      this.#initialising = false
      this.#store.setLeafKey(undefined)
      wipeAll([sharedKey, rootKey, leafKey, dataKey])
    }
  }

  /** One of the records around the keyring. */
  #put(tx: Transaction, path: string, key: KeyObject, plaintext: Buffer): void {
    tx.put(systemScope, path, sealRecord(key, 0, path, this.#world.random.bytes(NONCE_BYTES), plaintext))
  }

  /** Takes one share. Undefined until enough are there; a wrong combination is refused and forgets them all. */
  async give(share: Buffer): Promise<OpenedKeys | undefined> {
    const config = this.#config
    if (config === undefined) throw fail('bad_request', ['Vault is not initialized'])
    if (this.#cluster !== undefined) return undefined
    if (config.keyId !== undefined) {
      throw fail('bad_request', ['This server opens by its static key when it starts: recovery shares open nothing'])
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
      return await this.#open(importSecret(unsealKey))
    } catch (cause) {
      throw cause instanceof AuthenticationFailed ? invalidKey(cause) : cause
    } finally {
      unsealKey.fill(0)
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
      const keys = await this.#open(this.#autoKey(config.keyId))
      if (config.keyId !== auto.keyId) await this.#moveTo(auto.keyId)
      return keys
    } catch (cause) {
      this.close()
      if (!(cause instanceof AuthenticationFailed)) throw cause
      throw new AutoSealFailed(`The static key "${config.keyId}" is not the one that this store was sealed with`)
    }
  }

  #autoKey(keyId: string): KeyObject {
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
        this.#put(tx, ROOT_KEY, this.#autoKey(keyId), rootKey)
        tx.put(systemScope, SEAL_CONFIG, encodeSealConfig(config))
      })
    } finally {
      rootKey.fill(0)
    }
    this.#config = config
  }

  async #open(unsealKey: KeyObject): Promise<OpenedKeys> {
    const rootKey = await this.#openRootKey(unsealKey)
    const encoded = openRecord(rootKey, 0, KEYRING, await this.#must(KEYRING))
    const keyring = decodeKeyring(encoded)
    encoded.fill(0)
    const barrier = new Barrier(this.#world.random, keyring)
    const read = async (name: string) => barrier.open(CORE_FOLDER + name, await this.#must(CORE_FOLDER + name))
    const cluster = parseStoredJson(await read('cluster'))
    if (!isJsonObject(cluster)) throw new StorageCorrupt(`The record at ${CORE_FOLDER}cluster has an unknown format`)
    const leafKey = await read('leaf-key')
    this.#rootKey = rootKey
    this.#cluster = { name: String(cluster.name), id: String(cluster.id) }
    return { keyring, leafKey, cluster: this.#cluster }
  }

  /**
   * A barrier with the keys of another day of this cluster, from the record that kept them, and those of today where
   * that day had none. While open. @throws StorageCorrupt where the root key does not open it
   */
  openKeyring(record: Buffer, today: Keyring | undefined): Barrier {
    try {
      const encoded = openRecord(this.rootKey, 0, KEYRING, record)
      const { activeTerm, terms } = decodeKeyring(encoded)
      encoded.fill(0)
      return new Barrier(this.#world.random, { activeTerm, terms: new Map([...(today?.terms ?? []), ...terms]) })
    } catch (cause) {
      if (!(cause instanceof AuthenticationFailed)) throw cause
      throw new StorageCorrupt('The keyring does not open with the root key of this cluster')
    }
  }

  /** @throws AuthenticationFailed where it is another key */
  async #openRootKey(unsealKey: KeyObject): Promise<KeyObject> {
    const bytes = openRecord(unsealKey, 0, ROOT_KEY, await this.#must(ROOT_KEY))
    const rootKey = importSecret(bytes)
    bytes.fill(0)
    return rootKey
  }

  async #must(path: string): Promise<Buffer> {
    const bytes = await this.#store.get(path)
    if (bytes === undefined) throw new StorageCorrupt(`The store lacks ${path}`)
    return bytes
  }

  /** Whether these shares are the ones that there are: told by what they open, or by what they give. Wipes them. */
  async accepts(given: readonly Buffer[]): Promise<boolean> {
    const key = combineKey(given, this.shareConfig)
    wipeAll(given)
    if (key === undefined) return false
    try {
      if (!this.hasRecoveryKey) return await this.#opens(key)
      const recoveryKey = openRecord(this.rootKey, 0, RECOVERY_KEY, await this.#must(RECOVERY_KEY))
      const isRight = constantTimeEqual(recoveryKey, key)
      recoveryKey.fill(0)
      return isRight
    } finally {
      key.fill(0)
    }
  }

  async #opens(unsealKey: Buffer): Promise<boolean> {
    try {
      await this.#openRootKey(importSecret(unsealKey))
      return true
    } catch (cause) {
      if (cause instanceof AuthenticationFailed) return false
      throw cause
    }
  }

  /**
   * Puts a new key in the place of the one that the shares give, with what `also` writes; while open. The new shares
   * were tried before (`requireGood`).
   */
  async replaceSharedKey(sharedKey: Buffer, shareConfig: ShareConfig, also: (tx: Transaction) => void): Promise<void> {
    const rootKey = exportSecret(this.rootKey)
    const { keyId } = this.shareConfig as SealConfig
    const config = keyId === undefined ? shareConfig : { ...shareConfig, keyId }
    try {
      await this.#store.transaction(async (tx) => {
        if (this.hasRecoveryKey) this.#put(tx, RECOVERY_KEY, this.rootKey, sharedKey)
        else this.#put(tx, ROOT_KEY, importSecret(sharedKey), rootKey)
        tx.put(systemScope, SEAL_CONFIG, encodeSealConfig(config))
        also(tx)
      })
    } finally {
      rootKey.fill(0)
    }
    this.#config = config
  }

  /**
   * New shares must open what their key seals, before anybody is given them (threats S-04): each is part of a trial.
   */
  requireGood(shares: readonly Buffer[], config: ShareConfig, sharedKey: Buffer): void {
    const { random } = this.#world
    const sample = random.bytes(KEY_BYTES)
    const record = sealRecord(importSecret(sharedKey), 0, ROOT_KEY, random.bytes(NONCE_BYTES), sample)
    const { threshold } = config
    for (let from = 0; from < shares.length; from += threshold) {
      const start = Math.min(from, shares.length - threshold)
      const key = combineKey(shares.slice(start, start + threshold), config)
      if (key === undefined) throw new Error('The new shares do not belong together')
      const opened = openRecord(importSecret(key), 0, ROOT_KEY, record)
      key.fill(0)
      if (!constantTimeEqual(opened, sample)) throw new Error('The new shares do not open what they should')
    }
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
  return fail('bad_request', ['unseal failed, invalid key'], cause) // Wire text.
}
