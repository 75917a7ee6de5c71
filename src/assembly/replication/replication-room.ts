// Replication of a server, as the other rooms of the thread that writes see it.
import type { LinkOwner } from '../../replication/link/link-sides.ts'
import type { SynchronousSettings } from '../../replication/synchronous/settings.ts'
import type { SynchronousWrites } from '../../replication/synchronous/synchronous-writes.ts'
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
  /** Reads for whom writes wait, before the first one is answered. */
  expect(): Promise<void>
  /** Writes wait for other secondaries from now on. */
  waitFor(settings: SynchronousSettings): Promise<void>
  /** The writes that wait for secondaries; undefined: this server has no links. */
  readonly synchronous: SynchronousWrites | undefined
  /** The shares of this cluster were replaced. */
  rekeyed(): void
}
