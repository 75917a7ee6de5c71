// What status tells of replication. It is told without a token, so it must cost little however often it is asked for:
// store and links are looked at once a second at most. Then no record of the log is read (log-keeper.ts), and of the
// tree is hashed what changed (tree.ts).
import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/world.ts'
import type { Store } from '../storage/contract.ts'
import { StorageReadOnly } from '../storage/errors.ts'
import type { Position, ReplicationFamily, RetainedLog } from '../storage/peer-log.ts'
import { FreshReading } from './fresh-reading.ts'
import type { FamilyTold, ReplicationOperations } from './replication-operations.ts'
import { toldMembers, treeMembers, type Withheld } from './replication-told.ts'
import type { TreeChecks } from './tree-checks.ts'

/** Verbs of the store that status is made from. */
type Told = Pick<Store, 'position' | 'rootsNow' | 'retained'>

/** What the store tells, of one moment: roots are compared between clusters that stand at the same index. */
type Look = {
  readonly position: Position
  readonly roots: Awaited<ReturnType<Told['rootsNow']>>
  readonly retained: RetainedLog
}

/** Where the facts come from. */
export type ReplicationSources = {
  /** Undefined on a thread that does not write. */
  readonly store: Told | undefined
  /** Undefined likewise, and on a server that does not replicate. */
  readonly operations: (() => Pick<ReplicationOperations, 'told'>) | undefined
  readonly checks: Pick<TreeChecks, 'told'>
  readonly clock: Clock
  readonly log: Log
}

/** The members of a family's status, in one of the modes in which there are any. */
export class ReplicationFacts {
  readonly #clock: Clock
  readonly #ofStore: FreshReading<Look> | undefined
  readonly #ofLinks: Readonly<Record<ReplicationFamily, FreshReading<FamilyTold | undefined>>>
  readonly #checks: Pick<TreeChecks, 'told'>
  readonly #log: Log

  constructor({ store, operations, checks, clock, log }: ReplicationSources) {
    this.#clock = clock
    this.#log = log
    this.#checks = checks
    this.#ofStore = store && new FreshReading(clock, () => lookAt(store))
    const links = (family: ReplicationFamily) => new FreshReading(clock, async () => operations?.().told(family))
    this.#ofLinks = { dr: links('dr'), performance: links('performance') }
  }

  /** @throws StorageReadOnly on a thread that does not write: the request is forwarded to the one that does */
  async of(
    family: ReplicationFamily,
    mode: 'bootstrapping' | 'primary' | 'secondary',
    withheld: Withheld = { addresses: false, version: false },
  ): Promise<object> {
    if (this.#ofStore === undefined) throw new StorageReadOnly('This thread does not know what the log retains')
    const told = await this.#told(family)
    const tree = treeMembers(await this.#checks.told(), mode === 'secondary' ? told?.state.sinceMs : undefined)
    const members = { ...tree, ...toldMembers(mode, told, this.#clock.nowMs(), withheld) }
    // What is here is not whole: its root and its log are of no use to anyone yet.
    return mode === 'bootstrapping'
      ? members
      : { ...members, ...storeMembers(family, mode, await this.#ofStore.take()) }
  }

  /** An operation has changed what there is to tell. */
  forget(): void {
    this.#ofStore?.forget()
    for (const each of Object.values(this.#ofLinks)) each.forget()
  }

  /** Monitors ask for the status when something is broken, so what the links do not tell is no reason to refuse it. */
  async #told(family: ReplicationFamily): Promise<FamilyTold | undefined> {
    try {
      return await this.#ofLinks[family].take()
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : 'unknown'
      this.#log('warn', 'What the links of replication do could not be found out', { family, cause: message })
      return undefined
    }
  }
}

async function lookAt(store: Told): Promise<Look> {
  const [position, roots, retained] = await Promise.all([store.position(), store.rootsNow(), store.retained()])
  return { position, roots, retained }
}

function storeMembers(family: ReplicationFamily, mode: 'primary' | 'secondary', look: Look): object {
  const { position, roots, retained } = look
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
