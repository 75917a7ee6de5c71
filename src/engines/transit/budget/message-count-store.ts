// The counts of messages that key versions have sealed, kept by the thread that writes. The ledger says what the
// cluster was granted (message-ledger.ts); of that the threads of the cluster are given blocks (cluster-use.ts).
//
// Several lives are stored at once: a thread that comes later then costs no write, and can encrypt on a full device.
// In a cluster a version has sealed at most what its threads were given, and some free messages for each life since it
// was made. A key that is used little thus costs no write, and what a thread had left when it died counts as sealed.
// All numbers are stored before a thread may seal on the strength of them, and a cluster counts only on grants that it
// finds in its own ledger. So the sum over all clusters keeps its bound, however each of them ends.
import { fail, type Refusal } from '../../../api/errors.ts'
import type { Secret } from '../../../crypto/primitives/secret.ts'
import type { Log } from '../../../lib/log.ts'
import { OneAtATime } from '../../../lib/one-at-a-time.ts'
import { StorageFull } from '../../../storage/errors.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import type { AskPrimary, ClusterLedger } from './cluster-ledger.ts'
import {
  CLUSTER_LIVES,
  CLUSTER_LIVES_COUNT,
  newClusterName,
  putUsed,
  readClusterLives,
  readMountStanding,
  readUsed,
} from './cluster-use.ts'
import { identityOf } from './counted-version.ts'
import {
  type AskedVersion,
  askedVersion,
  type CountedKeyReader,
  type ExhaustedParts,
  rotateExhausted,
} from './exhausted-version.ts'
import {
  type CountedSince,
  isLow,
  leftOf,
  type MountStanding,
  mayTakeFree,
  readClusters,
  readLedger,
  type Standing,
  sealedAtMost,
  standingOf,
} from './message-ledger.ts'
import type { MessageLimits } from './message-limits.ts'

/** Lives that are stored at once: more than the usual number of threads. Each costs every version some messages. */
const LIVES_AT_ONCE = 8

/** Five minutes, as the calls come. */
const MOST_LEFT_OUT = 60

/** Why a cluster has no block, although the version has messages left. */
type NotGranted = 'primary' | 'behind'

const NOT_GRANTED: Readonly<Record<NotGranted, string>> = {
  primary:
    'this cluster has used up the messages that its primary granted it for the key, and the primary gives no more at ' +
    'the moment: decryption goes on',
  behind:
    'this cluster may grant itself no more messages for the key before those that follow it have caught up, or are ' +
    'revoked: decryption goes on',
}

/** The refusal of a request that needs a block when there is none. */
export const notGranted = (why: NotGranted): Refusal => fail('messages_not_granted', [NOT_GRANTED[why]])

/** A question from a thread to the one that writes: for a life of its own, or for a block of messages. */
export type AllowanceCall =
  | { readonly kind: 'life' }
  | ({
      readonly kind: 'block'
      readonly wanted: number
      /** With fewer the request could not go on, so fewer are not granted. */
      readonly atLeast: number
    } & AskedVersion)

/**
 * The answer, as plain data, since it crosses threads. `failed`: nothing may be sealed, since nothing can be stored, or
 * since the blocks of this cluster are used up and the owner of the ledger gives it no other now.
 */
export type AllowanceAnswer =
  | { readonly failed: 'full' | NotGranted }
  | {
      readonly failed?: never
      /** Lives of the cluster that are stored, the asking thread's included. */
      readonly life: number
      /** Messages that were given; 0: none. */
      readonly granted: number
      /** The most messages that the version can have sealed, these included. */
      readonly total: number
      readonly latestVersion: number
      /** True if the name belongs to another key by now, or to none. */
      readonly isOther: boolean
    }
type Granted = Exclude<AllowanceAnswer, { readonly failed: string }>
type BlockQuestion = Extract<AllowanceCall, { readonly kind: 'block' }>

/** What a grant left behind: whether the next block of the cluster is due, and which. */
type Due = {
  readonly isLow: boolean
  readonly cluster: string
  readonly number: number
  readonly isLast: boolean
  readonly left: number
}
type Outcome = { readonly answer: Granted; readonly due: Due }

/** The parts of the mount that the counts use. */
type MessageCountParts = ExhaustedParts & {
  readonly storage: View
  readonly keys: CountedKeyReader
  readonly log: Log
  readonly limits: MessageLimits
  readonly randomBytes: (count: number) => Buffer
  readonly ledger: Pick<ClusterLedger, 'isOwner' | 'look' | 'nameOwnIn' | 'grantIn'>
  /** Asks the owner of the ledger, if that is another cluster and can be asked. */
  readonly askPrimary?: AskPrimary | undefined
}

/** Answers the counters of all threads (message-counter.ts), for one mount. */
export class MessageCountStore {
  readonly #parts: MessageCountParts
  /** The lives that versions that are made now have nothing to do with. */
  #livesSince: Promise<CountedSince> | undefined
  /** Lives are given one at a time: two threads must not take the same spare one. */
  readonly #lifeQueue = new OneAtATime()
  /** Lives that are stored, and that no thread has yet. */
  #spareLives = 0
  #lives = 0
  /** True once this cluster is named in the ledger. */
  #isNamed = false
  /** Calls of `join` that are left out, after the owner named no other cluster: twice as many each time. */
  readonly #left = { calls: 0, next: 1 }
  /** Blocks that the primary is asked for, by cluster and the identities of their versions. */
  readonly #asked = new Map<string, Promise<unknown>>()

  constructor(parts: MessageCountParts) {
    this.#parts = parts
  }

  /** Forgets what is cached: another cluster may have begun here. */
  reset(): void {
    this.#livesSince = undefined
    this.#spareLives = 0
    this.#isNamed = false
    this.#left.calls = 0
    this.#left.next = 1
  }

  /**
   * On a cluster that does not own the ledger: has the owner name this cluster in it, before anything is to be sealed.
   * Its threads can then begin while the owner cannot be asked.
   * @throws what asking throws
   */
  async join(): Promise<void> {
    const { storage, ledger, askPrimary } = this.#parts
    if (this.#isNamed || ledger.isOwner || askPrimary === undefined) return
    if (this.#left.calls > 0) {
      this.#left.calls -= 1
      return
    }
    const { clusters, cluster } = await readMountStanding(storage)
    // The first lives are stored with a name, and that is told.
    if (cluster === '') return this.#lifeQueue.run(() => this.#storeLives())
    this.#isNamed = clusters.clusters.includes(cluster)
    if (this.#isNamed) return
    await askPrimary({ kind: 'join', cluster })
    this.#left.calls = this.#left.next
    this.#left.next = Math.min(2 * this.#left.next, MOST_LEFT_OUT)
  }

  /**
   * Returns what the header of a version that is made now says of its count: only later lives can seal with it. The
   * lives are those before the first one of this thread. The blocks of clusters that are gone are read each time: they
   * become fewer if the primary was restored, or if another took its place that had not got them.
   */
  async since(): Promise<CountedSince> {
    this.#livesSince ??= this.#readLivesSince().catch((cause: unknown) => {
      this.#livesSince = undefined
      throw cause
    })
    const [lives, { gone }] = await Promise.all([this.#livesSince, readClusters(this.#parts.storage)])
    return gone === 0 ? lives : { ...lives, aheadFrom: gone }
  }

  async #readLivesSince(): Promise<CountedSince> {
    const { lives, oldLives, cluster } = await readMountStanding(this.#parts.storage)
    return lives + oldLives === 0 ? {} : { countedFrom: lives, countedBy: cluster }
  }

  /**
   * Answers one question.
   * @throws what storing throws, WriteNotAllowed where the role forbids it; only a full device is an answer
   */
  async answer(question: AllowanceCall): Promise<AllowanceAnswer> {
    try {
      return question.kind === 'life' ? await this.#life() : await this.#block(question)
    } catch (cause) {
      if (cause instanceof StorageFull) return { failed: 'full' }
      throw cause
    }
  }

  async #life(): Promise<Granted> {
    await this.since()
    await this.#lifeQueue.run(async () => {
      if (this.#spareLives > 0 && (await readClusterLives(this.#parts.storage)).lives !== this.#lives)
        await this.#forget()
      if (this.#spareLives === 0) await this.#storeLives()
      this.#spareLives -= 1
    })
    return { life: this.#lives, granted: 0, total: 0, latestVersion: 0, isOther: false }
  }

  /**
   * What this cluster counted is gone, under a thread that goes on: a filter took the mount away, and gave it back. It
   * counts under another name then, and what was used under the one before counts as all that was granted to it.
   */
  async #beginAnew(): Promise<void> {
    if ((await readClusterLives(this.#parts.storage)).cluster !== '') return
    await this.#forget()
    await this.#storeLives()
  }

  /** Lives that are stored now count for a version that is made now: what its header says is read in front of them. */
  async #forget(): Promise<void> {
    this.reset()
    await this.since()
  }

  async #storeLives(): Promise<void> {
    const { storage, ledger, randomBytes, askPrimary } = this.#parts
    const { lives, cluster, isNamed } = await storage.transaction(async (tx) => {
      const before = await readClusterLives(tx)
      const cluster = before.cluster === '' ? newClusterName(randomBytes) : before.cluster
      const lives = before.lives + LIVES_AT_ONCE
      tx.put(CLUSTER_LIVES, CLUSTER_LIVES_COUNT.encode({ lives, cluster }))
      const { clusters } = ledger.isOwner ? await ledger.nameOwnIn(tx, cluster) : await readClusters(tx)
      return { lives, cluster, isNamed: clusters.includes(cluster) }
    })
    this.#lives = lives
    this.#spareLives = LIVES_AT_ONCE
    // Ahead of need; if it fails, it is asked with the first block.
    if (!isNamed) askPrimary?.({ kind: 'join', cluster }).catch(() => {})
  }

  async #block(question: BlockQuestion): Promise<AllowanceAnswer> {
    const { answer, due } = await this.#granted(question)
    this.#warn(question, answer, due)
    if (answer.granted > 0 || answer.isOther || answer.latestVersion !== question.version) return answer
    if (!due.isLast) return { failed: this.#parts.ledger.isOwner ? 'behind' : 'primary' }
    const latestVersion = await rotateExhausted(this.#parts, question)
    return latestVersion === undefined ? answer : { ...answer, latestVersion }
  }

  /** Gives messages of the blocks that there are, and asks the primary for the next one: if none is left, at once. */
  async #granted(question: BlockQuestion): Promise<Outcome> {
    await this.#parts.ledger.look()
    let outcome = await this.#grantStored(question)
    if (outcome.due.cluster === '' && !outcome.answer.isOther) {
      await this.#lifeQueue.run(() => this.#beginAnew())
      outcome = await this.#grantStored(question)
    }
    const { answer, due } = outcome
    if (!due.isLow || answer.isOther) return outcome
    const asked = this.#askPrimary(question, due)
    if (answer.granted > 0 || asked === undefined) return outcome
    await asked
    return this.#grantStored(question)
  }

  #grantStored(question: BlockQuestion): Promise<Outcome> {
    return this.#parts.storage.transaction((tx) => this.#grant(tx, question))
  }

  /** Stores the grant of a block, as far as the version may still seal so many. */
  async #grant(tx: ViewTransaction, question: BlockQuestion): Promise<Outcome> {
    const { wanted, atLeast, identity } = question
    const { keys, limits } = this.#parts
    const found = await askedVersion(tx, keys, question)
    const mount = await readMountStanding(tx)
    const { lives: life, cluster } = mount
    if (found === undefined || cluster === '') {
      const isOther = found === undefined
      const answer = { life, granted: 0, total: 0, latestVersion: found?.latestVersion ?? 0, isOther }
      return { answer, due: { isLow: false, cluster, number: 0, isLast: false, left: 0 } }
    }
    const { latestVersion, its } = found
    const used = await readUsed(tx, identity, cluster)
    const standing = await this.#standing(tx, identity, { mount, its, used, wanted })
    const left = leftOf(limits, standing, used)
    const granted = left < atLeast ? 0 : Math.min(wanted, left)
    if (granted > 0) putUsed(tx, identity, cluster, used + granted)
    const total = sealedAtMost(limits, standing, used + granted, life)
    const isLast = standing.reserved >= limits.most
    const due = {
      isLow: isLow(limits, standing, used + granted),
      cluster,
      number: standing.number + 1,
      isLast,
      left: left - granted,
    }
    return { answer: { life, granted, total, latestVersion, isOther: false }, due }
  }

  /** Returns what the ledger says of the version; if this cluster owns it, with the next block if that is due. */
  async #standing(
    tx: ViewTransaction,
    identity: string,
    asked: {
      readonly mount: MountStanding
      readonly its: CountedSince
      readonly used: number
      readonly wanted: number
    },
  ): Promise<Standing> {
    const { limits, ledger } = this.#parts
    const { mount, its, used, wanted } = asked
    const stored = await readLedger(tx, identity)
    const standing = standingOf(limits, mount, its, stored)
    if (!ledger.isOwner || !isLow(limits, standing, used + wanted)) return standing
    const clusters = await ledger.nameOwnIn(tx, mount.cluster)
    const named = { ...mount, clusters }
    const now = standingOf(limits, named, its, stored)
    if (!isLow(limits, now, used + wanted)) return now
    const wish = { cluster: mount.cluster, number: now.number + 1 }
    return standingOf(limits, named, its, await ledger.grantIn(tx, identity, { ledger: stored, standing: now }, wish))
  }

  /** Asks for the next block, once at a time; undefined if this cluster has no primary to ask. It never fails. */
  #askPrimary({ name, version, identity }: AskedVersion, { cluster, number }: Due): Promise<unknown> | undefined {
    const { askPrimary, ledger } = this.#parts
    if (askPrimary === undefined || ledger.isOwner) return undefined
    const wanted = `${cluster} ${identity}`
    const known = this.#asked.get(wanted)
    if (known !== undefined) return known
    const asked = askPrimary({ kind: 'block', cluster, name, version, identity, number })
      .catch(() => {})
      .finally(() => this.#asked.delete(wanted))
    this.#asked.set(wanted, asked)
    return asked
  }

  /**
   * Stores with a new key the messages that were sealed before it was stored. Returns false if they are taken from what
   * the thread may seal without asking.
   */
  async putSealed(tx: ViewTransaction, secrets: { readonly hmac: Secret }, sealed: number): Promise<boolean> {
    const { limits } = this.#parts
    const mount = await readMountStanding(tx)
    const standing = standingOf(limits, mount, await this.since(), { granted: 0 })
    if (sealed <= limits.free && mayTakeFree(limits, standing, mount.lives)) return false
    if (sealed > leftOf(limits, standing, 0)) throw notGranted('behind')
    putUsed(tx, identityOf(secrets), mount.cluster, sealed)
    return true
  }

  #warn({ name, version }: BlockQuestion, { granted, total }: Granted, { isLast, left }: Due): void {
    if (granted === 0) return
    const { most } = this.#parts.limits
    const line = { mount: this.#parts.mount().path, key: name, version }
    if (isLast && left === 0)
      this.#parts.log('warn', 'A key version has its last messages: it can encrypt no more after them', line)
    else if (total >= most / 2 && total - granted < most / 2)
      this.#parts.log('warn', 'A key version has encrypted half of the messages that it may: rotate the key', line)
  }
}
