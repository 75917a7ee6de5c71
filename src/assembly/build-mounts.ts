// The mount table, and what its engines are given of this server.
import { fail } from '../api/errors.ts'
import { newLoginQueue } from '../api/login-queue.ts'
import type { MountEntry } from '../api/mount.ts'
import { type Namespaces, ROOT } from '../api/namespace.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Consistency } from '../core/consistency.ts'
import type { CallWriter, EngineEnvironment } from '../core/engine-context.ts'
import { newMountEntry } from '../core/mount-entries.ts'
import { MountTable } from '../core/mount-table.ts'
import { namedLog } from '../lib/log.ts'
import type { ManagedKeyService } from '../managed-keys/managed-key-service.ts'
import type { QuotaStore } from '../quotas/quota-store.ts'
import type { System } from '../system/system.ts'
import type { AuthServices } from './auth-services.ts'
import { authRemoval } from './build-auth.ts'
import type { StorageRoom } from './build-storage.ts'
import { cloudDependencies } from './cloud-dependencies.ts'
import { engineTypes, SYSTEM_ROUTER } from './engine-types.ts'
import type { CommonParts } from './node-parts.ts'
import type { SeenChanges } from './seen-changes.ts'

/** Parts of other rooms that mounts and their engines need. */
export type EngineRooms = {
  readonly storage: StorageRoom
  readonly namespaces: Namespaces
  /** The engine at sys/, which answers even while the server is sealed. */
  readonly system: System
  readonly auth: AuthServices
  readonly quotas: QuotaStore
  readonly managedKeys: ManagedKeyService
  readonly nodeRole: () => NodeRole
  /** Asks the writing thread; undefined if this is it. */
  readonly callWriter: CallWriter | undefined
  readonly primaryAddress: () => string
  readonly consistency: Consistency
  /** Undefined where this thread does not write. */
  readonly seen: SeenChanges | undefined
}

/** Builds the table with all engine types. Until the barrier is open it serves sys/ alone. */
export function buildMounts(parts: CommonParts, rooms: EngineRooms): MountTable {
  const { world, log, tokenLimits, cloud } = parts
  const { system, auth, quotas } = rooms
  const { storage, invalidation } = rooms.storage
  const common = { log, longestTtlSeconds: tokenLimits.maxTtlSeconds, identityTokens: auth.pluginIdentity }
  const entry = newMountEntry(world, { path: 'sys/', type: 'system', kind: 'secret', description: '' })
  return new MountTable({
    types: engineTypes(system, auth, cloudDependencies(common, cloud)),
    always: { entry, namespace: ROOT, path: entry.path, router: SYSTEM_ROUTER, engine: system },
    namespaces: rooms.namespaces,
    storage,
    given: engineEnvironment(parts, rooms),
    invalidation,
    // Run in this order before the mount's data are removed, and again after an interruption.
    removals: [
      authRemoval(auth),
      ({ uuid }) => system.services.reloads.forget(uuid),
      ({ uuid }) => quotas.removeMount(uuid),
    ],
  })
}

/** The part of an engine's context that all mounts share. */
function engineEnvironment(parts: CommonParts, rooms: EngineRooms): EngineEnvironment {
  const { world, slow, log } = parts
  const { system, managedKeys, nodeRole, callWriter, seen } = rooms
  return {
    world,
    slow,
    edition: system.edition,
    role: nodeRole,
    log: namedLog(log, 'core'),
    managedKeysOf: (mount: () => MountEntry) => managedKeys.forMount(mount),
    deviceRandom: managedKeys,
    loginQueue: newLoginQueue(),
    callWriter,
    askPrimary: primaryOf(parts, rooms),
    seenOf: seen && ((folder, storageClass) => seen.of(folder, storageClass)),
  }
}

/** How an engine asks the same mount on the primary. */
function primaryOf(
  { toPrimary = () => undefined }: CommonParts,
  { primaryAddress, consistency }: EngineRooms,
): CallWriter {
  return async (mount, question) => {
    const primary = toPrimary()
    if (primary === undefined) throw fail('not_primary', [true, primaryAddress()])
    const { answer, written } = await primary.askMount({ mount, question })
    await consistency.arrived(written)
    return answer
  }
}
