// The life of the keyring while the server is open: counts how often its active key encrypts, adds a term when asked
// to, or by itself before a key has been used too often or for too long.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { KeyObject } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import type { Log } from '../../lib/log.ts'
import { count, flag } from '../../lib/member-kinds.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { Timer, World } from '../../lib/world.ts'
import { openRecord } from '../../storage/barrier.ts'
import { StorageCorrupt, type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import { DATA_KEY_BYTES, encodeKeyring, type Keyring } from '../../storage/keyring.ts'
import {
  DEFAULT_ROTATION,
  isRotationDue,
  LEAST_INTERVAL_SECONDS,
  LEAST_MAX_OPERATIONS,
  MOST_MAX_OPERATIONS,
  type RotationConfig,
} from '../../storage/keyring-limits.ts'
import type { SealedStorage, View } from '../../storage/sealed-storage.ts'
import { storedRecord } from '../../storage/stored-record.ts'
import { decodeKeyUse, encodeKeyUse, KEY_USE } from './key-use.ts'
import { KEYRING, openKeyring, putRecord, SEAL_FOLDER } from './seal-records.ts'

/** As many encryptions may be made before the count is stored again; a crash makes it larger by at most so much. */
const WINDOW = 2 ** 20
const CHECK_EVERY_MS = 5 * 60 * 1000
const CONFIG = 'rotation'
/** As `RotationConfig`. */
export const ROTATION_CONFIG = storedRecord(
  'The configuration of rotation',
  { enabled: flag, maxOperations: count, intervalSeconds: count },
  'dropped',
)

export type KeyStatus = { readonly term: number; readonly installedAtMs: number; readonly encryptions: number }

export type RotationParts = {
  readonly store: Store
  readonly storage: SealedStorage
  readonly world: World
  readonly log: Log
  /** @throws Refusal while sealed */
  readonly rootKey: () => KeyObject
  /** Resolves when every thread that serves can open what the new term seals. */
  readonly announce: (keyring: Keyring) => Promise<void>
}

export class KeyringRotation {
  readonly #parts: RotationParts
  readonly #view: View
  readonly #turns = new OneAtATime()
  /** The alarm rings inside somebody's transaction, and its own is no part of that one. */
  readonly #outside = AsyncLocalStorage.snapshot()
  #config = DEFAULT_ROTATION
  #timer: Timer | undefined
  /** What is stored: up to here may be counted. */
  #reserved = 0

  constructor(parts: RotationParts) {
    this.#parts = parts
    this.#view = parts.storage.view(systemScope, SEAL_FOLDER)
  }

  /**
   * After unseal, before anything is encrypted: gives the keyring to open with. Where it is not known how often the
   * active key has encrypted, because the store was restored or is of an earlier release, it has a new term.
   */
  async open(keyring: Keyring): Promise<Keyring> {
    const { store, storage, log } = this.#parts
    const record = await store.get(KEY_USE)
    if (record !== undefined) {
      storage.barrier.countFrom(this.#openUse(record))
      await this.#reserve()
      return keyring
    }
    const renewed = await store.transaction(async (tx) => this.#addTerm(tx))
    storage.barrier.countFrom(0)
    this.#reservedFrom(0)
    log('info', 'The keyring got a new term: how often the last one was used is not known', {
      term: renewed.activeTerm,
    })
    return renewed
  }

  /** Reads the configuration and begins to look at the limits; called when the barrier is open. */
  async watch(): Promise<void> {
    const bytes = await this.#view.get(CONFIG)
    this.#config = bytes === undefined ? DEFAULT_ROTATION : ROTATION_CONFIG.decode(bytes)
    this.#plan()
  }

  /** The count as it is: the next unseal goes on from there. */
  async rest(): Promise<void> {
    const { store, storage } = this.#parts
    const { encryptions } = storage.barrier
    await this.#turns.run(() => store.transaction(async (tx) => this.#putUse(tx, encryptions)))
  }

  /** Looks at nothing until it is opened again. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #openUse(record: Buffer): number {
    return decodeKeyUse(openRecord(this.#parts.rootKey(), 0, KEY_USE, record))
  }

  #putUse(tx: Transaction, encryptions: number): void {
    const { rootKey, world } = this.#parts
    putRecord(tx, world.random, KEY_USE, rootKey(), encodeKeyUse(encryptions))
  }

  /** Stores what may be counted up to, and comes back half way there. */
  async #reserve(): Promise<void> {
    const { store, storage } = this.#parts
    const { encryptions } = storage.barrier
    await store.transaction(async (tx) => this.#putUse(tx, encryptions + WINDOW))
    this.#reservedFrom(encryptions)
  }

  #reservedFrom(encryptions: number): void {
    this.#reserved = encryptions + WINDOW
    this.#parts.storage.barrier.alarmAt(Math.min(this.#reserved - WINDOW / 2, MOST_MAX_OPERATIONS), () => {
      this.#outside(() => void this.look())
    })
  }

  status(): KeyStatus {
    const { barrier } = this.#parts.storage
    const { keyring } = barrier
    if (keyring === undefined) throw fail('sealed', [])
    const installedAtMs = keyring.terms.get(keyring.activeTerm)?.installedAtMs ?? 0
    return { term: keyring.activeTerm, installedAtMs, encryptions: barrier.encryptions }
  }

  get config(): RotationConfig {
    return this.#config
  }

  /** @throws Refusal `out_of_range` */
  async configure(config: RotationConfig): Promise<void> {
    const { maxOperations, intervalSeconds } = config
    if (maxOperations < LEAST_MAX_OPERATIONS || maxOperations > MOST_MAX_OPERATIONS) {
      const range = `${LEAST_MAX_OPERATIONS} to ${MOST_MAX_OPERATIONS}`
      throw fail('out_of_range', ['max_operations', `must be ${range}`])
    }
    if (intervalSeconds !== 0 && intervalSeconds < LEAST_INTERVAL_SECONDS)
      throw fail('out_of_range', ['interval', 'must be 0, or at least 24 hours'])
    await this.#view.transaction(async (tx) => tx.put(CONFIG, ROTATION_CONFIG.encode(config)))
    this.#config = config
  }

  /** Adds a term, which becomes the one that encrypts; the others still open. Resolves when every thread knows it. */
  rotate(): Promise<void> {
    return this.#turns.run(() => this.#rotate())
  }

  async #rotate(): Promise<void> {
    const { store, storage, announce } = this.#parts
    const keyring = await store.transaction(async (tx) => this.#addTerm(tx))
    await announce(keyring)
    // Sealed meanwhile: the next unseal finds the new term.
    if (storage.barrier.sealed) return
    storage.barrier.setKeyring(keyring)
    storage.barrier.countFrom(0)
    this.#reservedFrom(0)
  }

  async #addTerm(tx: Transaction): Promise<Keyring> {
    const { rootKey, world } = this.#parts
    const record = await tx.get(KEYRING)
    if (record === undefined) throw new StorageCorrupt(`The store lacks ${KEYRING}`)
    const { activeTerm, terms } = openKeyring(rootKey(), record)
    const material = world.random.bytes(DATA_KEY_BYTES)
    const term = activeTerm + 1
    const added = { key: importSecret(material), installedAtMs: world.clock.nowMs() }
    const keyring = { activeTerm: term, terms: new Map([...terms, [term, added]]) }
    const encoded = encodeKeyring(keyring)
    putRecord(tx, world.random, KEYRING, rootKey(), encoded)
    this.#putUse(tx, WINDOW)
    for (const secret of [material, encoded]) secret.fill(0)
    return keyring
  }

  #plan(): void {
    this.#timer?.cancel()
    this.#timer = this.#parts.world.timers.after(CHECK_EVERY_MS, () => {
      void this.look().then(() => {
        if (this.#timer !== undefined) this.#plan()
      })
    })
  }

  /** Rotates where it is time to; else stores the count where it has come half way. */
  async look(): Promise<void> {
    const { storage, world, log } = this.#parts
    if (storage.barrier.sealed) return
    try {
      await this.#turns.run(async () => {
        if (storage.barrier.sealed) return
        const due = isRotationDue(this.#config, this.status(), world.clock.nowMs())
        if (due) {
          await this.#rotate()
          log('info', 'The keyring got a new term by itself', { term: this.status().term })
        } else if (storage.barrier.encryptions >= this.#reserved - WINDOW / 2) await this.#reserve()
      })
    } catch (cause) {
      log('warn', 'The use of the data key could not be stored', { cause: cause instanceof Error ? cause.name : '' })
      // It is tried again in five minutes; until then the count in memory is right.
    }
  }
}
