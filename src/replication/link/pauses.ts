// What a secondary does when a link has ended, or there was none: why it follows nothing now, and when it tries again.
import type { Random } from '../../lib/world.ts'
import { StorageFull } from '../../storage/errors.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import { SinkStopped } from '../sink/sink-parts.ts'
import { NoLink } from './dialing.ts'
import type { ConnectionState, PrimaryStatus } from './link-sides.ts'
import type { LinkTimes } from './link-times.ts'
import { PeerHungUp } from './message-link.ts'
import { RefusedByPrimary, type RefusedCode } from './refusals.ts'

/** A pause between two links. */
export type Pause = {
  readonly connection: Extract<ConnectionState, 'idle' | 'transient_failure'>
  readonly idle: NonNullable<PrimaryStatus['idle']>
  readonly afterMs: number
}

/** `idle_reason` for what a primary refuses; undefined: it says itself when to come again. */
const REASONS: Readonly<Record<RefusedCode, string | undefined>> = {
  version: 'version',
  'unknown-id': 'set_mismatch',
  'other-set': 'set_mismatch',
  revoked: 'revoked',
  fenced: 'fenced',
  rewound: 'rewound',
  replaced: 'replaced',
  'not-primary': 'not_primary',
  clock: 'clock',
  token: 'token',
  'not-activated': 'token',
  conflict: 'conflict',
  busy: undefined,
  'not-active': undefined,
}

/** Of these reasons: the primary, or whoever took its place, goes on without this cluster until someone looks. */
export const GOES_ON_WITHOUT: ReadonlySet<string> = new Set([
  'revoked',
  'replaced',
  'token',
  'fenced',
  'conflict',
  'set_mismatch',
  'clock',
  'version',
])

/** Part of an idle pause that is drawn: secondaries of one primary do not all come at once. */
const IDLE_JITTER = 1 / 4
const DRAWN = 2 ** 32

/** The pauses of one secondary. */
export class Pauses {
  readonly #random: Random
  readonly #times: Pick<LinkTimes, 'firstRetryMs' | 'longestRetryMs' | 'idleMs' | 'fullMs'>
  #failures = 0

  constructor(random: Random, times: Pick<LinkTimes, 'firstRetryMs' | 'longestRetryMs' | 'idleMs' | 'fullMs'>) {
    this.#random = random
    this.#times = times
  }

  /** The link was a good one: the next pause is a short one. */
  reset(): void {
    this.#failures = 0
  }

  /** What to do about this cause. */
  after(cause: Error): Pause {
    const { idleMs, fullMs } = this.#times
    const sentence = cause.message
    if (cause instanceof StorageFull) return this.#idle('storage_full', sentence, fullMs)
    if (cause instanceof SinkStopped) return this.#idle(cause.reason, sentence, idleMs)
    const isOfOtherVersion =
      (cause instanceof ProtocolFault || cause instanceof PeerHungUp) && cause.reason === 'version'
    if (isOfOtherVersion) return this.#idle('version', sentence, idleMs)
    if (cause instanceof RefusedByPrimary) return this.#refused(cause)
    const reason = cause instanceof NoLink ? cause.reason : 'cut'
    return { connection: 'transient_failure', idle: { reason, sentence }, afterMs: this.#retryMs() }
  }

  #refused({ code, message: sentence, retryAfterMs }: RefusedByPrimary): Pause {
    const reason = REASONS[code]
    if (reason !== undefined) return this.#idle(reason, sentence, this.#times.idleMs)
    // It is believed up to a limit: it may come from a node that goes away.
    const afterMs = this.#drawn(Math.min(retryAfterMs, this.#times.idleMs)) + this.#retryMs()
    return { connection: 'transient_failure', idle: { reason: code.replace('-', '_'), sentence }, afterMs }
  }

  #idle(reason: string, sentence: string, afterMs: number): Pause {
    return { connection: 'idle', idle: { reason, sentence }, afterMs: this.#drawn(afterMs) }
  }

  /** Twice as long each time; half of it is drawn. */
  #retryMs(): number {
    const { firstRetryMs, longestRetryMs } = this.#times
    const most = Math.min(firstRetryMs * 2 ** this.#failures, longestRetryMs)
    if (most < longestRetryMs) this.#failures++
    return Math.ceil((most * (1 + this.#fraction())) / 2)
  }

  #drawn(ms: number): number {
    return Math.ceil(ms * (1 + IDLE_JITTER * this.#fraction()))
  }

  #fraction(): number {
    return this.#random.bytes(4).readUInt32BE() / DRAWN
  }
}
