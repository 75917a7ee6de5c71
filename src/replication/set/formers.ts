// The primaries whose place this cluster has, for disaster recovery, and that do not know of it: those that it took the
// place of itself, and those that its own primaries did before it. They stand in the view of `core/replication/`
// (records.ts), of class local, since whoever takes the place of this cluster has to go on telling them:
//
//   former/EPOCH/replaced    who replaced it, and up to where its log was there; EPOCH is of that promotion, 16 digits
//   former/EPOCH/identity    who the promoted cluster was to it, as `dr/identity`
//   former/EPOCH/leaf-key    the private number of the leaf that goes with it
//   former/EPOCH/receiver    and its X25519 key
//
// The present primary of the set calls them. They are written with a promotion, and removed when that one knows.
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts'
import { base64, listOf, nullable, text } from '../../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { MAX_PROMOTIONS } from '../protocol/messages.ts'
import { wipeFormers } from './primary-operations.ts'
import {
  FORMERS_FOLDER,
  followedPlace,
  nothingOf,
  PLACE,
  type PromotionNote,
  placeNote,
  placeOfNote,
  readState,
  type SetReader,
  type SetTransaction,
  setPath,
} from './records.ts'
import { identityIn, type OwnIdentity } from './secondary-operations.ts'

/** How a former primary was replaced. */
export const REPLACED = storedRecord('A former primary that does not know', {
  setId: text,
  /** The history that began when it was replaced. It names the former primary among others. */
  historyId: base64,
  /** What of its log the set has; null where that is not known. */
  followed: nullable(PLACE),
  /** The histories of those that came after that one, oldest first; the last is of the present primary. */
  later: listOf(base64),
})
type Replaced = RecordOf<typeof REPLACED>
/** As it is stored; `folder` is in the view. */
type Kept = {
  readonly folder: string
  readonly how: Replaced
  readonly who: { readonly identity: Buffer; readonly leafKey: Buffer; readonly receiver: Buffer }
}

/** Most that are kept: each is one that was lost and has not come back since. */
export const MAX_FORMERS = 8
const EPOCH_DIGITS = 16
const WHO = ['identity', 'leaf-key', 'receiver'] as const
const ENTRIES = ['replaced', ...WHO] as const
const MAX_ENTRIES = 2 * MAX_FORMERS * ENTRIES.length

const folderOf = (epoch: number): string => `${FORMERS_FOLDER}${String(epoch).padStart(EPOCH_DIGITS, '0')}/`

/**
 * Those of the set that are whole, oldest first. Half of what the primary had may be here. One that cannot be used is
 * given to `unusable`.
 */
async function readFormers(
  tx: SetReader,
  setId: string,
  unusable: (cause: unknown) => void = () => {},
): Promise<readonly Kept[]> {
  const stored = new Map((await tx.scan(FORMERS_FOLDER, '', MAX_ENTRIES)).map(({ key, value }) => [key, value]))
  const folders = new Set([...stored.keys()].map((key) => key.slice(0, key.lastIndexOf('/') + 1)))
  return [...folders].flatMap((folder) => {
    const [replaced, identity, leafKey, receiver] = ENTRIES.map((entry) => stored.get(folder + entry))
    if (!replaced || !identity || !leafKey || !receiver) return []
    const how = decoded(replaced, unusable)
    return how?.setId === setId ? [{ folder, how, who: { identity, leafKey, receiver } }] : []
  })
}

/** A damaged record keeps nobody from being promoted. */
function decoded(stored: Buffer, unusable: (cause: unknown) => void): Replaced | undefined {
  try {
    return REPLACED.decode(stored)
  } catch (cause) {
    unusable(cause)
    return undefined
  }
}

/** The former primaries that this cluster has to tell, as the history that names each; none where it tells nobody. */
export async function untoldFormers(tx: SetReader): Promise<readonly string[]> {
  const state = await readState(tx, 'dr')
  if (state?.mode !== 'primary' || state.isFenced) return []
  const found = await readFormers(tx, state.setId)
  for (const { who } of found) wipe(who)
  return found.map(({ how }) => how.historyId)
}

/** A former primary as it is called; the caller wipes both keys. */
export type Former = OwnIdentity & {
  readonly receiver: Buffer
  /** The history that began when it was replaced. */
  readonly historyId: Buffer
  readonly followed: ReturnType<typeof placeOfNote> | undefined
  /** The histories of those that had its place before the present primary, oldest first. */
  readonly before: readonly Buffer[]
}

/**
 * Whom a primary calls. Also one that was fenced since: who took its place may lack what it has here. A record that
 * cannot be used is given to `unusable`, and keeps nobody else from being called.
 */
export async function readCalled(
  tx: SetReader,
  setId: string,
  unusable: (cause: unknown) => void,
): Promise<readonly Former[]> {
  return (await readFormers(tx, setId, unusable)).flatMap(({ how, who }) => {
    const { identity: stored, leafKey, receiver } = who
    try {
      const identity = identityIn({ setId, family: 'dr' }, stored, leafKey)
      const before = [how.historyId, ...how.later].slice(0, -1).map(decodeBase64)
      const followed = how.followed === null ? undefined : placeOfNote(how.followed)
      return [{ ...identity, receiver, historyId: decodeBase64(how.historyId), followed, before }]
    } catch (cause) {
      wipe(who)
      unusable(cause)
      return []
    }
  })
}

/**
 * This cluster is promoted: it tells its primary, and those that this one had to tell. Of what it is halfway through a
 * copy of, nobody knows what it has. In the step of the promotion, while the records of the secondary are there.
 */
export async function keepFormers(tx: SetTransaction, setId: string, promotion: PromotionNote): Promise<void> {
  const { epoch, historyId, followed, isHalf } = promotion
  const kept = await readFormers(tx, setId)
  const own = await ownFormer(tx, setId, promotion)
  await wipeFormers(tx)
  const all = kept.map(({ folder, how, who }): Kept => {
    // A demoted cluster that follows again had its list before: its primary is one of those that came after.
    const between = followed === null || isNamedIn(how, followed.historyId) ? [] : [followed.historyId]
    const later = [...how.later, ...between, historyId].slice(-MAX_PROMOTIONS)
    const upTo = how.followed !== null && isHalf ? placeNote(nothingOf(placeOfNote(how.followed))) : how.followed
    return { folder, how: { ...how, followed: upTo, later }, who }
  })
  if (own !== undefined) all.push({ folder: folderOf(epoch), ...own })
  for (const { folder, how, who } of all.slice(-MAX_FORMERS)) {
    tx.put(`${folder}replaced`, REPLACED.encode(how))
    tx.put(`${folder}identity`, who.identity)
    tx.put(`${folder}leaf-key`, who.leafKey)
    tx.put(`${folder}receiver`, who.receiver)
  }
  for (const { who } of all) wipe(who)
}

const isNamedIn = ({ historyId, later }: Replaced, history: string): boolean => [historyId, ...later].includes(history)

/** The primary that the cluster followed; undefined: it had none. */
async function ownFormer(tx: SetReader, setId: string, promotion: PromotionNote) {
  const [identity, leafKey, receiver] = await Promise.all(WHO.map((entry) => tx.get(setPath('dr', entry))))
  if (identity === undefined || leafKey === undefined || receiver === undefined) return undefined
  const place = followedPlace(promotion)
  const followed = place === undefined ? null : placeNote(place)
  const how: Replaced = { setId, historyId: promotion.historyId, followed, later: [] }
  return { how, who: { identity, leafKey, receiver } }
}

/** Which former primaries: the one that was replaced by this history, or those that have one of these in their logs. */
export type WhichFormers = { readonly replacedBy: Buffer } | { readonly logsOf: readonly Buffer[] }

/**
 * Former primaries know. Returns the names of those that were there. A fenced cluster leaves all as it is: who took its
 * place has the list.
 */
export async function forgetFormers(tx: SetTransaction, which: WhichFormers): Promise<readonly string[]> {
  const state = await readState(tx, 'dr')
  return state?.isFenced ? [] : dropFormers(tx, which)
}

/** As `forgetFormers`, whatever the cluster is. */
export async function dropFormers(tx: SetTransaction, which: WhichFormers): Promise<readonly string[]> {
  const state = await readState(tx, 'dr')
  if (state === undefined) return []
  const found = await readFormers(tx, state.setId)
  for (const { who } of found) wipe(who)
  const gone = found.filter(({ how }) => isOneOf(how, which))
  for (const { folder } of gone) for (const entry of ENTRIES) tx.delete(folder + entry)
  return gone.map(({ how }) => how.historyId)
}

function isOneOf({ historyId, followed }: Replaced, which: WhichFormers): boolean {
  if ('replacedBy' in which) return encodeBase64(which.replacedBy) === historyId
  return followed !== null && which.logsOf.map(encodeBase64).includes(followed.historyId)
}

function wipe({ leafKey, receiver }: Kept['who']): void {
  leafKey.fill(0)
  receiver.fill(0)
}
