// The counts of messages that key versions have sealed, kept by the thread that writes:
//
//   use/ID      JSON, {"format":1,"granted":N}: messages that threads were given to seal, in blocks. ID follows from a
//               secret of the version (counted-version.ts), so that it has one count whatever name it is restored as
//   lives       JSON, {"format":1,"lives":N}: lives of the mount. A thread that seals with its keys is one life, and
//               another one after the next start of the server
//
// Several lives are stored at once: a thread that comes later then costs no write, and can encrypt on a full device.
// A version has sealed at most what was granted, and FREE_MESSAGES for each life since it was made. A key that is used
// little thus costs no write, and what a thread had left when it died counts as sealed. Both numbers are stored before
// a thread may seal on the strength of them.
import { maintains, type NodeRole } from '../../../api/node-role.ts'
import type { Secret } from '../../../crypto/primitives/secret.ts'
import type { Log } from '../../../lib/log.ts'
import { count, integer } from '../../../lib/member-kinds.ts'
import { OneAtATime } from '../../../lib/one-at-a-time.ts'
import { StorageFull } from '../../../storage/contract.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import { storedRecord } from '../../../storage/stored-record.ts'
import { identityOf } from './counted-version.ts'
import { WARN_MESSAGES } from './message-budget.ts'

/** Messages that one version may seal (NIST SP 800-38D section 8.3). */
export const MOST_MESSAGES = 2 ** 32
/** Messages of each version that each thread may seal without asking. */
export const FREE_MESSAGES = 2 ** 10

/** The folder of the counts, by the identities of versions. */
export const USE_FOLDER = 'use/'
/** The path of the number of lives. */
export const LIVES = 'lives'
/** Lives that are stored at once: more than the usual number of threads. Each costs every version FREE_MESSAGES. */
const LIVES_AT_ONCE = 8

/** How many messages of a version were handed out to threads, used or not. */
export const MESSAGE_COUNT = storedRecord('The count of messages of a key version', { granted: count })
/** The stored form of the number of lives. */
export const LIVES_COUNT = storedRecord('The count of lives of a mount', { lives: integer() })

/** A question from a thread to the one that writes: for a life of its own, or for a block of messages. */
export type AllowanceCall =
  | { readonly kind: 'life' }
  | {
      readonly kind: 'block'
      readonly name: string
      readonly version: number
      readonly identity: string
      readonly wanted: number
      /** With fewer the request could not go on, so fewer are not granted. */
      readonly atLeast: number
    }

/** The answer, as plain data, since it crosses threads. `failed`: nothing can be stored, so nothing may be sealed. */
export type AllowanceAnswer =
  | { readonly failed: 'full' }
  | {
      readonly failed?: never
      /** Lives of the mount that are stored, the asking thread's included. */
      readonly life: number
      /** Messages that were given; 0: none. */
      readonly granted: number
      /** The most messages that the version can have sealed, these included. */
      readonly total: number
      readonly latestVersion: number
      /** True if the name belongs to another key by now, or to none. */
      readonly isOther: boolean
    }
type Granted = Exclude<AllowanceAnswer, { readonly failed: 'full' }>
type BlockQuestion = Extract<AllowanceCall, { readonly kind: 'block' }>

/** The header of a key, as far as its messages are counted. */
type CountedHeader = { readonly latestVersion: number; readonly autoRotatePeriodSeconds: number }
type CountedVersion = { readonly countedFrom?: number }
type Found = { readonly header: CountedHeader } | undefined

type MessageCountKeys = {
  find(name: string): Found | Promise<Found>
  versionIn<T>(
    tx: ViewTransaction,
    name: string,
    number: number,
    read: (header: CountedHeader, version: CountedVersion, secrets: { readonly hmac: Secret }) => T,
  ): Promise<T | undefined>
}

/** The parts of the mount that the counts use. */
type MessageCountParts = {
  readonly storage: View
  readonly keys: MessageCountKeys
  readonly role: () => NodeRole
  readonly mount: () => { readonly path: string; readonly local: boolean }
  readonly log: Log
  /** Adds a version to a key unless `allow` throws; returns undefined if no key has the name. */
  readonly rotate: (name: string, allow: (header: CountedHeader) => void) => Promise<Found>
}

/** Answers the counters of all threads (message-counter.ts), for one mount. */
export class MessageCountStore {
  readonly #parts: MessageCountParts
  /** Lives of earlier starts, whose threads are all gone. */
  #before: Promise<number> | undefined
  /** Lives are given one at a time: two threads must not take the same spare one. */
  readonly #lifeQueue = new OneAtATime()
  /** Lives that are stored, and that no thread has yet. */
  #spareLives = 0
  #lives = 0

  constructor(parts: MessageCountParts) {
    this.#parts = parts
  }

  /** Returns the lives of earlier starts. Only later lives can seal with a version that is made now. */
  livesBefore(): Promise<number> {
    this.#before ??= readLives(this.#parts.storage).catch((cause: unknown) => {
      this.#before = undefined
      throw cause
    })
    return this.#before
  }

  /** Answers one question. @throws what storing throws; only a full device is an answer */
  async answer(question: AllowanceCall): Promise<AllowanceAnswer> {
    try {
      return question.kind === 'life' ? await this.#life() : await this.#block(question)
    } catch (cause) {
      if (cause instanceof StorageFull) return { failed: 'full' }
      throw cause
    }
  }

  async #life(): Promise<Granted> {
    await this.livesBefore()
    await this.#lifeQueue.run(async () => {
      if (this.#spareLives === 0) await this.#storeLives()
      this.#spareLives -= 1
    })
    return { life: this.#lives, granted: 0, total: 0, latestVersion: 0, isOther: false }
  }

  async #storeLives(): Promise<void> {
    this.#lives = await this.#parts.storage.transaction(async (tx) => {
      const lives = (await readLives(tx)) + LIVES_AT_ONCE
      tx.put(LIVES, LIVES_COUNT.encode({ lives }))
      return lives
    })
    this.#spareLives = LIVES_AT_ONCE
  }

  async #block(question: BlockQuestion): Promise<Granted> {
    const answer = await this.#parts.storage.transaction((tx) => this.#grant(tx, question))
    this.#warn(question, answer)
    if (answer.granted > 0 || answer.isOther || answer.latestVersion !== question.version) return answer
    const latestVersion = await this.#rotate(question)
    return latestVersion === undefined ? answer : { ...answer, latestVersion }
  }

  /** Stores the grant of a block, as far as the version may still seal so many. */
  async #grant(tx: ViewTransaction, { name, version, identity, wanted, atLeast }: BlockQuestion): Promise<Granted> {
    const life = await readLives(tx)
    const found = await this.#parts.keys.versionIn(tx, name, version, (header, its, secrets) => ({
      latestVersion: header.latestVersion,
      its,
      isSame: identityOf(secrets) === identity,
    }))
    if (found?.isSame !== true) return { life, granted: 0, total: 0, latestVersion: 0, isOther: true }
    const { latestVersion, its } = found
    const before = await readGranted(tx, identity)
    const total = sealedAtMost(its, before, life)
    const room = MOST_MESSAGES - total
    const granted = room < atLeast ? 0 : Math.min(wanted, room)
    if (granted > 0) putGranted(tx, identity, before + granted)
    return { life, granted, total: total + granted, latestVersion, isOther: false }
  }

  /**
   * Rotates a key that rotates by itself, and returns its latest version; undefined if it does not, or must not here.
   */
  async #rotate({ name, version }: BlockQuestion): Promise<number | undefined> {
    const { role, mount, keys, log, rotate } = this.#parts
    if (!maintains(role(), mount())) return undefined
    const header = (await keys.find(name))?.header
    if (header === undefined || header.autoRotatePeriodSeconds === 0) return undefined
    const rotated = await rotate(name, ({ latestVersion }) => {
      if (latestVersion !== version) throw new RotatedMeanwhile(latestVersion)
    }).catch((cause: unknown) => {
      if (cause instanceof RotatedMeanwhile) return cause.latestVersion
      throw cause
    })
    if (typeof rotated === 'number' || rotated === undefined) return rotated
    const { latestVersion } = rotated.header
    log('info', 'A key was rotated by itself: its last version encrypted as many messages as it may', {
      mount: mount().path,
      key: name,
      version: latestVersion,
    })
    return latestVersion
  }

  #warn({ name, version }: BlockQuestion, { granted, total }: Granted): void {
    if (granted === 0) return
    const line = { mount: this.#parts.mount().path, key: name, version }
    if (total >= MOST_MESSAGES)
      this.#parts.log('warn', 'A key version has its last messages: it can encrypt no more after them', line)
    else if (total >= WARN_MESSAGES && total - granted < WARN_MESSAGES)
      this.#parts.log('warn', 'A key version has encrypted half of the messages that it may: rotate the key', line)
  }
}

/** Thrown inside the rotation if another thread's question has rotated the key already. */
class RotatedMeanwhile extends Error {
  readonly latestVersion: number
  constructor(latestVersion: number) {
    super('Another thread asked before')
    this.latestVersion = latestVersion
  }
}

/** Returns the most messages that a version can have sealed. */
export function sealedAtMost({ countedFrom = 0 }: CountedVersion, granted: number, lives: number): number {
  return granted + FREE_MESSAGES * Math.max(0, lives - countedFrom)
}

/** Returns the messages that were granted for a version; 0 if none is stored. @throws StorageCorrupt */
export async function readGranted(storage: View | ViewTransaction, identity: string): Promise<number> {
  const bytes = await storage.get(USE_FOLDER + identity)
  return bytes === undefined ? 0 : MESSAGE_COUNT.decode(bytes).granted
}

/** Stores the messages that were granted for a version. */
export function putGranted(tx: ViewTransaction, identity: string, granted: number): void {
  tx.put(USE_FOLDER + identity, MESSAGE_COUNT.encode({ granted }))
}

/** Returns the lives of the mount; 0 if none is stored. @throws StorageCorrupt */
export async function readLives(storage: View | ViewTransaction): Promise<number> {
  const bytes = await storage.get(LIVES)
  return bytes === undefined ? 0 : LIVES_COUNT.decode(bytes).lives
}
