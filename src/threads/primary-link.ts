// The calls between a performance secondary and its primary, over any channel. Refusals travel as they were thrown.
// What happens to the link becomes a refusal here, which says whether the request may have been carried out. Only tests
// open such a link as yet: performance replication will.
import { fail, Refusal } from '../api/errors.ts'
import type { EnsuredEntity, WantedEntity } from '../api/login.ts'
import type { Answer } from '../api/request.ts'
import type { HandedRequest, MountQuestion, ToPrimary } from '../core/handed.ts'
import type { Log } from '../lib/log.ts'
import type { Timers } from '../lib/world.ts'
import { call, NO_CALLS } from '../rpc/calls.ts'
import type { Channel } from '../rpc/channel.ts'
import { CallLate, PeerGone, Unreachable } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { faultLog } from './fault-log.ts'

/** How many requests of a secondary may wait for its primary at once; one more is refused. */
export const MAX_HANDED = 1_000
/** How long a secondary waits for its primary. Clients wait no longer for an answer than they would there. */
export const PRIMARY_DEADLINE_MS = 10_000

const limits = { most: MAX_HANDED, deadlineMs: PRIMARY_DEADLINE_MS }

/** Calls that a primary answers to a secondary. */
export const PRIMARY_CALLS = {
  carryOut: call<HandedRequest, Answer>(limits),
  ensureEntity: call<WantedEntity, EnsuredEntity>(limits),
  askMount: call<MountQuestion, unknown>(limits),
}

/** Parts of the secondary's end. */
export type PrimaryLinkParts = {
  readonly channel: Channel
  readonly timers: Timers
  readonly log: Log
  readonly primaryAddress: () => string
}

/** The end of the secondary. */
export class PrimaryLink implements ToPrimary {
  readonly #peer: Peer<typeof PRIMARY_CALLS>
  readonly #primaryAddress: () => string

  constructor({ channel, timers, log, primaryAddress }: PrimaryLinkParts) {
    this.#primaryAddress = primaryAddress
    this.#peer = connectPeer({
      channel,
      timers,
      asks: PRIMARY_CALLS,
      answers: NO_CALLS,
      handlers: {},
      onFault: faultLog(log),
    })
  }

  carryOut(request: HandedRequest): Promise<Answer> {
    return this.#asked(() => this.#peer.call('carryOut', request))
  }

  ensureEntity(wanted: WantedEntity): Promise<EnsuredEntity> {
    return this.#asked(() => this.#peer.call('ensureEntity', wanted))
  }

  askMount(asked: MountQuestion): Promise<unknown> {
    return this.#asked(() => this.#peer.call('askMount', asked))
  }

  /** The link has ended: calls that wait reject at once. */
  close(): void {
    this.#peer.close()
  }

  async #asked<T>(work: () => Promise<T>): Promise<T> {
    // A call that is made after the end was never sent.
    const wasGone = this.#peer.hasEnded
    try {
      return await work()
    } catch (cause) {
      const mayBeDone = cause instanceof CallLate || (cause instanceof PeerGone && !wasGone)
      if (mayBeDone) throw fail('primary_silent', [this.#primaryAddress()], cause)
      // A client of this cluster would take it for the state of this one.
      const isSealed = cause instanceof Refusal && cause.code === 'sealed'
      if (isSealed || cause instanceof Unreachable) throw fail('primary_unreachable', [this.#primaryAddress()], cause)
      throw cause
    }
  }
}

/** The end of the primary, one for each secondary. `answers` is what the secondary may ask. */
export function answerSecondary(channel: Channel, answers: ToPrimary, log: Log): void {
  connectPeer({
    channel,
    asks: NO_CALLS,
    answers: PRIMARY_CALLS,
    handlers: {
      carryOut: (request) => answers.carryOut(request),
      ensureEntity: (wanted) => answers.ensureEntity(wanted),
      askMount: (asked) => answers.askMount(asked),
    },
    onFault: faultLog(log),
  })
}
