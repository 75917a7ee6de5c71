// Queues expensive logins fairly by address, so that a flood from one address hardly delays the others.
import { countedAddress } from '../lib/counted-address.ts'
import { FairQueue, FairQueueFull } from '../lib/fair-queue.ts'
import { Overloaded } from '../lib/slow-work.ts'
import { failFor } from './errors.ts'

/**
 * Logins that run at once: as many as a small machine can do. Those that wait here do not fill the pool before other
 * work.
 */
export const LOGINS_AT_ONCE = 4
/** Most logins of one address that wait. */
export const WAITING_LOGINS_OF_ADDRESS = 64
/** Most logins that wait, of all addresses. */
export const WAITING_LOGINS = 2_000
const RETRY_SECONDS = 1

/** Makes a queue. The login mounts of a thread share one, so the bounds hold for all of them together. */
export const newLoginQueue = (): FairQueue =>
  new FairQueue({ atOnce: LOGINS_AT_ONCE, waitingOfOne: WAITING_LOGINS_OF_ADDRESS, waitingOfAll: WAITING_LOGINS })

/**
 * Runs `work` when its address comes up.
 * @throws Refusal if too many of the address wait, Overloaded if too many wait in all; whatever `work` throws
 */
export async function queued<T>(queue: FairQueue, remoteAddress: string, work: () => Promise<T>): Promise<T> {
  try {
    return await queue.run(countedAddress(remoteAddress), work)
  } catch (cause) {
    if (!(cause instanceof FairQueueFull)) throw cause
    if (cause.of === 'one') throw failFor(RETRY_SECONDS, 'too_many_logins', [])
    throw new Overloaded('More logins wait than can be tried soon')
  }
}
