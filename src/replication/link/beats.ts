// What the beats of a link tell of its other end: that it is there, how long a message takes, and how far its clock is
// off. Nothing is decided by the clock of a peer: the figures are shown.
import type { Clock } from '../../lib/world.ts'
import type { Message } from '../protocol/messages.ts'
import type { NodeFacts } from './link-sides.ts'

/** What an end says with each beat. */
export type BeatFacts = Pick<Message<'beat'>, 'epoch' | 'lastIndex' | 'committedAtMs' | 'apiAddress' | 'addresses'>

/** What an end says on a link that has nothing to do with the log. */
export const beatsWithoutLog = (facts: () => NodeFacts) => (): BeatFacts => {
  const { apiAddress, clusterAddresses: addresses } = facts()
  return { epoch: 0, lastIndex: 0, committedAtMs: 0, apiAddress, addresses }
}

/** Beats that an echo may come for. One that is further back was held for longer than a link may be silent. */
const MAX_SENT = 32
/** Samples of the peer's clock. The middle one counts: a clock that is set meanwhile spoils one sample. */
const SAMPLES = 8
const MAX_HELD_MS = 2 ** 32 - 1

type Sent = { readonly wallMs: number; readonly monotonicMs: number }

/** The beats of one link. */
export class Beats {
  readonly #clock: Clock
  #sent: Sent[] = []
  #heard: { readonly sentAtMs: number; readonly atMs: number } | undefined
  #skews: number[] = []
  #lastBeatMs: number | undefined
  #roundTripMs: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Wall clock at the last beat of the other end; undefined: there was none. */
  get lastBeatMs(): number | undefined {
    return this.#lastBeatMs
  }

  get roundTripMs(): number | undefined {
    return this.#roundTripMs
  }

  /** How far the clock of the other end is ahead; negative if it is behind. */
  get clockSkewMs(): number | undefined {
    const sorted = this.#skews.toSorted((a, b) => a - b)
    const middle = Math.floor(sorted.length / 2)
    if (sorted.length % 2 === 1) return sorted[middle]
    return sorted.length === 0 ? undefined : Math.round(((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2)
  }

  /** The next beat of this end. */
  next(facts: BeatFacts): Message<'beat'> {
    const now = this.#now()
    this.#sent = [...this.#sent.slice(1 - MAX_SENT), now]
    const heard = this.#heard
    const heldMs = heard && Math.min(Math.round(now.monotonicMs - heard.atMs), MAX_HELD_MS)
    const echo = heard && { sentAtMs: heard.sentAtMs, heldMs: heldMs ?? 0 }
    return { kind: 'beat', sentAtMs: now.wallMs, echo, root: undefined, ...facts }
  }

  /** Takes a beat of the other end. */
  received({ sentAtMs, echo }: Pick<Message<'beat'>, 'sentAtMs' | 'echo'>): void {
    const now = this.#now()
    this.#heard = { sentAtMs, atMs: now.monotonicMs }
    this.#lastBeatMs = now.wallMs
    const sent = echo && this.#sent.find(({ wallMs }) => wallMs === echo.sentAtMs)
    if (echo === undefined || sent === undefined) return
    this.#roundTripMs = Math.max(0, Math.round(now.monotonicMs - sent.monotonicMs - echo.heldMs))
    // As RFC 5905 section 8 has it: when it was heard there less when it was sent here, and the same of the answer.
    const skewMs = (sentAtMs - echo.heldMs - sent.wallMs + sentAtMs - now.wallMs) / 2
    this.#skews = [...this.#skews.slice(1 - SAMPLES), Math.round(skewMs)]
  }

  #now(): Sent {
    return { wallMs: Math.round(this.#clock.nowMs()), monotonicMs: this.#clock.monotonicMs() }
  }
}
