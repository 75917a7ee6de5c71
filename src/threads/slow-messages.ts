// What the pool for slow work, its clients and its workers say to each other. The pool introduces every client to every
// worker: jobs and their answers go straight from one to the other, on a lane of their own. Jobs go by their names: the
// functions are in every thread.
//
// Lanes are no calls of rpc: jobs go in groups and outlive the worker that had them, answers are held back until others
// can go with them, and a worker says in shared memory, by its number, which job it is at.
import type { MessagePort } from 'node:worker_threads'
import type { Job } from '../lib/slow-work.ts'
import { call, notice } from '../rpc/calls.ts'

export type Takes = Job<never, never>['takes']

/** On a lane, several in a message. What is of one kind takes about as long. */
export type JobOrder = { readonly id: number; readonly job: string; readonly kind: string; readonly input: unknown }
/** On a lane, several in a message. `failed` names the error and nothing of what it was about. */
export type JobAnswer = { readonly id: number; readonly tookMs: number } & (
  | { readonly output: unknown }
  | { readonly failed: string }
)

/** One end of a lane; `slot` is the place of the worker's number in the memory that is shared. */
export type LaneEnd = { readonly slot: number; readonly port: MessagePort }
export type ClientLane = LaneEnd & { readonly takes: Takes }

const lane = { moves: ({ port }: LaneEnd) => [port] }
/** Let go of everything: nothing that is still on a lane is anybody's. */
const collect = call<void, void>()

/** What the pool is asked by a thread that has slow work. */
export const POOL_CALLS = {
  /** There is a first job for them; false where they could not be started. */
  start: call<Takes, boolean>(),
  forget: call<void, void>(),
}
/** What a thread that has slow work is asked. */
export const CLIENT_CALLS = {
  lane: notice<ClientLane>(lane),
  /** Refuse what waits and what comes; answered when nothing is on a lane, and nothing will be until `goOn`. */
  rest: call<void, void>(),
  collect,
  goOn: notice<void>(),
}
/** What a worker is asked. */
export const WORKER_CALLS = { lane: notice<LaneEnd>(lane), collect }
