// What the store tells of replication, for status. It is told without a token, so it must cost little whoever asks how
// often: at most once a second a part of the log is read, which is never more than a few spans between checkpoints.
import type { Clock } from '../lib/world.ts'
import type { Store } from '../storage/contract.ts'
import { StorageReadOnly } from '../storage/errors.ts'
import type { ReplicationFamily, RetainedLog } from '../storage/peer-log.ts'

/** Verbs of the store that status is made from. */
type Told = Pick<Store, 'position' | 'rootsNow' | 'retained'>

/** How long what is retained is told again without a look at it. */
const RETAINED_FRESH_MS = 1_000

/** The members of a family's status that the store knows, in one of the modes in which it tells them. */
export class ReplicationFacts {
  readonly #store: Told | undefined
  readonly #clock: Clock
  #retained: { readonly atMs: number; readonly log: Promise<RetainedLog> } | undefined

  /** `store`: undefined on a thread that does not write. */
  constructor(store: Told | undefined, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** @throws StorageReadOnly on a thread that does not write: the request is forwarded to the one that does */
  async of(family: ReplicationFamily, mode: 'primary' | 'secondary'): Promise<object> {
    const store = this.#store
    if (store === undefined) throw new StorageReadOnly('This thread does not know what the log retains')
    const { index, epoch, historyId, lastReplicatedIndex, lastLocalIndex, origins } = await store.position()
    const roots = await store.rootsNow()
    const lastDrIndex = Math.max(lastReplicatedIndex, lastLocalIndex)
    const sent = family === 'dr' ? { last_dr_wal: lastDrIndex } : { last_performance_wal: lastReplicatedIndex }
    const applied = origins.find((origin) => origin.family === family)?.index ?? 0
    return {
      epoch,
      history_id: historyId.toString('hex'),
      ...(mode === 'primary' ? { last_wal: index, ...sent } : { last_remote_wal: applied }),
      ...(roots && { merkle_root: roots[family === 'dr' ? 'all' : 'replicated'].toString('hex') }),
      ...shown(await this.#retainedLog(store)),
    }
  }

  #retainedLog(store: Told): Promise<RetainedLog> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#retained !== undefined && nowMs - this.#retained.atMs < RETAINED_FRESH_MS) return this.#retained.log
    const log = store.retained()
    this.#retained = { atMs: nowMs, log }
    log.catch(() => {
      this.#retained = undefined
    })
    return log
  }
}

const shown = ({ firstIndex, bytes, caps, holds }: RetainedLog): object => ({
  retained_wal_from: firstIndex,
  retained_wal_bytes: bytes,
  retained_for: holds.map(({ name, kind, from, bytes: held, isBroken }) => ({
    name,
    kind,
    after: from,
    bytes: held,
    max_bytes: caps[kind],
    broken: isBroken,
  })),
})
