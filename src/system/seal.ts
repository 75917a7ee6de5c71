// The state between a locked store and an open one. Shares rebuild the unseal key; it opens the root key, which opens
// the keyring; with the keyring the barrier is open.
//
//   root/core/seal-config   JSON in clear: {"format":1,"type":"shamir","shares":n,"threshold":t}
//   root/core/root-key      the root key, sealed by the unseal key
//   root/core/keyring       the data keys (keyring.ts), sealed by the root key
//   root/core/leaf-key      behind the barrier: the key of the leaves (docs/storage-format.md)
//   root/core/cluster       behind the barrier: name and id of this cluster
import type { KeyObject } from 'node:crypto'
import { fail } from '../api/errors.ts'
import { constantTimeEqual } from '../crypto/constant-time.ts'
import { importSecret } from '../crypto/secret-key.ts'
import { combineShares, splitSecret } from '../crypto/shamir.ts'
import { isJsonObject, JsonError, type JsonValue, parseStoredJson } from '../lib/json.ts'
import type { World } from '../lib/world.ts'
import { Barrier, openRecord, sealRecord } from '../storage/barrier.ts'
import { StorageCorrupt, type Store, systemScope, type Transaction } from '../storage/contract.ts'
import { DATA_KEY_BYTES, decodeKeyring, encodeKeyring, type Keyring } from '../storage/keyring.ts'
import { sealedTransaction } from '../storage/sealed-storage.ts'

export const SEAL_CONFIG = 'root/core/seal-config'
const ROOT_KEY = 'root/core/root-key'
const KEYRING = 'root/core/keyring'
const CORE_FOLDER = 'root/core/'
const NONCE_BYTES = 12
const KEY_BYTES = 32
const MIN_SHARE_BYTES = 16
const MAX_SHARE_BYTES = KEY_BYTES + 1

export type SealConfig = { readonly shares: number; readonly threshold: number }
export type Cluster = { readonly name: string; readonly id: string }

/** What every thread may show of the seal; the writer tells the others when it changes. */
export type SealStatus = {
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

export class Seal {
  readonly #store: Store
  readonly #world: World
  #config: SealConfig | undefined
  #cluster: Cluster | undefined
  #given: Buffer[] = []
  #nonce = ''
  #initialising = false

  constructor(store: Store, world: World) {
    this.#store = store
    this.#world = world
  }

  /** Reads what is needed to show the status; call once at start. */
  async load(): Promise<void> {
    const bytes = await this.#store.get(SEAL_CONFIG)
    this.#config = bytes === undefined ? undefined : decodeConfig(bytes)
  }

  status(): SealStatus {
    return {
      initialized: this.#config !== undefined,
      sealed: this.#cluster === undefined,
      threshold: this.#config?.threshold ?? 0,
      shares: this.#config?.shares ?? 0,
      progress: this.#given.length,
      nonce: this.#nonce,
      cluster: this.#cluster,
    }
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
  async initialise(
    config: SealConfig,
    clusterName: string,
    also: (tx: Transaction, barrier: Barrier, shares: readonly Buffer[]) => Promise<void>,
  ): Promise<readonly Buffer[]> {
    this.requireUninitialised()
    this.#initialising = true
    const { random, clock } = this.#world
    const unsealKey = random.bytes(KEY_BYTES)
    const rootKey = random.bytes(KEY_BYTES)
    const leafKey = random.bytes(KEY_BYTES)
    const dataKey = random.bytes(DATA_KEY_BYTES)
    const keyring: Keyring = {
      activeTerm: 1,
      terms: new Map([[1, { key: importSecret(dataKey), installedAtMs: clock.nowMs() }]]),
    }
    const barrier = new Barrier(random, keyring)
    const cluster: Cluster = {
      name: clusterName === '' ? `keywright-${random.uuid().slice(0, 8)}` : clusterName,
      id: random.uuid(),
    }
    const shares =
      config.shares === 1
        ? [Buffer.from(unsealKey)]
        : splitSecret(unsealKey, config.shares, config.threshold, random.bytes)
    try {
      this.#store.setLeafKey(leafKey)
      await this.#store.transaction(async (tx) => {
        this.#putKeys(tx, importSecret(unsealKey), importSecret(rootKey), keyring, rootKey)
        tx.put(systemScope, SEAL_CONFIG, encodeConfig(config))
        const core = sealedTransaction(barrier, systemScope, CORE_FOLDER, tx)
        core.put('leaf-key', leafKey)
        core.put('cluster', Buffer.from(JSON.stringify({ format: 1, ...cluster })))
        await also(tx, barrier, shares)
      })
      this.#config = config
      return shares
    } finally {
      this.#initialising = false
      this.#store.setLeafKey(undefined)
      for (const secret of [unsealKey, rootKey, leafKey, dataKey]) secret.fill(0)
    }
  }

  #putKeys(tx: Transaction, unsealKey: KeyObject, rootKey: KeyObject, keyring: Keyring, rootKeyBytes: Buffer): void {
    const nonce = () => this.#world.random.bytes(NONCE_BYTES)
    const encoded = encodeKeyring(keyring)
    tx.put(systemScope, ROOT_KEY, sealRecord(unsealKey, 0, ROOT_KEY, nonce(), rootKeyBytes))
    tx.put(systemScope, KEYRING, sealRecord(rootKey, 0, KEYRING, nonce(), encoded))
    encoded.fill(0)
  }

  /** Takes one share. Undefined until enough are there; a wrong combination is refused and forgets them all. */
  async give(share: Buffer): Promise<OpenedKeys | undefined> {
    const config = this.#config
    if (config === undefined) throw fail('bad_request', ['Vault is not initialized'])
    if (this.#cluster !== undefined) return undefined
    if (share.length < MIN_SHARE_BYTES || share.length > MAX_SHARE_BYTES) {
      throw fail('field_invalid', ['key', `a share has ${MIN_SHARE_BYTES} to ${MAX_SHARE_BYTES} bytes`])
    }
    if (this.#given.some((other) => constantTimeEqual(other, share))) return undefined
    if (this.#nonce === '') this.#nonce = this.#world.random.uuid()
    this.#given.push(Buffer.from(share))
    if (this.#given.length < config.threshold) return undefined
    try {
      return await this.#open(combine(this.#given, config))
    } finally {
      this.reset()
    }
  }

  /** Forgets the shares given so far. */
  reset(): void {
    for (const share of this.#given) share.fill(0)
    this.#given = []
    this.#nonce = ''
  }

  async #open(unsealKey: Buffer): Promise<OpenedKeys> {
    const rootKey = await this.#openRecord(unsealKey, ROOT_KEY)
    const encoded = await this.#openRecord(rootKey, KEYRING)
    const keyring = decodeKeyring(encoded)
    encoded.fill(0)
    const barrier = new Barrier(this.#world.random, keyring)
    const read = async (name: string) => barrier.open(CORE_FOLDER + name, await this.#must(CORE_FOLDER + name))
    const cluster = parseStoredJson(await read('cluster'))
    if (!isJsonObject(cluster)) throw new StorageCorrupt(`The record at ${CORE_FOLDER}cluster has an unknown format`)
    this.#cluster = { name: String(cluster.name), id: String(cluster.id) }
    return { keyring, leafKey: await read('leaf-key'), cluster: this.#cluster }
  }

  /** Opens one of the two records around the keyring and wipes the key it used. */
  async #openRecord(key: Buffer, path: string): Promise<Buffer> {
    const record = await this.#must(path)
    try {
      return openRecord(importSecret(key), 0, path, record)
    } catch (cause) {
      throw fail('bad_request', ['unseal failed, invalid key'], cause) // Wire text; says nothing of which share.
    } finally {
      key.fill(0)
    }
  }

  async #must(path: string): Promise<Buffer> {
    const bytes = await this.#store.get(path)
    if (bytes === undefined) throw new StorageCorrupt(`The store lacks ${path}`)
    return bytes
  }

  /** The barrier is closed by the caller; here nothing is left to forget but the state. */
  close(): void {
    this.#cluster = undefined
    this.reset()
  }
}

function combine(given: readonly Buffer[], config: SealConfig): Buffer {
  if (config.shares === 1) return Buffer.from(given[0] as Buffer)
  try {
    return combineShares(given)
  } catch (cause) {
    throw fail('bad_request', ['unseal failed, invalid key'], cause)
  }
}

function encodeConfig(config: SealConfig): Buffer {
  return Buffer.from(JSON.stringify({ format: 1, type: 'shamir', ...config }))
}

/** In clear, so it is the one record that somebody without a key can change. @throws StorageCorrupt */
export function decodeConfig(bytes: Buffer): SealConfig {
  const value = parsed(bytes)
  if (!isJsonObject(value) || value.format !== 1 || value.type !== 'shamir') {
    throw new StorageCorrupt(`The seal configuration at ${SEAL_CONFIG} is damaged or of an unknown format`)
  }
  return { shares: Number(value.shares), threshold: Number(value.threshold) }
}

function parsed(bytes: Buffer): JsonValue | undefined {
  try {
    return parseStoredJson(bytes)
  } catch (cause) {
    if (cause instanceof JsonError) return undefined
    throw cause
  }
}
