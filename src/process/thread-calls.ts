// What the watching thread asks the others, and what they ask it.
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

/** How long a reload waits for a thread that is busy. */
export const RELOAD_TIMEOUT_MS = 10_000
/** How long threads are waited for that are asked what they do. */
export const FLIGHTS_TIMEOUT_MS = 250
/** Of one thread, how often it may ask that at once. */
export const MOST_FLIGHTS_ASKED = 16

const reload = call<ReloadOrder<ReloadState>, boolean>({ deadlineMs: RELOAD_TIMEOUT_MS })
const stop = notice<void>()

/** Of a thread that serves. */
export const SERVING_CALLS = {
  flights: call<void, readonly InFlightView[]>({ deadlineMs: FLIGHTS_TIMEOUT_MS }),
  reload,
  renewTls: notice<TlsMaterials>(),
  stop,
}
/** Of the thread that writes; `link` is its way to one more thread that serves. */
export const WRITING_CALLS = { reload, link: notice<MessagePort>({ moves: (port) => [port] }), stop }

/** Of the watching thread, by one that serves. */
export const WATCHER_CALLS = { allInFlight: call<void, AllInFlight>({ most: MOST_FLIGHTS_ASKED }) }
/** The same, by the one that writes. */
export const WANTED_CALLS = { reload: call<ReloadPart, boolean>() }

export type ServingPeer = Peer<typeof SERVING_CALLS>
export type WritingPeer = Peer<typeof WRITING_CALLS>

/** In the watching thread: what all of them do. */
export async function flightsOfAll(threads: Iterable<ServingPeer>): Promise<AllInFlight> {
  const { answers, silent } = await askAll([...threads].map((thread) => thread.call('flights', undefined)))
  return { flights: answers.flat(), silent }
}

/** In a thread that serves. One question too many is answered with nothing but silence. */
export async function askInFlight(watcher: Peer<typeof WATCHER_CALLS>): Promise<AllInFlight> {
  try {
    return await watcher.call('allInFlight', undefined)
  } catch (cause) {
    if (cause instanceof Unreachable) return { flights: [], silent: 1 }
    throw cause
  }
}
