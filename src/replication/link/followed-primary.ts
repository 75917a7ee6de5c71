// The secondary's end of a link that it follows by, from its greeting to its end.
import { certificateFingerprint } from '../../crypto/signatures/certificate.ts'
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import { StorageFull } from '../../storage/errors.ts'
import { Tree } from '../../storage/log/tree.ts'
import type { Message, MessageKind } from '../protocol/messages.ts'
import { LogSink } from '../sink/sink.ts'
import { type FromPrimary, type SinkKeeper, SinkStopped } from '../sink/sink-parts.ts'
import type { BeatFacts } from './beats.ts'
import type { LinkEndParts } from './end-parts.ts'
import { greetPrimary, outOfPlace } from './greeting.ts'
import { Heartbeat } from './heartbeat.ts'
import type { LeafRenewal } from './leaf-renewal.ts'
import type { FollowerStanding, PeerStatus, SecondaryPart } from './link-sides.ts'
import type { MessageLink } from './message-link.ts'
import type { PrimaryView } from './primary-view.ts'
import { RefusedByPrimary } from './refusals.ts'

/** The kinds of message that a secondary takes. */
export const KINDS_OF_PRIMARY: ReadonlySet<MessageKind> = new Set([
  'welcome',
  'refused',
  'course',
  'reach',
  'run',
  'piece',
  'pages',
  'digests',
  'listing',
  'values',
  'complete',
  'drained',
  'beat',
  'certificate',
  'seal-bundle',
  'fault',
])

/** What one link needs besides what all have. */
export type FollowedPrimaryParts = LinkEndParts & {
  readonly part: () => SecondaryPart
  readonly standing: FollowerStanding
  readonly view: PrimaryView
  readonly renewal: LeafRenewal
  /** Takes where the primary says that it is. */
  readonly isAt: (addresses: readonly string[], apiAddress: string) => void
  /** Called when the primary has taken this secondary. */
  readonly onWelcome: () => void
}

/** One link. */
export class FollowedPrimary {
  readonly #parts: FollowedPrimaryParts
  readonly #link: MessageLink
  readonly #address: string
  readonly #heartbeat: Heartbeat
  readonly #stopped = Promise.withResolvers<never>()
  readonly #over = Promise.withResolvers<string>()
  #sink: LogSink | undefined
  #applying: Promise<unknown> = Promise.resolve()
  #apiAddress = ''
  /** Seals are taken over one by one, each in the place of the one before. */
  readonly #seals = new OneAtATime()
  /** Ids of the seal that this cluster has, and of the one that the primary knows of. */
  #sealId: string
  #toldSealId: string
  #isOver = false
  /** How often the primary was asked to write no more. */
  #drains = 0
  #onDrained: (number: number, grantsNothing: boolean) => void = () => {}

  /** `address` is the one that was dialed. */
  constructor(parts: FollowedPrimaryParts, link: MessageLink, address: string) {
    this.#parts = parts
    this.#link = link
    this.#address = address
    this.#sealId = parts.standing.sealId
    this.#toldSealId = this.#sealId
    this.#stopped.promise.catch(() => {})
    this.#heartbeat = new Heartbeat({
      link,
      world: parts.world,
      times: parts.times,
      says: () => this.#says(),
      onBeat: () => this.#onBeat(),
    })
  }

  /** Follows until the link is over and nothing of it is being applied any more. @throws the cause */
  async run(): Promise<never> {
    try {
      return await this.#follow()
    } catch (cause) {
      this.#isOver = true
      this.#over.resolve((cause as Error).message)
      this.#heartbeat.stop()
      this.#parts.renewal.drop()
      this.#sink?.end(cause as Error)
      await this.#giveUp(cause as Error)
      await this.#applying
      throw cause
    }
  }

  /** Resolves with the reason when the link has ended. */
  get over(): Promise<string> {
    return this.#over.promise
  }

  /** Resolves when nothing that came over the link is being applied. */
  get applied(): Promise<unknown> {
    return this.#applying
  }

  /** Gives the link up for this cause. */
  stop(cause: Error): void {
    this.#link.destroy(cause.message)
    this.#sink?.end(cause)
    this.#stopped.reject(cause)
  }

  /**
   * Asks the primary to write no more. Resolves when it says so and all that it wrote is applied, or when the link has
   * ended. Undefined: the log does not come over this link.
   */
  async drain(): Promise<{ readonly grantsNothing: boolean } | undefined> {
    if (this.#sink === undefined || this.#isOver || this.#parts.view.wholeIndex === 0) return undefined
    const number = ++this.#drains
    const drained = new Promise<{ readonly grantsNothing: boolean }>((resolve) => {
      // An answer to what was asked before says nothing: that was taken back.
      this.#onDrained = (answered, grantsNothing) => {
        if (answered === number) resolve({ grantsNothing })
      }
    })
    await this.#link.send({ kind: 'drain', number })
    return drained
  }

  /** Tells the primary that it may write again. */
  async resume(): Promise<void> {
    if (this.#sink !== undefined && !this.#isOver) await this.#link.send({ kind: 'resume' })
  }

  /**
   * The seal of this id is in force, wherever it came from: a bundle of an earlier link may be stored late. The primary
   * must not take this cluster for one that has another.
   */
  sealChanged(sealId: string): void {
    this.#sealId = sealId
    this.#tellSeal()
  }

  /** Compares with the primary. False: this link has done so too often. */
  compareAgain(): boolean {
    return this.#sink?.compareAgain() ?? true
  }

  get status(): PeerStatus {
    const { lastBeatMs, roundTripMs, clockSkewMs } = this.#heartbeat.heard
    return {
      isConnected: this.#sink !== undefined && !this.#isOver,
      apiAddress: this.#apiAddress,
      clusterAddress: this.#address,
      lastBeatMs,
      roundTripMs,
      clockSkewMs,
      canaryAgeMs: this.#parts.view.canaryAgeMs,
    }
  }

  async #follow(): Promise<never> {
    const { part, standing, view, log, counts, onWelcome } = this.#parts
    const { set } = part()
    const { version } = await greetPrimary(this.#parts, this.#link, part(), standing)
    view.version = version
    this.#sink = this.#newSink()
    onWelcome()
    this.#tellSeal()
    counts(set.family)('links', 1)
    log('info', 'This secondary follows its primary', { family: set.family, address: this.#address })
    this.#heartbeat.start()
    const applying = this.#sink.run()
    this.#applying = applying.catch(() => {})
    return Promise.race([applying, this.#receive(this.#sink), this.#stopped.promise])
  }

  async #giveUp(cause: Error): Promise<void> {
    const { message: sentence } = cause
    // So that the operator of the primary reads it as well.
    const isOurs = cause instanceof SinkStopped || cause instanceof StorageFull
    if (isOurs) await this.#link.hangUp({ kind: 'fault', reason: 'closing', sentence }, sentence)
    else await this.#link.fail(cause)
  }

  #newSink(): LogSink {
    const { part, standing, view, limits, counts } = this.#parts
    const { family } = part().set
    return new LogSink({
      family,
      count: counts(family),
      keeper: this.#keeper(),
      send: (message) => this.#link.send(message),
      progress: (progress) => view.progressed(progress),
      isOpen: standing.transfer !== undefined,
      limits: limits.sink,
      drained: (number, grantsNothing) => this.#onDrained(number, grantsNothing),
    })
  }

  async #receive(sink: LogSink): Promise<never> {
    for (;;) {
      const { message, bytes } = await this.#link.next()
      switch (message.kind) {
        case 'beat':
          this.#heard(message)
          break
        case 'refused':
          throw new RefusedByPrimary(message)
        case 'certificate':
          void (message.certificate.length === 0 ? this.#trustCame(message) : this.#parts.renewal.came(message))
          break
        case 'seal-bundle':
          void this.#seals.run(() => this.#sealCame(message))
          break
        case 'welcome':
          throw outOfPlace(message)
        default:
          sink.received(message as FromPrimary, bytes)
      }
    }
  }

  #heard(beat: Message<'beat'>): void {
    this.#heartbeat.received(beat)
    this.#parts.view.heard(beat, this.#heartbeat.heard.clockSkewMs)
    this.#apiAddress = beat.apiAddress
    this.#parts.isAt(beat.addresses, beat.apiAddress)
  }

  #says(): BeatFacts {
    const { facts, standing, view } = this.#parts
    const { apiAddress, clusterAddresses } = facts()
    const own = { epoch: standing.epoch, apiAddress, addresses: clusterAddresses }
    return { ...own, lastIndex: view.wholeIndex, committedAtMs: 0 }
  }

  #onBeat(): void {
    const { renewal, part } = this.#parts
    renewal.ask(part().renewalDueMs, (message) => this.#link.send(message)).catch((cause: Error) => this.stop(cause))
  }

  async #sealCame({ sealed }: Message<'seal-bundle'>): Promise<void> {
    const { owner, part, log } = this.#parts
    const { family } = part().set
    try {
      this.#sealId = await owner.sealCame(family, Buffer.from(sealed), this.#sealId)
    } catch (cause) {
      log('warn', 'The seal of the primary was not taken over', { family, why: (cause as Error).message })
      // It is sent again over the next link, and over this one no more: the shares of before would open this server.
      this.stop(cause as Error)
      return
    }
    await this.#saySeal()
  }

  /** Behind what is being taken over, of which the primary is told as well. */
  #tellSeal(): void {
    void this.#seals.run(async () => {
      if (this.#sink !== undefined && !this.#isOver && this.#sealId !== this.#toldSealId) await this.#saySeal()
    })
  }

  async #saySeal(): Promise<void> {
    this.#toldSealId = this.#sealId
    await this.#link.send({ kind: 'seal-kept', sealId: this.#sealId }).catch((cause: Error) => this.stop(cause))
  }

  /** What is not kept is told again over the next link; until then the authority of before is trusted. */
  async #trustCame({ trusted }: Message<'certificate'>): Promise<void> {
    const { owner, part, log } = this.#parts
    const { family } = part().set
    const copied = trusted.map((one) => Buffer.from(one))
    try {
      await owner.trustCame(family, copied)
    } catch (cause) {
      log('warn', 'The authorities of the set were not kept', { family, why: (cause as Error).message })
      return
    }
    const fingerprints = copied.map(certificateFingerprint)
    await this.#link.send({ kind: 'trusts', fingerprints }).catch((cause: Error) => this.stop(cause))
  }

  #keeper(): SinkKeeper {
    const { owner, part } = this.#parts
    const { family } = part().set
    return {
      take: (batch) => owner.take(family, batch),
      tree: async () => Tree.of(await owner.ownTree()),
      keysIn: (buckets) => owner.ownKeysIn(buckets),
      reached: () => owner.ownReach(family),
      root: () => owner.ownRoot(family),
      mend: () => owner.mend(family),
    }
  }
}
