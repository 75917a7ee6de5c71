// What the store tells of replication, for status. It is told without a token, so it must cost little however often it
// is asked for: the store is looked at once a second at most. Then no record of the log is read (log-keeper.ts), and of
// the tree is hashed what changed (tree.ts).
import type { Clock } from '../lib/world.ts'
import type { Store } from '../storage/contract.ts'
import { StorageReadOnly } from '../storage/errors.ts'
import type { Position, ReplicationFamily, RetainedLog } from '../storage/peer-log.ts'

/** Verbs of the store that status is made from. */
type Told = Pick<Store, 'position' | 'rootsNow' | 'retained'>

/** What the store tells, of one moment: roots are compared between clusters that stand at the same index. */
type Look = {
  readonly position: Position
  readonly roots: Awaited<ReturnType<Told['rootsNow']>>
  readonly retained: RetainedLog
}

/** How long it is told again without another look at the store. */
const FRESH_MS = 1_000

/** The members of a family's status that the store knows, in one of the modes in which it tells them. */
export class ReplicationFacts {
  readonly #store: Told | undefined
  readonly #clock: Clock
  #last: { readonly atMs: number; readonly look: Promise<Look> } | undefined

  /** `store`: undefined on a thread that does not write. */
  constructor(store: Told | undefined, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** @throws StorageReadOnly on a thread that does not write: the request is forwarded to the one that does */
  async of(family: ReplicationFamily, mode: 'primary' | 'secondary'): Promise<object> {
    const store = this.#store
    if (store === undefined) throw new StorageReadOnly('This thread does not know what the log retains')
    const { position, roots, retained } = await this.#look(store)
    const { index, epoch, historyId, lastReplicatedIndex, lastLocalIndex, origins } = position
    const lastDrIndex = Math.max(lastReplicatedIndex, lastLocalIndex)
    const sent = family === 'dr' ? { last_dr_wal: lastDrIndex } : { last_performance_wal: lastReplicatedIndex }
    const applied = origins.find((origin) => origin.family === family)?.index ?? 0
    return {
      epoch,
      history_id: historyId.toString('hex'),
      ...(mode === 'primary' ? { last_wal: index, ...sent } : { last_remote_wal: applied }),
      ...(roots && { merkle_root: roots[family === 'dr' ? 'all' : 'replicated'].toString('hex') }),
      ...shown(retained),
    }
  }

  #look(store: Told): Promise<Look> {
    const nowMs = this.#clock.monotonicMs()
    if (this.#last !== undefined && nowMs - this.#last.atMs < FRESH_MS) return this.#last.look
    const look = lookAt(store)
    this.#last = { atMs: nowMs, look }
    look.catch(() => {
      this.#last = undefined
    })
    return look
  }
}

async function lookAt(store: Told): Promise<Look> {
  const [position, roots, retained] = await Promise.all([store.position(), store.rootsNow(), store.retained()])
  return { position, roots, retained }
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
