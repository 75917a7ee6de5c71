// Small services behind sys/ that have no room of their own: settings, histories, counts.
import { CORS_MEMBERS, CORS_OFF } from '../api/cors.ts'
import type { Namespaces } from '../api/namespace.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import type { ManagedKeyService } from '../managed-keys/managed-key-service.ts'
import type { Store } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'
import { GROUP_POLICY_SETTING, WITHIN_HIERARCHY } from './group-policy-setting.ts'
import { PasswordPolicies } from './password-policies.ts'
import { RawStorage } from './raw-storage.ts'
import { Reloads } from './reloads.ts'
import { ReplicationFacts } from './replication-facts.ts'
import type { ReplicationOperations } from './replication-operations.ts'
import { StoredSetting } from './stored-setting.ts'
import { TreeChecks } from './tree-checks.ts'
import { NO_UI_HEADERS, UI_HEADERS_SETTING } from './ui-headers.ts'
import { VersionHistory } from './version-history.ts'

/** Figures from parts of the server that this room may not import; the assembly hands them in. */
export type ServerInventory = {
  readonly entityCount: (namespaceId: string) => Promise<number>
  /** Requests of the whole server, all its threads, since it started. */
  readonly requests: () => { readonly sinceMs: number; readonly taken: number }
  /** The machine (host-info-endpoint.ts has its members). */
  readonly hostInfo: () => object
}

/** Which origins may call, as it is stored. */
export const CORS_SETTING = storedRecord('The setting cors', CORS_MEMBERS)

/** All services. A new one is a line in `buildServices`. */
export type SystemServices = Readonly<ReturnType<typeof buildServices>>

/** A system with some of the services. Each file of endpoints declares which it uses, so its tests hand in no more. */
export type WithServices<S extends keyof SystemServices> = { readonly services: Pick<SystemServices, S> }

/** Makes the services of one thread; called once, by the assembly. Nothing is read before the first use. */
export function buildServices(
  storage: SealedStorage,
  invalidation: Invalidation,
  parts: {
    readonly world: World
    readonly namespaces: Namespaces
    readonly log: Log
    readonly inventory: ServerInventory
    readonly managedKeys: ManagedKeyService
    /** Makes this thread drop what it keeps of a mount in memory. */
    readonly resetMount: (uuid: string) => void
    /** Whether a mount stays out of replication. */
    readonly isLocalMount: (uuid: string) => boolean
    /** What this node is, at the time of the call. */
    readonly nodeRole: () => NodeRole
    /** The store, on the thread that writes it. */
    readonly store: Store | undefined
    /** What replication does, on that thread of a server that replicates. */
    readonly replication: (() => ReplicationOperations) | undefined
  },
) {
  const { replication } = parts
  const checks = new TreeChecks({
    storage,
    invalidation,
    store: parts.store,
    clock: parts.world.clock,
    log: parts.log,
    nodeRole: parts.nodeRole,
    compareAgain: replication && ((family) => replication().compareAgain(family)),
  })
  return {
    ...parts.inventory,
    cors: new StoredSetting(storage, invalidation, { name: 'cors', record: CORS_SETTING, unset: CORS_OFF }),
    uiHeaders: new StoredSetting(storage, invalidation, {
      name: 'ui-headers',
      record: UI_HEADERS_SETTING,
      unset: NO_UI_HEADERS,
    }),
    groupPolicies: new StoredSetting(storage, invalidation, {
      name: 'group-policy-application',
      record: GROUP_POLICY_SETTING,
      unset: WITHIN_HIERARCHY,
    }),
    passwordPolicies: new PasswordPolicies(storage, parts.namespaces),
    versions: new VersionHistory(storage, parts.world.clock),
    reloads: new Reloads(storage, invalidation, { world: parts.world, reset: parts.resetMount }),
    raw: new RawStorage(storage, parts.isLocalMount),
    treeChecks: checks,
    replication: new ReplicationFacts({
      checks,
      store: parts.store,
      operations: parts.replication,
      clock: parts.world.clock,
      log: parts.log,
    }),
    managedKeys: parts.managedKeys,
  }
}
