// Calls between the watching thread and the others.
import type { MessagePort } from 'node:worker_threads'
import type { ReloadPart } from '../lib/reload.ts'
import { askAll } from '../rpc/ask-all.ts'
import { call, notice } from '../rpc/calls.ts'
import { Unreachable } from '../rpc/errors.ts'
import type { Peer } from '../rpc/peer.ts'
import type { InFlightView } from '../telemetry/in-flight-requests.ts'
import type { AllInFlight } from '../telemetry/telemetry.ts'
import type { ReloadOrder } from '../threads/reload-coordinator.ts'
import type { TlsMaterials } from './listening.ts'
import type { ReloadState } from './reload-state.ts'

/** How long a reload waits for a busy thread. */
export const RELOAD_TIMEOUT_MS = 10_000
/** How long threads have to tell their requests in flight; a busy one is left out. */
export const IN_FLIGHT_TIMEOUT_MS = 250
/** How many times at once one thread may ask for the requests in flight. */
export const MOST_IN_FLIGHT_ASKED = 16

const reload = call<ReloadOrder<ReloadState>, boolean>({ deadlineMs: RELOAD_TIMEOUT_MS })
const stop = notice<void>()

/** Calls that a serving thread answers. */
export const SERVING_CALLS = {
  inFlight: call<void, readonly InFlightView[]>({ deadlineMs: IN_FLIGHT_TIMEOUT_MS }),
  reload,
  renewTls: notice<TlsMaterials>(),
  stop,
}
const port = notice<MessagePort>({ moves: (moved) => [moved] })

/**
 * Calls that the writing thread answers. `link` brings its end of the link to one more serving thread, `linkThread`
 * that to the thread which has the links to other clusters, each time that thread is a new one.
 */
export const WRITING_CALLS = { reload, link: port, linkThread: port, stop }
/** Calls that the thread of the links answers. */
export const LINKING_CALLS = { stop }

/** Calls that the watching thread answers to a serving one. */
export const WATCHER_CALLS = { allInFlight: call<void, AllInFlight>({ most: MOST_IN_FLIGHT_ASKED }) }
/** Calls that the watching thread answers to the writing one. */
export const WANTED_CALLS = { reload: call<ReloadPart, boolean>() }

/** A serving thread, as the watching one reaches it. */
export type ServingPeer = Peer<typeof SERVING_CALLS>
/** The writing thread, as the watching one reaches it. */
export type WritingPeer = Peer<typeof WRITING_CALLS>

/** In the watching thread: the requests in flight of all serving threads. */
export async function inFlightOfAll(threads: Iterable<ServingPeer>): Promise<AllInFlight> {
  const { answers, silent } = await askAll([...threads].map((thread) => thread.call('inFlight', undefined)))
  return { requests: answers.flat(), silent }
}

/** In a serving thread: asks for all requests in flight. Beyond MOST_IN_FLIGHT_ASKED it gets none, at once. */
export async function askInFlight(watcher: Peer<typeof WATCHER_CALLS>): Promise<AllInFlight> {
  try {
    return await watcher.call('allInFlight', undefined)
  } catch (cause) {
    if (cause instanceof Unreachable) return { requests: [], silent: 1 }
    throw cause
  }
}
