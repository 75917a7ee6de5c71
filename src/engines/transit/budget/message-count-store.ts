// Where the messages of key versions are counted, in the thread that writes:
//
//   use/ID      JSON, {"format":1,"granted":N}: messages in blocks that threads were given to seal. ID follows from
//               secrets of the version (counted-version.ts): it has one count under whatever names it is restored
//   lives       JSON, {"format":1,"lives":N}: threads that ever sealed anything with keys of this mount, each counted
//               once for each start of the server
//
// Lives are stored some at once, so that a thread that comes later costs no write, and encrypts on a full device.
// A version has sealed at most what was granted and, for each life since it was made, FREE_MESSAGES: so a key that is
// used little costs no write, and what a thread that died had left counts as sealed. Both are stored before a thread
// may seal on the strength of them.
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

/** NIST SP 800-38D section 8.3. */
export const MOST_MESSAGES = 2 ** 32
/** Of each version, for each thread, without asking. */
export const FREE_MESSAGES = 2 ** 10

export const USE_FOLDER = 'use/'
export const LIVES = 'lives'
/** More than threads are usual; each costs a version FREE_MESSAGES. */
const LIVES_AT_ONCE = 8

export const MESSAGE_COUNT = storedRecord('The count of messages of a key version', { granted: count })
export const LIVES_COUNT = storedRecord('The count of lives of a mount', { lives: integer() })

export type AllowanceCall =
  | { readonly kind: 'life' }
  | {
      readonly kind: 'block'
      readonly name: string
      readonly version: number
      readonly identity: string
      readonly wanted: number
      /** Less is of no use. */
      readonly atLeast: number
    }

export type AllowanceAnswer =
  | { readonly failed: 'full' | 'read-only' }
  | {
      readonly failed?: never
      readonly life: number
      /** 0: none. */
      readonly granted: number
      readonly total: number
      readonly latestVersion: number
      /** The name is another key's, or nobody's. */
      readonly isOther: boolean
    }
type Granted = Exclude<AllowanceAnswer, { readonly failed: 'full' | 'read-only' }>
type BlockQuestion = Extract<AllowanceCall, { readonly kind: 'block' }>

/** A key, as far as its messages are counted. */
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

/** What the counts have of their mount. */
type MessageCountParts = {
  readonly storage: View
  readonly keys: MessageCountKeys
  readonly role: () => NodeRole
  readonly mount: () => { readonly path: string; readonly local: boolean }
  readonly log: Log
  /** Adds a version to a key unless `allow` throws; undefined where no key has the name. */
  readonly rotate: (name: string, allow: (header: CountedHeader) => void) => Promise<Found>
}

export class MessageCountStore {
  readonly #parts: MessageCountParts
  /** Lives of earlier starts: their threads are all gone. */
  #before: Promise<number> | undefined
  readonly #turns = new OneAtATime()
  /** Stored, and nobody's yet. */
  #spareLives = 0
  #lives = 0

  constructor(parts: MessageCountParts) {
    this.#parts = parts
  }

  /** A version that is made now has to do with later lives only. */
  livesBefore(): Promise<number> {
    this.#before ??= readLives(this.#parts.storage).catch((cause: unknown) => {
      this.#before = undefined
      throw cause
    })
    return this.#before
  }

  /** @throws what storing throws, but for a full device, which is an answer */
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
    await this.#turns.run(async () => {
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

  /** The new latest version; undefined where the key does not rotate by itself. */
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

class RotatedMeanwhile extends Error {
  readonly latestVersion: number
  constructor(latestVersion: number) {
    super('Another thread asked before')
    this.latestVersion = latestVersion
  }
}

/** Messages that a version can have sealed at most. */
export function sealedAtMost({ countedFrom = 0 }: CountedVersion, granted: number, lives: number): number {
  return granted + FREE_MESSAGES * Math.max(0, lives - countedFrom)
}

/** @throws StorageCorrupt */
export async function readGranted(storage: View | ViewTransaction, identity: string): Promise<number> {
  const bytes = await storage.get(USE_FOLDER + identity)
  return bytes === undefined ? 0 : MESSAGE_COUNT.decode(bytes).granted
}

export function putGranted(tx: ViewTransaction, identity: string, granted: number): void {
  tx.put(USE_FOLDER + identity, MESSAGE_COUNT.encode({ granted }))
}

/** @throws StorageCorrupt */
export async function readLives(storage: View | ViewTransaction): Promise<number> {
  const bytes = await storage.get(LIVES)
  return bytes === undefined ? 0 : LIVES_COUNT.decode(bytes).lives
}
