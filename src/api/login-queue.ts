// The turns in which logins are tried that cost much: by address, so that a flood from one delays others by little.
import { countedAddress } from '../lib/counted-address.ts'
import { FairQueue, FairQueueFull } from '../lib/fair-queue.ts'
import { Overloaded } from '../lib/slow-work.ts'
import { failFor } from './errors.ts'

/** As many as a small machine tries at the same time; what waits here does not wait in the pool before others. */
export const LOGINS_AT_ONCE = 4
export const WAITING_LOGINS_OF_ADDRESS = 64
export const WAITING_LOGINS = 2_000
const RETRY_SECONDS = 1

export const newLoginQueue = (): FairQueue =>
  new FairQueue({ atOnce: LOGINS_AT_ONCE, waitingOfOne: WAITING_LOGINS_OF_ADDRESS, waitingOfAll: WAITING_LOGINS })

/** @throws Refusal where too many of the address wait, Overloaded where too many of all do; what `work` throws */
export async function queued<T>(turns: FairQueue, remoteAddress: string, work: () => Promise<T>): Promise<T> {
  try {
    return await turns.run(countedAddress(remoteAddress), work)
  } catch (cause) {
    if (!(cause instanceof FairQueueFull)) throw cause
    if (cause.of === 'one') throw failFor(RETRY_SECONDS, 'too_many_logins', [])
    throw new Overloaded('More logins wait than can be tried soon')
  }
}
