// A secondary follows its primary: it says what the primary must still hear of the activation, dials, follows until the
// link ends, pauses, and begins again.
//
//   unconfirmed? ─▶ dial ─▶ link (followed-primary.ts) ─▶ its end ─▶ pause (pauses.ts) ─┐
//        ▲──────────────────────────────────────────────────────────────────────────────┘
import { LinkClosed } from '../../lib/links.ts'
import { linkAddressOf } from '../set/peer-address.ts'
import { type DialedPrimary, dialPrimary, NoLink, noAddress } from './dialing.ts'
import type { LinkEndParts } from './end-parts.ts'
import { EndablePause } from './endable-pause.ts'
import { changesIn, isNewFor, isSamePart, isStaleFor } from './followed-part.ts'
import { FollowedPrimary, KINDS_OF_PRIMARY } from './followed-primary.ts'
import { askPrimary } from './knocking.ts'
import { LeafRenewal } from './leaf-renewal.ts'
import { FOLLOWING_PROTOCOLS } from './link-protocols.ts'
import type { HandOver, Knocked, PeerStatus, PrimaryStatus, SecondaryPart } from './link-sides.ts'
import { MessageLink } from './message-link.ts'
import { GOES_ON_WITHOUT, Pauses } from './pauses.ts'
import { PrimaryView } from './primary-view.ts'
import { RefusedByPrimary } from './refusals.ts'

/** How long a primary that is to hand over is waited for, where there is no link: it may have begun a moment ago. */
const REACH_MS = 1_000
const LOOK_MS = 25

/** A link of this cluster is given up by this cluster. */
class GivenUp extends Error {
  override name = 'GivenUp'
}

/** Follows the primary of one set, until it is stopped. */
export class Follower {
  readonly #parts: LinkEndParts
  readonly #pauses: Pauses
  readonly #view: PrimaryView
  readonly #renewal: LeafRenewal
  #part: SecondaryPart
  /** The part as it was when the link was dialed last. */
  #dialed: SecondaryPart
  /** Ends what waits for an answer of the primary. */
  readonly #stopping = new AbortController()
  #link: FollowedPrimary | undefined
  /** Id of the own seal, if it has changed since the standing was asked for last. */
  #newSeal: string | undefined
  #lastPeer: PeerStatus | undefined
  #connection: PrimaryStatus['connection'] = 'connecting'
  #idle: PrimaryStatus['idle']
  #refused: PrimaryStatus['refused']
  #linkedAtMs: number | undefined
  /** Where the active node of the primary is, by the word of another one. */
  #activeAt: string | undefined
  #toldAt = ''
  #isTelling = false
  readonly #pause: EndablePause
  readonly #onLinked: () => void

  /**
   * `before` resolves when nothing that came from an earlier primary of the family is being applied. `onLinked` is
   * called when the primary has taken this secondary.
   */
  constructor(parts: LinkEndParts, part: SecondaryPart, before: Promise<unknown>, onLinked: () => void = () => {}) {
    this.#parts = parts
    this.#pause = new EndablePause(parts.world.timers)
    this.#onLinked = onLinked
    this.#part = part
    this.#dialed = part
    this.#pauses = new Pauses(parts.world.random, parts.times)
    this.#view = new PrimaryView(parts.world.clock)
    this.#renewal = new LeafRenewal(parts, part.set.family)
    void this.#run(before)
  }

  /** True if the part is the one that it follows by, with whatever leaf. */
  isFor(part: SecondaryPart): boolean {
    return isSamePart(this.#part, part)
  }

  /**
   * Takes over a leaf and addresses that may be new. Where they are, a pause is over. The first address is what an
   * operator gave: if that is another one, the link goes there.
   */
  update(part: SecondaryPart): void {
    const { isRenewed, isMoved, isElsewhere } = changesIn(this.#part, part)
    this.#part = part
    // The first use of a new leaf ends the one before at the primary.
    if (isRenewed) this.#link?.stop(new GivenUp('the certificate was renewed'))
    else if (isElsewhere) this.#link?.stop(new GivenUp('the primary is at another address'))
    if (isRenewed || isMoved) this.#pause.end()
  }

  /** Dials anew at once, if it waits. */
  recover(): void {
    this.#pauses.reset()
    this.#pause.end()
  }

  /** Compares over the link that is there. Over a new one the roots are compared soon. */
  compareAgain(): void {
    if (this.#link === undefined) this.recover()
    else if (!this.#link.compareAgain()) this.#link.stop(new GivenUp('a comparison is made over a new one'))
  }

  /** As LinkControl. The greeting of a link that is being dialed may be older. */
  sealChanged(sealId: string): void {
    this.#newSeal = sealId
    this.#link?.sealChanged(sealId)
  }

  /** Breaks the link off. Resolves when nothing that came over it is being applied. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#link?.stop(new GivenUp('this cluster does not follow any more'))
    this.#pause.end()
    await this.#link?.applied
  }

  /** As LinkControl. */
  async handOver(withinMs: number): Promise<HandOver> {
    const { timers } = this.#parts.world
    const link = await this.#reached()
    if (link === undefined) return { kind: 'no-link' }
    const late = Promise.withResolvers<HandOver>()
    const sentence = `The primary did not hand over within ${withinMs / 1_000} s`
    const timer = timers.after(withinMs, () => late.resolve({ kind: 'failed', sentence }))
    const over = link.over.then((): HandOver => ({ kind: 'no-link' }))
    const asked = link
      .drain()
      .then((drained): HandOver => (drained ? { kind: 'drained', ...drained } : { kind: 'no-link' }))
    try {
      return await Promise.race([asked, over, late.promise])
    } catch (cause) {
      if (!(cause instanceof LinkClosed)) throw cause
      return { kind: 'no-link' }
    } finally {
      timer.cancel()
    }
  }

  /** The link, which is dialed at once if it is not there. Undefined if the primary does not answer soon. */
  async #reached(): Promise<FollowedPrimary | undefined> {
    const { timers } = this.#parts.world
    if (this.#connection !== 'ready') this.recover()
    for (let passed = 0; this.#connection !== 'ready' && passed < REACH_MS && !this.#isStopped; passed += LOOK_MS)
      await new Promise<void>((resolve) => void timers.after(LOOK_MS, resolve))
    return this.#connection === 'ready' ? this.#link : undefined
  }

  /** As LinkControl. What cannot be sent is not needed: without a link, the primary writes again by itself. */
  async takeBack(): Promise<void> {
    await this.#link?.resume().catch(() => {})
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  get status(): PrimaryStatus {
    const now = this.#link?.status
    const peer = now?.isConnected ? now : (this.#lastPeer ?? now)
    return {
      family: this.#part.set.family,
      connection: this.#connection,
      idle: this.#idle,
      refused: this.#refused,
      ...this.#view.figures,
      peers: peer === undefined ? [] : [{ ...peer, canaryAgeMs: this.#view.canaryAgeMs }],
    }
  }

  async #run(before: Promise<unknown>): Promise<void> {
    await before
    while (!this.#isStopped) {
      const cause = await this.#once()
      if (this.#isStopped) return
      await this.#rest(cause)
    }
  }

  /** One link, from dial to end. Returns why it ended. */
  async #once(): Promise<Error> {
    const { owner, counts } = this.#parts
    const { family } = this.#part.set
    this.#connection = 'connecting'
    this.#dialed = this.#part
    try {
      await this.#confirm()
      this.#newSeal = undefined
      const standing = await owner.standing(family)
      this.#dialed = this.#part
      const { link, address } = await this.#dial()
      if (this.#isStopped || isStaleFor(this.#dialed, this.#part)) {
        link.destroy('it is not needed any more')
        throw new GivenUp('The part of this cluster has changed')
      }
      this.#link = new FollowedPrimary(
        {
          ...this.#parts,
          part: () => this.#part,
          standing,
          view: this.#view,
          renewal: this.#renewal,
          isAt: (addresses, apiAddress) => void this.#isAt(addresses, apiAddress),
          onWelcome: () => this.#linked(),
        },
        new MessageLink(link, { ...this.#parts, count: counts(family) }, KINDS_OF_PRIMARY),
        address,
      )
      if (this.#newSeal !== undefined) this.#link.sealChanged(this.#newSeal)
      return await this.#link.run()
    } catch (cause) {
      const peer = this.#link?.status
      if (peer?.lastBeatMs !== undefined) this.#lastPeer = peer
      this.#link = undefined
      return cause as Error
    }
  }

  /** Tells the primary that the activation is stored, if it has not heard that yet. */
  async #confirm(): Promise<void> {
    const { owner, facts } = this.#parts
    const { set, id, identity } = this.#part
    const unconfirmed = await owner.unconfirmed(set.family)
    if (unconfirmed === undefined) return
    let answer: Knocked | undefined
    for (const address of this.#addresses()) {
      const knock = { set, id, identity, address, facts: facts(), ...unconfirmed, what: 'confirm' } as const
      answer = await askPrimary(this.#parts, knock, this.#stopping.signal)
      if (answer.kind !== 'no-link') break
    }
    if (answer?.kind === 'welcome') return owner.confirmed(set.family, unconfirmed.nonce)
    if (answer?.kind === 'refused') throw new RefusedByPrimary({ ...answer, retryAfterMs: 0, address: '' })
    throw answer?.kind === 'no-link' ? new NoLink(answer.reason, answer.sentence) : noAddress()
  }

  #dial(): Promise<DialedPrimary> {
    const protocol = FOLLOWING_PROTOCOLS[this.#part.set.family]
    return dialPrimary(this.#parts.world, this.#part, this.#addresses(), protocol, this.#stopping.signal)
  }

  #addresses(): readonly string[] {
    const { addresses } = this.#part
    return this.#activeAt === undefined ? addresses : [this.#activeAt, ...addresses]
  }

  #linked(): void {
    this.#connection = 'ready'
    this.#idle = undefined
    this.#refused = undefined
    this.#linkedAtMs = this.#parts.world.clock.monotonicMs()
    this.#onLinked()
  }

  /** Pauses as the cause asks for. Whatever changes the part ends it. */
  async #rest(cause: Error): Promise<void> {
    const { world, times, log } = this.#parts
    const linkedMs = this.#linkedAtMs === undefined ? 0 : world.clock.monotonicMs() - this.#linkedAtMs
    if (linkedMs >= times.healthyMs) this.#pauses.reset()
    this.#linkedAtMs = undefined
    const { connection, idle, afterMs } = this.#pauses.after(cause)
    const isNews = this.#connection === 'ready' || this.#idle?.sentence !== idle.sentence
    const fields = { family: this.#part.set.family, reason: idle.reason, why: idle.sentence }
    if (isNews) log(connection === 'idle' ? 'warn' : 'info', 'This secondary does not follow its primary', fields)
    this.#connection = connection
    this.#idle = idle
    if (GOES_ON_WITHOUT.has(idle.reason)) this.#refused = idle.sentence
    if (this.#isSentOn(cause)) return
    // What was refused there says nothing of the place that the operator gave meanwhile.
    if (isNewFor(this.#dialed, this.#part)) return
    await this.#pause.rest(afterMs)
  }

  /** True where another node is said to be active: it is tried at once. One that sends on in turn is not believed. */
  #isSentOn(cause: Error): boolean {
    const isBelieved = this.#activeAt === undefined && cause instanceof RefusedByPrimary && cause.code === 'not-active'
    this.#activeAt = isBelieved && linkAddressOf(cause.address) !== undefined ? cause.address : undefined
    return this.#activeAt !== undefined
  }

  /** Has the owner keep where the primary is, when it changed. */
  async #isAt(addresses: readonly string[], apiAddress: string): Promise<void> {
    const told = JSON.stringify([addresses, apiAddress])
    if (told === this.#toldAt || this.#isTelling) return
    this.#isTelling = true
    const { family } = this.#part.set
    try {
      await this.#parts.owner.primaryIsAt(family, addresses, apiAddress)
      this.#toldAt = told
    } catch (cause) {
      this.#parts.log('debug', 'Where the primary is was not kept', { family, why: (cause as Error).message })
    } finally {
      this.#isTelling = false
    }
  }
}
