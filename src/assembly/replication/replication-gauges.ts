// Gauges of replication, in the row of the thread that writes: it has the log and the registry of secondaries, and asks
// the thread of the links how these are. What does not apply to this server, or is not known now, is left out.
//
// A secondary has no label of its own: a registry has room for a thousand, so they are counted, and the worst is shown.
import type { NodeRole } from '../../api/node-role.ts'
import { REPLICATION_FAMILIES } from '../../replication/set/peer-name.ts'
import type { SynchronousWrites } from '../../replication/synchronous/synchronous-writes.ts'
import type { Store } from '../../storage/contract.ts'
import type { Position, ReplicationFamily, RetainedLog } from '../../storage/peer-log.ts'
import type { FamilyTold, ReplicationOperations } from '../../system/replication-operations.ts'
import type { TreeChecks, TreeTold } from '../../system/tree-checks.ts'
import { CELL, type CellRow, setKnown } from '../../telemetry/cells.ts'

/** Seconds between two looks: each reads the registry of a primary, which may be long. */
const LOOK_EVERY_S = 5

/** Where the gauges come from, and where they go. */
export type GaugeParts = {
  readonly store: Pick<Store, 'position' | 'retained'>
  readonly operations: Pick<ReplicationOperations, 'told'>
  readonly checks: Pick<TreeChecks, 'told' | 'counts'>
  readonly nodeRole: () => NodeRole
  /** Missing on a server without links. */
  readonly synchronous?: Pick<SynchronousWrites, 'told' | 'waiting' | 'counts'> | undefined
  readonly row: CellRow
}

/** The figures of one family. Those that are not there are left out. */
type FamilyFigures = {
  readonly connected?: number
  readonly lastRemote?: number
  readonly lagRecords?: number | undefined
  readonly lag?: number | undefined
  readonly linkedSecondaries?: number
  readonly unlinkedSecondaries?: number
  readonly canaryAge?: number | undefined
}

/** The gauges of one server. */
export class ReplicationGauges {
  readonly #parts: GaugeParts
  #seconds = 0
  #isLooking = false

  constructor(parts: GaugeParts) {
    this.#parts = parts
  }

  /** Called once a second. Looks now and then, unless the last look still waits for an answer. */
  second(): void {
    if (this.#seconds++ % LOOK_EVERY_S === 0 && !this.#isLooking) void this.look()
  }

  /** Sets all gauges. Never rejects. */
  async look(): Promise<void> {
    const { row, store, checks, synchronous } = this.#parts
    this.#isLooking = true
    // The store may be closed or replaced now.
    const [position, retained] = await Promise.all([known(() => store.position()), known(() => store.retained())])
    setLog(row, position, retained)
    setTree(row, checks, await checks.told())
    if (synchronous !== undefined) setSynchronous(row, synchronous)
    for (const family of REPLICATION_FAMILIES) setFamily(row, family, await this.#figures(family, position))
    this.#isLooking = false
  }

  async #figures(family: ReplicationFamily, position: Position | undefined): Promise<FamilyFigures> {
    const { nodeRole, operations } = this.#parts
    const state = nodeRole()[family]
    if (state === 'disabled') return {}
    const told = await known(() => operations.told(family))
    if (state === 'primary') return told === undefined ? {} : ofPrimary(told)
    const lastRemote = position && (position.origins.find((origin) => origin.family === family)?.index ?? 0)
    return { ...(lastRemote === undefined ? {} : { lastRemote }), ...(told && ofSecondary(told)) }
  }
}

function setLog(row: CellRow, position: Position | undefined, retained: RetainedLog | undefined): void {
  const lastDr = position && Math.max(position.lastReplicatedIndex, position.lastLocalIndex)
  const holdsOf = (kind: string) => retained?.holds.filter((hold) => hold.kind === kind).length
  setKnown(row, CELL.logLast, position?.index)
  setKnown(row, CELL.logLastDr, lastDr)
  setKnown(row, CELL.logLastPerformance, position?.lastReplicatedIndex)
  setKnown(row, CELL.logOldest, retained?.firstIndex)
  setKnown(row, CELL.logBytes, retained?.bytes)
  setKnown(row, CELL.secondaryHolds, holdsOf('secondary'))
  setKnown(row, CELL.copyHolds, holdsOf('copy'))
  setKnown(row, CELL.brokenHolds, retained?.holds.filter(({ isBroken }) => isBroken).length)
  setKnown(row, CELL.holdRatio, retained && largestPart(retained))
}

function setTree(row: CellRow, { counts }: Pick<TreeChecks, 'counts'>, { buckets, entries }: TreeTold): void {
  setKnown(row, CELL.treeCorrupted, buckets + entries > 0 ? 1 : 0)
  setKnown(row, CELL.treeChecks, counts.checks)
  setKnown(row, CELL.treeDamage, counts.found)
}

function setSynchronous(row: CellRow, { told, waiting, counts }: NonNullable<GaugeParts['synchronous']>): void {
  const inState = (wanted: string): number | undefined =>
    told.length === 0 ? undefined : told.filter(({ state }) => state === wanted).length
  setKnown(row, CELL.synchronousInStep, inState('in-step'))
  setKnown(row, CELL.synchronousWaiting, inState('waiting'))
  setKnown(row, CELL.synchronousAway, inState('away'))
  setKnown(row, CELL.synchronousUnknown, inState('unknown'))
  setKnown(row, CELL.synchronousWrites, told.length === 0 ? undefined : waiting)
  setKnown(row, CELL.synchronousConfirmed, counts.confirmed)
  setKnown(row, CELL.synchronousAlone, counts.alone)
  setKnown(row, CELL.synchronousUnconfirmed, counts.unconfirmed)
  setKnown(row, CELL.synchronousSeconds, counts.waitedSeconds)
}

/** Of holds that are broken there is nothing to lose any more. */
function largestPart({ holds, caps }: RetainedLog): number {
  return Math.max(0, ...holds.filter(({ isBroken }) => !isBroken).map(({ kind, bytes }) => bytes / caps[kind]))
}

function setFamily(row: CellRow, family: ReplicationFamily, figures: FamilyFigures): void {
  setKnown(row, CELL[`${family}.connected`], figures.connected)
  setKnown(row, CELL[`${family}.lastRemote`], figures.lastRemote)
  setKnown(row, CELL[`${family}.lagRecords`], figures.lagRecords)
  setKnown(row, CELL[`${family}.lag`], figures.lag)
  setKnown(row, CELL[`${family}.linkedSecondaries`], figures.linkedSecondaries)
  setKnown(row, CELL[`${family}.unlinkedSecondaries`], figures.unlinkedSecondaries)
  setKnown(row, CELL[`${family}.canaryAge`], figures.canaryAge)
}

function ofPrimary({ secondaries }: FamilyTold): FamilyFigures {
  const linked = secondaries.filter(({ isConnected }) => isConnected).length
  const ages = secondaries.map(({ canaryAgeMs }) => canaryAgeMs).filter((ageMs) => ageMs !== undefined)
  return {
    linkedSecondaries: linked,
    unlinkedSecondaries: secondaries.length - linked,
    canaryAge: ages.length === 0 ? undefined : Math.max(...ages) / 1000,
  }
}

/** A cluster that has no primary yet follows none. */
function ofSecondary({ primary }: FamilyTold): FamilyFigures {
  const { connection, progress, primaryIndex, lagMs, peers = [] } = primary ?? {}
  const isStreaming = progress?.what === 'stream' && primaryIndex !== undefined
  const ageMs = peers[0]?.canaryAgeMs
  return {
    connected: connection === 'ready' ? 1 : 0,
    lagRecords: isStreaming ? Math.max(0, primaryIndex - progress.index) : undefined,
    lag: lagMs === undefined ? undefined : lagMs / 1000,
    canaryAge: ageMs === undefined ? undefined : ageMs / 1000,
  }
}

/** Undefined where it cannot be found out now. */
async function known<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch {
    return undefined
  }
}
