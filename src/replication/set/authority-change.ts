// The authority of a set is followed by another one, and no link ends for it. Each step is one transaction of the
// primary, and what is stored says which one is next: a crash between two of them changes nothing.
//
//   present ── begin ──▶ present, next      secondaries are told to trust both, over their links; new tokens have both
//           ── change ─▶ present, old       once all that are let in have stored it: the next one signs from now on,
//                                           and each leaf of the old one is renewed when it is due
//           ── drop ───▶ present            once no leaf is of the old one: secondaries are told to trust one again
//
// By the clock alone nothing is done that cannot be undone: one that was years ahead for a moment is set, and the set
// must go on. So close to the end of the present one the next one signs (authorities.ts), and nothing is stored. What
// ended by the clock counts as ended only if a secondary has a leaf that holds by it: that one was made by it lately.
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { authorityMark, readAuthorities, type SetAuthorities } from './authorities.ts'
import { type Making, newAuthority, successorDueMs } from './certificates.ts'
import { isHandingOver } from './handing-over-note.ts'
import { requireOperation } from './primary-operations.ts'
import {
  allSecondaries,
  readState,
  type SecondaryEntry,
  type SetReader,
  SetRefused,
  type SetTransaction,
  setPath,
} from './records.ts'

/** What was done. */
export type AuthorityStep = 'begun' | 'changed' | 'dropped'

/** Does the step that is next. Undefined: there is none as yet, or this cluster is not the primary that makes it. */
export async function stepAuthority(
  tx: SetTransaction,
  family: ReplicationFamily,
  making: Making,
): Promise<AuthorityStep | undefined> {
  const state = await readState(tx, family)
  if (state?.mode !== 'primary' || state.isFenced || (await isHandingOver(tx))) return undefined
  const authorities = await readAuthorities(tx, family)
  const members = (await allSecondaries(tx, family)).filter((entry) => isMember(entry, making.nowMs))
  if (canDrop(authorities, members)) return dropOld(tx, family)
  if (authorities.next !== undefined)
    return canChange(authorities, members, making.nowMs) ? change(tx, family, authorities) : undefined
  const isDue = making.nowMs >= successorDueMs(readCertificate(authorities.present))
  return isDue ? begin(tx, { setId: state.setId, family }, making, authorities) : undefined
}

/**
 * `primary/rotate-authority`: the first step now, whenever it is due. Where one is under way nothing is done. Returns
 * the ids that are waited for. @throws SetRefused
 */
export async function beginAuthorityChange(
  tx: SetTransaction,
  family: ReplicationFamily,
  making: Making,
): Promise<readonly string[]> {
  await requireOperation(tx, family, 'primary/rotate-authority')
  if (await isHandingOver(tx))
    throw new SetRefused(503, 'This primary hands over to a secondary, which begins with an authority of its own')
  const { setId } = (await readState(tx, family)) ?? noState(family)
  const authorities = await readAuthorities(tx, family)
  if (authorities.next === undefined) await begin(tx, { setId, family }, making, authorities)
  return waitedFor(tx, family, making.nowMs)
}

/** Ids of the secondaries that have not said yet that they trust the next authority. */
export async function waitedFor(tx: SetReader, family: ReplicationFamily, nowMs: number): Promise<readonly string[]> {
  const { next } = await readAuthorities(tx, family)
  if (next === undefined) return []
  const members = (await allSecondaries(tx, family)).filter((entry) => isMember(entry, nowMs))
  return members.filter((entry) => !trusts(entry, next)).map(({ id }) => id)
}

async function begin(
  tx: SetTransaction,
  set: { readonly setId: string; readonly family: ReplicationFamily },
  making: Making,
  { present }: SetAuthorities,
): Promise<AuthorityStep> {
  const made = newAuthority(set, making, readCertificate(present))
  tx.put(setPath(set.family, 'next-authority'), made.certificate)
  tx.put(setPath(set.family, 'next-authority-key'), made.key)
  made.key.fill(0)
  return 'begun'
}

/**
 * All have stored the next one. Or nobody of the present one can come any more, and the next one is itself due: who was
 * away for years is not waited for, once another secondary shows that they went by.
 */
function canChange({ present, next, old }: SetAuthorities, members: readonly SecondaryEntry[], nowMs: number): boolean {
  if (next === undefined) return false
  const isClockRight = members.some(({ state, leaf }) => state === 'active' && leaf.notAfterMs >= nowMs)
  const hasEnded = (one: Buffer): boolean => isClockRight && readCertificate(one).notAfterMs < nowMs
  // The place of the old one is taken.
  if (old !== undefined && !hasEnded(old)) return false
  const isOverdue = hasEnded(present) && nowMs >= successorDueMs(readCertificate(next))
  return isOverdue || members.every((entry) => trusts(entry, next))
}

async function change(
  tx: SetTransaction,
  family: ReplicationFamily,
  { present, next }: SetAuthorities,
): Promise<AuthorityStep> {
  const key = await tx.get(setPath(family, 'next-authority-key'))
  if (next === undefined || key === undefined) throw new Error('There is a next authority, with its key')
  tx.put(setPath(family, 'old-authority'), present)
  tx.put(setPath(family, 'authority'), next)
  tx.put(setPath(family, 'authority-key'), key)
  tx.delete(setPath(family, 'next-authority'))
  tx.delete(setPath(family, 'next-authority-key'))
  key.fill(0)
  return 'changed'
}

function canDrop({ present, old }: SetAuthorities, members: readonly SecondaryEntry[]): boolean {
  if (old === undefined) return false
  const mark = authorityMark(present)
  return members.every(({ leaf, renewed }) => [leaf, renewed ?? leaf].every(({ authority }) => authority === mark))
}

function dropOld(tx: SetTransaction, family: ReplicationFamily): AuthorityStep {
  tx.delete(setPath(family, 'old-authority'))
  return 'dropped'
}

/** One that is let in, or may still come with its token: who came with it may say so at any time. */
function isMember({ state, bootstrap }: SecondaryEntry, nowMs: number): boolean {
  if (state !== 'issued' || bootstrap === null) return state === 'active'
  return bootstrap.receiverDigest !== null || nowMs < bootstrap.endsAtMs
}

const trusts = (entry: SecondaryEntry, authority: Buffer): boolean => entry.trusts.includes(authorityMark(authority))

function noState(family: ReplicationFamily): never {
  throw new SetRefused(400, `This cluster is in no set for ${family} replication`)
}
