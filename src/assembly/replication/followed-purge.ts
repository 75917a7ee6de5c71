// What its primary has forgotten on disk since a filter forbids it, a DR secondary forgets too: log and free pages are
// each store's own. The primary notes where it did so, behind all that it removed; here it is noted what was followed.
//
//   root/core/replication/dr/purged   the last one that this store has followed
import type { Log } from '../../lib/log.ts'
import { PeriodicTask } from '../../lib/periodic-task.ts'
import type { World } from '../../lib/world.ts'
import { isBeingCompared, owesPurge, putPurged } from '../../replication/set/purge-note.ts'
import { readState, type SetReader } from '../../replication/set/records.ts'
import { isClosed } from '../../storage/errors.ts'
import type { View } from '../../storage/sealed-storage.ts'
import type { KeptReach } from './kept-reach.ts'

const RETRY_MS = 5_000

type FollowedPurgeParts = {
  readonly view: View
  readonly kept: Pick<KeptReach, 'noted'>
  /** Has the store forget what was removed up to now. */
  readonly purge: () => Promise<unknown>
  readonly world: World
  readonly log: Log
}

/** One server's. It does nothing while the server is no DR secondary, nor while that is compared with its primary. */
export class FollowedPurge {
  readonly #parts: FollowedPurgeParts
  readonly #task: PeriodicTask

  constructor(parts: FollowedPurgeParts) {
    this.#parts = parts
    const { world, log } = parts
    const failure = 'What a filter keeps from the primary could not be forgotten here: it is tried again'
    this.#task = new PeriodicTask(() => this.#follow(), { world, log, failure, retryMs: RETRY_MS, isClosed })
  }

  start(): void {
    this.#task.start(0)
  }

  stop(): void {
    this.#task.stop()
  }

  /** The primary has noted something of its filter. */
  due(): void {
    this.#task.within(0)
  }

  async #follow(): Promise<number> {
    const { view, kept, purge } = this.#parts
    const { purgedAt } = await kept.noted()
    const owes = await view.transaction(async (tx) => (await mayFollow(tx)) && owesPurge(tx, purgedAt))
    if (!owes) return Infinity
    await purge()
    // If it was promoted meanwhile, the purge of its own comes, and this note is of no use.
    await view.transaction(async (tx) => {
      if (await mayFollow(tx)) putPurged(tx, purgedAt)
    })
    return Infinity
  }
}

/**
 * True if all that the primary removed before it noted its purge is removed here too. A comparison brings the note and
 * the removals in no order. A copy brings the log up to a place before anything as of that place.
 */
async function mayFollow(tx: SetReader): Promise<boolean> {
  const state = await readState(tx, 'dr')
  return state !== undefined && state.mode !== 'primary' && !(await isBeingCompared(tx))
}
