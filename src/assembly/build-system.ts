// The engine behind sys/. It shows and changes all other rooms, so it is given nearly every one.
import { DEFAULT_EDITION } from '../api/edition.ts'
import { isOfferedIn } from '../api/endpoint.ts'
import type { Namespace, Namespaces } from '../api/namespace.ts'
import type { NodeRole } from '../api/node-role.ts'
import { openApiDocument } from '../api/openapi.ts'
import type { Audit } from '../audit/audit.ts'
import type { MountTable } from '../core/mount-table.ts'
import { namedLog } from '../lib/log.ts'
import { NO_DEVICES } from '../managed-keys/device-link.ts'
import { ManagedKeyService } from '../managed-keys/managed-key-service.ts'
import { ManagedKeyStore } from '../managed-keys/managed-key-store.ts'
import type { NamespaceDeletion } from '../namespaces/deletion.ts'
import type { NamespaceStore } from '../namespaces/namespace-store.ts'
import type { QuotaStore } from '../quotas/quota-store.ts'
import { SETS_FOLDER } from '../replication/set/records.ts'
import { systemScope } from '../storage/contract.ts'
import type { ReplicationOperations } from '../system/replication-operations.ts'
import type { SealStatus } from '../system/seal/seal.ts'
import { buildServices, type SystemServices } from '../system/services.ts'
import { type SealOperations, System } from '../system/system.ts'
import type { AuthServices } from './auth-services.ts'
import type { StorageRoom } from './build-storage.ts'
import { needsSudo, ROUTERS } from './engine-types.ts'
import { readHostInfo } from './host-facts.ts'
import type { CommonParts } from './node-parts.ts'
import type { NodeTelemetry } from './node-telemetry.ts'

/** Builds the keys in devices; without devices in the configuration the mounts have none. */
export function buildManagedKeys(
  { devices = NO_DEVICES, facts }: CommonParts,
  { storage, invalidation }: StorageRoom,
): ManagedKeyService {
  const store = new ManagedKeyStore(storage, invalidation)
  return new ManagedKeyService({ store, devices, edition: facts.edition ?? DEFAULT_EDITION })
}

/** The seal as sys/ shows it. `operations` change it, and are undefined on a thread that does not write. */
export type SealSide = {
  readonly status: () => SealStatus
  readonly operations: (() => SealOperations) | undefined
}

/** What replication does; undefined on a thread that does not write, and on a server that does not replicate. */
export type Replicating = (() => ReplicationOperations) | undefined

/** Parts of other rooms that sys/ shows or changes. */
export type SystemRooms = {
  readonly storage: StorageRoom
  readonly namespaces: Namespaces
  readonly namespaceStore: NamespaceStore
  readonly namespaceDeletion: () => NamespaceDeletion
  readonly seal: SealSide
  readonly auth: AuthServices
  readonly audit: Audit
  readonly quotas: QuotaStore
  readonly telemetry: NodeTelemetry
  readonly managedKeys: ManagedKeyService
  readonly nodeRole: () => NodeRole
  readonly replication: Replicating
  /** The table that this engine is in, and so is made after it. */
  readonly mounts: () => MountTable
}

/** Builds the engine behind sys/. */
export function buildSystem(parts: CommonParts, rooms: SystemRooms): System {
  const { world, log, slow, facts, tokenLimits } = parts
  const { storage, seal, auth, audit, quotas, mounts } = rooms
  const { telemetry } = rooms.telemetry
  return new System({
    ...auth,
    services: servicesOf(parts, rooms),
    world,
    log,
    slow,
    facts,
    tokenLimits,
    sealStatus: seal.status,
    nodeRole: rooms.nodeRole,
    seal: seal.operations,
    replication: rooms.replication,
    sets: storage.storage.view(systemScope, SETS_FOLDER),
    saveSnapshot: storage.saveSnapshot,
    needsSudo,
    quotas,
    telemetry,
    audit,
    mounts,
    openApi: (of) => openApiDocument(facts.reportedVersion, mountedEndpoints(mounts(), of)),
    namespaces: rooms.namespaces,
    namespaceStore: rooms.namespaceStore,
    namespaceDeletion: rooms.namespaceDeletion,
  })
}

const mountedEndpoints = (mounts: MountTable, of: Namespace) =>
  mounts.list(of).map(({ path, type }) => {
    const { endpoints = [] } = ROUTERS.get(type) ?? {}
    return { mountPath: path, endpoints: endpoints.filter((endpoint) => isOfferedIn(of, endpoint)) }
  })

/** Services for endpoints under sys/ from rooms that they may not import. */
function servicesOf({ world, directory, log }: CommonParts, rooms: SystemRooms): SystemServices {
  const { storage, auth, telemetry, managedKeys, mounts } = rooms
  return buildServices(storage.storage, storage.invalidation, {
    world,
    namespaces: rooms.namespaces,
    log: namedLog(log, 'core'),
    managedKeys,
    inventory: {
      entityCount: (namespaceId) => auth.identities.countEntities(namespaceId),
      requests: () => telemetry.telemetry.requestsTaken(),
      hostInfo: () => readHostInfo(world.clock, directory),
    },
    resetMount: (uuid) => mounts().resetEngine(uuid),
    isLocalMount: (uuid) => mounts().isLocal(uuid),
    nodeRole: rooms.nodeRole,
    store: storage.writes,
    replication: rooms.replication,
  })
}
