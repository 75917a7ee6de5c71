// What storage throws. `src/core/response.ts` translates it into refusals, in one place.
import type { StorageClass } from './contract.ts'

/** Base of what storage throws. */
export class StorageError extends Error {
  override name = 'StorageError'
}
/** The transaction lost against others too often: the client may try again. */
export class StorageConflict extends StorageError {
  override name = 'StorageConflict'
}
/** This store cannot be written from here: the request travels to the thread that owns writes. */
export class StorageReadOnly extends StorageError {
  override name = 'StorageReadOnly'
}
/** A key, value or argument out of bounds, an unclassified prefix, a write while sealed: the message says which. */
export class StorageRefused extends StorageError {
  override name = 'StorageRefused'
}
/** The key of an entry has a prefix that no class covers: a newer program may know it. */
export class UnknownPrefix extends StorageRefused {}
/** A value or a transaction has more bytes than it may: nothing was written. */
export class StorageTooLarge extends StorageRefused {
  override name = 'StorageTooLarge'
  readonly limitBytes: number
  constructor(message: string, limitBytes: number) {
    super(message)
    this.limitBytes = limitBytes
  }
}
/** This node may not change entries of the class in its present role: nothing was written. */
export class WriteNotAllowed extends StorageError {
  override name = 'WriteNotAllowed'
  readonly storageClass: StorageClass
  constructor(storageClass: StorageClass) {
    super(`Entries of class ${storageClass} are not written by this node in its present role`)
    this.storageClass = storageClass
  }
}
/** The data key has encrypted as often as is safe, and there is no next one yet: nothing is sealed until then. */
export class DataKeyUsedUp extends StorageError {
  override name = 'DataKeyUsedUp'
}
/** The keys are not there: the server is sealed, or is being sealed. */
export class Sealed extends StorageRefused {
  override name = 'Sealed'
}
/** The store or the snapshot was closed, or is being replaced by a restore. */
export class StorageClosed extends StorageError {
  override name = 'StorageClosed'
}
/** True if the server was sealed or the store closed: background work then ends quietly, since nothing is wrong. */
export const isClosed = (cause: unknown): boolean => cause instanceof Sealed || cause instanceof StorageClosed
/** The log does not hold what follows the asked index: the reader starts anew from a snapshot or an empty cache. */
export class HistoryGone extends StorageError {
  override name = 'HistoryGone'
}
/** Stored bytes cannot be what was written: the message says where. Never repaired silently (threats P-04). */
export class StorageCorrupt extends StorageError {
  override name = 'StorageCorrupt'
}
/**
 * A record is of a newer program: its format, a flag, a class or a kind is unknown. In our own store that is damage. A
 * follower that gets it from a newer peer waits for its own upgrade, and applies nothing.
 */
export class UnknownFormat extends StorageCorrupt {
  override name = 'UnknownFormat'
}
/** The device is full. Nothing was written; writes may succeed again once there is space (threats P-03). */
export class StorageFull extends StorageError {
  override name = 'StorageFull'
}
/** A write could not be made durable. The node must end: what the device holds is unknown (threats P-02). */
export class StorageFailed extends StorageError {
  override name = 'StorageFailed'
}
