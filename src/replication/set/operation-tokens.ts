// Operation tokens of a secondary for disaster recovery (Interface 2.5): each may promote it, end it, or lead it to
// another primary. They have no end of their own. Only a digest of each is stored, in the view of records.ts:
//
//   dr/operation-token/DIGEST    SHA-256 of the token, in hexadecimal
//
// Tokens are random and long, so a digest without a key tells nothing of them.
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { sha256 } from '../../crypto/primitives/digest.ts'
import { count } from '../../lib/member-kinds.ts'
import { storedRecord } from '../../storage/stored-record.ts'
import { readState, type SetReader, SetRefused, type SetTransaction } from './records.ts'

const FOLDER = 'dr/operation-token/'

/** What is kept of an operation token. */
export const OPERATION_TOKEN = storedRecord('An operation token', { createdAtMs: count })

/** Most operation tokens at a time: all of them are compared with each one that is presented. */
export const MAX_OPERATION_TOKENS = 100

const keyOf = (token: string): string => FOLDER + sha256(Buffer.from(token)).toString('hex')

/**
 * Stores a token. Where there is no more room the oldest one goes: it may be lost, and then nobody could delete it.
 * @throws SetRefused unless the cluster is a secondary for disaster recovery
 */
export async function addOperationToken(tx: SetTransaction, token: string, nowMs: number): Promise<void> {
  const mode = (await readState(tx, 'dr'))?.mode
  if (mode !== 'secondary' && mode !== 'bootstrapping')
    throw new SetRefused(400, 'Only a secondary for disaster recovery has operation tokens')
  const stored = await tx.scan(FOLDER, '', MAX_OPERATION_TOKENS)
  const ages = stored.map(({ key, value }) => ({ key, ...OPERATION_TOKEN.decode(value) }))
  const [oldest] = ages.toSorted((a, b) => a.createdAtMs - b.createdAtMs)
  if (oldest !== undefined && stored.length >= MAX_OPERATION_TOKENS) tx.delete(oldest.key)
  tx.put(keyOf(token), OPERATION_TOKEN.encode({ createdAtMs: nowMs }))
}

/**
 * True if this is an operation token. All that are stored are compared, so that the time tells only their number. They
 * are read with their values, which open only if this cluster wrote them at their place.
 */
export async function isOperationToken(tx: SetReader, token: string): Promise<boolean> {
  const presented = Buffer.from(keyOf(token))
  let isKnown = false
  for (const { key } of await tx.scan(FOLDER, '', MAX_OPERATION_TOKENS))
    if (constantTimeEqual(Buffer.from(key), presented)) isKnown = true
  return isKnown
}

/** Deletes a token; does nothing for a text that is none. */
export function deleteOperationToken(tx: SetTransaction, token: string): void {
  tx.delete(keyOf(token))
}

/** Deletes all of them: a cluster that takes over from its primary, or leaves it, honours none any more. */
export async function dropOperationTokens(tx: SetTransaction): Promise<void> {
  for (const key of await tx.keys(FOLDER, '', MAX_OPERATION_TOKENS)) tx.delete(key)
}
