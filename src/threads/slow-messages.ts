// What the pool for slow work, its clients and its workers say to each other. The pool introduces every client to every
// worker: jobs and their answers go straight from one to the other, on a lane of their own. Jobs go by their names: the
// functions are in every thread.
import type { MessagePort } from 'node:worker_threads'
import type { Job } from '../lib/slow-work.ts'

export type Takes = Job<never, never>['takes']

/** On a lane, several in a message. What is of one kind takes about as long. */
export type JobOrder = { readonly id: number; readonly job: string; readonly kind: string; readonly input: unknown }
/** On a lane, several in a message. `failed` names the error and nothing of what it was about. */
export type JobAnswer = { readonly id: number; readonly tookMs: number } & (
  | { readonly output: unknown }
  | { readonly failed: string }
)

/** One end of a lane; `slot` is the place of the worker's number in the memory that is shared. */
export type LaneEnd = { readonly kind: 'lane'; readonly slot: number; readonly port: MessagePort }

/** Let go of everything, and confirm: nothing that is still on a lane is anybody's. */
export type Collect = { readonly kind: 'collect' }
export type Collected = { readonly kind: 'collected' }

/** 'start': there is a first job; 'idle': nothing of this thread is on a lane, and nothing will be until 'go on'. */
export type FromClient =
  | { readonly kind: 'start'; readonly takes: Takes }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'idle'; readonly round: number }
  | Collected
/** 'forget': refuse what waits and what comes, confirm when what is on a lane is answered. */
export type ToClient =
  | (LaneEnd & { readonly takes: Takes })
  | { readonly kind: 'not started'; readonly takes: Takes }
  | { readonly kind: 'forget'; readonly round: number }
  | Collect
  | { readonly kind: 'go on' }
  | { readonly kind: 'forgotten'; readonly id: number }
export type ToWorker = LaneEnd | Collect
export type FromWorker = Collected

/** As much of a message port, or of a worker, as is needed. */
export type SlowPort = {
  postMessage(message: unknown, moved: (ArrayBuffer | MessagePort)[]): void
  on(event: 'message' | 'close', listener: (message: unknown) => void): unknown
}
