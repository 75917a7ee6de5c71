// What status tells of a family besides what the store tells, with the names and types that clients of the reference
// know: times in milliseconds and epochs are texts, counts and indexes are numbers.
import type { ListenerSwitches } from '../api/request.ts'
import type { PeerStatus, PrimaryStatus, SecondaryStatus } from '../replication/link/link-sides.ts'
import type { FamilyTold } from './replication-operations.ts'
import type { TreeTold } from './tree-checks.ts'

/** What a listener withholds. */
export type Withheld = Pick<ListenerSwitches['redacts'], 'addresses' | 'version'>

/** Year 1, in which there was no heartbeat yet: what clients of the reference take for never. */
const NEVER = '0001-01-01T00:00:00Z'

/** How long a secondary without a link still shows what it did last. Links that are made anew soon are no news. */
const LINK_LOSS_MS = 10_000

/** What stands for a set of which nothing could be found out. */
const NOT_YET = {
  ssct_generation_counter: 0,
}

/** Year 1, as seconds: what clients of the reference take for a check that there never was. */
const NEVER_CHECKED = '-62135596800'

/**
 * What checks of the tree found: there is one tree, whatever the family. The data of a secondary came as a whole when
 * it became one, at `sinceMs`, and its tree was made of them.
 */
export function treeMembers(found: TreeTold, sinceMs: number | undefined): object {
  const { buckets, entries, checkedAtMs, reindexedAtMs, reindex } = found
  return {
    corrupted_merkle_tree: buckets + entries > 0,
    last_corruption_check_epoch: checkedAtMs === null ? NEVER_CHECKED : text(checkedAtMs / 1000),
    last_reindex_epoch: text(Math.max(reindexedAtMs ?? 0, sinceMs ?? 0) / 1000),
    ...(reindex && {
      reindex_in_progress: true,
      reindex_stage: reindex.stage,
      reindex_building_progress: reindex.done,
      reindex_building_total: reindex.total,
    }),
  }
}

/** The members of one mode. `told`: undefined if it could not be found out. */
export function toldMembers(
  mode: 'bootstrapping' | 'primary' | 'secondary',
  told: FamilyTold | undefined,
  nowMs: number,
  withheld: Withheld,
): object {
  if (told === undefined) return { ...NOT_YET, ...(mode === 'primary' ? {} : { connection_state: 'idle' }), ...UNTOLD }
  const { setId, epoch } = told.state
  // A set begins with epoch 1, and each promotion in it adds one.
  const common = {
    ...NOT_YET,
    cluster_id: setId,
    ssct_generation_counter: epoch - 1,
    ...(withheld.version ? {} : { program_version: told.programVersion }),
  }
  if (mode === 'primary') return { ...common, ...ofPrimary(told, withheld) }
  return { ...common, ...ofSecondary(told, nowMs, withheld) }
}

function ofPrimary(told: FamilyTold, { addresses }: Withheld): object {
  const { state, knownSecondaries, secondaries, filters } = told
  const idle = idleOfPrimary(told)
  return {
    state: idle === undefined ? 'running' : 'idle',
    fenced: state.isFenced,
    ...undoneOf(told.undoneRecords),
    ...(told.untold === undefined ? {} : { former_primary: addresses ? 'is called' : told.untold }),
    ...(idle && {
      idle_reason: idle.reason,
      ...(idle.isAddressed && addresses ? {} : { idle_sentence: idle.sentence }),
    }),
    ...(told.promotedFrom && { promoted_from: placeOf(told.promotedFrom) }),
    primary_cluster_addr: addresses ? '' : state.clusterAddress,
    known_secondaries: knownSecondaries,
    ...(filters.length === 0 ? {} : { paths_filters: filters }),
    ...synchronousOf(told.synchronous),
    ...(told.mayHaveTakenOver.length === 0 ? {} : { may_have_taken_over: told.mayHaveTakenOver }),
    secondaries: secondaries.map((one: SecondaryStatus) => ({ ...peer(one, addresses), node_id: one.id })),
  }
}

/** Absent where writes wait for nobody. */
function synchronousOf(told: FamilyTold['synchronous']): object {
  if (told.length === 0) return {}
  const shown = ({ id, state, sinceMs }: FamilyTold['synchronous'][number]) => ({
    id,
    state,
    ...(sinceMs === undefined ? {} : { since: time(sinceMs) }),
  })
  return { synchronous: told.map(shown) }
}

const undoneOf = (records = 0): object => (records === 0 ? {} : { undone_records: records })
const placeOf = ({ historyId, index }: NonNullable<FamilyTold['promotedFrom']>) => ({
  history_id: historyId.toString('hex'),
  index,
})

/** Why a primary serves nobody; undefined: it does. `isAddressed`: the sentence names addresses. */
function idleOfPrimary({ state, isSilent, portFaults, successor }: FamilyTold) {
  if (state.isFenced) return { reason: 'fenced', sentence: fencedBy(successor), isAddressed: true }
  if (isSilent) return { reason: 'unknown', sentence: SILENT, isAddressed: false }
  if (portFaults.length > 0) return { reason: 'port', sentence: portFaults.join('. '), isAddressed: true }
  return undefined
}

const SILENT = 'What the links do could not be found out: they are busy, or begin anew. Ask again soon'
const UNTOLD = {
  state: 'idle',
  idle_reason: 'unknown',
  idle_sentence: 'What the links do could not be found out: the log of this server has the cause',
}
const FENCED = 'so this one writes nothing: demote it with "primary/demote", and give it a token of the other one'
const NO_PRIMARY =
  'This cluster follows no primary: "secondary/update-primary" gives it one, and "secondary/promote" makes it one'

function fencedBy(successor: FamilyTold['successor']): string {
  if (successor === undefined) return `Two clusters were promoted, ${FENCED}`
  const where = successor.apiAddress === '' ? '' : ` at ${successor.apiAddress}`
  return `Cluster ${successor.clusterId}${where} took over as primary of this set, ${FENCED}`
}

function ofSecondary(
  { state, identity, primary, undoneRecords, isFiltered }: FamilyTold,
  nowMs: number,
  withheld: Withheld,
): object {
  const { addresses } = withheld
  const { clusterAddress = '', knownAddresses = [], id = '' } = identity ?? {}
  const known = knownAddresses.length === 0 && clusterAddress !== '' ? [clusterAddress] : knownAddresses
  const idle = identity === undefined ? { reason: 'no_primary', sentence: NO_PRIMARY } : primary?.idle
  return {
    state: stateOf(primary, nowMs),
    connection_state: primary?.connection ?? 'idle',
    // The sentence names addresses.
    ...(idle && { idle_reason: idle.reason, ...(addresses ? {} : { idle_sentence: idle.sentence }) }),
    secondary_id: id,
    ...(isFiltered ? { filtered: true } : {}),
    ...undoneOf(undoneRecords),
    primary_cluster_addr: addresses ? '' : clusterAddress,
    known_primary_cluster_addrs: addresses ? [] : known,
    primaries: (primary?.peers ?? []).map((one) => peer(one, addresses)),
    last_start: time(state.sinceMs),
    ...(primary && progressOf(primary, nowMs)),
    ...(primary?.primaryVersion === undefined || withheld.version ? {} : { server_version: primary.primaryVersion }),
  }
}

/** Copies and comparisons, and how far the secondary is behind; members that are not known are missing. */
function progressOf(primary: PrimaryStatus, nowMs: number): object {
  const { progress, primaryIndex, lagMs } = primary
  const isSyncing = ['merkle-diff', 'merkle-sync'].includes(stateOf(primary, nowMs))
  return {
    ...(progress && isSyncing
      ? { merkle_sync_progress: { sync_progress: progress.entries, sync_total_keys: progress.totalEntries } }
      : {}),
    ...(lagMs === undefined ? {} : { lag_ms: text(lagMs) }),
    ...(progress === undefined || primaryIndex === undefined
      ? {}
      : { lag_entries: Math.max(0, primaryIndex - progress.index) }),
  }
}

function stateOf(primary: PrimaryStatus | undefined, nowMs: number): string {
  if (primary === undefined || isIdle(primary, nowMs)) return 'idle'
  const { progress } = primary
  if (progress === undefined) return 'merkle-diff'
  if (progress.what === 'difference') return progress.entries === 0 ? 'merkle-diff' : 'merkle-sync'
  return progress.what === 'copy' ? 'merkle-sync' : 'stream-wals'
}

function isIdle({ connection, idle, progress, peers }: PrimaryStatus, nowMs: number): boolean {
  if (connection === 'idle') return true
  if (connection === 'ready') return idle !== undefined
  const lastBeatMs = Math.max(...peers.map((one) => one.lastBeatMs ?? Number.NEGATIVE_INFINITY))
  return progress === undefined || nowMs - lastBeatMs >= LINK_LOSS_MS
}

function peer(of: PeerStatus, withholdsAddresses: boolean) {
  return {
    api_address: withholdsAddresses ? '' : of.apiAddress,
    cluster_address: withholdsAddresses ? '' : of.clusterAddress,
    connection_status: of.isConnected ? 'connected' : 'disconnected',
    last_heartbeat: of.lastBeatMs === undefined ? NEVER : time(of.lastBeatMs),
    last_heartbeat_duration_ms: text(of.roundTripMs),
    clock_skew_ms: text(of.clockSkewMs),
    replication_primary_canary_age_ms: text(of.canaryAgeMs),
  }
}

/** Of what was never measured: 0. */
const text = (value = 0): string => String(Math.trunc(value))

/** RFC 3339, in seconds. */
const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, -'.000Z'.length)}Z`
