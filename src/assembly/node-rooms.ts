// Puts the rooms together, in the same way in every thread whatever its role.
import type { NodeRole, RoleState } from '../api/node-role.ts'
import type { Audit } from '../audit/audit.ts'
import type { Core } from '../core/core.ts'
import { JoiningMounts } from '../core/joining.ts'
import { MountLeftovers } from '../core/mount-leftovers.ts'
import type { MountTable } from '../core/mount-table.ts'
import { mountInTheWay } from '../core/stored-mounts.ts'
import { namedLog } from '../lib/log.ts'
import { NamespaceDeletion, type NamespaceWork } from '../namespaces/deletion.ts'
import { NamespaceStore } from '../namespaces/namespace-store.ts'
import { NamespaceTable } from '../namespaces/namespace-table.ts'
import { OwnPartOfNamespaces } from '../namespaces/own-part.ts'
import { QuotaStore } from '../quotas/quota-store.ts'
import { SETS_FOLDER } from '../replication/set/records.ts'
import { transferPath } from '../replication/set/transfer-note.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { groupPolicyMode } from '../system/group-policy-setting.ts'
import type { SystemServices } from '../system/services.ts'
import type { AuthServices } from './auth-services.ts'
import { buildAudit } from './build-audit.ts'
import { buildAuth } from './build-auth.ts'
import { buildConsistency } from './build-consistency.ts'
import { buildCore } from './build-core.ts'
import { buildMounts } from './build-mounts.ts'
import { buildStorage, type StorageRoom } from './build-storage.ts'
import { buildManagedKeys, buildSystem, type Replicating, type SealSide } from './build-system.ts'
import { ROUTERS } from './engine-types.ts'
import { NodeGate } from './node-gate.ts'
import { isWriting, type NodeParts, type ToWriter } from './node-parts.ts'
import { aloneTelemetry } from './node-telemetry.ts'
import { SeenChanges } from './seen-changes.ts'
import { streamedRequests } from './streamed-requests.ts'
import { callOrRefuse } from './writer-refusals.ts'

/** Where a copy or a comparison with the primary of the set is noted. */
const TRANSFER = SETS_FOLDER + transferPath('performance')

/** The rooms of a thread of any role. Its start connects them to listeners and links. */
export type NodeRooms = AuthServices & {
  readonly core: Core
  readonly services: SystemServices
  readonly audit: Audit
  readonly storage: SealedStorage
  readonly mounts: MountTable
  readonly namespaces: NamespaceTable
  /** Removes what is left of namespaces. Started only where data of the set may be written. */
  readonly namespaceDeletion: NamespaceDeletion
  /** Removes what this cluster has of those that are gone. Started wherever its own data may be written. */
  readonly ownPartOfNamespaces: OwnPartOfNamespaces
  /** The same of mounts. */
  readonly mountLeftovers: MountLeftovers
  readonly joining: JoiningMounts
  readonly invalidation: Invalidation
  readonly gate: NodeGate
  /** The role of this node among others, at the time of the call. */
  readonly nodeRole: () => NodeRole
  /** Where its primary answers, at the time of the call; '': it has none, or that is not known. */
  readonly primaryAddress: () => string
  /** True if the body of such a request is to be passed on as a stream, not collected. */
  readonly takesStream: (method: string, rawPath: string) => boolean
  /** The names of the request headers that audit records, in lower case. */
  readonly auditedHeaders: () => readonly string[]
}

/**
 * Builds the rooms in the order in which they need each other. `writer` is the link to the writing thread, undefined on
 * that thread.
 */
export function buildRooms(
  parts: NodeParts,
  {
    roleState,
    replication,
    ...seal
  }: SealSide & {
    readonly roleState: () => RoleState
    readonly replication: Replicating
  },
  writer?: ToWriter,
): NodeRooms {
  const { world } = parts
  const nodeRole = () => roleState().role
  const primaryAddress = () => roleState().primaryAddress
  // The table consists of engines that ask it what is mounted (tokens, identities, sys/): they get a function.
  const table = () => mounts
  const callWriter = writer && callOrRefuse(writer.ask)
  const telemetry = parts.telemetry ?? aloneTelemetry(world)
  const storageRoom = buildStorage(parts, seal.status, isWriting(parts) ? parts.store : undefined)
  const { storage, invalidation } = storageRoom
  const namespaces = new NamespaceTable(storage, invalidation)
  const namespaceStore = new NamespaceStore(storage, namespaces, world, mountInTheWay)
  const namespaceDeletion = () => deletion
  const clusterId = () => seal.status().cluster?.id ?? ''
  const consistency = buildConsistency(parts, { storage: storageRoom, nodeRole, clusterId, writer })
  const auth = buildAuth(parts, {
    namespaces,
    groupPolicyMode: () => groupPolicyMode(system.services.groupPolicies),
    storage: storageRoom,
    mounts: table,
    callWriter,
    nodeRole,
    primaryAddress,
    consistency,
  })
  const quotas = new QuotaStore(storage, invalidation)
  const audit = buildAudit(parts, storageRoom)
  const managedKeys = buildManagedKeys(parts, storageRoom)
  const below = {
    storage: storageRoom,
    namespaces,
    namespaceStore,
    namespaceDeletion,
    seal,
    auth,
    quotas,
    audit,
    managedKeys,
    telemetry,
    writer,
    callWriter,
    nodeRole,
    primaryAddress,
    consistency,
    replication,
  }
  const system = buildSystem(parts, { ...below, mounts: table })
  const seen = isWriting(parts)
    ? new SeenChanges({ store: parts.store, role: nodeRole, operations: replication })
    : undefined
  const mounts = buildMounts(parts, { ...below, system, seen })
  const deletion: NamespaceDeletion = buildDeletion(parts, { ...below, mounts })
  const gate = new NodeGate({ barrier: storage.barrier, invalidation, tokens: auth.tokens, mounts, audit })
  const { services } = system
  return {
    ...auth,
    core: buildCore(parts, { ...below, services, mounts, gate }),
    services,
    audit,
    storage,
    mounts,
    namespaces,
    namespaceDeletion: deletion,
    joining: new JoiningMounts({ ...parts, mounts, role: nodeRole, log: namedLog(parts.log, 'core') }),
    mountLeftovers: new MountLeftovers({
      ...parts,
      mounts,
      leases: auth.leases,
      isUnsure: async (raw) => (await raw.get(TRANSFER)) !== undefined,
      invalidation,
      role: nodeRole,
      log: namedLog(parts.log, 'core'),
    }),
    ownPartOfNamespaces: buildOwnPart(parts, { ...below, mounts }),
    invalidation,
    gate,
    nodeRole,
    primaryAddress,
    takesStream: streamedRequests(ROUTERS.values(), mounts),
    auditedHeaders: () => audit.headerNames,
  }
}

/** What a deletion removes besides what is stored below the id of the namespace, in this order. */
function buildDeletion(
  { world, log }: NodeParts,
  rooms: {
    readonly namespaces: NamespaceTable
    readonly namespaceStore: NamespaceStore
    readonly storage: StorageRoom
    readonly auth: AuthServices
    readonly mounts: MountTable
    readonly quotas: QuotaStore
    readonly nodeRole: () => NodeRole
  },
): NamespaceDeletion {
  const { namespaces, namespaceStore: store, storage, auth, mounts, quotas, nodeRole } = rooms
  const works: readonly NamespaceWork[] = [
    ({ id }) => auth.leases.revokeAll(id),
    ({ id }) => auth.cubbyhole.removeNamespace(id),
    (namespace) => mounts.unmountAll(namespace),
    ({ id }) => auth.identities.removeNamespace(id),
    ({ id }) => quotas.removeNamespace(id),
  ]
  return new NamespaceDeletion({
    namespaces,
    store,
    storage: storage.storage,
    works,
    isFollowed: () => nodeRole().performance === 'primary',
    world,
    log: namedLog(log, 'core'),
  })
}

/** What this cluster alone has of a namespace. */
function buildOwnPart(
  { world, log }: NodeParts,
  {
    storage,
    auth,
    mounts,
  }: { readonly storage: StorageRoom; readonly auth: AuthServices; readonly mounts: MountTable },
): OwnPartOfNamespaces {
  return new OwnPartOfNamespaces({
    ...storage,
    works: [
      (id) => auth.leases.revokeAll(id),
      (id) => auth.cubbyhole.removeNamespace(id),
      (id) => mounts.removeOwnPart(id),
      (id) => auth.identities.removeNamespace(id, ['cluster']),
    ],
    world,
    log: namedLog(log, 'core'),
  })
}
