// What the status endpoints of replication answer (Interface 2.5), and what of it is not well. They need no token.
import { countIn, itemsIn, lineIn } from './answer-members.ts'
import { RemoteFailure } from './cli-error.ts'
import type { Client } from './client.ts'
import { exactMember, isMembers, type Json } from './exact-json.ts'
import type { OptionTable } from './options.ts'

/** The families of replication in the order in which they are shown, with what they are for. */
export const FAMILY_NAMES = { dr: 'Disaster recovery', performance: 'Performance' } as const
/** A family of replication, as paths and answers name it. */
export type FamilyName = keyof typeof FAMILY_NAMES

/** The option of commands that work on one family. */
export const FAMILY_OPTION = {
  family: {
    kind: 'text',
    value: 'dr|performance',
    oneOf: ['dr', 'performance'],
    default: 'dr',
    about: 'Family of replication: disaster recovery, or performance',
  },
} as const satisfies OptionTable
/** The option of commands that show both families where none is named. */
export const EITHER_FAMILY_OPTION = {
  family: {
    kind: 'text',
    value: 'dr|performance',
    oneOf: ['dr', 'performance'],
    about: 'Family of replication; both by default',
  },
} as const satisfies OptionTable

/** Returns the family that the option names. The parser lets no other text through. */
export function familyOf({ family }: { readonly family: string }): FamilyName {
  return family === 'performance' ? 'performance' : 'dr'
}

/** Reads the status of one family, or of both. @throws RemoteFailure if the answer has no mode */
export async function readReplication(client: Client, family: FamilyName | undefined): Promise<Json> {
  const path = `sys/replication/${family === undefined ? '' : `${family}/`}status`
  const { body } = await client.send({ doing: 'reading the replication status', method: 'GET', path })
  const answer = body ?? null
  for (const [, status] of familiesIn(answer, family)) {
    if (lineIn(status, 'mode') === '')
      throw new RemoteFailure('Error reading the replication status: the answer does not say the mode')
  }
  return answer
}

/** Returns the status of each family in an answer of `readReplication`. */
export function familiesIn(answer: Json, family: FamilyName | undefined): [FamilyName, Json][] {
  const data = exactMember(answer, 'data') ?? null
  if (family !== undefined) return [[family, data]]
  return [
    ['dr', exactMember(data, 'dr') ?? null],
    ['performance', exactMember(data, 'performance') ?? null],
  ]
}

/** States of the link in which nothing can come from the primary. */
const WITHOUT_LINK = ['idle', 'transient_failure', 'shutdown']

/** True if somebody should look: the family does not do its work, or one who needs the log has lost a part of it. */
export function needsAttention(status: Json): boolean {
  if (lineIn(status, 'state') === 'idle' || lineIn(status, 'idle_reason') !== '') return true
  if (exactMember(status, 'corrupted_merkle_tree') === true) return true
  if (itemsIn(status, 'retained_for').some((hold) => exactMember(hold, 'broken') === true)) return true
  const mode = lineIn(status, 'mode')
  if (itemsIn(status, 'synchronous').some((one) => lineIn(one, 'state') !== 'in-step')) return true
  if (itemsIn(status, 'may_have_taken_over').length > 0) return true
  if (mode === 'primary') return itemsIn(status, 'secondaries').some(isDisconnected)
  if (mode !== 'secondary') return false
  const primaries = itemsIn(status, 'primaries')
  // While it dials, the link is "connecting" again and again, though the primary has been gone for hours.
  const isGone = primaries.length > 0 && primaries.every(isDisconnected)
  return isGone || WITHOUT_LINK.includes(lineIn(status, 'connection_state'))
}

/** True for a peer that has no link now. */
export function isDisconnected(peer: Json): boolean {
  return lineIn(peer, 'connection_status') !== 'connected'
}

/** A copy or a comparison that is running. The numbers are missing where the server does not know them. */
export type ShownTransfer = {
  readonly what: 'copying' | 'comparing'
  readonly done: number | undefined
  /** Never 0. */
  readonly total: number | undefined
}

/** Returns the transfer of a secondary; undefined if none is running. */
export function transferIn(status: Json): ShownTransfer | undefined {
  const state = lineIn(status, 'state')
  if (state !== 'merkle-sync' && state !== 'merkle-diff') return undefined
  const progress = exactMember(status, 'merkle_sync_progress')
  const known = isMembers(progress) ? progress : undefined
  const total = countIn(known, 'sync_total_keys') ?? 0
  return {
    what: state === 'merkle-sync' ? 'copying' : 'comparing',
    done: countIn(known, 'sync_progress'),
    total: total > 0 ? total : undefined,
  }
}

/** How far apart the two looks are that an estimate is made of. */
export const BETWEEN_LOOKS_MS = 1_000

/** Returns how long a transfer still takes, by how far it came between two looks; undefined if that cannot be said. */
export function remainingMs(before: Json, now: Json): number | undefined {
  const [first, second] = [transferIn(before), transferIn(now)]
  if (first?.what !== second?.what || first?.done === undefined) return undefined
  if (second?.done === undefined || second.total === undefined) return undefined
  const came = second.done - first.done
  if (came <= 0) return undefined
  return (Math.max(0, second.total - second.done) / came) * BETWEEN_LOOKS_MS
}
