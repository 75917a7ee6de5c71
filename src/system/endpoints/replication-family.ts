// What the endpoints that change the part of a cluster in a family have in common.
import type { Answer } from '../../api/request.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { requireReplicationOn } from '../replication-gates.ts'
import type { ReplicationOperations } from '../replication-operations.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
export type ReplicationSystem = Pick<Whole, 'edition' | 'facts' | 'operationTokens' | 'replication'> &
  WithServices<'replication'>

/** What a family is called in summaries. */
export const NAME_OF: Readonly<Record<ReplicationFamily, string>> = {
  dr: 'disaster recovery',
  performance: 'performance replication',
}

/**
 * Marks of the operations. What they write is of this node's cluster alone, and the rules of the set say which of them
 * a fenced primary may still do (replication/set/family-operations.ts).
 */
export const OPERATION = {
  operation: 'update',
  capability: 'update',
  runsOn: 'writer',
  writes: 'node',
  offeredIn: 'root',
} as const

/** Marks of those that the modes of both families allow or not: a cluster that is copied says which, and why. */
export const BY_MODE = { ...OPERATION, whileCopied: true } as const

/**
 * Who takes over for disaster recovery goes on with the set for performance as it stood: it must not take itself for a
 * primary that was demoted, nor let anybody in who was sent away. Of disaster recovery nothing waits: to send a
 * secondary away is how writes stop to wait for it.
 */
export const reliedOn = (family: ReplicationFamily) =>
  family === 'performance' ? { standInRelies: true as const } : {}

/** Carries out an operation that shows in the status at once. @throws Refusal where that is switched off */
export async function carryOut<T>(
  system: ReplicationSystem,
  family: ReplicationFamily,
  work: (operations: ReplicationOperations) => Promise<T>,
): Promise<T> {
  requireReplicationOn(system, family)
  try {
    return await work(system.replication)
  } finally {
    system.services.replication.forget()
  }
}

/**
 * The answer to a change of mode. It has a warning and is never empty: clients of the reference take an empty one for a
 * failure.
 */
export const changed = (...warnings: readonly [string, ...string[]]): Answer => ({ warnings })
