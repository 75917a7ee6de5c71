// The heart of a link, the same at both ends: it sends beats, and gives up a link on which nothing arrives. TCP alone
// notices neither a peer without power nor a cut of one direction for a quarter of an hour.
import type { Timer, World } from '../../lib/world.ts'
import type { Message } from '../protocol/messages.ts'
import { type BeatFacts, Beats } from './beats.ts'
import type { LinkTimes } from './link-times.ts'
import type { MessageLink } from './message-link.ts'

/** What a heartbeat needs. */
export type HeartbeatParts = {
  readonly link: MessageLink
  readonly world: Pick<World, 'clock' | 'timers'>
  readonly times: Pick<LinkTimes, 'beatMs' | 'silenceMs'>
  /** What this end says now. Where it cannot say anything, the link is given up. */
  readonly says: () => BeatFacts | Promise<BeatFacts>
  /** Called with each beat, for what else is done from time to time. */
  readonly onBeat: () => void
}

/** Beats from `start` to `stop`. */
export class Heartbeat {
  readonly #parts: HeartbeatParts
  readonly #beats: Beats
  #timer: Timer | undefined
  #isStopped = false
  #isSending = false

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
    this.#beats = new Beats(parts.world.clock)
  }

  /** What the beats of the other end tell. */
  get heard(): Pick<Beats, 'lastBeatMs' | 'roundTripMs' | 'clockSkewMs'> {
    return this.#beats
  }

  /** Sends the first beat now. */
  start(): void {
    if (this.#isStopped) return
    const { world, times, link, onBeat } = this.#parts
    this.#timer = world.timers.after(times.beatMs, () => this.start())
    if (world.clock.monotonicMs() - link.receivedAtMs >= times.silenceMs) {
      link.destroy(`nothing has arrived for ${times.silenceMs / 1_000} s`)
      return
    }
    // Behind a beat that still waits for room there is nothing to say.
    if (!this.#isSending) void this.#send()
    onBeat()
  }

  received(beat: Message<'beat'>): void {
    this.#beats.received(beat)
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  async #send(): Promise<void> {
    this.#isSending = true
    try {
      await this.#parts.link.send(this.#beats.next(await this.#parts.says()))
    } catch (cause) {
      this.#parts.link.destroy(`there is nothing to say: ${(cause as Error).message}`)
    } finally {
      this.#isSending = false
    }
  }
}
