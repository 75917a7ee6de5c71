// The network of a simulated world: hosts with names, and paths between them that delay, hold up, lose and break. All
// time comes from the timers that are handed in, all chance from the seed, so a run repeats. What it carries is like
// TCP: bytes arrive in order, or the connection is lost. Lost packets are sent again, so a loss shows as a stall.
import type { Random, Timers } from '../../src/lib/world.ts'

/** How one direction between two hosts is. Missing: as it was. */
export type PathSettings = {
  readonly delayMs: number
  /** Up to so much is added to the delay of each piece; connections overtake each other, pieces of one do not. */
  readonly jitterMs: number
  readonly bytesPerSecond: number
  /** Of a thousand pieces, so many come late by the time that it takes to send them again. */
  readonly lossPerThousand: number
}

/** What the network needs of its world. */
export type NetworkParts = {
  readonly clock: { monotonicMs(): number }
  readonly timers: Timers
  readonly random: Random
}

/** What connections tell each other. `reset` may also come from a host that knows nothing of the connection. */
export type Segment =
  | { readonly kind: 'open'; readonly port: number }
  | { readonly kind: 'opened' | 'alert' | 'accepted' | 'end' | 'reset' | 'damaged' | 'no tls' | 'balancer' }
  | { readonly kind: 'hello'; readonly serverName: string; readonly protocol: string }
  | { readonly kind: 'shown'; readonly certificate: Buffer }
  | { readonly kind: 'clock'; readonly nowMs: number }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'read'; readonly count: number }

const PERFECT: PathSettings = {
  delayMs: 1,
  jitterMs: 0,
  bytesPerSecond: Number.POSITIVE_INFINITY,
  lossPerThousand: 0,
}
/** What else a piece takes on the way. */
const HEAD_BYTES = 60
const RESEND_MS = 200
/** How long a sender goes on when nothing gets through (RFC 1122 section 4.2.3.5 asks for 100 s at least). */
export const GIVE_UP_MS = 15 * 60_000

/** One direction between two hosts. */
export class Path {
  settings = PERFECT
  /** The next bytes arrive damaged. */
  flipsNext = false
  readonly #parts: NetworkParts
  readonly #isOff: () => boolean
  readonly #held = new Set<Flow>()
  #isCut = false
  #freeAtMs = 0

  constructor(parts: NetworkParts, isOff: () => boolean) {
    this.#parts = parts
    this.#isOff = isOff
  }

  get isBlocked(): boolean {
    return this.#isCut || this.#isOff()
  }

  set isCut(isCut: boolean) {
    this.#isCut = isCut
    this.unblock()
  }

  /** Sends on what is held, if it can be. */
  unblock(): void {
    if (this.isBlocked) return
    const held = [...this.#held]
    this.#held.clear()
    for (const flow of held) flow.resume()
  }

  hold(flow: Flow): void {
    this.#held.add(flow)
  }

  release(flow: Flow): void {
    this.#held.delete(flow)
  }

  /** When a piece that is sent now arrives. */
  arrivalMs(bytes: number): number {
    const { delayMs, jitterMs, bytesPerSecond, lossPerThousand } = this.settings
    const nowMs = this.#parts.clock.monotonicMs()
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + ((bytes + HEAD_BYTES) * 1_000) / bytesPerSecond
    const late = this.#chance(lossPerThousand, 1_000) ? RESEND_MS : 0
    return Math.ceil(this.#freeAtMs) + delayMs + late + (jitterMs === 0 ? 0 : below(this.#parts.random, jitterMs + 1))
  }

  #chance(part: number, of: number): boolean {
    return part > 0 && below(this.#parts.random, of) < part
  }
}

/** A whole number from 0 to `end` - 1. */
export function below(random: Random, end: number): number {
  return random.bytes(6).readUIntBE(0, 6) % end
}

type Due = { readonly segment: Segment; readonly atMs: number }

/** One direction of a connection: segments arrive in the order in which they were sent. */
export class Flow {
  readonly #parts: NetworkParts
  readonly #path: Path
  readonly #arrived: (segment: Segment) => void
  readonly #gaveUp: () => void
  #queue: Due[] = []
  #pending: { cancel(): void } | undefined

  constructor(parts: NetworkParts, path: Path, arrived: (segment: Segment) => void, gaveUp: () => void) {
    this.#parts = parts
    this.#path = path
    this.#arrived = arrived
    this.#gaveUp = gaveUp
  }

  send(segment: Segment): void {
    const bytes = segment.kind === 'bytes' ? segment.bytes.length : 0
    const atMs = Math.max(this.#path.arrivalMs(bytes), this.#queue.at(-1)?.atMs ?? 0)
    this.#queue.push({ segment, atMs })
    if (this.#pending === undefined) this.#next()
  }

  /** What is on the way is sent again. */
  resume(): void {
    this.#pending?.cancel()
    const atMs = this.#path.arrivalMs(0)
    this.#queue = this.#queue.map((due) => ({ segment: due.segment, atMs: Math.max(due.atMs, atMs) }))
    this.#next()
  }

  /** Nothing more arrives. */
  drop(): void {
    this.#pending?.cancel()
    this.#pending = undefined
    this.#path.release(this)
    this.#queue = []
  }

  #next(): void {
    this.#pending = undefined
    const [first] = this.#queue
    if (first === undefined) return
    if (this.#path.isBlocked) {
      this.#path.hold(this)
      this.#pending = this.#parts.timers.after(GIVE_UP_MS, () => {
        this.drop()
        this.#gaveUp()
      })
      return
    }
    this.#pending = this.#parts.timers.after(Math.max(0, first.atMs - this.#parts.clock.monotonicMs()), () => {
      // It was cut while this was on the way.
      if (!this.#path.isBlocked) {
        this.#queue.shift()
        this.#deliver(first.segment)
      }
      this.#next()
    })
  }

  #deliver(segment: Segment): void {
    const isDamaged = segment.kind === 'bytes' && this.#path.flipsNext
    if (isDamaged) this.#path.flipsNext = false
    this.#arrived(isDamaged ? { kind: 'damaged' } : segment)
  }
}

/** One end of a connection. */
export class SimulatedSocket {
  /** What arrives. */
  onSegment: (segment: Segment) => void = () => {}
  /** The connection is gone; nothing arrives any more. */
  onLost: (why: string) => void = () => {}
  #out: Flow | undefined
  #state: 'open' | 'done' | 'unknown' = 'open'
  readonly #left: () => void

  /** `left` is called when this end is gone. */
  constructor(left: () => void) {
    this.#left = left
  }

  /** Joins both ends by a flow each way. */
  static join(
    parts: NetworkParts,
    [one, there]: [SimulatedSocket, Path],
    [other, back]: [SimulatedSocket, Path],
  ): void {
    one.#out = new Flow(
      parts,
      there,
      (segment) => other.#arrived(segment),
      () => one.#lose('ETIMEDOUT'),
    )
    other.#out = new Flow(
      parts,
      back,
      (segment) => one.#arrived(segment),
      () => other.#lose('ETIMEDOUT'),
    )
  }

  send(segment: Segment): void {
    if (this.#state !== 'unknown') this.#out?.send(segment)
  }

  /** Both ends were done: what comes late is ignored. */
  finish(): void {
    this.#leave('done')
  }

  /** Forgets the connection without a word. Whatever arrives is answered by a reset. */
  forget(): void {
    this.#leave('unknown')
  }

  /** Its host has no power: it forgets, and what it had sent is not sent again. */
  vanish(): void {
    this.#out?.drop()
    this.forget()
  }

  /** Tells the peer that the connection is gone, and forgets it. */
  reset(): void {
    this.send({ kind: 'reset' })
    this.forget()
  }

  /** The end of this side alone, as if a reset had arrived. */
  lose(): void {
    this.#lose('ECONNRESET')
  }

  #leave(state: 'done' | 'unknown'): void {
    if (this.#state !== 'open') return
    this.#state = state
    this.#left()
  }

  #lose(why: string): void {
    if (this.#state !== 'open') return
    this.#leave('unknown')
    this.onLost(why)
  }

  #arrived(segment: Segment): void {
    if (segment.kind === 'reset') this.#lose('ECONNRESET')
    else if (this.#state === 'unknown') this.#out?.send({ kind: 'reset' })
    else if (this.#state === 'open') this.onSegment(segment)
  }
}
