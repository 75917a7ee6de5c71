// What the pool for slow work, its clients and its workers say to each other. Jobs go by their names: the functions are
// in every thread.
import type { Takes } from './job-queue.ts'

/** Memory that a message hands over: in the message too, so that the pool can hand it on. */
type Moving = { readonly moved: ArrayBuffer[] }

/** Why there is no output. 'failed': the job threw; 'died': its thread ended; 'forgotten': the server was sealed. */
export type Refused = 'overloaded' | 'failed' | 'died' | 'forgotten'

export type JobOrder = {
  readonly kind: 'run'
  readonly id: number
  readonly job: string
  readonly input: unknown
} & Moving
export type JobDone = { readonly kind: 'done'; readonly id: number; readonly output: unknown } & Moving
/** `reason` names the error and nothing of what it was about. */
export type JobRefused = {
  readonly kind: 'refused'
  readonly id: number
  readonly why: Refused
  readonly reason: string
}
/** Let go of everything, and confirm. */
export type Collect = { readonly kind: 'collect' }
export type Collected = { readonly kind: 'collected' }

export type FromClient =
  | (JobOrder & { readonly takes: Takes })
  | { readonly kind: 'forget'; readonly id: number }
  | Collected
export type ToClient = JobDone | JobRefused | Collect | { readonly kind: 'forgotten'; readonly id: number }
export type ToWorker = JobOrder | Collect
export type FromWorker = JobDone | JobRefused | Collected

/** As much of a message port, or of a worker, as is needed. */
export type SlowPort = {
  postMessage(message: unknown, moved: ArrayBuffer[]): void
  on(event: 'message' | 'close', listener: (message: unknown) => void): unknown
}
