// The engine behind sys/: everything its endpoints work with, handed in by the assembly.
import type { AuditDevices } from '../api/audit.ts'
import { DEFAULT_EDITION, type Edition } from '../api/edition.ts'
import { fail } from '../api/errors.ts'
import type { Engine, Mounts } from '../api/mount.ts'
import type { Namespace, Namespaces } from '../api/namespace.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { ByteStream } from '../api/request.ts'
import type { Leases } from '../auth/leases.ts'
import type { AclOperation } from '../auth/permissions.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import type { Rights, RightsFinder } from '../auth/rights.ts'
import type { TokenEntry } from '../auth/token-entry.ts'
import type { TokenLimits } from '../auth/token-rules.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Wrapping } from '../auth/wrapping.ts'
import type { WrappingJwt } from '../auth/wrapping-jwt.ts'
import type { HardeningFound } from '../hardening/report.ts'
import type { Log } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { NamespaceDeletion } from '../namespaces/deletion.ts'
import type { NamespaceStore } from '../namespaces/namespace-store.ts'
import type { QuotaStore } from '../quotas/quota-store.ts'
import type { View } from '../storage/sealed-storage.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { OperationTokens } from './operation-tokens.ts'
import type { ReplicationOperations } from './replication-operations.ts'
import { AttemptLimits } from './seal/attempt-limits.ts'
import type { ShareConfig } from './seal/key-shares.ts'
import type { KeyringRotation } from './seal/keyring-rotation.ts'
import type { Rekey } from './seal/rekey.ts'
import type { SealStatus } from './seal/seal.ts'
import type { Cluster } from './seal/seal-records.ts'
import type { TokenAttempt } from './seal/token-attempt.ts'
import type { SystemServices } from './services.ts'

/**
 * Operations on the seal of the whole server, with all its threads. Only the writing thread has them. A method resolves
 * when every thread has followed.
 */
export interface SealOperations {
  readonly rotation: KeyringRotation
  readonly rootToken: TokenAttempt
  /** An operation token of a secondary for disaster recovery. */
  readonly operationToken: TokenAttempt
  readonly rekey: Rekey
  readonly recoveryRekey: Rekey
  /**
   * Makes the keys of a new server. Afterwards the server is sealed, or open with a seal that opens by itself. `keep`
   * is called with the keys before they are committed; if it throws, nothing was done.
   * @throws Refusal if the server has its keys
   */
  initialise(config: ShareConfig, clusterName: string, keep: (made: FirstKeys) => Promise<void>): Promise<FirstKeys>
  /**
   * Takes one share; the caller wipes it. True when it opened the server, false while more are needed, undefined if the
   * server is open already. @throws WrongCombination if the shares do not give the key
   */
  unseal(share: Buffer): Promise<boolean | undefined>
  /** Forgets the shares given so far to unseal. */
  reset(): Promise<void>
  /** Closes the barrier; every thread forgets its keys and caches. */
  seal(): Promise<void>
  /**
   * Replaces the store by a snapshot. Afterwards the server is sealed, unless it opens by itself.
   * @throws Refusal if the snapshot cannot be used; the store is then as before
   */
  restore(snapshot: ByteStream, force: boolean): Promise<Restored>
  /** By subsystem: reads a part of the configuration again on every thread. False if any kept its old state. */
  readonly configReloads: ReadonlyMap<string, () => Promise<boolean>>
}

/** The secrets of a new server, told once to the caller of sys/init. */
export type FirstKeys = { readonly shares: readonly Buffer[]; readonly rootToken: string }

/** The outcome of a restore, as its answer shows it. */
export type Restored = {
  readonly entries: number
  /** Change index of the snapshot. */
  readonly index: number
  /** Whether every entry was opened before the restore; false if only the shares of another cluster could do so. */
  readonly isSealChecked: boolean
  /** Losses that the caller may not expect. */
  readonly warnings: readonly string[]
  /** Whether the server waits to be unsealed. */
  readonly isSealed: boolean
}

/** What the configuration and the start of the server settled; the same on every thread, and for its lifetime. */
export type ServerFacts = {
  /** The version that clients gate features on (strict semantic version). */
  readonly reportedVersion: string
  readonly storageType: string
  readonly apiAddress: string
  /** Findings of the checks at start; missing if none were made. */
  readonly hardening?: HardeningFound
  /** Missing or empty if none is configured. */
  readonly clusterAddress?: string
  /** Whether a 403 tells the holder of a valid token what its policies lack; missing: yes. */
  readonly permissionHints?: boolean
  /** Name of a cluster that is made now; if empty, a name is made up. */
  readonly clusterName: string
  /** Selects the features that are on; missing: all. */
  readonly edition?: Edition
  /** Whether operations of replication are offered; missing: yes. */
  readonly replicationEnabled?: boolean
  /** Whether an operation token is made only for callers with a token, besides shares; missing: shares are enough. */
  readonly operationTokensAskForToken?: boolean
  /** Whether sys/raw is served; missing: no. */
  readonly rawStorage?: boolean
  /** The configuration without its secrets, by the keys of its file. */
  readonly configState?: object
}

/** One move of a mount: its paths before and after, each with its last '/'. */
export type Migration = {
  readonly source: string
  readonly target: string
  /** UUIDs of mounts without which this cluster tells nothing of it: where the primary carried it out. */
  readonly of: readonly string[]
}

/**
 * The last moves of mounts that were answered here, for sys/remount/status. In memory only: a move is done when its
 * request is answered, so there is nothing to resume after a restart.
 */
class Migrations {
  readonly #kept = new Map<string, Migration>()

  keep(id: string, migration: Migration): void {
    if (this.#kept.size >= KEPT_MIGRATIONS) this.#kept.delete(this.#kept.keys().next().value as string)
    this.#kept.set(id, migration)
  }

  find(id: string): Migration | undefined {
    return this.#kept.get(id)
  }
}

/** A bound on memory; a client asks for a status right after its move. */
const KEPT_MIGRATIONS = 1_000

type SystemParts = Pick<
  System,
  | 'world'
  | 'slow'
  | 'facts'
  | 'tokens'
  | 'policies'
  | 'wrapping'
  | 'wrappingJwt'
  | 'tokenLimits'
  | 'leases'
  | 'services'
  | 'quotas'
  | 'telemetry'
  | 'sealStatus'
  | 'nodeRole'
  | 'saveSnapshot'
  | 'needsSudo'
  | 'audit'
  | 'namespaces'
  | 'namespaceStore'
> & {
  readonly log: Log
  readonly rights: RightsFinder
  /** The view of replication/set/records.ts. */
  readonly sets: View
  /** A function, because the mount table is built after this engine, which it holds. */
  readonly mounts: () => Mounts
  /** A function, because a deletion empties mounts. */
  readonly namespaceDeletion: () => Pick<NamespaceDeletion, 'begun'>
  /** Undefined on a thread that only serves. A function, because what seals the server is built after this engine. */
  readonly seal: (() => SealOperations) | undefined
  /** Undefined likewise, and on a server that does not replicate. A function for the same reason. */
  readonly replication: (() => ReplicationOperations) | undefined
  /** The OpenAPI document of all endpoints that are mounted in a namespace now. */
  readonly openApi: (of: Namespace) => object
}

/** The system engine of one thread. Files of endpoints declare with `Pick` which of its parts they use. */
export class System implements Engine {
  readonly migrations = new Migrations()
  /** Counts on this thread alone; that is enough, because attempts run on the writing thread. */
  readonly attempts: AttemptLimits
  /** Who may operate a secondary for disaster recovery. */
  readonly operationTokens: OperationTokens
  /** Lifetimes used when a mount does not set its own. */
  readonly tokenLimits: TokenLimits
  readonly world: World
  readonly slow: SlowWork
  readonly facts: ServerFacts
  readonly tokens: TokenStore
  /** The rights of a token entry: its own policies with those of its entity and groups, as they are at the call. */
  readonly rightsOf: (entry: object) => Promise<Rights>
  readonly policies: PolicyStore
  readonly wrapping: Wrapping
  readonly wrappingJwt: WrappingJwt
  readonly leases: Leases
  readonly services: SystemServices
  readonly quotas: QuotaStore
  readonly telemetry: Telemetry
  readonly sealStatus: () => SealStatus
  /** What this node is among others, at the time of the call. */
  readonly nodeRole: () => NodeRole
  /** Streams the store as it is at the call (storage/snapshot/snapshot-format.ts). */
  readonly saveSnapshot: () => Promise<ByteStream>
  /** Whether the endpoint at a path of a built-in mount needs `sudo` for the operation; false for all other paths. */
  readonly needsSudo: (path: string, operation: AclOperation) => boolean
  readonly audit: AuditDevices
  readonly namespaces: Namespaces
  readonly namespaceStore: NamespaceStore
  /** The OpenAPI document of all endpoints that are mounted in a namespace. */
  readonly openApi: (of: Namespace) => object
  readonly #mounts: () => Mounts
  readonly #namespaceDeletion: () => Pick<NamespaceDeletion, 'begun'>
  readonly #seal: (() => SealOperations) | undefined
  readonly #replication: (() => ReplicationOperations) | undefined

  constructor(parts: SystemParts) {
    this.world = parts.world
    this.attempts = new AttemptLimits(parts.world.clock, parts.log)
    this.slow = parts.slow
    this.facts = parts.facts
    this.tokens = parts.tokens
    this.rightsOf = (entry) => parts.rights.of(entry as TokenEntry)
    this.policies = parts.policies
    this.wrapping = parts.wrapping
    this.wrappingJwt = parts.wrappingJwt
    this.tokenLimits = parts.tokenLimits
    this.leases = parts.leases
    this.services = parts.services
    this.quotas = parts.quotas
    this.telemetry = parts.telemetry
    this.sealStatus = parts.sealStatus
    this.nodeRole = parts.nodeRole
    this.saveSnapshot = parts.saveSnapshot
    this.needsSudo = parts.needsSudo
    this.audit = parts.audit
    this.openApi = parts.openApi
    this.namespaces = parts.namespaces
    this.namespaceStore = parts.namespaceStore
    this.#namespaceDeletion = parts.namespaceDeletion
    this.operationTokens = new OperationTokens({ ...parts, rightsOf: this.rightsOf, attempts: this.attempts })
    this.#mounts = parts.mounts
    this.#seal = parts.seal
    this.#replication = parts.replication
  }

  get mounts(): Mounts {
    return this.#mounts()
  }

  /** An endpoint that uses it must declare `runsOn: 'writer'`: it works on that thread alone. */
  get namespaceDeletion(): Pick<NamespaceDeletion, 'begun'> {
    return this.#namespaceDeletion()
  }

  /** @throws Error on a thread that only serves: an endpoint that uses it must declare `runsOn: 'writer'` */
  get seal(): SealOperations {
    if (this.#seal === undefined) throw new Error('Only the thread that writes seals and unseals')
    return this.#seal()
  }

  /** An endpoint that uses it must declare `runsOn: 'writer'`. @throws Refusal on a server that does not replicate */
  get replication(): ReplicationOperations {
    if (this.#replication === undefined) throw fail('not_offered', ['This server does not replicate'])
    return this.#replication()
  }

  get edition(): Edition {
    return this.facts.edition ?? DEFAULT_EDITION
  }

  /** Name and id of the cluster; undefined while sealed, because they lie behind the barrier. */
  get cluster(): Cluster | undefined {
    return this.sealStatus().cluster
  }

  // Nothing is cached here: each part registers with the invalidation itself.
  changed(): void {}
  reset(): void {}
}
