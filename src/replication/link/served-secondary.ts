// The primary's end of a link that a secondary follows by, from its greeting to its end.
//
//   greeting.ts ─▶ decision of the source ─▶ welcome, then the log, beats, the seal, leaves
//        └──────────────┴─▶ refused
import { OneAtATime } from '../../lib/one-at-a-time.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message, MessageKind } from '../protocol/messages.ts'
import { filterKeyOf } from '../set/records.ts'
import { LogSource } from '../source/source.ts'
import { type FromSecondary, SecondaryRefused } from '../source/source-parts.ts'
import type { BeatFacts } from './beats.ts'
import { DueSender } from './due-sender.ts'
import type { PrimaryParts } from './end-parts.ts'
import { type AdmittedSecondary, admitted, welcomeOf } from './greeting.ts'
import { Heartbeat } from './heartbeat.ts'
import type { Arrival, Greeted, PrimaryOwner, SecondaryStatus } from './link-sides.ts'
import { linkedKeeper } from './linked-keeper.ts'
import { LogEnd } from './log-end.ts'
import { Marks } from './marks.ts'
import type { MessageLink } from './message-link.ts'
import { messageOfRefusal, RefusedPeer, refusedMessage } from './refusals.ts'
import type { ServedLink } from './served-links.ts'
import type { ServedPeer } from './served-peer.ts'
import { TrustTelling } from './trust-telling.ts'

/** What a primary remembers of a secondary. */
export type RememberedSecondary = { readonly peer: ServedPeer; readonly status: SecondaryStatus }

const FROM_SECONDARY: ReadonlySet<MessageKind> = new Set([
  'ack',
  'roots',
  'pages-wanted',
  'buckets-wanted',
  'values-wanted',
  'root-wanted',
  'compare',
  'drain',
  'resume',
  'beat',
  'certificate-wanted',
  'trusts',
  'seal-kept',
  'fault',
])

/** One link. */
export class ServedSecondary implements ServedLink {
  readonly peer: ServedPeer
  readonly #parts: PrimaryParts
  readonly #link: MessageLink
  readonly #onAdmitted: () => void
  readonly #heartbeat: Heartbeat
  readonly #logEnd: LogEnd
  readonly #marks = new Marks('last')
  /** Rejects with the reason for which this end gives the link up. */
  readonly #stopped = Promise.withResolvers<never>()
  #cause: Error | undefined
  #isOver = false
  #admission: AdmittedSecondary | undefined
  /** There from the welcome on. */
  #source: LogSource | undefined
  #seals: DueSender<Message<'seal-bundle'>> | undefined
  #trust: TrustTelling | undefined
  #isWhole = false
  #acknowledged: number | undefined
  /** Index of the last change that the secondary gets. */
  #lastIndex: number | undefined
  #whereabouts: Pick<BeatFacts, 'addresses' | 'apiAddress'> = { addresses: [], apiAddress: '' }
  #noted = ''
  #noteAtMs = 0
  #rootAtMs = 0
  #trustAtMs = 0
  #isRenewing = false
  /** A leaf goes with the authorities of its hour, so nothing newer of them may come before it. */
  readonly #certificates = new OneAtATime()
  #comparisons = 0
  /** Index up to which it surely has all; undefined in a copy or comparison, and while that is not known. */
  #has: number | undefined
  /** Id of the seal that it has on its disk, by its own word, and bundles that it has not answered yet. */
  #sealId = ''
  #bundles = 0
  readonly #onProgress: () => void

  /**
   * `onAdmitted` is called when the secondary is known to be one that may follow, `onProgress` when `has` or
   * `sealId` has changed.
   */
  constructor(
    parts: PrimaryParts,
    link: MessageLink,
    peer: ServedPeer,
    onAdmitted: () => void,
    onProgress: () => void = () => {},
  ) {
    this.#parts = parts
    this.#link = link
    this.peer = peer
    this.#onAdmitted = onAdmitted
    this.#onProgress = onProgress
    this.#logEnd = new LogEnd(parts.store, peer.set.family)
    this.#stopped.promise.catch(() => {})
    this.#heartbeat = new Heartbeat({
      link,
      world: parts.world,
      times: parts.times,
      says: () => this.#says(),
      onBeat: () => this.#onBeat(),
    })
  }

  /** How far it surely has all on its disk; undefined: that is not known, or the link is over. */
  get has(): number | undefined {
    return this.#isOver ? undefined : this.#has
  }

  /** Id of the seal that it has on its disk, as it said last; undefined while it gets another one. */
  get sealId(): string | undefined {
    return this.#bundles > 0 ? undefined : this.#sealId
  }

  async run(): Promise<void> {
    try {
      await this.#serve()
    } catch (cause) {
      await this.#end(cause as Error)
    }
  }

  disconnect(why: string): void {
    this.#admission = undefined
    this.#link.destroy(why)
    this.#stop(new Error(why))
  }

  replaced(): void {
    const sentence =
      'Another cluster follows with the id and the certificate of this secondary: if you know of none, revoke the ' +
      'id, since somebody has a copy of this store'
    this.#stop(new RefusedPeer(refusedMessage('replaced', sentence)))
  }

  /** Asks whether there is another seal than the secondary has, and sends it. */
  sealChanged(): void {
    this.#seals?.due().catch((cause: Error) => this.#stop(cause))
  }

  /** Asks whether the secondary is to trust other authorities than it does, and tells it. */
  trustChanged(): void {
    this.#certificates.run(async () => this.#trust?.due()).catch((cause: Error) => this.#trustUnknown(cause))
  }

  get status(): SecondaryStatus {
    const { lastBeatMs, roundTripMs, clockSkewMs } = this.#heartbeat.heard
    const { reachedAtMs } = this.#marks
    const nowMs = this.#parts.world.clock.monotonicMs()
    return {
      family: this.peer.set.family,
      id: this.peer.id,
      clusterId: this.#admission?.hello.clusterId ?? '',
      isConnected: this.#source !== undefined && !this.#isOver,
      apiAddress: this.#whereabouts.apiAddress,
      clusterAddress: this.#whereabouts.addresses[0] ?? '',
      lastBeatMs,
      roundTripMs,
      clockSkewMs,
      canaryAgeMs: reachedAtMs === undefined ? undefined : Math.round(nowMs - reachedAtMs),
      acknowledgedIndex: this.#acknowledged,
    }
  }

  /** What stays of it when the link is over: nothing of the link, and nothing of what was under way. */
  get left(): RememberedSecondary {
    const { peer, status: last } = this
    const { clock } = this.#parts.world
    const leftAtMs = clock.monotonicMs()
    return {
      peer,
      get status() {
        const { canaryAgeMs: age } = last
        // It grows while the secondary is away.
        const canaryAgeMs = age === undefined ? undefined : Math.round(age + clock.monotonicMs() - leftAtMs)
        return { ...last, isConnected: false, canaryAgeMs }
      },
    }
  }

  async #serve(): Promise<void> {
    const { owner, limits, store, counts } = this.#parts
    const { set } = this.peer
    const admission = await admitted(this.#parts, this.#link, set)
    const { arrival, hello } = admission
    // It may have been disconnected meanwhile.
    if (this.#cause !== undefined) throw this.#cause
    this.#admission = admission
    this.#sealId = hello.sealId
    this.#whereabouts = { addresses: hello.addresses, apiAddress: hello.apiAddress }
    this.#onAdmitted()
    this.#isFormer(hello, admission.greeted)
    this.#link.accept(FROM_SECONDARY)
    const keeper = linkedKeeper(owner, arrival, () => this.#isOver)
    const send = (message: Message): Promise<void> => this.#link.send(message)
    const { abandoned, followed } = admission.greeted
    const { family } = set
    const reach = family === 'performance' && { filterKey: filterKeyOf(arrival.id), judge: keeper.judge }
    const has = (upTo: number | undefined): void => {
      this.#has = upTo
      this.#onProgress()
    }
    const known = { limits: limits.source, abandoned, followed, count: counts(family), has, ...(reach && { reach }) }
    const parts = { family, store, keeper, send, ...known }
    const serving = LogSource.serve(parts, hello, (source) => this.#begin(source, admission))
    await Promise.race([serving, this.#receive(), this.#stopped.promise])
  }

  /** A former primary has come as a secondary: it has a log that this cluster followed, or one before it. */
  #isFormer({ histories }: Message<'hello'>, { followed }: Greeted): void {
    const { owner, log } = this.#parts
    const logsOf = followed
      .map(({ historyId }) => historyId)
      .filter((one) => histories.some(({ id }) => id.equals(one)))
    if (logsOf.length === 0) return
    owner.takeoverKnown(this.peer.set.family, { logsOf }).catch((cause: unknown) => {
      log('debug', 'It was not noted that the former primary follows', { ...this.#fields(), why: whyOf(cause) })
    })
  }

  #begin(source: LogSource, { arrival, hello, greeted, protocol }: AdmittedSecondary): void {
    const { world, owner, log, counts } = this.#parts
    if (this.#isOver) {
      source.end(new Error('The link has ended'))
      return
    }
    this.#source = source
    const send = (message: Message): Promise<void> => this.#link.send(message)
    // What the source sends is behind it.
    send(welcomeOf(this.#parts, protocol, greeted)).catch((cause) => this.#stop(cause))
    this.#noteAtMs = world.clock.monotonicMs()
    this.#rootAtMs = this.#noteAtMs
    this.#trustAtMs = this.#noteAtMs
    this.#heartbeat.start()
    const news = async () => {
      const message = await sealNews(owner, arrival, { key: hello.receiver, sealId: this.#sealId })
      if (message !== undefined) this.#bundles++
      this.#onProgress()
      return message
    }
    this.#seals = new DueSender({ news, send })
    this.#trust = new TrustTelling({ owner, arrival, send })
    this.sealChanged()
    this.trustChanged()
    counts(this.peer.set.family)('links', 1)
    log('info', 'A secondary follows', this.#fields())
  }

  async #receive(): Promise<never> {
    for (;;) {
      const { message, bytes } = await this.#link.next()
      if (this.#source === undefined) throw new ProtocolFault('damaged', 'A secondary spoke before it was welcomed')
      this.#handle(this.#source, message, bytes)
    }
  }

  #handle(source: LogSource, message: Message, bytes: number): void {
    if (message.kind === 'beat') this.#heard(source, message)
    else if (message.kind === 'certificate-wanted') this.#wanted(message).catch((cause) => this.#stop(cause))
    else if (message.kind === 'trusts') this.#trust?.answered(message).catch((cause) => this.#trustUnknown(cause))
    else if (message.kind === 'seal-kept') this.#keptSeal(message)
    else {
      if (message.kind === 'compare') this.#differs()
      source.received(message as FromSecondary, bytes)
      // In a copy or a comparison it has not all up to the place that it acknowledges.
      if (message.kind === 'ack' && this.#isWhole) this.#reached(message.durable)
    }
  }

  #keptSeal({ sealId }: Message<'seal-kept'>): void {
    const isNews = sealId !== this.#sealId
    this.#sealId = sealId
    this.#bundles = Math.max(0, this.#bundles - 1)
    this.#onProgress()
    // What it was sent was in the place of another one, or the own one has changed since. One that it cannot take over
    // leaves what it has, and is not sent again.
    if (isNews) this.sealChanged()
  }

  /** One comparison mends what differs. Another one says that it did not. */
  #differs(): void {
    const { owner, log } = this.#parts
    if (++this.#comparisons < 2 || this.#admission === undefined) return
    owner.differs(this.#admission.arrival).catch((cause: Error) => {
      log('warn', 'The tree could not be checked for a secondary that differs', {
        ...this.#fields(),
        why: cause.message,
      })
    })
  }

  #heard(source: LogSource, beat: Message<'beat'>): void {
    this.#heartbeat.received(beat)
    this.#whereabouts = { addresses: beat.addresses, apiAddress: beat.apiAddress }
    this.#isWhole = beat.lastIndex > 0
    // It cannot have more than it was sent.
    if (!this.#isWhole) return
    source.isWholeAt(beat.lastIndex)
    this.#reached(Math.min(beat.lastIndex, source.sentIndex))
  }

  #reached(index: number): void {
    this.#acknowledged = Math.max(index, this.#acknowledged ?? 0)
    this.#marks.reach(this.#acknowledged)
  }

  async #says(): Promise<BeatFacts> {
    const { facts, world } = this.#parts
    const end = await this.#logEnd.now()
    this.#lastIndex = end.lastIndex
    this.#marks.add(end.lastIndex, world.clock.monotonicMs())
    const { apiAddress, clusterAddresses } = facts()
    return { epoch: this.#admission?.greeted.epoch ?? 0, ...end, apiAddress, addresses: clusterAddresses }
  }

  #onBeat(): void {
    const { world, times } = this.#parts
    const nowMs = world.clock.monotonicMs()
    if (nowMs - this.#rootAtMs >= times.rootMs) {
      this.#rootAtMs = nowMs
      this.#source?.tellRoot()
    }
    if (nowMs - this.#trustAtMs >= times.renewalMs) {
      // Again, in case that the secondary could not keep it, or was judged by a clock that was wrong.
      this.#trustAtMs = nowMs
      this.trustChanged()
    }
    if (nowMs - this.#noteAtMs >= times.noteMs) {
      this.#noteAtMs = nowMs
      void this.#note()
    }
  }

  /** Has noted what changed since the last note. */
  async #note(): Promise<void> {
    if (this.#admission === undefined) return
    const { addresses, apiAddress } = this.#whereabouts
    const noted = { acknowledged: this.#acknowledgedChange, addresses, api: apiAddress }
    const text = JSON.stringify(noted)
    if (text === this.#noted) return
    this.#noted = text
    try {
      await this.#parts.owner.note(this.#admission.arrival, noted)
    } catch (cause) {
      this.#noted = ''
      this.#parts.log('debug', 'The state of a secondary was not noted', { ...this.#fields(), why: whyOf(cause) })
    }
  }

  /**
   * No further than the last change that the secondary gets. A note is a change itself, which the secondary
   * acknowledges in turn: with it each note would lead to the next, for ever.
   */
  get #acknowledgedChange(): number | undefined {
    const acknowledged = this.#acknowledged
    return acknowledged && Math.min(acknowledged, this.#lastIndex ?? acknowledged)
  }

  async #wanted({ publicKey }: Message<'certificate-wanted'>): Promise<void> {
    if (this.#admission === undefined) return
    if (this.#isRenewing) throw new ProtocolFault('damaged', 'A secondary asks for two certificates at once')
    this.#isRenewing = true
    const [{ arrival }, copied] = [this.#admission, Buffer.from(publicKey)]
    await this.#certificates.run(() => this.#renew(arrival, copied))
  }

  async #renew(arrival: Arrival, publicKey: Buffer): Promise<void> {
    const renewed = await this.#parts.owner.renew(arrival, publicKey)
    this.#isRenewing = false
    if (!('refused' in renewed)) return this.#link.send({ kind: 'certificate', ...renewed })
    const message = messageOfRefusal(renewed)
    if (message !== undefined) throw new RefusedPeer(message)
    // The secondary asks again later: its leaf holds on for now.
    this.#parts.log('warn', 'A certificate was not renewed', { ...this.#fields(), why: renewed.sentence })
  }

  /** The store may take nothing now, as while the primary hands over. The secondary is told again later. */
  #trustUnknown(cause: Error): void {
    if (cause instanceof ProtocolFault) this.#stop(cause)
    this.#parts.log('debug', 'It is not known whom a secondary trusts', { ...this.#fields(), why: whyOf(cause) })
  }

  /** Gives the link up for this cause. */
  #stop(cause: Error): void {
    this.#cause ??= cause
    this.#stopped.reject(cause)
  }

  async #end(cause: Error): Promise<void> {
    this.#isOver = true
    this.#heartbeat.stop()
    this.#source?.end(cause)
    const refused = refusedBy(cause)
    const what = refused === undefined ? 'The link to a secondary has ended' : 'A secondary was refused'
    this.#parts.log(refused === undefined ? 'info' : 'warn', what, { ...this.#fields(), why: cause.message })
    if (refused === undefined) await this.#link.fail(cause)
    else await this.#link.hangUp(refused, cause.message)
    await this.#note()
  }

  #fields(): Record<string, string> {
    return { family: this.peer.set.family, secondary: this.peer.id }
  }
}

async function sealNews(
  owner: Pick<PrimaryOwner, 'sealFor'>,
  arrival: Arrival,
  receiver: Parameters<PrimaryOwner['sealFor']>[1],
): Promise<Message<'seal-bundle'> | undefined> {
  const sealed = await owner.sealFor(arrival, receiver)
  return sealed && { kind: 'seal-bundle', sealed }
}

/** What the secondary is told of the cause; undefined if it is no refusal. */
function refusedBy(cause: Error): Message<'refused'> | undefined {
  if (cause instanceof SecondaryRefused) return refusedMessage(cause.code, cause.message)
  return cause instanceof RefusedPeer ? cause.sent : undefined
}

const whyOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
