// The messages between two ends: plain data, which every kind of channel carries.
import { type ErrorCode, Refusal, RefusalForNow } from '../api/errors.ts'
import type { Movable } from './channel.ts'

/** A refusal as data: all that its caller is told, without its cause. */
export type SentRefusal = {
  readonly code: ErrorCode
  readonly status: number
  readonly message: string
  readonly hint: string
  readonly retryAfterSeconds: number | undefined
}

/** A message of rpc. `id` is a number that the asking end chose. */
export type Frame =
  | { readonly rpc: 'call'; readonly id: number; readonly name: string; readonly input: unknown }
  | { readonly rpc: 'notice'; readonly name: string; readonly input: unknown }
  /** `moved` lists what was handed over with the output, so that an end that no longer waits can close it. */
  | { readonly rpc: 'answer'; readonly id: number; readonly output: unknown; readonly moved?: readonly Movable[] }
  | { readonly rpc: 'refusal'; readonly id: number; readonly refusal: SentRefusal }
  | { readonly rpc: 'failure'; readonly id: number; readonly cause: string }

/** Returns undefined for a message of another protocol on the same channel. */
export function frameOf(message: unknown): Frame | undefined {
  const isFrame = typeof message === 'object' && message !== null && 'rpc' in message
  return isFrame ? (message as Frame) : undefined
}

/** Returns the refusal as data. */
export function sentRefusal(refusal: Refusal): SentRefusal {
  const { code, status, message, hint } = refusal
  const retryAfterSeconds = refusal instanceof RefusalForNow ? refusal.retryAfterSeconds : undefined
  return { code, status, message, hint, retryAfterSeconds }
}

/** Returns the refusal to throw at the caller, the same as was thrown at the other end. */
export function receivedRefusal({ code, status, message, hint, retryAfterSeconds }: SentRefusal): Refusal {
  const refusal = new Refusal(code, status, message, undefined, hint)
  return retryAfterSeconds === undefined ? refusal : new RefusalForNow(refusal, retryAfterSeconds)
}
