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
import { StorageCorrupt } from '../../storage/errors.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { MAX_PROMOTIONS } from '../protocol/messages.ts'
import { isHandingOver } from './handing-over-note.ts'
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
  const keys = await tx.keys(FORMERS_FOLDER, '', MAX_ENTRIES)
  const folders = new Set(keys.map((key) => key.slice(0, key.lastIndexOf('/') + 1)))
  const found: Kept[] = []
  for (const folder of folders) {
    const stored = await Promise.all(ENTRIES.map((entry) => opened(tx, folder + entry, unusable)))
    const [replaced, identity, leafKey, receiver] = stored
    if (!replaced || !identity || !leafKey || !receiver) continue
    const how = decoded(replaced, unusable)
    if (how?.setId === setId) found.push({ folder, how, who: { identity, leafKey, receiver } })
  }
  return found
}

/** An entry, or undefined where it cannot be opened: it is damaged, or the key that it is sealed under is not here. */
async function opened(tx: SetReader, path: string, unusable: (cause: unknown) => void): Promise<Buffer | undefined> {
  try {
    return await tx.get(path)
  } catch (cause) {
    if (!(cause instanceof StorageCorrupt)) throw cause
    unusable(cause)
    return undefined
  }
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
 * Whom a primary calls. Also one that was fenced since by who took its place: that one may lack what it has here. The
 * loser of a conflict calls nobody: it would fence who is to go on. A record that cannot be used is given to
 * `unusable`, and keeps nobody else from being called.
 */
export async function readCalled(
  tx: SetReader,
  setId: string,
  unusable: (cause: unknown) => void,
): Promise<readonly Former[]> {
  if (await hasLostConflict(tx)) return []
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

/** True for a primary that is fenced, and of which nobody took the place. */
async function hasLostConflict(tx: SetReader): Promise<boolean> {
  const state = await readState(tx, 'dr')
  return state?.isFenced === true && (await tx.get(setPath('dr', 'successor'))) === undefined
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
 * Former primaries know. Returns the names of those that were there. A fenced cluster leaves all as it is, and so does
 * one that hands over: who takes its place has the list, and nothing is written behind the end of the log.
 */
export async function forgetFormers(tx: SetTransaction, which: WhichFormers): Promise<readonly string[]> {
  const state = await readState(tx, 'dr')
  return state?.isFenced || (await isHandingOver(tx)) ? [] : dropFormers(tx, which)
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
