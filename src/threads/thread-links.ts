// The links to other clusters, as the thread that writes has them: they are on a thread of their own, which may end and
// be replaced. It outlives those threads, and tells each new one what the last one was told.

import type { Log } from '../lib/log.ts'
import type { Timers } from '../lib/world.ts'
import type {
  AskOutcome,
  HandOver,
  Knock,
  Knocked,
  LinkControl,
  LinkOwner,
  LinkState,
  LinkStatus,
} from '../replication/link/link-sides.ts'
import type { Handlers } from '../rpc/calls.ts'
import { CallLate, PeerGone, TooManyCalls, Unreachable } from '../rpc/errors.ts'
import { parcelOf } from '../rpc/parcel.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import type { ReplicationFamily } from '../storage/peer-log.ts'
import { faultLog } from './fault-log.ts'
import { NO_LINKS } from './late-links.ts'
import { answer, answered, CONTROL_CALLS, OWNER_CALLS, type StorePresence } from './link-calls.ts'

type ControlPeer = Peer<typeof CONTROL_CALLS>

/** The parts of the writing thread's end. */
export type ThreadLinksParts = {
  /** What answers the thread of the links, at the time of the call; undefined: this node has no part in replication. */
  readonly owner: () => LinkOwner | undefined
  readonly timers: Timers
  readonly log: Log
}

/** The thread of the links, whichever it is. */
export class ThreadLinks implements LinkControl {
  readonly #parts: ThreadLinksParts
  #peer: ControlPeer | undefined
  #state: LinkState | undefined
  #store: StorePresence = 'attached'
  /** Resolves when the next thread is there, or when none will be. */
  #next = Promise.withResolvers<void>()
  #hasEnded = false

  constructor(parts: ThreadLinksParts) {
    this.#parts = parts
  }

  /** Takes the port to a new thread, and tells it what it has to know. */
  join(port: Port): void {
    const { owner, timers, log } = this.#parts
    const onFault = faultLog(log)
    const peer = connectPeer({
      channel: portChannel(port),
      asks: CONTROL_CALLS,
      answers: OWNER_CALLS,
      handlers: ownerHandlers(() => owner() ?? noOwner()),
      timers,
      onFault,
    })
    this.#peer = peer
    const told = [peer.call('takeStore', this.#store), ...(this.#state ? [playOn(peer, this.#state)] : [])]
    // Who waits for the thread tells it again, and hears of a failure himself.
    for (const one of told) one.catch((cause) => cause instanceof PeerGone || onFault('begin', cause))
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }

  /**
   * As the host does. Before the first thread is there, it resolves at once, since the start of the server does not
   * wait for links. When a thread has ended, it waits for the next one.
   */
  play(state: LinkState): Promise<void> {
    this.#state = state
    // A thread that comes later is told what was played last.
    return this.#onThread((peer) => playOn(peer, this.#state ?? state))
  }

  disconnect(family: ReplicationFamily, id: string): Promise<void> {
    return this.#onThread((peer) => answered(peer.call('disconnect', parcelOf([family, id]))))
  }

  async knock(knock: Knock): Promise<Knocked> {
    const peer = this.#present
    if (peer === undefined) return noLink('unreachable', knock)
    try {
      return await answered(peer.call('knock', parcelOf([knock])))
    } catch (cause) {
      if (cause instanceof PeerGone) return noLink('cut', knock)
      throw cause
    }
  }

  async handOver(family: ReplicationFamily, withinMs: number): Promise<HandOver> {
    const peer = this.#present
    if (peer === undefined) return { kind: 'no-link' }
    try {
      return await answered(peer.call('handOver', parcelOf([family, withinMs])))
    } catch (cause) {
      if (!(cause instanceof PeerGone)) throw cause
      return { kind: 'failed', sentence: 'The thread that has the links has ended' }
    }
  }

  async takeBack(family: ReplicationFamily): Promise<void> {
    const peer = this.#present
    if (peer === undefined) return
    try {
      await answered(peer.call('takeBack', parcelOf([family])))
    } catch (cause) {
      if (!(cause instanceof PeerGone)) throw cause
    }
  }

  async ask(call: string, body: Buffer): Promise<AskOutcome> {
    const peer = this.#present
    if (peer === undefined) return { kind: 'no-link' }
    try {
      return await answered(peer.call('ask', parcelOf([call, body])))
    } catch (cause) {
      if (cause instanceof TooManyCalls) return { kind: 'busy' }
      if (!(cause instanceof PeerGone)) throw cause
      return { kind: 'silent' }
    }
  }

  sealChanged(sealId: string): void {
    // Secondaries of a thread that ended connect anew, and are asked then which seal they have.
    this.#present?.tell('sealChanged', sealId)
  }

  /** A thread that comes later dials by itself, and compares the roots. */
  async recover(family: ReplicationFamily): Promise<void> {
    await this.#ifPresent((peer) => answered(peer.call('recover', parcelOf([family]))))
  }

  async compareAgain(family: ReplicationFamily): Promise<void> {
    await this.#ifPresent((peer) => answered(peer.call('compareAgain', parcelOf([family]))))
  }

  async #ifPresent(ask: (peer: ControlPeer) => Promise<void>): Promise<void> {
    const peer = this.#present
    if (peer === undefined) return
    try {
      await ask(peer)
    } catch (cause) {
      if (!(cause instanceof PeerGone)) throw cause
    }
  }

  async status(): Promise<LinkStatus> {
    const peer = this.#present
    if (peer === undefined) return this.#peer === undefined || this.#hasEnded ? NO_LINKS : SILENT_LINKS
    try {
      return await answered(peer.call('status', parcelOf([])))
    } catch (cause) {
      if (cause instanceof CallLate || cause instanceof Unreachable) return SILENT_LINKS
      throw cause
    }
  }

  /** Says whether the thread may have the store open. Resolves when it has closed it, or may use it; or has ended. */
  async tellStore(presence: StorePresence): Promise<void> {
    this.#store = presence
    try {
      await this.#present?.call('takeStore', presence)
    } catch (cause) {
      if (!(cause instanceof PeerGone)) throw cause
    }
  }

  /** No further thread will come: what waits for one resolves. */
  end(): void {
    this.#hasEnded = true
    this.#next.resolve()
  }

  /** The thread that is there now. */
  get #present(): ControlPeer | undefined {
    return this.#peer?.hasEnded === false ? this.#peer : undefined
  }

  /** Asks the thread that is there; if it ends meanwhile, the next one. */
  async #onThread(ask: (peer: ControlPeer) => Promise<void>): Promise<void> {
    while (this.#peer !== undefined && !this.#hasEnded) {
      if (this.#present === undefined) await this.#next.promise
      const peer = this.#present
      if (peer === undefined) continue
      try {
        return await ask(peer)
      } catch (cause) {
        if (!(cause instanceof PeerGone)) throw cause
      }
    }
  }
}

/** The thread is busy, or there is no thread until the next one begins. */
const SILENT_LINKS = { ...NO_LINKS, isSilent: true }

function noLink(reason: 'unreachable' | 'cut', { address }: Knock): Knocked {
  const sentence = `${address} could not be asked, since the thread that has the links is being replaced: try again`
  return { kind: 'no-link', reason, sentence }
}

function noOwner(): never {
  throw new Unreachable('This node has no part in replication')
}

const playOn = (peer: ControlPeer, state: LinkState): Promise<void> => answered(peer.call('play', parcelOf([state])))

function ownerHandlers(owner: () => LinkOwner): Handlers<typeof OWNER_CALLS> {
  return {
    admit: answer((...input) => owner().admit(...input)),
    claim: answer((...input) => owner().claim(...input)),
    confirm: answer((...input) => owner().confirm(...input)),
    renew: answer((...input) => owner().renew(...input)),
    trustFor: answer((...input) => owner().trustFor(...input)),
    trusts: answer((...input) => owner().trusts(...input)),
    note: answer((...input) => owner().note(...input)),
    sealFor: answer((...input) => owner().sealFor(...input)),
    hold: answer((...input) => owner().hold(...input)),
    tree: answer((...input) => owner().tree(...input)),
    keysIn: answer((...input) => owner().keysIn(...input)),
    root: answer((...input) => owner().root(...input)),
    reachOf: answer((...input) => owner().reachOf(...input)),
    drain: answer((...input) => owner().drain(...input)),
    resume: answer((...input) => owner().resume(...input)),
    tookOver: answer((...input) => owner().tookOver(...input)),
    takeoverKnown: answer((...input) => owner().takeoverKnown(...input)),
    conflict: answer((...input) => owner().conflict(...input)),
    handed: answer((...input) => owner().handed(...input)),
    differs: answer((...input) => owner().differs(...input)),
    reached: answer((...input) => owner().reached(...input)),
    standing: answer((...input) => owner().standing(...input)),
    shown: answer((...input) => owner().shown(...input)),
    unconfirmed: answer((...input) => owner().unconfirmed(...input)),
    confirmed: answer((...input) => owner().confirmed(...input)),
    primaryIsAt: answer((...input) => owner().primaryIsAt(...input)),
    renewed: answer((...input) => owner().renewed(...input)),
    trustCame: answer((...input) => owner().trustCame(...input)),
    sealCame: answer((...input) => owner().sealCame(...input)),
    take: answer((...input) => owner().take(...input)),
    ownTree: answer((...input) => owner().ownTree(...input)),
    ownKeysIn: answer((...input) => owner().ownKeysIn(...input)),
    ownReach: answer((...input) => owner().ownReach(...input)),
    ownRoot: answer((...input) => owner().ownRoot(...input)),
    mend: answer((...input) => owner().mend(...input)),
  }
}
