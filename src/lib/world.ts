// Everything that a program cannot compute: time, randomness, timers, the network outside.
// Handed in from main.ts, so that a test or a simulation can replace it and repeat a run from a seed.
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { outboundTo, type Reach } from './outbound.ts'

export interface Clock {
  /** Wall clock in milliseconds since the epoch: for what is stored (expiry, creation times). It may jump. */
  nowMs(): number
  /** Never goes back: for durations and deadlines inside the process. */
  monotonicMs(): number
}

export interface Random {
  /** Fresh bytes of the kernel-seeded generator, in a buffer that shares no memory with any other. */
  bytes(count: number): Buffer
  uuid(): string
}

export interface Timer {
  cancel(): void
}

export interface Timers {
  /**
   * Runs `work` once after `delayMs`, behind what has arrived by then: a thread that stood still reads its answers
   * first, and does not judge them late. A pending timer does not keep the process alive.
   */
  after(delayMs: number, work: () => void): Timer
  sleep(delayMs: number): Promise<void>
}

export type OutboundRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  readonly timeoutMs: number
  /** More of the answer is refused; missing: 1 MiB. */
  readonly maxAnswerBytes?: number
  /** The connection serves later requests too, of which each origin has 32 at most. */
  readonly keepsConnection?: boolean
}
export type OutboundResponse = { readonly status: number; readonly headers: Map<string, string>; readonly body: Buffer }

export interface Outbound {
  request(request: OutboundRequest): Promise<OutboundResponse>
}

export type World = {
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  readonly outbound: Outbound
}

/** `setTimeout` of Node fires after 1 ms when asked for more than this (threats N-16). */
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

/** `reaches`: origins that the configuration names; a request to any other is refused instead of being made. */
export function realWorld(reaches: readonly (string | Reach)[] = []): World {
  return {
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    random: { bytes: (count) => randomBytes(count), uuid: () => randomUUID() },
    timers: realTimers,
    outbound: outboundTo(reaches, realTimers),
  }
}
