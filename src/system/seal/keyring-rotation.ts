// The life of the keyring while the server is open. It counts how often the active key encrypts. It adds a term when
// asked to, and by itself before a key has been used too often or for too long (src/storage/keyring-limits.ts).
import { AsyncLocalStorage } from 'node:async_hooks'
import type { KeyObject } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { mayChange, type NodeRole } from '../../api/node-role.ts'
import type { Log } from '../../lib/log.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import type { Timer, World } from '../../lib/world.ts'
import { openRecord } from '../../storage/barrier.ts'
import type { Adopted, AdoptedChange, AdoptOptions, Change, Store, Transaction } from '../../storage/contract.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import {
  DATA_KEY_BYTES,
  encodeKeyring,
  hasSameActive,
  hasTermsBeside,
  type Keyring,
  ordinalOf,
  replacedBy,
  withFormerTerms,
  withNewTerm,
} from '../../storage/keyring.ts'
import {
  DEFAULT_ROTATION,
  isRotationDue,
  MOST_MAX_OPERATIONS,
  type RotationConfig,
} from '../../storage/keyring-limits.ts'
import type { NewHistory } from '../../storage/peer-log.ts'
import type { SealedStorage } from '../../storage/sealed-storage.ts'
import { mostOwn, usedInSet } from './key-ledger.ts'
import { decodeKeyUse, encodeKeyUse, KEY_USE, type KeyUses, usesFrom, usesUnder } from './key-use.ts'
import { type KeyringAdoption, type KeyringDiverged, keyringAdoption } from './keyring-adoption.ts'
import { StoredRotationConfig } from './rotation-config.ts'
import { FORMER_KEYS, KEYRING, putFormerKeys, putRecord, REPLACED_KEYS, storedKeyring } from './seal-records.ts'
import { sealAnew } from './sealed-anew.ts'

/**
 * Encryptions that may be made before the count is stored again. A crash makes the count too high by at most this: one
 * in 4,096 of what a key may do, while a write of the count for each encryption would double the writes.
 */
const WINDOW = 2 ** 20
/** How often age and count are checked; the shortest interval of rotation is a day. */
const CHECK_EVERY_MS = 5 * 60 * 1000

/**
 * The active data key, for sys/key-status. `term` is its place in the order of addition, from 1 on. `encryptions` are
 * those of this cluster and what it granted to others, which is nothing as yet (key-ledger.ts).
 */
export type KeyStatus = { readonly term: number; readonly installedAtMs: number; readonly encryptions: number }

/** Parts that the assembly hands in. */
export type RotationParts = {
  readonly store: Store
  readonly storage: SealedStorage
  readonly world: World
  readonly log: Log
  /** @throws Refusal while sealed */
  readonly rootKey: () => KeyObject
  readonly nodeRole: () => NodeRole
  /** Hands the keyring to the other threads. Resolves when each of them can open what the new term seals. */
  readonly announce: (keyring: Keyring) => Promise<void>
  /** Begins what waits for a key that can seal. Never rejects. Not awaited: it waits until no one opens or closes. */
  readonly onNewTerm: () => Promise<void>
}

/** An adoption that was announced, and is not committed yet. */
type Pending = Extract<KeyringAdoption, { kind: 'keyring' }> & {
  readonly sealedAnew: number
  /** True if it lacks terms of ours. */
  readonly isApart: boolean
}

/** The keyring's upkeep on the writing thread, the only one that encrypts for storage. */
export class KeyringRotation {
  readonly #parts: RotationParts
  /** When terms are added here by themselves; it holds from the next check on. */
  readonly config: StoredRotationConfig
  readonly #oneAtATime = new OneAtATime()
  /**
   * Runs work outside of the caller's async context. The alarm rings inside a transaction of some request, and the
   * rotation starts one of its own, which the store refuses inside another.
   */
  readonly #outside = AsyncLocalStorage.snapshot()
  #timer: Timer | undefined
  /** True while terms are added without being asked for: only the primary of a set adds any. */
  #addsTerms = false
  /** The stored bound: encryptions may be counted up to here. */
  #reserved = 0
  /** The use of the data keys as it was last stored, or as the next write stores it. */
  #use: KeyUses = { term: 0, mark: '', encryptions: 0, grants: new Map(), others: new Map() }
  #pending: Pending | undefined

  constructor(parts: RotationParts) {
    this.#parts = parts
    parts.store.onCommit((change) => {
      if (this.#pending !== undefined) this.#settleAdopted(this.#pending, change)
    })
    this.config = new StoredRotationConfig(parts.storage)
  }

  /**
   * Returns the keyring to open the barrier with; called after unseal, before anything is encrypted. If the active key
   * is used up, the keyring gets a new term: what a node must write to open could not be sealed else. A key of whose
   * encryptions the store has no count is used up too: the count may be at the limit. Stores that were restored or come
   * from an earlier release have none.
   */
  async open(keyring: Keyring): Promise<Keyring> {
    const { store, storage, log, nodeRole } = this.#parts
    const record = await store.get(KEY_USE)
    const stored = record && this.#openUse(record, keyring)
    this.#countUnder(usesFrom(stored, keyring))
    const isKnown = this.#use === stored
    const isUsedUp = !isKnown || usedInSet(this.#use, this.#use.encryptions) >= MOST_MAX_OPERATIONS
    if (!isUsedUp || !mayChange(nodeRole(), 'set')) {
      // Only the primary adds terms. A secondary whose count is not known seals nothing until the next one comes.
      if (!isKnown) log('warn', 'How often the data key was used is not known: a new term must come from the primary')
      await this.#reserve()
      return keyring
    }
    const renewed = await store.transaction(async (tx) => this.#addTerm(tx))
    this.#countUnder(usesUnder(this.#use, storage.barrier.encryptions, renewed))
    const reason = isKnown
      ? 'the last one was used as often as is safe'
      : 'how often the last one was used is not known'
    log('info', `The keyring got a new term: ${reason}`, { term: ordinalOf(renewed) })
    return renewed
  }

  /** Starts the checks; called when the barrier is open. */
  watch(): void {
    this.#plan()
  }

  /** From now on a term is added before the limits are reached. A promotion adds one itself: see `beginHistory`. */
  beginTerms(): void {
    this.#addsTerms = true
  }

  /** Terms are added on request only. */
  endTerms(): void {
    this.#addsTerms = false
  }

  /** Stores the exact count before the server seals or stops, so that the next unseal loses nothing of the window. */
  async rest(): Promise<void> {
    const { store, storage } = this.#parts
    await this.#oneAtATime.run(() => {
      // Read in our turn: an adoption before us may have brought another key, with a count of its own.
      const { encryptions } = storage.barrier
      return store.transaction(async (tx) => this.#putUse(tx, { ...this.#use, encryptions }))
    })
  }

  /** Stops the checks until the next `watch`. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #openUse(record: Buffer, keyring: Keyring): KeyUses {
    return decodeKeyUse(openRecord(this.#parts.rootKey(), 0, KEY_USE, record), keyring)
  }

  #putUse(tx: Transaction, use: KeyUses): void {
    const { rootKey, world } = this.#parts
    putRecord(tx, world.random, KEY_USE, rootKey(), encodeKeyUse(use))
  }

  /** Goes on counting from these uses. */
  #countUnder(uses: KeyUses): void {
    this.#use = uses
    this.#parts.storage.barrier.countFrom(uses.encryptions, mostOwn(uses))
    this.#reservedFrom(uses.encryptions)
  }

  /** The uses to be stored when `next` is: the present key may still be used up to its bound. */
  #usesToStore(next: Keyring, sealedAnew = 0): KeyUses {
    const bound = Math.max(this.#reserved, this.#parts.storage.barrier.encryptions)
    return withWindow(usesUnder(this.#use, bound, next, sealedAnew))
  }

  /** Stores the next bound. The alarm rings half way there, so that the bound is raised before it is reached. */
  async #reserve(): Promise<void> {
    const { store, storage } = this.#parts
    const { encryptions } = storage.barrier
    await store.transaction(async (tx) => this.#putUse(tx, { ...this.#use, encryptions: encryptions + WINDOW }))
    this.#reservedFrom(encryptions)
  }

  #reservedFrom(encryptions: number): void {
    this.#reserved = encryptions + WINDOW
    this.#setAlarm(MOST_MAX_OPERATIONS - usedInSet(this.#use, 0))
  }

  /**
   * Sets the alarm: half way to the bound, or where the whole set is at the largest limit that can be set, whichever
   * comes first. That limit is a tenth below the 2^32 messages of NIST SP 800-38D.
   */
  #setAlarm(limit: number): void {
    this.#parts.storage.barrier.alarmAt(Math.min(this.#reserved - WINDOW / 2, limit), () => {
      this.#outside(() => void this.check())
    })
  }

  /** The present keyring, which may have more terms than when it was opened; undefined while sealed. */
  get keyring(): Keyring | undefined {
    return this.#parts.storage.barrier.keyring
  }

  /** @throws Refusal while sealed */
  status(): KeyStatus {
    const { barrier } = this.#parts.storage
    const keyring = this.#unsealed()
    const installedAtMs = keyring.terms.get(keyring.activeTerm)?.installedAtMs ?? 0
    return { term: ordinalOf(keyring), installedAtMs, encryptions: usedInSet(this.#use, barrier.encryptions) }
  }

  #unsealed(): Keyring {
    const { keyring } = this.#parts.storage.barrier
    if (keyring === undefined) throw fail('sealed', [])
    return keyring
  }

  /** Adds a term, under which all new writes are sealed; older terms still open. Resolves when every thread has it. */
  rotate(): Promise<void> {
    return this.#oneAtATime.run(() => this.#rotate())
  }

  async #rotate(): Promise<void> {
    const { store } = this.#parts
    const keyring = await store.transaction(async (tx) => this.#addTerm(tx))
    await this.#make(keyring)
  }

  /**
   * Makes every thread open what the keyring opens, then seal under its active term. The order matters: a thread that
   * seals before another one can open would be unreadable to it. This thread comes first in both steps, since threads
   * that join hear its keyring.
   */
  async #make(keyring: Keyring): Promise<void> {
    const { storage, announce } = this.#parts
    const { barrier } = storage
    const present = barrier.keyring
    // If the server was sealed meanwhile, the next unseal finds the new term in the store.
    if (present === undefined) return
    const opening = { ...keyring, activeTerm: present.activeTerm }
    barrier.setKeyring(opening)
    await announce(opening)
    // Sealed meanwhile, and perhaps open again: the opening has taken the new term from the store.
    if (barrier.keyring !== opening) return
    barrier.setKeyring(keyring)
    this.#countUnder(usesUnder(this.#use, barrier.encryptions, keyring))
    await announce(keyring)
    // Not awaited: it waits for the opening and closing of the server, which may wait for this.
    this.#outside(() => void this.#parts.onNewTerm())
  }

  /**
   * Begins a new history with what `work` writes and with a new term, in one durable step: for promotion. So nothing is
   * sealed under a key that another cluster, which still takes itself for the primary, seals with. Former keys become
   * terms: in the middle of a comparison entries of the set are still sealed under them, and go to secondaries now.
   * Resolves when every thread has the term. 'same terms': for a cluster whose keyring another one changes.
   * @throws what `Store.beginHistory` throws; nothing is written then
   */
  beginHistory<T>(
    work: (tx: Transaction) => Promise<T>,
    next: NewHistory,
    terms: 'new term' | 'same terms' = 'new term',
  ): Promise<T> {
    return this.#oneAtATime.run(async () => {
      let keyring: Keyring | undefined
      const result = await this.#parts.store.beginHistory(async (tx) => {
        if (terms === 'new term') keyring = await this.#addTerm(tx, withFormerTerms)
        return work(tx)
      }, next)
      if (keyring !== undefined) await this.#make(keyring)
      return result
    })
  }

  /** Adds a term to the stored keyring, with the count of its first window. The returned keyring is not in use yet. */
  async #addTerm(tx: Transaction, changed = (keyring: Keyring): Keyring => keyring): Promise<Keyring> {
    const { rootKey, world } = this.#parts
    const present = changed(await storedKeyring(tx, rootKey()))
    const material = world.random.bytes(DATA_KEY_BYTES)
    const keyring = withNewTerm(present, world.random, material, world.clock.nowMs())
    const encoded = encodeKeyring(keyring)
    putRecord(tx, world.random, KEYRING, rootKey(), encoded)
    this.#putUse(tx, this.#usesToStore(keyring))
    for (const secret of [material, encoded]) secret.fill(0)
    return keyring
  }

  /**
   * Adopts changes of a peer (`Store.adopt`). If they bring a keyring, every thread opens what it opens before any of
   * them can be seen, and seals under it once they are committed. In the same step our own entries follow it.
   * @throws what `Store.adopt` throws, and Refusal while sealed
   */
  adopt(changes: readonly AdoptedChange[], options: AdoptOptions): Promise<Adopted> {
    // Alone: a count of the replaced term that is on its way would be stored over that of the new one.
    return this.#oneAtATime.run(() => this.#adopt(changes, options))
  }

  async #adopt(changes: readonly AdoptedChange[], options: AdoptOptions): Promise<Adopted> {
    let diverged: KeyringDiverged | undefined
    const prepare = async (fresh: readonly AdoptedChange[]): Promise<void> => {
      diverged = await this.#prepareAdopted(fresh)
      if (diverged !== undefined) throw new StorageCorrupt(diverged.sentence)
      await options.prepare?.(fresh)
    }
    const also = async (tx: Transaction): Promise<void> => {
      await options.also?.(tx)
      // Last: what was written beside is sealed under our present term as well, and is sealed anew with the rest.
      await this.#alsoAdopted(tx)
    }
    try {
      return await this.#parts.store.adopt(changes, { ...options, prepare, also })
    } catch (cause) {
      if (diverged !== undefined) return diverged
      throw cause
    } finally {
      // What was not committed is not stored, and other changes must not settle it.
      this.#pending = undefined
    }
  }

  /**
   * Makes every thread open what the keyring of the changes opens. Still nothing is sealed under it: if the changes are
   * not adopted, it is not stored either. Returns why it cannot be taken over; undefined: it can.
   */
  async #prepareAdopted(changes: readonly AdoptedChange[]): Promise<KeyringDiverged | undefined> {
    const { storage, announce, rootKey } = this.#parts
    const present = this.#unsealed()
    const adoption = keyringAdoption(rootKey(), present, changes)
    if (adoption.kind === 'diverged') return adoption
    if (adoption.kind === 'none') return undefined
    const opening = replacedBy(adoption.keyring, present)
    storage.barrier.setKeyring(opening)
    await announce(opening)
    const isApart = adoption.losesFormer || hasTermsBeside(present, adoption.keyring)
    this.#pending = { ...adoption, sealedAnew: 0, isApart }
    return undefined
  }

  /**
   * Writes what must change in the same step as the adopted keyring: the count of its active term, which goes on if the
   * key was used here before, and, if terms of ours are not in it, these terms and the entries that only this cluster
   * has. These are sealed anew also under a key that is used up: they are few, and the cluster goes on following.
   */
  async #alsoAdopted(tx: Transaction): Promise<void> {
    const pending = this.#pending
    if (pending === undefined) return
    const present = this.#unsealed()
    const { isApart } = pending
    if (isApart) await this.#keepFormer(tx, pending.keyring)
    if (hasSameActive(present, pending.keyring)) return
    const { random } = this.#parts.world
    const sealedAnew = isApart ? await sealAnew(tx, random, present, pending.keyring) : 0
    this.#pending = { ...pending, sealedAnew }
    this.#putUse(tx, this.#usesToStore(pending.keyring, sealedAnew))
  }

  /** Stores the terms of ours that `next` lacks: entries that are sealed by them are here still. */
  async #keepFormer(tx: Transaction, next: Keyring): Promise<void> {
    const { world, rootKey, nodeRole } = this.#parts
    const { dr } = nodeRole()
    // A secondary for disaster recovery gets all entries of the set from its primary, former keys among them. It keeps
    // its own elsewhere: its primary, restored to an older state, may have begun anew without a term of ours.
    const isCopy = dr === 'secondary' || dr === 'bootstrapping'
    const { former } = replacedBy(await storedKeyring(tx, rootKey()), next)
    putFormerKeys(tx, world.random, rootKey(), former ?? new Map(), isCopy ? REPLACED_KEYS : FORMER_KEYS)
  }

  /** Once the adopted keyring is committed, this thread and then the others seal under its active term. */
  #settleAdopted({ keyring, last, sealedAnew, isApart }: Pending, { operations }: Change): void {
    if (!operations.some(({ key, value }) => key === last.key && value.equals(last.value))) return
    const { store, storage, announce, log, onNewTerm } = this.#parts
    const { barrier } = storage
    this.#pending = undefined
    // Sealed under a term of ours, an entry that comes now would open only while that term is in memory. Not awaited:
    // the commit that is under way is this one. It rejects while the store closes, and has done its work by then.
    if (isApart) store.keysReplaced('again').catch(() => {})
    const present = barrier.keyring
    // Sealed meanwhile: the next unseal reads it from the store.
    if (present === undefined) return
    barrier.setKeyring(keyring)
    if (!hasSameActive(present, keyring)) {
      this.#countUnder(usesUnder(this.#use, barrier.encryptions, keyring, sealedAnew))
    }
    this.#outside(() => {
      announce(keyring).catch((cause: unknown) => {
        // They open what it seals, and were told so before.
        log('warn', 'Some threads could not be told that the active data key changed', { cause: describeName(cause) })
      })
      if (!hasSameActive(present, keyring)) void onNewTerm()
    })
  }

  /** Plans the next check, unless `close` came in the meantime. */
  #plan(): void {
    this.#timer?.cancel()
    this.#timer = this.#parts.world.timers.after(CHECK_EVERY_MS, () => {
      void this.check().then(() => {
        if (this.#timer !== undefined) this.#plan()
      })
    })
  }

  /** Limits that cannot be read must not hold up the count: the largest one holds meanwhile. */
  async #configOrDefault(): Promise<RotationConfig> {
    try {
      return await this.config.read()
    } catch (cause) {
      this.#parts.log('warn', 'When the data key is to be rotated could not be read', { cause: describeName(cause) })
      return DEFAULT_ROTATION
    }
  }

  /**
   * Rotates if a limit is reached and terms are added here; else stores a new bound if half the window is used. Never
   * throws.
   */
  async check(): Promise<void> {
    const { storage, world, log } = this.#parts
    if (storage.barrier.sealed) return
    try {
      await this.#oneAtATime.run(async () => {
        if (storage.barrier.sealed) return
        const config = this.#addsTerms ? await this.#configOrDefault() : undefined
        if (storage.barrier.sealed) return
        if (config !== undefined && isRotationDue(config, this.status(), world.clock.nowMs())) {
          await this.#rotate()
          log('info', 'The keyring got a new term by itself', { term: this.status().term })
        } else if (storage.barrier.encryptions >= this.#reserved - WINDOW / 2) await this.#reserve()
        // What rang at the limit does not ring again, and the bound must still be raised before it is reached.
        else if (usedInSet(this.#use, storage.barrier.encryptions) >= MOST_MAX_OPERATIONS)
          this.#setAlarm(Number.POSITIVE_INFINITY)
      })
    } catch (cause) {
      log('warn', 'The usage count of the data key could not be stored', { cause: describeName(cause) })
      // The next check tries again. Until then the count in memory is right, and the barrier refuses at the limit.
    }
  }
}

/** The uses with the first window of the active key. */
const withWindow = (uses: KeyUses): KeyUses => ({ ...uses, encryptions: uses.encryptions + WINDOW })

const describeName = (cause: unknown): string => (cause instanceof Error ? cause.name : '')
