// What a DR secondary has of its primary's part in performance replication may be half of it: the operator promotes it
// by force in the middle of a copy or a comparison. The records of that part come in no order then, some of them of
// this primary and some of an earlier one. What does not fit together is of no use, and a cluster that took it for its
// own could neither serve its set nor follow it. Of a registry and its filters nobody knows what is missing.
import { StorageCorrupt } from '../../storage/errors.ts'
import { type KeyedCertificate, publicKeyOf } from './certificates.ts'
import { readParted } from './changing-hands.ts'
import type { SetName } from './peer-name.ts'
import { wipeButPast, wipeFamily } from './primary-operations.ts'
import {
  NOT_PARTED,
  PARTED,
  putState,
  readState,
  registryFolder,
  type SetEntry,
  type SetReader,
  type SetState,
  type SetTransaction,
  setPath,
} from './records.ts'
import { ownIdentity } from './secondary-operations.ts'

const FAMILY = 'performance'
const OF_PRIMARIES = ['authority', 'authority-key', 'next-authority', 'next-authority-key', 'old-authority'] as const
const WHO = ['identity', 'leaf-key', 'receiver'] as const

/**
 * What became of the part. `whole`: it fits together. `new authority`: the cluster is the primary of its set, and every
 * secondary needs a token of it. `no primary`: it is a secondary that needs one. `none`: what was there said nothing.
 */
export type Mended = 'whole' | 'new authority' | 'no primary' | 'none'

/** Makes an authority of a set. */
type AuthorityOf = (set: SetName) => KeyedCertificate

/**
 * Leaves of the part in the performance set only what fits together. `authorityOf` makes an authority of a set, the
 * same one when it is asked again: the transaction may run several times. The caller wipes its key.
 */
export async function mendHalfPart(tx: SetTransaction, authorityOf: AuthorityOf): Promise<Mended> {
  const state = await readState(tx, FAMILY)
  if (state === undefined) {
    await wipeFamily(tx, FAMILY)
    return 'none'
  }
  if (state.mode === 'primary') {
    // Of a secondary whose entry has come the filter may not have: it would get what is forbidden.
    await beginAnew(tx, state, authorityOf)
    return 'new authority'
  }
  if (await isSecondary(tx)) return 'whole'
  await leaveAll(tx, state)
  return 'no primary'
}

async function isSecondary(tx: SetReader): Promise<boolean> {
  if (await hasOneOf(tx, OF_PRIMARIES)) return false
  if ((await tx.scan(registryFolder(FAMILY), '', 1)).length > 0) return false
  if (!(await hasOneOf(tx, WHO))) return hasOneOf(tx, ['parted'])
  return (await isLeafOfKey(tx)) && hasOneOf(tx, ['receiver'])
}

async function isLeafOfKey(tx: SetReader): Promise<boolean> {
  try {
    const identity = await ownIdentity(tx, FAMILY)
    if (identity === undefined) return false
    const fits = identity.leaf.spki.equals(publicKeyOf(identity.own.key))
    identity.own.key.fill(0)
    return fits
  } catch (cause) {
    // The leaf is of another set than the state, or of another authority.
    if (!(cause instanceof StorageCorrupt)) throw cause
    return false
  }
}

async function hasOneOf(tx: SetReader, entries: readonly SetEntry[]): Promise<boolean> {
  for (const entry of entries) if ((await tx.get(setPath(FAMILY, entry))) !== undefined) return true
  return false
}

/** The primary of the same set, of which no secondary is known. */
async function beginAnew(tx: SetTransaction, state: SetState, authorityOf: AuthorityOf): Promise<void> {
  const authority = authorityOf({ setId: state.setId, family: FAMILY })
  await wipeButPast(tx, FAMILY)
  putState(tx, FAMILY, state)
  tx.put(setPath(FAMILY, 'authority'), authority.certificate)
  tx.put(setPath(FAMILY, 'authority-key'), authority.key)
}

/**
 * A secondary of the same set that follows nobody. What a filter takes from it stays: the next primary says anew. That
 * its log may be its own stays too: rather too much is kept of what is undone than the only copy lost.
 */
async function leaveAll(tx: SetTransaction, state: SetState): Promise<void> {
  const reach = await tx.get(setPath(FAMILY, 'reach'))
  const parted = await readParted(tx, FAMILY)
  await wipeButPast(tx, FAMILY)
  putState(tx, FAMILY, { ...state, mode: 'secondary', clusterAddress: '', isFenced: false })
  if (reach !== undefined) tx.put(setPath(FAMILY, 'reach'), reach)
  tx.put(setPath(FAMILY, 'parted'), PARTED.encode({ ...NOT_PARTED, ...parted, isBehind: true }))
}
