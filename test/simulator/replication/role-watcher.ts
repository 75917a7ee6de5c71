// What must be so whenever a simulated set changes hands (the numbers are those of the invariants of replication). It
// reads the records of each cluster as they are committed, so no state in between escapes it. There is one watcher for
// each family. What a DR secondary has of the performance family is a copy of what its primary is there: it is kept
// sealed, and read when the cluster takes the place of that one.
import type { Arrival, LinkControl, LinkOwner, Takeover } from '../../../src/replication/link/link-sides.ts'
import {
  decodeReach,
  isSwept,
  LINEAGE,
  PARTED,
  PROMOTIONS,
  SECONDARY_ENTRY,
  SECONDARY_IDENTITY,
  SET_STATE,
  type SecondaryEntry,
  type SecondaryIdentity,
  type SetState,
} from '../../../src/replication/set/records.ts'
import { Barrier } from '../../../src/storage/barrier.ts'
import { SENT_CLASSES } from '../../../src/storage/classes.ts'
import type { Change, StoredEntry } from '../../../src/storage/contract.ts'
import { hasSameActive, type Keyring } from '../../../src/storage/keyring.ts'
import type { Origin, ReplicationFamily } from '../../../src/storage/peer-log.ts'
import type { SentDigests } from './entry-digests.ts'
import type { SimulatedCluster } from './simulated-cluster.ts'
import type { SimulatedSet } from './simulated-set.ts'

const FOLDER = 'root/core/replication/'
/** A primary that hands over writes nothing for so long, unless it hears that nobody was promoted. */
const LEASE_MS = 10_000
const FENCED_WITHIN_MS = 1_000
/** Its links end within this time. */
const ENDED_WITHIN_MS = 1_000
/** What a cluster that lost its set, or has another role, may not have any more. */
const OF_PRIMARIES = ['authority', 'authority-key', 'next-authority', 'next-authority-key', 'old-authority']
const OF_SECONDARIES = ['identity', 'leaf-key', 'receiver', 'parted'] as const

/** Paths below the folder of the family, with what is stored there in clear. */
type RoleRecords = ReadonlyMap<string, Buffer>
type Place = Pick<Origin, 'historyId' | 'index'>

/** How a set changed hands in a run, or in several. */
export type HandOverCounts = {
  graceful: number
  /** Promotions without the primary. */
  others: number
  conflicts: number
  /** Records that a former primary had behind the fork when it came back. */
  undone: number
  /** Failovers that were followed by a rejoin, each compared in whole. */
  rejoined: number
  /** From the end of writing at the former primary to its beginning at the new one. */
  pausesMs: number[]
}

/** Nothing was counted yet. */
export const noHandOvers = (): HandOverCounts => ({
  graceful: 0,
  others: 0,
  conflicts: 0,
  undone: 0,
  rejoined: 0,
  pausesMs: [],
})

type Lease = { readonly by: SimulatedCluster; readonly sinceMs: number }

type Seen = {
  /** As they are stored. */
  sealed: RoleRecords
  /** In clear; of a cluster that has a copy of another one's alone: none. */
  records: RoleRecords
  /** When the fence was heard of. It counts until the cluster is demoted, or leaves the set. */
  fencedMs: number | undefined
  /** When it was first seen in the store: what is being written then may still be committed. */
  fenceStoredMs: number | undefined
  /** When it ceased to be a primary: who was just let in may still be sent something. */
  endedMs: number | undefined
  /** As a primary: it hands over. */
  lease: Lease | undefined
  /** As a primary: it handed over to that one, which was promoted. */
  successor: SimulatedCluster | undefined
  /** As a secondary: its primary has drained. */
  drained: SimulatedCluster | undefined
  /** The place of each write of a client. */
  written: Place[]
  promotedMs: number | undefined
}

/** What the watcher of the set knows of a cluster. */
export type SeenData = {
  readonly now: SentDigests
  readonly historyId: Buffer
  readonly lastOrigin: Place | undefined
  /** What its primary had at a place. */
  readonly placed: (place: Place) => SentDigests | undefined
}

/** Watches the roles of all clusters in one family. */
export class RoleWatcher {
  readonly #set: SimulatedSet
  readonly #family: ReplicationFamily
  readonly #folder: string
  readonly #wrong: (cluster: SimulatedCluster, what: string) => void
  readonly #dataOf: (cluster: SimulatedCluster) => SeenData
  readonly #seen = new Map<SimulatedCluster, Seen>()
  readonly counts = noHandOvers()

  constructor(
    set: SimulatedSet,
    family: ReplicationFamily,
    wrong: (cluster: SimulatedCluster, what: string) => void,
    dataOf: (cluster: SimulatedCluster) => SeenData,
  ) {
    this.#set = set
    this.#family = family
    this.#folder = `${FOLDER}${family}/`
    this.#wrong = wrong
    this.#dataOf = dataOf
  }

  #of(cluster: SimulatedCluster): Seen {
    const found = this.#seen.get(cluster) ?? newSeen()
    this.#seen.set(cluster, found)
    return found
  }

  /** What the cluster is; undefined: it has no part in the set. */
  stateOf(cluster: SimulatedCluster): SetState | undefined {
    return stateIn(this.#of(cluster).records)
  }

  /** A record of its set in clear, by its path below the folder of the family. */
  recordOf(cluster: SimulatedCluster, path: string): Buffer | undefined {
    return this.#of(cluster).records.get(path)
  }

  /** Whom it follows; undefined: nobody. */
  identityOf(cluster: SimulatedCluster): SecondaryIdentity | undefined {
    const stored = this.#of(cluster).records.get('identity')
    return stored && SECONDARY_IDENTITY.decode(stored)
  }

  /** True if it was let in by the one that is there now. */
  follows(cluster: SimulatedCluster, primary: SimulatedCluster): boolean {
    const { records } = this.#of(primary)
    const identity = this.identityOf(cluster)
    // Until it is renewed a leaf of the authority before counts, too.
    const ofPrimary = ['authority', 'old-authority'].map((path) => records.get(path)?.toString('base64'))
    return identity !== undefined && ofPrimary.includes(identity.authority)
  }

  /** True if what it has is its own log: it is a primary, or was one and follows no other yet. */
  hasOwnLog(cluster: SimulatedCluster): boolean {
    const { records } = this.#of(cluster)
    const parted = records.get('parted')
    return stateIn(records)?.mode === 'primary' || (parted !== undefined && PARTED.decode(parted).isOwnLog)
  }

  /** True if what it has is of the log of a primary. */
  hasLogOfPrimary(cluster: SimulatedCluster): boolean {
    return this.isSecondary(cluster) && !this.#of(cluster).records.has('parted')
  }

  /** True if it is a secondary, whole or not. */
  isSecondary(cluster: SimulatedCluster): boolean {
    return isFollowing(this.stateOf(cluster))
  }

  /** Behind each commit, before the watcher of the set knows of it. `isCopy`: the records are those of another one. */
  committed(cluster: SimulatedCluster, change: Change, isCopy = false): void {
    const seen = this.#of(cluster)
    const touched = change.operations.filter(({ key }) => key.startsWith(this.#folder))
    // Of a copy that has taken the place of its primary by now.
    const known = isCopy || seen.records.size > 0 ? seen.records : this.#opened(cluster, seen.sealed)
    this.#keepSealed(seen, touched)
    if (isCopy) {
      this.#forget(seen)
      return
    }
    const before = stateIn(known)
    const next = touched.length === 0 ? known : this.#next(cluster, known, touched)
    const after = stateIn(next)
    this.#judgeWrites(cluster, seen, change, before)
    if (change.beginsHistory !== undefined && before?.mode === 'secondary' && after?.mode === 'primary')
      this.#promoted(cluster, seen, change, next)
    if (next === seen.records) return
    this.#judgeStep(cluster, change, before, after, next)
    this.#take(cluster, seen, next)
  }

  #keepSealed(seen: Seen, touched: Change['operations']): void {
    if (touched.length === 0) return
    const sealed = new Map(seen.sealed)
    for (const { kind, key, value } of touched) {
      if (kind === 'put') sealed.set(key.slice(this.#folder.length), value)
      else sealed.delete(key.slice(this.#folder.length))
    }
    seen.sealed = sealed
  }

  #opened({ life }: SimulatedCluster, sealed: RoleRecords, barrier = life?.barrier): RoleRecords {
    if (barrier === undefined) return NO_RECORDS
    return new Map([...sealed].map(([path, value]) => [path, barrier.open(this.#folder + path, value)]))
  }

  /** The records with what the change does to them. */
  #next({ life }: SimulatedCluster, records: RoleRecords, touched: Change['operations']): RoleRecords {
    const barrier = life?.barrier
    if (barrier === undefined) return records
    const next = new Map(records)
    for (const { kind, key, value } of touched) {
      const path = key.slice(this.#folder.length)
      if (kind === 'put') next.set(path, barrier.open(key, value))
      else next.delete(path)
    }
    return next
  }

  /** What it is by itself counts no more. */
  #forget(seen: Seen): void {
    const { sealed, records } = seen
    const endedMs = stateIn(records)?.mode === 'primary' ? this.#set.time.nowMs : seen.endedMs
    Object.assign(seen, newSeen(), { sealed, endedMs })
  }

  #take(cluster: SimulatedCluster, seen: Seen, records: RoleRecords): void {
    const fault = faultOf(records)
    if (fault !== undefined) this.#wrong(cluster, `I26 ${fault}`)
    if (stateIn(seen.records)?.mode === 'primary' && stateIn(records)?.mode !== 'primary')
      seen.endedMs = this.#set.time.nowMs
    seen.records = records
    seen.fenceStoredMs = stateIn(records)?.isFenced === true ? (seen.fenceStoredMs ?? this.#set.time.nowMs) : undefined
    if (stateIn(records)?.mode !== 'primary') {
      seen.fencedMs = undefined
      seen.successor = undefined
      seen.lease = undefined
    }
  }

  /** What a filter keeps from a secondary is removed there. A comparison of all shows that nothing else is. */
  #isSweep(cluster: SimulatedCluster, operations: Change['operations']): boolean {
    const { performance } = this.#set.watcher
    const isFiltered = performance.isSecondary(cluster) && isFilteredBy(performance.recordOf(cluster, 'reach'))
    return isFiltered && operations.every(({ kind, class: of }) => kind === 'delete' || of !== 'replicated')
  }

  /** I11, I12, I13: who writes, and who applies. */
  #judgeWrites(cluster: SimulatedCluster, seen: Seen, change: Change, before: SetState | undefined): void {
    const { origins, operations, index } = change
    const { nowMs } = this.#set.time
    const follows = isFollowing(before)
    if (origins.some(({ family }) => family === this.#family)) {
      if (!follows) this.#wrong(cluster, `I12 record ${index} of a primary is applied, and it follows none`)
      return
    }
    // A primary in this family may apply the log of another one in the other.
    if (origins.length > 0) return
    if (!operations.some(({ key, class: of }) => SENT_CLASSES[this.#family].has(of) && isOfClient(key))) return
    if ((this.#taking.get(cluster) ?? 0) > 0 || this.#isSweep(cluster, operations)) return
    if (follows) this.#wrong(cluster, `I11 a secondary writes ${index} by itself`)
    const storedMs = seen.fenceStoredMs
    const isLate = storedMs !== undefined && nowMs > storedMs + FENCED_WITHIN_MS
    if (isLate || seen.fencedMs !== undefined)
      this.#wrong(cluster, `I11 a primary writes ${index}, and was fenced at ${seen.fencedMs ?? 'an earlier start'}`)
    const { successor, lease } = seen
    if (successor !== undefined && lease !== undefined && nowMs < lease.sinceMs + LEASE_MS)
      this.#wrong(cluster, `I13 it writes ${index} while it hands over, and ${successor.name} was promoted`)
    const historyId = change.beginsHistory ?? this.#dataOf(cluster).historyId
    seen.written.push({ historyId, index })
  }

  /** I12, I26: from one state to the next. */
  #judgeStep(
    cluster: SimulatedCluster,
    { beginsHistory }: Change,
    before: SetState | undefined,
    after: SetState | undefined,
    records: RoleRecords,
  ): void {
    if (before === undefined) return
    if (after === undefined) {
      if (before.mode === 'secondary' && beginsHistory === undefined)
        this.#wrong(cluster, 'I26 it left its set, and goes on with the history of its primary')
      return
    }
    if (after.setId !== before.setId)
      this.#wrong(cluster, `I26 it was in set ${before.setId}, and is in ${after.setId}`)
    if (after.epoch < before.epoch)
      this.#wrong(cluster, `I12 epoch ${after.epoch} of the set comes behind ${before.epoch}`)
    if (before.mode === 'secondary' && after.mode === 'primary') {
      if (beginsHistory === undefined) this.#wrong(cluster, 'I26 it was promoted, and no history begins with that')
      if (after.epoch !== before.epoch + 1)
        this.#wrong(cluster, `I12 it was promoted in epoch ${before.epoch}, and has ${after.epoch}`)
    } else if (before.mode === 'primary' && after.mode === 'primary') {
      // Who takes the place of a primary for disaster recovery begins an epoch for performance, too.
      const isInPlace = this.#family === 'performance' && beginsHistory !== undefined
      if (before.isFenced && !after.isFenced && !isInPlace) this.#wrong(cluster, 'I11 a fence was taken away')
      if (after.epoch !== before.epoch && !after.isFenced && !isInPlace)
        this.#wrong(cluster, 'I12 a primary has another epoch')
    } else if (before.mode === 'primary' && after.mode === 'secondary' && !records.has('parted'))
      this.#wrong(cluster, 'I26 it was demoted, and does not know that its log is its own')
  }

  /** I13, I26: the step of a promotion. */
  #promoted(cluster: SimulatedCluster, seen: Seen, { beginsHistory, operations }: Change, records: RoleRecords): void {
    const { counts } = this
    const list = records.get('promotions')
    const last = list && PROMOTIONS.decode(list).list.at(-1)
    if (beginsHistory === undefined || last?.historyId !== beginsHistory.toString('base64'))
      this.#wrong(cluster, 'I26 a promotion does not note the history that begins with it')
    if (!operations.some(({ key }) => key === `${FOLDER}taken-over`))
      this.#wrong(cluster, 'I26 a promotion leaves no note of what is to be done')
    if (last?.followed && !seen.records.has('identity')) this.#left.add(last.followed.historyId)
    const { now, lastOrigin, placed } = this.#dataOf(cluster)
    const { drained } = seen
    seen.promotedMs = this.#set.time.nowMs
    // Of what a filter kept from it nothing is there. The operator has said that it may be lost.
    const isFiltered = isFilteredBy(seen.records.get('reach'))
    if (drained === undefined) {
      counts.others++
      const isWhole = last?.followed && lastOrigin && last.followed.index === lastOrigin.index
      const there = isWhole ? placed(lastOrigin) : undefined
      const isAllThere = there === undefined || isFiltered || there[this.#family] === now[this.#family]
      if (!isAllThere && !this.#isTransferring(cluster))
        this.#wrong(cluster, `I13 what was applied up to ${lastOrigin?.index} is not all there at its promotion`)
      return
    }
    counts.graceful++
    const theirs = this.#dataOf(drained).now
    if (!isFiltered && this.#acknowledgedBy(drained).some((which) => theirs[which] !== now[which]))
      this.#wrong(cluster, `I13 ${drained.name} handed over, and acknowledged what is not here`)
    this.#of(drained).successor = cluster
  }

  /**
   * What its clients were told that it has. What it applies in the other family meanwhile is of the log of another, and
   * what links note of its set for performance goes on.
   */
  #acknowledgedBy({ role }: SimulatedCluster): readonly Exclude<keyof SentDigests, 'scopes'>[] {
    if (this.#family === 'performance') return ['performance']
    if (role.performance === 'disabled') return ['dr']
    return role.performance === 'primary' ? ['performance', 'own'] : ['own']
  }

  readonly #transferring = new Set<SimulatedCluster>()

  #isTransferring(cluster: SimulatedCluster): boolean {
    return this.#transferring.has(cluster)
  }

  /** A store was opened. `keyring` is that of the store. `isCopy` as of `committed`. */
  opened(cluster: SimulatedCluster, entries: readonly StoredEntry[], keyring: Keyring, isCopy = false): void {
    const seen = this.#of(cluster)
    const found = entries.filter(({ key }) => key.startsWith(this.#folder))
    seen.sealed = new Map(found.map(({ key, value }) => [key.slice(this.#folder.length), value]))
    if (isCopy) {
      this.#forget(seen)
      return
    }
    const records = this.#opened(cluster, seen.sealed, new Barrier(this.#set.stream('opening'), keyring))
    const [before, after] = [stateIn(seen.records), stateIn(records)]
    if (before !== undefined && after?.setId === before.setId && after.epoch < before.epoch)
      this.#wrong(cluster, `I12 epoch ${after.epoch} of the set comes behind ${before.epoch}`)
    if (before?.isFenced === true && after?.mode === 'primary' && !after.isFenced)
      this.#wrong(cluster, 'I11 a fence was lost')
    seen.drained = undefined
    this.#take(cluster, seen, records)
  }

  /** Changes of what a cluster does about its role: it may be written to now. */
  plays(cluster: SimulatedCluster): void {
    const seen = this.#of(cluster)
    const { promotedMs, drained } = seen
    if (promotedMs === undefined || cluster.role[this.#family] !== 'primary' || cluster.role.isFenced) return
    this.checkKeys()
    const lease = drained && this.#of(drained).lease
    if (lease !== undefined) this.counts.pausesMs.push(this.#set.time.nowMs - lease.sinceMs)
    seen.promotedMs = undefined
    seen.drained = undefined
  }

  /** The links, watched in what they say of a hand-over. */
  control(cluster: SimulatedCluster, control: LinkControl): LinkControl {
    return {
      ...control,
      handOver: async (family, withinMs) => {
        if (family !== this.#family) return control.handOver(family, withinMs)
        const seen = this.#of(cluster)
        seen.drained = undefined
        const handed = await control.handOver(family, withinMs)
        const by = [...this.#seen.keys()].find(
          (one) => this.#of(one).lease?.by === cluster && this.follows(cluster, one),
        )
        if (handed.kind === 'drained') seen.drained = by
        return handed
      },
      takeBack: async (family) => {
        if (family === this.#family) this.#of(cluster).drained = undefined
        await control.takeBack(family)
      },
    }
  }

  /** What the owner of links is told, watched. */
  owner(cluster: SimulatedCluster, owner: LinkOwner): LinkOwner {
    return {
      ...owner,
      drain: async (arrival) => {
        const by = this.#named(arrival.id)
        const sinceMs = this.#set.time.nowMs
        const drained = await owner.drain(arrival)
        if (this.#isOurs(arrival) && !('refused' in drained) && by !== undefined)
          this.#of(cluster).lease = { by, sinceMs }
        return drained
      },
      resume: async (arrival) => {
        const seen = this.#of(cluster)
        if (this.#isOurs(arrival) && seen.lease?.by === this.#named(arrival.id)) seen.lease = undefined
        await owner.resume(arrival)
      },
      tookOver: async (arrival, takeover) => {
        const answer = await owner.tookOver(arrival, takeover)
        if (answer === 'fenced' && this.#isOurs(arrival)) this.#fenced(cluster, takeover)
        return answer
      },
      conflict: async (family, replacedBy, sentence) => {
        if (family !== this.#family) return owner.conflict(family, replacedBy, sentence)
        this.counts.conflicts++
        this.#set.watcher.note(`${cluster.name} has a conflict: ${sentence}`)
        await owner.conflict(family, replacedBy, sentence)
        this.#of(cluster).fencedMs ??= this.#set.time.nowMs
      },
    }
  }

  #isOurs({ set }: Pick<Arrival, 'set'>): boolean {
    return set.family === this.#family
  }

  #named(name: string): SimulatedCluster | undefined {
    return [...this.#seen.keys()].find((one) => one.name === name && one.life !== undefined)
  }

  #fenced(cluster: SimulatedCluster, { epoch }: Pick<Takeover, 'epoch'>): void {
    const seen = this.#of(cluster)
    if (stateIn(seen.records)?.mode !== 'primary') return
    this.#set.watcher.note(`${cluster.name} is fenced by epoch ${epoch}`)
    seen.fencedMs ??= this.#set.time.nowMs
  }

  /** How many pieces each is taking: they may overlap. */
  readonly #taking = new Map<SimulatedCluster, number>()

  /** Pieces of a copy come without a place; and a test may write behind the back of a cluster. */
  async whileTaking<T>(cluster: SimulatedCluster, work: () => Promise<T>): Promise<T> {
    this.#taking.set(cluster, (this.#taking.get(cluster) ?? 0) + 1)
    try {
      return await work()
    } finally {
      this.#taking.set(cluster, (this.#taking.get(cluster) ?? 1) - 1)
    }
  }

  /** A comparison or copy begins or ends with what was taken. */
  taken(cluster: SimulatedCluster, isOpen: boolean): void {
    if (this.stateOf(cluster)?.mode === 'primary')
      this.#wrong(cluster, 'I12 it was promoted, and takes what its former primary sent')
    if (isOpen) this.#transferring.add(cluster)
    else this.#transferring.delete(cluster)
  }

  /**
   * What this cluster wrote behind the fork is about to be undone. Returns the indexes: what is kept of it must be
   * exactly these (I14).
   */
  undone(cluster: SimulatedCluster, fork: Place): readonly number[] {
    const seen = this.#of(cluster)
    const at = seen.written.findLastIndex(
      ({ historyId, index }) => historyId.equals(fork.historyId) && index <= fork.index,
    )
    const lost = seen.written.slice(at + 1).map(({ index }) => index)
    seen.written = []
    this.counts.undone += lost.length
    this.counts.rejoined++
    return lost
  }

  /** No two primaries that may write seal under one key. */
  checkKeys(): void {
    const writing = [...this.#seen.keys()].filter((one) => one.life?.isOpen === true && this.#writes(one))
    for (const [at, one] of writing.entries()) {
      for (const other of writing.slice(at + 1)) {
        const [ours, theirs] = [one.life?.barrier.keyring, other.life?.barrier.keyring]
        // A cluster of one set may share its keys with one of another, which follows it in the other family.
        const isOneSet = this.stateOf(one)?.setId === this.stateOf(other)?.setId
        if (isOneSet && ours !== undefined && theirs !== undefined && hasSameActive(ours, theirs))
          this.#wrong(one, `I11 it seals under the same key as ${other.name}, and both are primaries`)
      }
    }
  }

  #writes(cluster: SimulatedCluster): boolean {
    const state = this.stateOf(cluster)
    // The members of a set for performance share its keys, and its primary alone changes them.
    const isMember = this.#family === 'dr' && cluster.role.performance === 'secondary'
    // As long as its role for disaster recovery is that of a secondary, it writes in no family.
    const isStandIn = ['secondary', 'bootstrapping'].includes(cluster.role.dr)
    return (
      !isMember &&
      !isStandIn &&
      state?.mode === 'primary' &&
      !state.isFenced &&
      cluster.role[this.#family] === 'primary'
    )
  }

  /**
   * I17: a primary serves those alone that it has let in itself, since it is one. How long one is still served that was
   * revoked since, set-watcher.ts judges.
   */
  requireLetIn(cluster: SimulatedCluster, id: string): void {
    if (this.#hasJustEnded(cluster)) return
    if (this.#entryOf(cluster, id) === undefined)
      this.#wrong(cluster, `I17 ${id} is sent its log, and it has let in no such secondary`)
  }

  /** It is a primary no more, and its links may still go on. */
  #hasJustEnded(cluster: SimulatedCluster): boolean {
    const { records, endedMs } = this.#of(cluster)
    if (stateIn(records)?.mode === 'primary') return false
    return endedMs !== undefined && this.#set.time.nowMs <= endedMs + ENDED_WITHIN_MS
  }

  /** True if the registry has this secondary, and not as one that was revoked; or had it, until just now. */
  letsIn(cluster: SimulatedCluster, id: string): boolean {
    const entry = this.#entryOf(cluster, id)
    if (entry === undefined) return this.#hasJustEnded(cluster)
    return entry.state !== 'revoked'
  }

  #entryOf(cluster: SimulatedCluster, id: string): SecondaryEntry | undefined {
    const stored = [...this.#of(cluster).records].filter(([path]) => path.startsWith('secondary/'))
    return stored.map(([, value]) => SECONDARY_ENTRY.decode(value)).find((entry) => entry.id === id)
  }

  /** Histories followed by a cluster that had left its primary when it was promoted: it can tell that one nothing. */
  readonly #left = new Set<string>()

  /** A primary that goes on though another one has its place, whoever took it; undefined: there is none. */
  untold(): string | undefined {
    const going = [...this.#seen].filter(([, { records }]) => {
      const state = stateIn(records)
      return state?.mode === 'primary' && !state.isFenced
    })
    for (const [cluster, { records }] of going) {
      const stored = records.get('lineage')
      const places = new Set(stored && LINEAGE.decode(stored).places.map(({ historyId }) => historyId))
      for (const [other, theirs] of going) {
        const isOfSet = stateIn(theirs.records)?.setId === stateIn(records)?.setId
        const historyId = this.#dataOf(other).historyId.toString('base64')
        if (isOfSet && places.has(historyId) && !this.#left.has(historyId))
          return `${other.name} does not know that ${cluster.name} has its place`
      }
    }
    return undefined
  }
}

const NO_RECORDS: RoleRecords = new Map()

/** Decodes each stored value once: the same few are looked at behind every commit. */
function decodedOnce<T>(decode: (stored: Buffer) => T): (stored: Buffer | undefined) => T | undefined {
  const known = new WeakMap<Buffer, { readonly value: T }>()
  return (stored) => {
    if (stored === undefined) return undefined
    const found = known.get(stored) ?? { value: decode(stored) }
    known.set(stored, found)
    return found.value
  }
}

const reachOf = decodedOnce(decodeReach)
const stateOf = decodedOnce((stored) => SET_STATE.decode(stored))

/** True if a filter keeps something from the cluster that has this record, or did, and not all of it is removed. */
export function isFilteredBy(stored: Buffer | undefined): boolean {
  const noted = reachOf(stored)
  return noted !== undefined && (noted.reach !== undefined || !isSwept(noted))
}

/** True for the key of an entry that clients write. */
export const isOfClient = (key: string): boolean => key.startsWith('root/logical/') || key.startsWith('root/sys/')

const stateIn = (records: RoleRecords): SetState | undefined => stateOf(records.get('state'))

const isFollowing = (state: SetState | undefined): boolean =>
  state?.mode === 'secondary' || state?.mode === 'bootstrapping'

/** What of the records does not go together; undefined: all of it does. */
function faultOf(records: RoleRecords): string | undefined {
  const state = stateIn(records)
  const has = (path: string): boolean => records.has(path)
  const mode = state?.mode ?? 'disabled'
  if (mode !== 'primary') {
    const left = OF_PRIMARIES.find(has)
    if (left !== undefined) return `a cluster in mode ${mode} has the record "${left}" of a primary`
    if ([...records.keys()].some((path) => path.startsWith('secondary/')))
      return `a cluster in mode ${mode} has the registry of a primary`
  } else if (!has('authority') || !has('authority-key')) return 'a primary has no authority'
  if (has('next-authority') !== has('next-authority-key')) return 'a primary has only one half of its next authority'
  if (mode === 'primary' || mode === 'disabled') {
    const left = OF_SECONDARIES.find(has)
    return left && `a cluster in mode ${mode} has the record "${left}" of a secondary`
  }
  const identity = ['identity', 'leaf-key', 'receiver'].filter(has)
  if (identity.length !== 0 && identity.length !== 3) return `a secondary has of its identity only ${identity.join()}`
  const parted = records.get('parted')
  if (identity.length === 0 && parted === undefined) return 'a secondary follows nobody, and does not know that it left'
  if (parted !== undefined) PARTED.decode(parted)
  return undefined
}

const newSeen = (): Seen => ({
  sealed: NO_RECORDS,
  records: NO_RECORDS,
  fencedMs: undefined,
  fenceStoredMs: undefined,
  endedMs: undefined,
  lease: undefined,
  successor: undefined,
  drained: undefined,
  written: [],
  promotedMs: undefined,
})
