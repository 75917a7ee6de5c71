// What a cluster keeps of its sets, in the view of `core/replication/`. What is below `dr/` is of class ignored: it
// never leaves the cluster. What is below `performance/` is of class local, so that a DR secondary can take over from a
// member of a performance set.
//
//   FAMILY/state             what the cluster is in the family; missing where that is disabled
//   FAMILY/authority         on the primary: the authority of the set, in DER
//   FAMILY/authority-key     its private number, 32 bytes (not in a JSON record: a text cannot be wiped)
//   FAMILY/next-authority    the one that is to follow it (authority-change.ts), until it has
//   FAMILY/next-authority-key    and its private number
//   FAMILY/old-authority     the one before, in DER, while there may be leaves of it
//   FAMILY/secondary/ID      on the primary: the registry, an entry for each secondary (ID as in peer-name.ts)
//   FAMILY/identity          on a secondary: who it is, and where its primary is
//   FAMILY/leaf-key          the private number of its leaf, 32 bytes
//   FAMILY/pending-key       X25519 key of the last `secondary/generate-public-key`, 32 bytes
//   FAMILY/activation        the bundle that it was let in with, until the primary knows that it was stored
//   FAMILY/activation-of     SHA-256 of the text that it came with, as long
//   FAMILY/activation-receiver   X25519 key that goes with it, until the primary has let the cluster in
//   dr/operation-token/      operation tokens of a secondary (operation-tokens.ts)
//   FAMILY/receiver          X25519 key that the primary seals its keys for, 32 bytes
//   FAMILY/parted            on a secondary: that it left its primary, or was one, and follows no other yet
//   FAMILY/promotions        the promotions of this cluster, and where it stood then
//   FAMILY/successor         who took over from this cluster
//   performance/filter/ID    which mounts a secondary is to get (paths-filter.ts)
//   performance/reach        on a secondary: what its filter lets it have; missing: everything
//   dr/purged                on a DR secondary: up to where it has forgotten what a filter keeps from its primary
//   dr/stood                 on a DR secondary: where it stood in a performance set before (transfer-note.ts)
//   dr/handing-over          on a primary that hands over (handing-over-note.ts)
//   former/                  former primaries that do not know that they were replaced (formers.ts); of class local
//   abandoned                histories that restores left; of class ignored
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts'
import {
  base64,
  count,
  flag,
  group,
  listOf,
  mapOf,
  nullable,
  oneOf,
  otherwise,
  text,
  texts,
} from '../../lib/member-kinds.ts'
import { ROOT_NAMESPACE } from '../../storage/contract.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { MAX_PROMOTIONS, type Place } from '../protocol/messages.ts'
import type { SetReach } from '../reach.ts'
import type { FamilyPart, FamilyParts } from './family-operations.ts'
import { faultOfPeerId, peerSegment } from './peer-name.ts'

/** The folder of the view that all operations of a set work in. */
export const SETS_FOLDER = `${ROOT_NAMESPACE}/core/replication/`

/** A transaction in that view. */
export type SetTransaction = ViewTransaction
/** Reading in that view. */
export type SetReader = Pick<ViewTransaction, 'get' | 'keys' | 'scan'>

/** What a cluster is in a family. */
export const SET_STATE = storedRecord('The state of a family of replication', {
  mode: oneOf('bootstrapping', 'primary', 'secondary'),
  setId: text,
  /** Grows with each promotion in the set, and never goes down. */
  epoch: count,
  /** What `primary/enable` or a promotion was given; '' for none. Secondaries are told it before anything else. */
  clusterAddress: text,
  /** True for a primary that learned of another that took over. */
  isFenced: flag,
  sinceMs: count,
})
/** What a cluster is in a family that is not disabled. */
export type SetState = RecordOf<typeof SET_STATE>

const LEAF = group({
  /** In hexadecimal, for people: certificates are told apart by their fingerprints. */
  serial: text,
  fingerprint: base64,
  notAfterMs: count,
  /** Fingerprint of the authority that signed it; '' in records of older versions: the first one of the set. */
  authority: otherwise(base64, ''),
})

/** An entry of the registry. */
export const SECONDARY_ENTRY = storedRecord('A secondary of a set', {
  id: text,
  /** 'issued': its token was not used yet. 'active': it was let in. 'revoked': only a new token lets it in again. */
  state: oneOf('issued', 'active', 'revoked'),
  issuedAtMs: count,
  activatedAtMs: nullable(count),
  /** The certificate that counts. */
  leaf: LEAF,
  /** Made to follow it, and not used yet: it counts too, and is the only one from its first use. */
  renewed: nullable(LEAF),
  /** The right to be let in, once. Null after a revocation. */
  bootstrap: nullable(
    group({
      nonceDigest: base64,
      /** By the clock of this cluster, which alone judges it. */
      endsAtMs: count,
      /** Digest of the key of the one that used it first: no other is given anything. */
      receiverDigest: nullable(base64),
      /** True when that one said that it stored what it was given. */
      isUsed: flag,
    }),
  ),
  /** How far it had applied our log when that was last noted. */
  acknowledged: nullable(group({ historyId: base64, index: count })),
  clusterAddresses: texts,
  apiAddress: text,
  /** Id of the cluster that came last as this secondary; '' where none came, or that was not noted. */
  clusterId: otherwise(text, ''),
  /** Fingerprints of the authorities that it trusts, by its own word; none: that of its leaf alone. */
  trusts: otherwise(listOf(base64), []),
  /** The highest `instance` that came as this secondary: none before it is let in again. */
  instance: otherwise(count, 0),
  /** It asked this cluster to hand over, and what became of that is not known (asked-takeover.ts). */
  mayHaveTakenOver: otherwise(flag, false),
})
/** A secondary as the primary knows it. */
export type SecondaryEntry = RecordOf<typeof SECONDARY_ENTRY>

/** Who a secondary is. */
export const SECONDARY_IDENTITY = storedRecord('The identity of a secondary', {
  id: text,
  /** Certificates in DER. The authority is that of the leaf. */
  authority: base64,
  leaf: base64,
  /** Further authorities of the set, which are trusted too: one is about to follow another. */
  alsoTrusted: otherwise(listOf(base64), []),
  /** Where the primary is: the address of the activation token, then those that the primary told. */
  clusterAddress: text,
  knownAddresses: texts,
  apiAddress: text,
  /** How often a DR secondary has taken over who this one is, in performance replication. */
  instance: otherwise(count, 0),
})
/** A secondary as it knows itself. */
export type SecondaryIdentity = RecordOf<typeof SECONDARY_IDENTITY>

/** The kind of a stored place. */
export const PLACE = group({ historyId: base64, index: count, chain: base64 })

/** The stored form of a place. */
export const placeNote = ({ historyId, index, chain }: Place) => ({
  historyId: encodeBase64(historyId),
  index,
  chain: encodeBase64(chain),
})

/** The place that a stored form is of. */
export const placeOfNote = ({ historyId, index, chain }: ReturnType<typeof placeNote>): Place => ({
  historyId: decodeBase64(historyId),
  index,
  chain: decodeBase64(chain),
})

/** Where a secondary without a primary stands. The record goes with the first thing that another primary sends it. */
export const PARTED = storedRecord('A secondary that has left its primary', {
  /** It was the primary itself: what it has is its own log, and not what it applied of another. */
  isOwnLog: flag,
  /** The history of its own log when it was demoted; null where it was not, or that was not noted. */
  historyId: otherwise(nullable(base64), null),
  /** Something of the primary was missing when it left, or that was not known. */
  isBehind: flag,
  /** Of its own log: up to where the cluster had it that took over; null where that is not known. */
  fork: nullable(PLACE),
})

/** What another such record begins with: the cluster has what it applied of its primary. */
export const NOT_PARTED: RecordOf<typeof PARTED> = { isOwnLog: false, historyId: null, isBehind: false, fork: null }

/** What the filter of a secondary lets it have (reach.ts). */
export const REACH = storedRecord('What a filter lets this cluster have', {
  /** Null: everything. */
  only: nullable(group({ mounts: texts, namespaces: mapOf(text), lacksNothing: otherwise(flag, false) })),
  /** Scopes of the rest of which something may be here still, if only in the log and the free pages of the store. */
  leaving: texts,
  /** Where their mounts were, as `NAMESPACE-ID/PATH`: tokens by which older versions wrap answers know no more. */
  leftPaths: otherwise(texts, []),
  /** Index of the log at which the store last forgot what was removed; 0 for never. */
  purgedAt: otherwise(count, 0),
  /** True if the log may have something of the rest, whether or not there are entries of it. */
  mustPurge: otherwise(flag, false),
})
/** Up to where a DR secondary has forgotten what a filter keeps from its primary: as in REACH. */
export const PURGED = storedRecord('What a DR secondary has forgotten', { at: count })
/** What a secondary notes of its reach. `leaving`: scopes that are being removed; `leftPaths`: of their mounts. */
export type NotedReach = {
  readonly reach: SetReach | undefined
  readonly leaving: readonly string[]
  readonly leftPaths: readonly string[]
  readonly purgedAt: number
  readonly mustPurge: boolean
}

/** What a secondary that was never told of a filter is to have. */
export const EVERYTHING: NotedReach = {
  reach: undefined,
  leaving: [],
  leftPaths: [],
  purgedAt: 0,
  mustPurge: false,
}
/** True if nothing of the rest is here any more. */
export const isSwept = ({ leaving, mustPurge }: NotedReach): boolean => leaving.length === 0 && !mustPurge
/** True if the record says anything. The last purge may still have to be followed when all is allowed again. */
export const isTelling = (noted: NotedReach): boolean =>
  noted.reach !== undefined || !isSwept(noted) || noted.purgedAt > 0

/** True if a filter keeps something from this secondary, as its primary told it last. */
export const isLacking = ({ reach }: NotedReach): boolean => reach?.lacksNothing === false

/** What this secondary is to have. */
export async function readReach(tx: Pick<SetReader, 'get'>): Promise<NotedReach> {
  const stored = await tx.get(setPath('performance', 'reach'))
  return stored === undefined ? EVERYTHING : decodeReach(stored)
}

/** @throws what a damaged record throws */
export function decodeReach(stored: Buffer): NotedReach {
  const { only, ...rest } = REACH.decode(stored)
  if (only === null) return { reach: undefined, ...rest }
  const namespaces = new Map(Object.entries(only.namespaces))
  return { reach: { mounts: new Set(only.mounts), namespaces, lacksNothing: only.lacksNothing }, ...rest }
}

/** The stored form of what a secondary is to have. */
export function encodeReach({ reach, leaving, leftPaths, ...rest }: NotedReach): Buffer {
  const only = reach && {
    mounts: [...reach.mounts],
    namespaces: Object.fromEntries(reach.namespaces),
    lacksNothing: reach.lacksNothing,
  }
  return REACH.encode({ only: only ?? null, leaving: [...leaving], leftPaths: [...leftPaths], ...rest })
}

/** The promotions of a cluster in a set, oldest first. */
export const PROMOTIONS = storedRecord('The promotions of this cluster', {
  list: listOf(
    group({
      epoch: count,
      /** The history that began with it. */
      historyId: base64,
      /** What of the former primary's log was applied; null where there was none. */
      followed: nullable(PLACE),
      /** It was in the middle of a copy or a comparison, so not all up to there was here. */
      isHalf: otherwise(flag, false),
      atMs: count,
    }),
  ),
})
/** One promotion. */
export type PromotionNote = RecordOf<typeof PROMOTIONS>['list'][number]

/** Who took over from a primary. */
export const SUCCESSOR = storedRecord('The cluster that took over from this one', {
  epoch: count,
  /** The history of its log that began with its promotion. */
  historyId: base64,
  clusterId: text,
  apiAddress: text,
  /** What it had applied of the log of this one; null where that is not known. */
  followed: nullable(PLACE),
  atMs: count,
})
/** A cluster that took over. */
export type Successor = RecordOf<typeof SUCCESSOR>

/** The promotions of this cluster, oldest first. */
export async function readPromotions(tx: SetReader, family: ReplicationFamily): Promise<readonly PromotionNote[]> {
  const stored = await tx.get(setPath(family, 'promotions'))
  return stored === undefined ? [] : PROMOTIONS.decode(stored).list
}

/**
 * Up to where a promoted cluster had the log of its former primary; undefined: it had followed nobody since it was a
 * primary itself. Of one that was in the middle of a copy or a comparison nobody knows what it had: then it is nothing.
 */
export function followedPlace({ followed, isHalf }: PromotionNote): Place | undefined {
  if (followed === null) return undefined
  const place = placeOfNote(followed)
  return isHalf ? nothingOf(place) : place
}

/** Nothing of the log of this place. */
export const nothingOf = ({ historyId }: Place): Place => ({ historyId, index: 0, chain: historyId })

/** Stores the promotions, without the oldest where there are too many. */
export function putPromotions(tx: SetTransaction, family: ReplicationFamily, all: readonly PromotionNote[]): void {
  tx.put(setPath(family, 'promotions'), PROMOTIONS.encode({ list: all.slice(-MAX_PROMOTIONS) }))
}

/** The logs that what is here comes from, through all primaries that the set has had, as far as they have told it. */
export const LINEAGE = storedRecord('The logs that the data of this cluster come from', {
  /** Up to where each was here when its primary changed, oldest first. */
  places: listOf(PLACE),
  /** The primary that told it is being copied, or compared with: not all of it is here. */
  isHalf: otherwise(flag, false),
})

/** The places in the logs of former primaries up to which all is here, oldest first. */
export async function readLineage(tx: SetReader, family: ReplicationFamily): Promise<readonly Place[]> {
  const stored = await tx.get(setPath(family, 'lineage'))
  if (stored === undefined) return (await readPromotions(tx, family)).flatMap((note) => followedPlace(note) ?? [])
  const { places, isHalf } = LINEAGE.decode(stored)
  return isHalf ? places.map(placeOfNote).map(nothingOf) : places.map(placeOfNote)
}

/** Stores the places, without the oldest where there are too many. Nothing is written where nothing changes. */
export async function putLineage(
  tx: SetTransaction,
  family: ReplicationFamily,
  all: readonly Place[],
  isHalf: 'half' | 'whole' = 'whole',
): Promise<void> {
  const places = all.slice(-MAX_PROMOTIONS).map(placeNote)
  const lineage = LINEAGE.encode({ places, isHalf: isHalf === 'half' })
  const path = setPath(family, 'lineage')
  if ((await tx.get(path))?.equals(lineage) !== true) tx.put(path, lineage)
}

/** All of the primary is here that told the lineage. */
export async function wholeLineage(tx: SetTransaction, family: ReplicationFamily): Promise<void> {
  const stored = await tx.get(setPath(family, 'lineage'))
  const lineage = stored && LINEAGE.decode(stored)
  if (lineage?.isHalf) tx.put(setPath(family, 'lineage'), LINEAGE.encode({ ...lineage, isHalf: false }))
}

/** Adds a promotion. Of a cluster that had half of its primary nobody knows what it had of those before that either. */
export async function addPromotion(
  tx: SetTransaction,
  family: ReplicationFamily,
  promotion: PromotionNote,
): Promise<void> {
  const before = await readLineage(tx, family)
  const lineage = promotion.isHalf ? before.map(nothingOf) : before
  putPromotions(tx, family, [...(await readPromotions(tx, family)), promotion])
  await putLineage(tx, family, [...lineage, ...[followedPlace(promotion) ?? []].flat()])
}

/** Path of ABANDONED_HISTORIES in the view: they are of the store, and so of both families. */
export const ABANDONED = 'abandoned'
/**
 * Histories of the store that are in its list no more, oldest first, in hexadecimal: a snapshot was restored that is
 * older than they are. Secondaries that followed one are no strangers.
 */
export const ABANDONED_HISTORIES = storedRecord('The histories that restores left', { ids: texts })

/** The histories that restores left. */
export async function readAbandoned(tx: SetReader): Promise<readonly string[]> {
  const stored = await tx.get(ABANDONED)
  return stored === undefined ? [] : ABANDONED_HISTORIES.decode(stored).ids
}

/** Entries of one family, by their names. */
export type SetEntry =
  | 'state'
  | 'authority'
  | 'authority-key'
  | 'next-authority'
  | 'next-authority-key'
  | 'old-authority'
  | 'identity'
  | 'leaf-key'
  | 'pending-key'
  | 'activation'
  | 'activation-of'
  | 'activation-receiver'
  | 'receiver'
  | 'parted'
  | 'handing-over'
  | 'purged'
  | 'stood'
  | 'promotions'
  | 'lineage'
  | 'reach'
  | 'successor'

/** The path of an entry in the view. */
export const setPath = (family: ReplicationFamily, entry: SetEntry): string => `${family}/${entry}`
/** The folder of former primaries in the view (formers.ts). */
export const FORMERS_FOLDER = 'former/'
/** The folder of filters in the view (paths-filter.ts). */
export const FILTERS_FOLDER = 'performance/filter/'
/** The path of the filter of a secondary. */
export const filterPath = (id: string): string => FILTERS_FOLDER + peerSegment(id)
/** The stored key of the filter of a secondary. */
export const filterKeyOf = (id: string): string => SETS_FOLDER + filterPath(id)
/** The folder of the registry in the view. */
export const registryFolder = (family: ReplicationFamily): string => `${family}/secondary/`

/** An operation that is refused; nothing was changed. The message goes to the caller. */
export class SetRefused extends Error {
  override name = 'SetRefused'
  readonly status: 400 | 404 | 503
  constructor(status: SetRefused['status'], message: string) {
    super(message)
    this.status = status
  }
}

/** What the cluster is in a family; undefined if that is disabled. */
export async function readState(tx: SetReader, family: ReplicationFamily): Promise<SetState | undefined> {
  const stored = await tx.get(setPath(family, 'state'))
  return stored === undefined ? undefined : SET_STATE.decode(stored)
}

/** Stores what the cluster is in a family. */
export function putState(tx: SetTransaction, family: ReplicationFamily, state: SetState): void {
  tx.put(setPath(family, 'state'), SET_STATE.encode(state))
}

/** What the cluster is in both families. */
export async function familyParts(tx: SetReader): Promise<FamilyParts> {
  const [dr, performance] = [await readState(tx, 'dr'), await readState(tx, 'performance')]
  const part = (state: SetState | undefined): FamilyPart => ({
    mode: state?.mode ?? 'disabled',
    isFenced: state?.isFenced ?? false,
  })
  return { dr: part(dr), performance: part(performance) }
}

/** The entry of a secondary; undefined for an id that was never given a token here, or that no secondary can have. */
export async function findSecondary(
  tx: SetReader,
  family: ReplicationFamily,
  id: string,
): Promise<SecondaryEntry | undefined> {
  if (faultOfPeerId(id) !== undefined) return undefined
  const stored = await tx.get(registryFolder(family) + peerSegment(id))
  return stored === undefined ? undefined : SECONDARY_ENTRY.decode(stored)
}

/** Stores the entry of a secondary. */
export function putSecondary(tx: SetTransaction, family: ReplicationFamily, entry: SecondaryEntry): void {
  tx.put(registryFolder(family) + peerSegment(entry.id), SECONDARY_ENTRY.encode(entry))
}

/** Most entries of a registry, revoked ones included until their certificates end. */
export const MAX_SECONDARIES = 1_000

/** All entries of the registry, in the order of their keys. */
export async function allSecondaries(tx: SetReader, family: ReplicationFamily): Promise<SecondaryEntry[]> {
  const entries = await tx.scan(registryFolder(family), '', MAX_SECONDARIES + 1)
  return entries.map(({ value }) => SECONDARY_ENTRY.decode(value))
}
