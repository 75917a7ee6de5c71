// A set changes hands: a secondary is promoted, a primary is demoted, a secondary gets another primary. Each is one
// transaction, so that a crash leaves the cluster what it was or what it is to be. An operation that throws has changed
// nothing.
//
//   secondary ── promotePrimary ──▶ primary of the next epoch; it keeps who it was (formers.ts), to tell its former
//                                   primary, which takes that (`takeSuccessor`) and writes nothing from then on
//   primary ──── demotePrimary ───▶ secondary without a primary
//   secondary ── changePrimary ───▶ secondary of another cluster, by a token of its own set
//   secondary ── leavePrimary ────▶ secondary without a primary
import { encodeBase64 } from '../../lib/base64.ts'
import type { Origin, ReplicationFamily } from '../../storage/peer-log.ts'
import type { Greeting, PeerRefusal } from './admission.ts'
import { identify, isReceiverOf, refusedPeer } from './admission.ts'
import type { KeyedCertificate } from './certificates.ts'
import { keepFormers } from './formers.ts'
import { clearHandingOver } from './handing-over-note.ts'
import { faultOfApiAddress, faultOfClusterAddress } from './peer-address.ts'
import { requireKept, requireOperation, wipeButPast } from './primary-operations.ts'
import { owesPurgeInPlace } from './purge-note.ts'
import {
  addPromotion,
  NOT_PARTED,
  PARTED,
  type PromotionNote,
  placeNote,
  putState,
  readState,
  type SetReader,
  SetRefused,
  type SetState,
  type SetTransaction,
  SUCCESSOR,
  type Successor,
  setPath,
} from './records.ts'
import { type KeptActivation, putEntered, takeOverIdentity } from './secondary-operations.ts'

/** What a promotion begins with. The authority is made before: a transaction may run several times. */
export type Promotion = {
  readonly family: ReplicationFamily
  /** From `newAuthority` for the set of the state; the caller wipes its key. */
  readonly authority: KeyedCertificate
  /** `primary_cluster_addr` as the operator gave it; '' for none. */
  readonly clusterAddress: string
  /** The id of the history that begins with it. */
  readonly historyId: Buffer
  /** What of the former primary's log is applied; undefined: nothing since this cluster was a primary itself. */
  readonly followed: Omit<Origin, 'family'> | undefined
  /** Not all up to there is here: a copy or a comparison was running. */
  readonly isHalf?: boolean
  readonly nowMs: number
}

/**
 * `secondary/promote`: the cluster is the primary of its set from now on, with a new authority and no secondaries. For
 * disaster recovery, who it was stays until the former primary knows, and so does what those before are told. In a set
 * for performance replication no secondary can prove to its primary that it took over. @throws SetRefused
 */
export async function promotePrimary(tx: SetTransaction, promotion: Promotion): Promise<void> {
  const { family, authority, clusterAddress, nowMs } = promotion
  await requireOperation(tx, family, 'secondary/promote')
  await requireKept(tx, family)
  requireClusterAddress(clusterAddress)
  const state = await requireState(tx, family)
  const epoch = state.epoch + 1
  const note = noteOf(promotion, epoch)
  if (family === 'dr') {
    await keepFormers(tx, state.setId, note)
    await owesPurgeInPlace(tx)
  }
  await wipeButPast(tx, family)
  putState(tx, family, { mode: 'primary', setId: state.setId, epoch, clusterAddress, isFenced: false, sinceMs: nowMs })
  tx.put(setPath(family, 'authority'), authority.certificate)
  tx.put(setPath(family, 'authority-key'), authority.key)
  await addPromotion(tx, family, note)
  if (family === 'dr') await takePlaceInSet(tx, promotion, epoch)
}

/**
 * A cluster that takes the place of its primary for disaster recovery takes it in performance replication too: it has
 * the records of that one. As a secondary it is another instance of the same one. As the primary of that set it begins
 * an epoch, so that no secondary goes back to the other; they come from the log that it followed, so where it stood
 * there is noted for them, and for its own DR secondaries.
 */
async function takePlaceInSet(tx: SetTransaction, promotion: Promotion, epochOfDr: number): Promise<void> {
  const state = await readState(tx, 'performance')
  if (state?.mode === 'secondary') await takeOverIdentity(tx)
  if (state?.mode !== 'primary') return
  const epoch = Math.max(state.epoch + 1, epochOfDr)
  // The address that secondaries use first was that of the other cluster.
  putState(tx, 'performance', { ...state, epoch, clusterAddress: '', isFenced: false, sinceMs: promotion.nowMs })
  await addPromotion(tx, 'performance', noteOf(promotion, epoch))
}

function noteOf({ historyId, followed, isHalf = false, nowMs }: Promotion, epoch: number): PromotionNote {
  return {
    epoch,
    historyId: encodeBase64(historyId),
    followed: followed === undefined ? null : placeNote(followed),
    isHalf,
    atMs: nowMs,
  }
}

/**
 * `primary/demote`: the cluster is a secondary without a primary. It stays in its set, and its data stay; authority and
 * registry go. Who took over stays known. Where another cluster was promoted as well, what that one wrote is missing
 * here. `historyId` is of the log. @throws SetRefused
 */
export async function demotePrimary(
  tx: SetTransaction,
  family: ReplicationFamily,
  { historyId, nowMs }: { readonly historyId: Buffer; readonly nowMs: number },
): Promise<void> {
  await requireOperation(tx, family, 'primary/demote')
  const state = await requireState(tx, family)
  const successor = await tx.get(setPath(family, 'successor'))
  await wipeButPast(tx, family)
  putState(tx, family, { ...state, mode: 'secondary', clusterAddress: '', isFenced: false, sinceMs: nowMs })
  if (successor !== undefined) tx.put(setPath(family, 'successor'), successor)
  const parted = { isOwnLog: true, historyId: encodeBase64(historyId), isBehind: state.isFenced, fork: null }
  tx.put(setPath(family, 'parted'), PARTED.encode(parted))
}

/**
 * `secondary/update-primary`: the cluster follows the primary that has let it in by this activation. Its data stay, and
 * what differs is sent. `force`: also one of another set, if it follows none. @throws SetRefused
 */
export async function changePrimary(tx: SetTransaction, kept: KeptActivation, force: boolean): Promise<void> {
  const { family, setId, epoch } = kept.bundle
  const state = await requireChangeable(tx, kept.bundle, force)
  const parted = await readParted(tx, family)
  const fork = (await readSuccessor(tx, family))?.followed ?? parted?.fork ?? null
  putState(tx, family, { ...state, setId, epoch: state.setId === setId ? Math.max(state.epoch, epoch) : epoch })
  putEntered(tx, kept)
  tx.delete(setPath(family, 'successor'))
  tx.put(setPath(family, 'parted'), PARTED.encode({ ...NOT_PARTED, ...parted, isBehind: true, fork }))
}

/** The state of a secondary that may follow a primary of this set. @throws SetRefused */
export async function requireChangeable(
  tx: SetReader,
  { family, setId, epoch }: Pick<KeptActivation['bundle'], 'family' | 'setId' | 'epoch'>,
  force: boolean,
): Promise<SetState> {
  await requireOperation(tx, family, 'secondary/update-primary')
  await requireKept(tx, family)
  const state = await requireState(tx, family)
  if (state.setId === setId) {
    if (epoch >= state.epoch || force) return state
    throw new SetRefused(400, EARLIER_PRIMARY)
  }
  if (!force)
    throw new SetRefused(400, `${OTHER_SET}: get a token of a primary of set ${state.setId}, or give "force" as well`)
  if ((await tx.get(setPath(family, 'identity'))) !== undefined)
    throw new SetRefused(400, `${OTHER_SET}, and this cluster follows a primary: give a blank "token" first`)
  return state
}

const EARLIER_PRIMARY =
  '"token" is of a primary that another cluster took over from, whose newer records would be undone here: get a ' +
  'token of the present primary, or give "force" as well'
const OTHER_SET = '"token" is of another set, whose data would take the place of those here'

/**
 * `secondary/update-primary` with a blank token: the cluster knows no primary any more. `isBehind`: something of the
 * primary is missing here, or that is not known. @throws SetRefused
 */
export async function leavePrimary(tx: SetTransaction, family: ReplicationFamily, isBehind: boolean): Promise<void> {
  await requireOperation(tx, family, 'secondary/update-primary')
  await requireKept(tx, family)
  const parted = await readParted(tx, family)
  const isFollowing = (await tx.get(setPath(family, 'identity'))) !== undefined
  for (const entry of [
    'identity',
    'leaf-key',
    'receiver',
    'activation',
    'activation-of',
    'activation-receiver',
  ] as const)
    tx.delete(setPath(family, entry))
  const next = isFollowing ? isBehind : (parted?.isBehind ?? isBehind)
  tx.put(setPath(family, 'parted'), PARTED.encode({ ...NOT_PARTED, ...parted, isBehind: next }))
}

/** Where a secondary stands that left its primary, or was one; undefined: it has applied something of its primary. */
export async function readParted(tx: Pick<SetReader, 'get'>, family: ReplicationFamily) {
  const stored = await tx.get(setPath(family, 'parted'))
  return stored === undefined ? undefined : PARTED.decode(stored)
}

/** What a promoted cluster tells a former primary. */
export type ToldTakeover = Omit<Successor, 'atMs'> & {
  /** The histories of those that had the place of this cluster before that one, oldest first. */
  readonly before: readonly string[]
}

/**
 * A secondary of this primary was promoted, or one that has taken the place of that one since: this cluster writes
 * nothing from now on. It may hear so again. Only one may take over: the second one is refused as a conflict, unless it
 * has the place of the first.
 */
export async function takeSuccessor(
  tx: SetTransaction,
  greeting: Greeting,
  receiver: Buffer,
  { before: line, ...takeover }: ToldTakeover,
): Promise<'fenced' | PeerRefusal> {
  const { family, nowMs } = greeting
  // A set of performance replication is taken over by who proves more than that it is one of its secondaries.
  if (family !== 'dr')
    return refusedPeer('not_primary', 'Only disaster recovery has clusters that take over from a primary')
  const known = await identify(tx, greeting, 'also fenced')
  if ('refused' in known) return known
  if (!isReceiverOf(known.entry, receiver)) return refusedPeer('revoked', OTHER_CLUSTER)
  const state = await requireState(tx, family)
  const before = await readSuccessor(tx, family)
  if (state.isFenced && before?.historyId === takeover.historyId) return 'fenced'
  const isNext = before === undefined || line.includes(before.historyId)
  if (takeover.epoch <= state.epoch || !isNext) return refusedPeer('conflict', conflictWith(before))
  putState(tx, family, { ...state, epoch: takeover.epoch, isFenced: true })
  putSuccessor(tx, family, { ...takeover, atMs: nowMs })
  clearHandingOver(tx)
  return 'fenced'
}

/**
 * The cluster that took over has taken the place of this one in performance replication too: this cluster is no primary
 * there either. Written beside `takeSuccessor` and `takeConflict`, as it is of another class; who took over calls until
 * both are. False where there is nothing to change.
 */
export async function leavePlaceInSet(tx: SetTransaction): Promise<boolean> {
  const state = await readState(tx, 'performance')
  if (state?.mode !== 'primary' || state.isFenced) return false
  putState(tx, 'performance', { ...state, isFenced: true })
  return true
}

const OTHER_CLUSTER = 'Another cluster than the one that was let in says that it took over'

function conflictWith(before: Successor | undefined): string {
  if (before === undefined) return 'This cluster was promoted as well: two clusters take themselves for the primary'
  const where = before.apiAddress === '' ? '' : ` at ${before.apiAddress}`
  return `Cluster ${before.clusterId}${where} took over from this primary before: only one of the two may be primary`
}

/**
 * The former primary says that another cluster took over from it: two were promoted, and this one writes nothing from
 * now on. False where that was so before.
 */
export async function takeConflict(tx: SetTransaction, family: ReplicationFamily): Promise<boolean> {
  const state = await readState(tx, family)
  if (state?.mode !== 'primary' || state.isFenced) return false
  putState(tx, family, { ...state, isFenced: true })
  return true
}

/** Who took over from this cluster; undefined: nobody that is known. */
export async function readSuccessor(tx: SetReader, family: ReplicationFamily): Promise<Successor | undefined> {
  const stored = await tx.get(setPath(family, 'successor'))
  return stored === undefined ? undefined : SUCCESSOR.decode(stored)
}

function putSuccessor(tx: SetTransaction, family: ReplicationFamily, successor: Successor): void {
  const { apiAddress } = successor
  // It is only shown, and sent to callers as a place to go to.
  const shown = faultOfApiAddress(apiAddress) === undefined ? apiAddress : ''
  tx.put(setPath(family, 'successor'), SUCCESSOR.encode({ ...successor, apiAddress: shown }))
}

/** @throws SetRefused for a `primary_cluster_addr` that cannot be one; '' is none */
export function requireClusterAddress(address: string): void {
  const fault = address === '' ? undefined : faultOfClusterAddress(address)
  if (fault !== undefined) throw new SetRefused(400, `"primary_cluster_addr" ${fault}`)
}

/** The caller has checked that the family is not disabled. */
async function requireState(tx: SetReader, family: ReplicationFamily): Promise<SetState> {
  const state = await readState(tx, family)
  if (state === undefined) throw new SetRefused(400, `This cluster is in no set for ${family} replication`)
  return state
}
