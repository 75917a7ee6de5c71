import type { Edition } from '../api/edition.ts'
import type { DeviceRandom, ManagedKeys } from '../api/managed-keys.ts'
import type { MountEntry } from '../api/mount.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { FairQueue } from '../lib/fair-queue.ts'
import type { Log } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { View } from '../storage/sealed-storage.ts'

/** What an engine is given for one mount. */
export type EngineContext = {
  /** As it is at the call: it can be tuned and moved. */
  readonly mount: () => MountEntry
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  /** Which features the operator has on. */
  readonly edition: Edition
  /** What this node is among others, as it is at the call. */
  readonly role: () => NodeRole
  readonly log: Log
  /** Those that this mount may use; missing: there are none. */
  readonly managedKeys?: ManagedKeys
  readonly deviceRandom?: DeviceRandom
  /** In which logins that cost much are tried, of all mounts together; missing: the mount has its own. */
  readonly loginQueue?: FairQueue
  /** Where another thread writes: what the mount's engine there answers. Missing where this one does. */
  readonly callWriter?: (question: unknown) => Promise<unknown>
}

/** What is the same for all mounts. */
export type EngineEnvironment = Omit<EngineContext, 'mount' | 'storage' | 'callWriter' | 'managedKeys'> & {
  readonly callWriter?: CallWriter | undefined
  readonly managedKeysOf?: (mount: () => MountEntry) => ManagedKeys
}

/** `mount` is the UUID. */
export type CallWriter = (mount: string, question: unknown) => Promise<unknown>
