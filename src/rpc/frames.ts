// What ends say to each other: plain data, which every kind of channel carries.
import { type ErrorCode, Refusal, RefusalForNow } from '../api/errors.ts'
import type { Movable } from './channel.ts'

/** A refusal as it travels: all that its caller is told, and no cause. */
export type SentRefusal = {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  readonly hint: string
  readonly retryAfterSeconds: number | undefined
}

/** `id` is a number of the end that asked. */
export type Frame =
  | { readonly rpc: 'call'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly rpc: 'notice'; readonly name: string; readonly input: unknown }
  /** `moved` is what of the output was handed over: who does not want the answer has to let go of it. */
  | { readonly rpc: 'answer'; readonly id: number; readonly output: unknown; readonly moved?: readonly Movable[] }
  | { readonly rpc: 'refusal'; readonly id: number; readonly refusal: SentRefusal }
  | { readonly rpc: 'failure'; readonly id: number; readonly cause: string }

/** Undefined for a message of somebody else on the same channel. */
export function frameOf(message: unknown): Frame | undefined {
  const isFrame = typeof message === 'object' && message !== null && 'rpc' in message
  return isFrame ? (message as Frame) : undefined
}

export function sentRefusal(refusal: Refusal): SentRefusal {
  const { code, status, message, hint } = refusal
  const retryAfterSeconds = refusal instanceof RefusalForNow ? refusal.retryAfterSeconds : undefined
  return { code, status, message, hint, retryAfterSeconds }
}

export function receivedRefusal({ code, status, message, hint, retryAfterSeconds }: SentRefusal): Refusal {
  const refusal = new Refusal(code, status, message, undefined, hint)
  return retryAfterSeconds === undefined ? refusal : new RefusalForNow(refusal, retryAfterSeconds)
}
