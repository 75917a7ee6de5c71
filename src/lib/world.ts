// What a program cannot compute: time, randomness, timers, the outside network. The start of a thread or of a command
// makes it and hands it on, so that a test or a simulation can replace it and repeat a run from a seed.
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Outbound, outboundTo, type Reach } from './outbound.ts'

/** Two clocks: one for what is stored, one for what is measured. */
export interface Clock {
  /** Wall clock, in milliseconds since the epoch: for what is stored (expiry, creation times). It may jump. */
  nowMs(): number
  /** Never goes back: for durations and deadlines within the process. */
  monotonicMs(): number
}

/** Randomness that keys may be made of. */
export interface Random {
  /** Returns fresh bytes of the kernel-seeded generator, in a buffer that shares no memory with any other. */
  bytes(count: number): Buffer
  uuid(): string
}

/** A pending timer. */
export interface Timer {
  cancel(): void
}

/** The timers of the process. Only `sleep` keeps it alive. */
export interface Timers {
  /**
   * Runs `work` once after `delayMs`, behind what has arrived by then: a thread that stood still reads its answers
   * first, and does not judge them late. A pending timer does not keep the process alive.
   */
  after(delayMs: number, work: () => void): Timer
  sleep(delayMs: number): Promise<void>
}

/** Services that a program is given instead of globals. */
export type World = {
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  readonly outbound: Outbound
}

/** Node fires `setTimeout` after 1 ms if asked for more than this (threats N-16). */
const MAX_TIMER_MS = 2 ** 31 - 1

const realTimers: Timers = {
  after(delayMs, work) {
    let behind: NodeJS.Immediate | undefined
    const step = (remainingMs: number): NodeJS.Timeout =>
      setTimeout(
        () => {
          if (remainingMs > MAX_TIMER_MS) handle = step(remainingMs - MAX_TIMER_MS)
          else behind = setImmediate(work)
        },
        Math.min(remainingMs, MAX_TIMER_MS),
      ).unref()
    let handle = step(delayMs)
    return {
      cancel: () => {
        clearTimeout(handle)
        clearImmediate(behind)
      },
    }
  },
  sleep: async (delayMs) => {
    await sleep(delayMs)
  },
}

/** `reaches` are the origins that the configuration names; a request to any other is refused. */
export function realWorld(reaches: readonly (string | Reach)[] = []): World {
  return {
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    random: { bytes: (count) => randomBytes(count), uuid: () => randomUUID() },
    timers: realTimers,
    outbound: outboundTo(reaches, realTimers),
  }
}
