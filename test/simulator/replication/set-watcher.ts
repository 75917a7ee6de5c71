// What must be so in a simulated set at every moment (the numbers are those of the invariants of replication). It knows
// what the primary had at each place of its log, and compares that with what secondaries say that they have.
import { strict as assert } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import { importSecret } from '../../../src/crypto/primitives/secret-key.ts'
import { ACTIVATION_PROTOCOL } from '../../../src/replication/link/link-protocols.ts'
import type { LinkOwner } from '../../../src/replication/link/link-sides.ts'
import { decodeMessage, type Message, type MessageKind } from '../../../src/replication/protocol/messages.ts'
import { REPLICATION_FAMILIES } from '../../../src/replication/set/peer-name.ts'
import type { SinkBatch } from '../../../src/replication/sink/sink-parts.ts'
import { isOwnPart, mountOfKey, SENT_CLASSES } from '../../../src/storage/classes.ts'
import type { Change, ReadStore, StoredEntry } from '../../../src/storage/contract.ts'
import { HistoryGone } from '../../../src/storage/errors.ts'
import { decodeChange, decodeRun } from '../../../src/storage/log/change-record.ts'
import { leafOf } from '../../../src/storage/log/leaf.ts'
import { bucketKeyOf, Tree } from '../../../src/storage/log/tree.ts'
import type { Origin, ReplicationFamily } from '../../../src/storage/peer-log.ts'
import { EntryDigests, type SentDigests } from './entry-digests.ts'
import { openedKeys } from './model-seal.ts'
import { ReachWatcher } from './reach-watcher.ts'
import { isFilteredBy, isOfClient, RoleWatcher } from './role-watcher.ts'
import { type Life, NEWER_VERSION, OLDER_VERSION, type SimulatedCluster } from './simulated-cluster.ts'
import { LEAST_RECORDS, type SimulatedSet } from './simulated-set.ts'
import { isOpenIn, noteKey } from './transfer-notes.ts'
import type { SentOver } from './watched-links.ts'

/** What a primary says to a secondary that it refuses, and nothing else. */
const MAY_BE_SAID_TO_REVOKED: ReadonlySet<MessageKind> = new Set(['refused', 'fault'])
const REVOKED_WITHIN_MS = 1_000
/** Comparisons that a secondary asks for over one link. */
const MOST_COMPARISONS = 2
/** A commit waits for some syncs of the disk, and for nothing else. */
const LONGEST_COMMIT_MS = 200

type PlaceOf = Partial<Record<ReplicationFamily, Pick<Origin, 'historyId' | 'index'> | undefined>>

type Known = {
  entries: EntryDigests
  /** Index of the last change that was seen to be durable. */
  index: number
  epoch: number
  /**
   * What each client writes, in the form of `straying`: of class local no other commit of a performance secondary has
   * any. Two clients may delete the same key, and one of them ends before the other.
   */
  readonly writing: Set<ReadonlySet<string>>
  /** Entries that are being written behind the back of the secondary: keys and values, '' for a delete. */
  readonly straying: Set<string>
  /** Entries that were. */
  readonly strays: Set<string>
  /** What the primary of each family was told that is there for good. */
  readonly acknowledged: PlaceOf
  /** The last place that was applied of the log of each primary. */
  readonly lastOrigin: PlaceOf
  /** By history: how far it ever had the log of a primary for disaster recovery on its disk. */
  readonly reached: Map<string, number>
  /** A copy or a comparison with a primary for disaster recovery goes on behind what is being taken. */
  isOpen: boolean
  /** The present history of its own log. */
  historyId: Buffer
  /** When anything arrived over a link. */
  heardMs: number
  /** It is being compared with its primary for performance, or copied. */
  isTransferring: boolean
}

/** Stands for a value that is written behind the back of a secondary; undefined: the entry is deleted. */
export const strayName = (key: string, value: Buffer | undefined): string => `${key} ${value?.toString('hex') ?? ''}`

const placeName = ({ historyId, index }: Pick<Origin, 'historyId' | 'index'>): string =>
  `${historyId.toString('hex')} ${index}`

/** Where a change stood in the log of the primary for performance. */
function performanceOrigin({ origins }: Pick<Change, 'origins'>): string {
  const origin = origins.find(({ family }) => family === 'performance')
  return origin === undefined ? 'no primary' : placeName(origin)
}

export class SetWatcher {
  readonly #set: SimulatedSet
  readonly #known = new Map<SimulatedCluster, Known>()
  /** What there was at each place of each log. */
  readonly #places = new Map<string, SentDigests>()
  /** By place of a change: where it stood in the log of the primary for performance. */
  readonly #origins = new Map<string, string>()
  /** Names that no message of a family may have. */
  readonly #forbidden: Readonly<Record<ReplicationFamily, readonly string[]>>
  /** By secondary: when it was revoked, by whom, and in which epoch of the set. */
  readonly #revoked = new Map<
    string,
    { readonly atMs: number; readonly by: SimulatedCluster; readonly epoch: number }
  >()
  /** What the clusters are to each other for disaster recovery. */
  readonly roles: RoleWatcher
  /** And for performance. */
  readonly performance: RoleWatcher
  /** Where filters are watched. */
  readonly reach: ReachWatcher | undefined
  /** The first thing that was wrong. */
  fault: string | undefined
  /** What happened, for the comparison of two runs. */
  readonly trace: string[] = []

  constructor(
    set: SimulatedSet,
    forbidden: Readonly<Record<ReplicationFamily, readonly string[]>>,
    { hasFilters = false } = {},
  ) {
    this.#set = set
    this.#forbidden = forbidden
    this.roles = this.#newRoles('dr')
    this.performance = this.#newRoles('performance')
    if (hasFilters)
      this.reach = new ReachWatcher(
        (cluster, what) => this.wrong(cluster, what),
        (cluster) => this.performance.recordOf(cluster, 'reach'),
      )
  }

  #newRoles(family: ReplicationFamily): RoleWatcher {
    return new RoleWatcher(
      this.#set,
      family,
      (cluster, what) => this.wrong(cluster, what),
      (cluster) => {
        const { entries, historyId, lastOrigin } = this.knownOf(cluster)
        const placed = (place: Pick<Origin, 'historyId' | 'index'>) => this.#places.get(placeName(place))
        return { now: entries.now, historyId, lastOrigin: lastOrigin[family], placed }
      },
    )
  }

  /** What the clusters are to each other in a family. */
  rolesIn(family: ReplicationFamily): RoleWatcher {
    return family === 'dr' ? this.roles : this.performance
  }

  /** True if others may have followed its log, or may follow it again. */
  #leads(cluster: SimulatedCluster): boolean {
    return this.roles.hasOwnLog(cluster) || this.performance.hasOwnLog(cluster)
  }

  /** The family in which it applies the log of another; what a DR secondary has of the other family is a copy. */
  #applies(cluster: SimulatedCluster): ReplicationFamily | undefined {
    const family = this.roles.isSecondary(cluster) ? 'dr' : 'performance'
    const roles = this.rolesIn(family)
    return roles.isSecondary(cluster) && !roles.hasOwnLog(cluster) ? family : undefined
  }

  /** The family in which what it has is of the log of a primary. */
  #follows(cluster: SimulatedCluster): ReplicationFamily | undefined {
    const family = this.#applies(cluster)
    return family !== undefined && this.rolesIn(family).hasLogOfPrimary(cluster) ? family : undefined
  }

  wrong(cluster: SimulatedCluster | undefined, what: string): void {
    this.fault ??= `${cluster?.name ?? 'the set'} at ${this.#set.time.nowMs}: ${what}`
  }

  note(line: string): void {
    this.trace.push(`${this.#set.time.nowMs} ${line}`)
  }

  knownOf(cluster: SimulatedCluster): Known {
    const found = this.#known.get(cluster) ?? newKnown()
    this.#known.set(cluster, found)
    return found
  }

  /** Runs behind each commit, before its caller goes on. */
  committed(cluster: SimulatedCluster, change: Change): void {
    const known = this.knownOf(cluster)
    if (change.index <= known.index) this.wrong(cluster, `I2 index ${change.index} comes behind ${known.index}`)
    if (change.epoch < known.epoch) this.wrong(cluster, `I12 epoch ${change.epoch} comes behind ${known.epoch}`)
    this.roles.committed(cluster, change)
    this.performance.committed(cluster, change, this.roles.isSecondary(cluster))
    known.epoch = change.epoch
    known.index = change.index
    known.entries.apply(change.operations)
    this.#seeReach(cluster, change)
    this.note(`${cluster.name} ${change.index} ${change.operations.length}`)
    // The id of a history begins with its first change.
    known.historyId = change.beginsHistory ?? known.historyId
    // Who follows now may be followed later: what it applies is in its own log.
    this.#places.set(placeName({ historyId: known.historyId, index: change.index }), known.entries.now)
    this.#noteOrigin(known.historyId, change)
    const family = this.#applies(cluster)
    if (family === undefined) return
    if (family === 'performance') this.#requireOwn(cluster, known, change)
    for (const { key, value } of change.operations) {
      if (known.straying.has(strayName(key, value))) known.strays.add(key)
    }
    const origin = change.origins.find((one) => one.family === family)
    if (origin !== undefined) this.#applied(cluster, known, change, origin)
    if (family === 'dr' && origin !== undefined) this.#requireSameOrigin(cluster, change, origin)
  }

  /** A cluster has the keys of what it has. Thrown into a commit, a missing one would pass for a fault of the disk. */
  #seeReach(cluster: SimulatedCluster, change: Change): void {
    try {
      this.reach?.committed(cluster, change)
    } catch (cause) {
      this.wrong(cluster, `it cannot read what it has: ${String(cause)}`)
    }
  }

  #noteOrigin(historyId: Buffer, change: Pick<Change, 'index' | 'origins'>): void {
    this.#origins.set(placeName({ historyId, index: change.index }), performanceOrigin(change))
  }

  /** I5: a DR secondary goes on from there in the place of its primary: with a later place it would lack something. */
  #requireSameOrigin(cluster: SimulatedCluster, change: Change, applied: Origin): void {
    const here = performanceOrigin(change)
    const there = this.#origins.get(placeName(applied)) ?? here
    if (there !== here) this.wrong(cluster, `I5 record ${applied.index} is that of ${here} here, of ${there} there`)
  }

  /** I10: what is a performance secondary's own is changed by its own clients alone. */
  #requireOwn(cluster: SimulatedCluster, { writing }: Known, { operations, index }: Change): void {
    const isFiltered = isFilteredBy(this.performance.recordOf(cluster, 'reach'))
    const isWritten = (name: string): boolean => [...writing].some((names) => names.has(name))
    const foreign = operations.find(
      ({ kind, class: of, key, value }) =>
        of === 'local' &&
        isOfClient(key) &&
        !isWritten(strayName(key, value)) &&
        // What it keeps for itself of a mount goes with that.
        !(isFiltered && kind === 'delete' && isOwnPart(key)),
    )
    if (foreign !== undefined) this.wrong(cluster, `I10 ${foreign.key} is its own, and ${index} changes it`)
  }

  #applied(
    cluster: SimulatedCluster,
    known: Known,
    { operations }: Change,
    { family, historyId, index }: Origin,
  ): void {
    const last = known.lastOrigin[family]
    if (last?.historyId.equals(historyId) === true && index <= last.index) {
      this.wrong(cluster, `I4 record ${index} of the primary is applied behind ${last.index}`)
    }
    known.lastOrigin[family] = { historyId, index }
    if (family === 'dr' && !known.isOpen) known.reached.set(historyId.toString('hex'), index)
    const foreign = operations.find((operation) => !SENT_CLASSES[family].has(operation.class))
    if (foreign !== undefined) this.wrong(cluster, `I8 ${foreign.key} was applied over ${family} replication`)
  }

  /** A store was opened: at a start, a restore, or an activation. Nothing was written since. */
  async opened(cluster: SimulatedCluster, { store, world }: Life): Promise<void> {
    const known = this.knownOf(cluster)
    const position = await store.position()
    const snapshot = await store.snapshot()
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    await snapshot.close()
    if (position.index < known.index) {
      this.wrong(cluster, `I1 index ${known.index} was acknowledged, and ${position.index} is the last one`)
    }
    if (position.epoch < known.epoch) this.wrong(cluster, `I12 epoch ${position.epoch} comes behind ${known.epoch}`)
    const { keyring } = await openedKeys(store, world.random)
    this.roles.opened(cluster, entries, keyring)
    this.performance.opened(cluster, entries, keyring, this.roles.isSecondary(cluster))
    await this.#seeKept(known, store)
    known.entries = EntryDigests.of(entries)
    this.reach?.opened(cluster, entries)
    known.index = position.index
    known.epoch = position.epoch
    this.note(`${cluster.name} opens at ${position.index}`)
    known.historyId = position.historyId
    const now = this.#places.get(placeName(position))
    if (now !== undefined && now.dr !== known.entries.now.dr) {
      this.wrong(cluster, `I1 the entries are not those of index ${position.index}`)
    }
    this.#places.set(placeName(position), known.entries.now)
    const followed = this.#applies(cluster)
    if (followed === undefined) return
    const applied = position.origins.find(({ family }) => family === followed)
    known.lastOrigin[followed] = applied
    if (followed === 'dr' && applied !== undefined && !entries.some(({ key }) => key === noteKey('dr')))
      known.reached.set(applied.historyId.toString('hex'), applied.index)
    this.#seeStrays(known, entries)
    const acknowledged = known.acknowledged[followed]
    const isOfIt = acknowledged !== undefined && applied?.historyId.equals(acknowledged.historyId) !== false
    const isBehind = isOfIt && (applied === undefined || applied.index < acknowledged.index)
    if (isBehind && this.#follows(cluster) !== undefined) {
      this.wrong(cluster, `I5 ${acknowledged.index} was acknowledged as durable, and ${applied?.index} is there`)
    }
    await this.#compareWhole(cluster, known, store)
  }

  /** Changes that a crash has kept, and nobody was told of. */
  async #seeKept(known: Known, store: ReadStore): Promise<void> {
    const records = await recordsBehind(store, 0)
    const { historyId, index } = await store.position()
    const behind = (records ?? (await recordsBehind(store, known.index)) ?? []).filter(
      (record) => record.index > known.index,
    )
    if (known.index === 0 || !known.historyId.equals(historyId) || behind.at(-1)?.index !== index) return
    for (const change of decodeRun(behind)) {
      known.entries.apply(change.operations)
      this.#places.set(placeName({ historyId, index: change.index }), known.entries.now)
      this.#noteOrigin(historyId, change)
    }
  }

  /** A crash may have kept a stray that nobody was told of. */
  #seeStrays({ straying, strays }: Known, entries: readonly StoredEntry[]): void {
    for (const name of straying) {
      const key = name.slice(0, name.indexOf(' '))
      const stored = entries.find((entry) => entry.key === key)?.value
      if (straying.has(strayName(key, stored))) strays.add(key)
    }
    straying.clear()
  }

  crashed(cluster: SimulatedCluster): void {
    this.note(`${cluster.name} is off`)
  }

  /** The data of the cluster are those of a primary from now on. */
  activated(cluster: SimulatedCluster): void {
    const known = this.knownOf(cluster)
    known.strays.clear()
    for (const family of REPLICATION_FAMILIES) this.#forgetPlaces(known, family)
  }

  #forgetPlaces(known: Known, family: ReplicationFamily): void {
    known.acknowledged[family] = undefined
    known.lastOrigin[family] = undefined
  }

  /** I30: a write was answered, and the secondary of this id was not said to be away: so it is on the disk there. */
  promised(primary: SimulatedCluster, id: string, place: Pick<Origin, 'historyId' | 'index'>): void {
    const history = place.historyId.toString('hex')
    const named = [...this.#known].filter(([{ name }]) => name === id)
    if (!named.some(([, { reached }]) => (reached.get(history) ?? 0) >= place.index))
      this.wrong(primary, `I30 ${place.index} was answered as if ${id} had it, which never had`)
  }

  /** The place of what was acknowledged to the primary counts no more: the disk is another one. */
  forget(cluster: SimulatedCluster): void {
    this.#known.delete(cluster)
  }

  /** The primary has answered that it revoked this secondary. */
  revoked(primary: SimulatedCluster, family: ReplicationFamily, id: string): void {
    if (this.rolesIn(family).letsIn(primary, id)) this.wrong(primary, `I17 it says that it revoked ${id}, and has not`)
    const { epoch = 0 } = this.rolesIn(family).stateOf(primary) ?? {}
    this.#revoked.set(`${family} ${id}`, { atMs: this.#set.time.nowMs, by: primary, epoch })
  }

  readmitted(family: ReplicationFamily, id: string): void {
    this.#revoked.delete(`${family} ${id}`)
  }

  /** The owner, watched in what it takes. */
  owner(cluster: SimulatedCluster, owner: LinkOwner): LinkOwner {
    return {
      ...this.performance.owner(cluster, this.roles.owner(cluster, owner)),
      take: async (family, batch) => {
        const roles = this.rolesIn(family)
        if (batch.mode === 'anew' && batch.fork !== undefined) roles.undone(cluster, batch.fork)
        const unfit = this.#unfitKey(cluster, family, batch)
        if (batch.mode === 'anew') this.knownOf(cluster).lastOrigin[family] = undefined
        if (family === 'dr') this.knownOf(cluster).isOpen = batch.transfer !== undefined
        this.note(`${cluster.name} takes ${batch.mode} ${batch.after.index}-${batch.at.index} ${batch.transfer?.what}`)
        const outcome = await this.whileTaking(cluster, () => owner.take(family, batch))
        if (outcome.kind === 'adopted' && family === 'performance')
          this.knownOf(cluster).isTransferring = batch.transfer !== undefined
        if (outcome.kind === 'adopted' && family === 'dr' && batch.transfer === undefined)
          this.knownOf(cluster).reached.set(batch.at.historyId.toString('hex'), batch.at.index)
        if (outcome.kind === 'adopted') roles.taken(cluster, batch.transfer !== undefined)
        if (outcome.kind === 'adopted') await this.#taken(cluster, unfit)
        else this.note(`${cluster.name} ${outcome.kind} ${outcome.sentence}`)
        return outcome
      },
    }
  }

  /** As that of each family. */
  whileTaking<T>(cluster: SimulatedCluster, work: () => Promise<T>): Promise<T> {
    return this.roles.whileTaking(cluster, () => this.performance.whileTaking(cluster, work))
  }

  async #taken(cluster: SimulatedCluster, unfit: string | undefined): Promise<void> {
    const known = this.knownOf(cluster)
    if (unfit !== undefined)
      this.wrong(cluster, `I3 a change of ${unfit} was applied over an entry that it did not replace`)
    const store = cluster.life?.store
    if (store !== undefined) await this.#compareWhole(cluster, known, store)
  }

  /** A key of a change that does not replace what is there; undefined if all fit. */
  #unfitKey(cluster: SimulatedCluster, family: ReplicationFamily, { mode, records }: SinkBatch): string | undefined {
    if (mode !== 'follow') return undefined
    const { entries, lastOrigin: last } = this.knownOf(cluster)
    const lastOrigin = last[family]
    const seen = new Set<string>()
    for (const { record } of records) {
      const { index, operations } = decodeChange(record, 'sent record')
      if (lastOrigin !== undefined && index <= lastOrigin.index) continue
      for (const { key, oldLeaf, class: of } of operations) {
        if (seen.has(key) || !SENT_CLASSES[family].has(of)) continue
        seen.add(key)
        if (entries.leafOf(key) !== oldLeaf.toString('hex')) return key
      }
    }
    return undefined
  }

  /** I3, I5: what says that it is whole has what the primary had there. */
  async #compareWhole(cluster: SimulatedCluster, known: Known, store: ReadStore): Promise<void> {
    const family = this.#follows(cluster)
    if (family === undefined) return
    const { origins } = await store.position()
    const applied = origins.find((origin) => origin.family === family)
    if (applied === undefined || (await isOpenIn(store, family))) return
    const there = this.#places.get(placeName(applied))
    if (there === undefined) return this.wrong(cluster, `I12 it stands at ${placeName(applied)}, where no primary was`)
    const { now } = known.entries
    const isAll = there[family] === now[family]
    const part = family === 'performance' ? await this.reach?.differing(cluster, there, now) : undefined
    const isSame = this.reach === undefined || family === 'dr' ? isAll : part === undefined
    if (isSame) known.strays.clear()
    else if (known.strays.size === 0)
      this.wrong(cluster, `I3 its entries are not those of the primary at ${applied.index}${part && `: ${part}`}`)
  }

  /** A message was given to a link. */
  sent(cluster: SimulatedCluster, sent: SentOver): void {
    const { kind, raw, to, family, protocol, counts } = sent
    if (to === undefined) {
      if (family === 'performance') this.reach?.sentBack(sent)
      this.#sentByFollower(cluster, sent)
      return
    }
    const name = this.#forbidden[family].find((text) => raw.payload.includes(text))
    if (name !== undefined) this.wrong(cluster, `I8 a message "${kind}" over ${family} replication has ${name}`)
    if (family === 'performance') this.reach?.sent(cluster, sent)
    const revoked = this.#revoked.get(`${family} ${to}`)
    const isLate = revoked !== undefined && this.#set.time.nowMs > revoked.atMs + REVOKED_WITHIN_MS
    const roles = this.rolesIn(family)
    // One that is promoted by force may lack the revocation, as it lacks other writes of the last primary.
    const isOwn = revoked?.by === cluster && revoked.epoch === roles.stateOf(cluster)?.epoch
    const isRevokedHere = isLate && (isOwn || !roles.letsIn(cluster, to))
    // A knock is answered with what a stranger could read off a certificate, before it says what it wants.
    const isGreeting = kind === 'welcome' && protocol === ACTIVATION_PROTOCOL
    if (isRevokedHere && !isGreeting && !MAY_BE_SAID_TO_REVOKED.has(kind)) {
      this.wrong(
        cluster,
        `I17 "${kind}" was sent to ${to}, which was revoked ${this.#set.time.nowMs - revoked.atMs} ms ago`,
      )
    }
    if (kind !== 'course') return
    this.note(`course ${counts.get('course')} for ${to}`)
    this.#requireOlder(cluster, to)
    this.rolesIn(family).requireLetIn(cluster, to)
  }

  /** I27: nothing of a newer program goes to an older one. */
  #requireOlder({ life, set, name }: SimulatedCluster, to: string): void {
    const follower = [...this.#known.keys()].find((one) => one.name === to && one.life !== undefined)
    const [ours, theirs] = [life?.version, follower?.life?.version]
    const isNewer = ours === NEWER_VERSION && theirs === OLDER_VERSION
    // It may have been replaced by an older one meanwhile.
    const isThere = set.network.host(name).socketsTo(to).length > 0
    if (isNewer && isThere) this.wrong(follower, `I27 its primary has version ${ours}, and it has ${theirs}`)
  }

  /** Something arrived. */
  heard(cluster: SimulatedCluster): void {
    this.knownOf(cluster).heardMs = this.#set.time.nowMs
  }

  #sentByFollower(cluster: SimulatedCluster, { kind, raw, family, counts }: SentOver): void {
    const known = this.knownOf(cluster)
    if (kind === 'ack') {
      const { durable } = decodeMessage(raw) as Message<'ack'>
      const historyId = known.lastOrigin[family]?.historyId ?? Buffer.alloc(0)
      known.acknowledged[family] = { historyId, index: durable }
      return
    }
    if (kind === 'compare' && family === 'performance') void this.#requireNeeded(cluster, known)
    if (kind === 'compare' && (counts.get('compare') ?? 0) > MOST_COMPARISONS) {
      this.wrong(cluster, `I22 it asks for ${counts.get('compare')} comparisons over one link`)
    }
  }

  /** I22: a filtered secondary that has all that it is to have asks for no comparison. */
  async #requireNeeded(cluster: SimulatedCluster, { entries, lastOrigin, isTransferring }: Known): Promise<void> {
    const { performance: last } = lastOrigin
    const there = last && this.#places.get(placeName(last))
    if (this.reach === undefined || there === undefined || isTransferring) return
    const isSame = (await this.reach.differing(cluster, there, entries.now)) === undefined
    if (isSame) this.wrong(cluster, `I22 it asks for a comparison, and has all that there was at ${last?.index}`)
  }

  /** I19: a commit of the primary took so long. */
  committedIn(cluster: SimulatedCluster, ms: number): void {
    if (this.#leads(cluster) && ms > LONGEST_COMMIT_MS) this.wrong(cluster, `I19 a commit took ${ms} ms`)
  }

  /** I25: what status says of links. I16: what threads gave. Called when nothing is being committed. */
  async step(cluster: SimulatedCluster): Promise<void> {
    const { life } = cluster
    if (life === undefined || !life.isOpen) return
    const fault = life.cache.fault()
    if (fault !== undefined) this.wrong(cluster, fault)
    const { primaries } = await life.host.status()
    for (const { connection } of primaries) {
      if (connection !== 'ready') continue
      const silentMs = this.#set.time.nowMs - this.knownOf(cluster).heardMs
      if (silentMs > LONGEST_SILENCE_MS)
        this.wrong(cluster, `I25 it says "ready", and heard nothing for ${silentMs} ms`)
    }
  }

  /**
   * I20: the log is no longer than its caps, but for what lies behind the last checkpoint, and a span. Called when the
   * store has just looked.
   */
  checkLog(cluster: SimulatedCluster, { disk }: Life): void {
    const { log, checkpoints } = disk.content.tables
    const [oldest] = log
    // One that is before the log stays until the next one is saved.
    const [first, ...spans] = checkpoints.filter(({ index }) => index >= (oldest?.index ?? 0))
    // The log behind the first checkpoint that is left, but for the last span: it may have ended just now.
    const kept = spans.slice(0, -1).reduce((sum, { logBytes }) => sum + logBytes, 0)
    const { secondary, copy } = this.#set.holdCaps
    const most = Math.max(secondary, copy, this.#set.retention.bytes)
    // What stays whatever the limits say, and what came since the look.
    const spare = log.at(-1 - 2 * LEAST_RECORDS)?.index ?? 0
    if (first !== undefined && first.index < spare && kept > most) {
      this.wrong(cluster, `I20 ${kept} bytes of the log are kept`)
    }
  }

  /** I2, I6: entries, log and tree fit each other, and the leaves fit the entries. */
  async checkStore(cluster: SimulatedCluster): Promise<void> {
    const life = cluster.life ?? assert.fail(`${cluster.name} runs`)
    const { store } = life
    const known = this.knownOf(cluster)
    const snapshot = await store.snapshot()
    const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
    await snapshot.close()
    const { now } = EntryDigests.of(entries)
    if (now.dr !== known.entries.now.dr) this.wrong(cluster, 'I2 the entries are not those of the commits')
    decodeRun(life.disk.content.tables.log)
    const { leafKey } = await openedKeys(store, life.world.random)
    const key = importSecret(leafKey)
    const [tree, bucketKey] = [new Tree(), bucketKeyOf(key)]
    for (const entry of entries) {
      if (entry.class === 'ignored') continue
      tree.add(
        entry.class,
        entry.key,
        leafOf(key, entry.class, mountOfKey(entry.key), entry.key, entry.value),
        bucketKey,
      )
    }
    const { index: _, ...roots } = await store.roots()
    if (!isDeepStrictEqual(roots, tree.roots())) this.wrong(cluster, 'I6 the roots are not those of the entries')
  }
}

/** Two beats longer than the silence that ends a link. */
const LONGEST_SILENCE_MS = 2_000 + 3 * 400
function newKnown(): Known {
  return {
    entries: EntryDigests.of([]),
    index: 0,
    epoch: 0,
    writing: new Set(),
    straying: new Set(),
    strays: new Set(),
    acknowledged: {},
    lastOrigin: {},
    historyId: Buffer.alloc(0),
    heardMs: 0,
    isTransferring: false,
    reached: new Map(),
    isOpen: false,
  }
}

/** Undefined where the log begins later. */
async function recordsBehind(store: ReadStore, index: number) {
  try {
    return await store.records(index, Number.MAX_SAFE_INTEGER)
  } catch (cause) {
    if (cause instanceof HistoryGone) return undefined
    throw cause
  }
}
