// Replication of a server, as the other rooms of the thread that writes see it.
import type { LinkOwner } from '../../replication/link/link-sides.ts'
import type { ReplicationOperations } from '../../system/replication-operations.ts'

/** Replication of this server. */
export type ReplicationRoom = {
  readonly operations: ReplicationOperations
  /** Undefined: this server has no links. */
  readonly owner: LinkOwner | undefined
  /** Removes what a filter lets this cluster have no more. */
  readonly removal: { start(): void; stop(): void }
  /** Opens the links that the records say, while the server is open. Never rejects: a failure is logged. */
  open(): Promise<void>
  close(): void
  /** Resolves when no link holds a key. */
  forget(): Promise<void>
  /** The shares of this cluster were replaced. */
  rekeyed(): void
}
