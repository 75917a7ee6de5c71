// What a program cannot compute: time, randomness, timers, ticks of its thread, the outside network. The start of a
// thread or of a command makes it and hands it on, so that a test or a simulation can replace it and repeat a run from
// a seed.
import { randomBytes, randomUUID } from 'node:crypto'
import { setImmediate as nextLoop, setTimeout as sleep } from 'node:timers/promises'
import type { Links } from './links.ts'
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

/** The ticks of a thread: in each it does one thing that is ready, and then what promises wait for that. */
export interface Ticks {
  /** Resolves in a tick behind those of all that is ready: between two steps of long work, requests come in. */
  next(): Promise<void>
  /** Runs `work` in such a tick, without the cost of a promise. */
  run<A>(work: (of: A) => void, of: A): void
}

/** Services that a program is given instead of globals. */
export type World = {
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  readonly ticks: Ticks
  readonly outbound: Outbound
}

/**
 * The services of the thread that has the links to other clusters. Only that one makes them (tls-links.ts), so that no
 * other loads TLS for it.
 */
export type LinkedWorld = World & { readonly links: Links }

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

/** The ticks of the thread that asks for them. */
export const eventLoop: Ticks = {
  next: () => nextLoop(),
  run: (work, of) => {
    setImmediate(work, of)
  },
}

/** `reaches` are the origins that the configuration names; a request to any other is refused. */
export function realWorld(reaches: readonly (string | Reach)[] = []): World {
  return {
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    random: { bytes: (count) => randomBytes(count), uuid: () => randomUUID() },
    timers: realTimers,
    ticks: eventLoop,
    outbound: outboundTo(reaches, realTimers),
  }
}
