// The context that the mount table hands to an engine when it makes one for a mount.
import type { Edition } from '../api/edition.ts'
import type { DeviceRandom, ManagedKeys } from '../api/managed-keys.ts'
import type { MountEntry } from '../api/mount.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { SeenEntries } from '../api/seen-entries.ts'
import type { FairQueue } from '../lib/fair-queue.ts'
import type { Log, LogFields, LogLevel } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { StorageClass } from '../storage/contract.ts'
import type { View } from '../storage/sealed-storage.ts'

/** Services and settings of an engine for one mount. It may keep all of them: those that can change are functions. */
export type EngineContext = {
  /** The entry at the time of the call: a mount can be tuned and moved. */
  readonly mount: () => MountEntry
  /** The mount's folder of the store, in clear. */
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  /** The features that the operator switched on. */
  readonly edition: Edition
  /** The role of this node among others, at the time of the call. */
  readonly role: () => NodeRole
  readonly log: Log
  /** The managed keys that this mount may use; missing: there are none. */
  readonly managedKeys?: ManagedKeys
  /** Random bytes from devices; missing: no device gives any. */
  readonly deviceRandom?: DeviceRandom
  /** The queue for logins that cost much to check, shared by all mounts; missing: the mount has its own. */
  readonly loginQueue?: FairQueue
  /** Asks the engine of the same mount on the writing thread. Missing where this thread writes. */
  readonly callWriter?: (question: unknown) => Promise<unknown>
  /** Asks the engine of the same mount on the primary. Rejects if there is no link to one. */
  readonly askPrimary?: (question: unknown) => Promise<unknown>
  /** Missing where this thread does not write. */
  readonly seen?: SeenEntries
}

/** The part of the context that all mounts of a thread share. What depends on the mount takes it as a parameter. */
export type EngineEnvironment = Omit<
  EngineContext,
  'mount' | 'storage' | 'callWriter' | 'askPrimary' | 'managedKeys' | 'seen'
> & {
  readonly callWriter?: CallWriter | undefined
  readonly askPrimary?: CallWriter | undefined
  readonly seenOf?: ((folder: string, storageClass: StorageClass) => SeenEntries) | undefined
  readonly managedKeysOf?: (mount: () => MountEntry) => ManagedKeys
}

/**
 * Asks a mount, by its UUID, on the writing thread, where the engine answers in `handleWriterCall`; or on the primary,
 * where it answers in `handleClusterCall`.
 */
export type CallWriter = (mount: string, question: unknown) => Promise<unknown>

/** The log for one mount: its lines name the namespace that the mount is in, unless it is the root. */
export function logOfMount(log: Log, namespacePath: () => string): Log {
  const write = (level: LogLevel, message: string, fields?: LogFields): void => {
    const namespace = namespacePath()
    log(level, message, namespace === '' ? fields : { ...fields, namespace })
  }
  return log.isOn === undefined ? write : Object.assign(write, { isOn: log.isOn })
}
