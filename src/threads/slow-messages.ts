// Messages between the pool for slow work, its clients and its workers. The pool introduces every client to every
// worker. Jobs and answers then go straight between the two, on a lane of their own. A job goes by its name: every
// thread has the functions.
//
// Lanes are no calls of rpc. Jobs go in groups and outlive a worker that dies; answers are held back until others can
// go with them; and a worker says in shared memory which job it is at.
import type { MessagePort } from 'node:worker_threads'
import type { Job } from '../lib/slow-work.ts'
import { call, notice } from '../rpc/calls.ts'

/** The two kinds of jobs, each with workers of its own. */
export type Takes = Job<never, never>['takes']

/** Sent on a lane to the worker, several in a message. Jobs of one kind take about as long. */
export type JobOrder = { readonly id: number; readonly job: string; readonly kind: string; readonly input: unknown }
/** Sent on a lane to the client, several in a message. `failed` names the error and nothing of what it was about. */
export type JobAnswer = { readonly id: number; readonly tookMs: number } & (
  | { readonly output: unknown }
  | { readonly failed: string }
)

/** One end of a lane; `slot` is where the worker's numbers are in the shared memory. */
export type LaneEnd = { readonly slot: number; readonly port: MessagePort }
/** The end that a client gets: it must know which jobs the worker takes. */
export type ClientLane = LaneEnd & { readonly takes: Takes }

const lane = { moves: ({ port }: LaneEnd) => [port] }
/** Let go of everything and collect garbage: what is still on a lane belongs to no living thread. */
const collect = call<void, void>()

/** Calls that the pool answers to a thread that has slow work. */
export const POOL_CALLS = {
  /** There is a first job of this kind. False if no worker could be started. */
  start: call<Takes, boolean>(),
  /** At seal: resolves when no thread holds anything of a job. */
  forget: call<void, void>(),
}
/** Calls that a thread with slow work answers to the pool. */
export const CLIENT_CALLS = {
  lane: notice<ClientLane>(lane),
  /** Refuse what waits and what comes. Answered when nothing is on a lane; nothing will be until `goOn`. */
  rest: call<void, void>(),
  collect,
  goOn: notice<void>(),
}
/** Calls that a worker answers to the pool. */
export const WORKER_CALLS = { lane: notice<LaneEnd>(lane), collect }
