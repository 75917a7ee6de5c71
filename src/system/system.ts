// The engine behind sys/: what its endpoints work with.
import type { AuditDevices } from '../api/audit.ts'
import { DEFAULT_EDITION, type Edition } from '../api/edition.ts'
import type { Engine, Mounts } from '../api/mount.ts'
import type { ByteStream } from '../api/request.ts'
import type { Leases } from '../auth/leases.ts'
import type { AclOperation } from '../auth/permissions.ts'
import type { PolicyStore } from '../auth/policy-store.ts'
import { type Rights, rightsOf } from '../auth/rights.ts'
import type { Identities } from '../auth/subject.ts'
import type { TokenEntry } from '../auth/token-entry.ts'
import type { TokenLimits } from '../auth/token-rules.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Wrapping } from '../auth/wrapping.ts'
import type { WrappingJwt } from '../auth/wrapping-jwt.ts'
import type { HardeningFound } from '../hardening/report.ts'
import type { Log } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { QuotaStore } from '../quotas/quota-store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { AttemptLimits } from './seal/attempt-limits.ts'
import type { ShareConfig } from './seal/key-shares.ts'
import type { KeyringRotation } from './seal/keyring-rotation.ts'
import type { Rekey } from './seal/rekey.ts'
import type { SealStatus } from './seal/seal.ts'
import type { Cluster } from './seal/seal-records.ts'
import type { TokenAttempt } from './seal/token-attempt.ts'
import type { SystemServices } from './services.ts'

/** Sealing and unsealing of the whole server, all its threads; only the thread that writes can. */
export interface SealOperations {
  readonly rotation: KeyringRotation
  readonly rootToken: TokenAttempt
  readonly rekey: Rekey
  readonly recoveryRekey: Rekey
  /**
   * With a seal that opens by itself the server is open afterwards. `keep` gets what was made before it is committed;
   * where it throws, nothing was done.
   * @throws Refusal where it is done already
   */
  initialise(config: ShareConfig, clusterName: string, keep: (made: FirstKeys) => Promise<void>): Promise<FirstKeys>
  unseal(share: Buffer): Promise<boolean | undefined>
  reset(): Promise<void>
  seal(): Promise<void>
  /** Replaces the store by a snapshot; sealed afterwards unless it opens by itself. @throws Refusal: it is not taken */
  restore(snapshot: ByteStream, force: boolean): Promise<Restored>
  /** What reads a part of the configuration anew on every thread; false where something goes on as before. */
  readonly configReloads: ReadonlyMap<string, () => Promise<boolean>>
}

/** All that opens a new server. */
export type FirstKeys = { readonly shares: readonly Buffer[]; readonly rootToken: string }

export type Restored = {
  readonly entries: number
  /** Of the snapshot. */
  readonly index: number
  /** It is as the cluster that made it sealed it. */
  readonly isSealChecked: boolean
  /** What is lost that its caller may not expect; empty where nothing is. */
  readonly warnings: readonly string[]
  /** The server waits to be unsealed. */
  readonly isSealed: boolean
}

export type ServerFacts = {
  /** What clients gate features on (strict semantic version). */
  readonly reportedVersion: string
  readonly storageType: string
  readonly apiAddress: string
  /** What the checks of the start found; missing where none were made. */
  readonly hardening?: HardeningFound
  /** Missing or empty: none is configured. */
  readonly clusterAddress?: string
  /** Whether a 403 tells the holder of a valid token what its policies lack; missing: yes. */
  readonly permissionHints?: boolean
  /** For a cluster that is made with no name given; empty: a name is made up. */
  readonly clusterName: string
  /** Which features are on; missing: all. */
  readonly edition?: Edition
  /** Whether sys/raw is there; missing: no. */
  readonly rawStorage?: boolean
  /** The configuration without what opens something, by the names of its file. */
  readonly configState?: object
}

export type Migration = { readonly source: string; readonly target: string }

/** The last moves of mounts. */
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
  | 'saveSnapshot'
  | 'needsSudo'
  | 'audit'
> & {
  readonly log: Log
  readonly identities: Identities
  /** A function, since the mount table holds this engine. */
  readonly mounts: () => Mounts
  /** Missing where another thread writes. A function, since what seals the server also closes this engine. */
  readonly seal: (() => SealOperations) | undefined
  /** The description of all endpoints that are mounted now. */
  readonly openApi: () => object
}

export class System implements Engine {
  readonly migrations = new Migrations()
  /** Of this thread: attempts run on the one that writes. */
  readonly attempts: AttemptLimits
  /** Lifetimes where a mount says nothing. */
  readonly tokenLimits: TokenLimits
  readonly world: World
  readonly slow: SlowWork
  readonly facts: ServerFacts
  readonly tokens: TokenStore
  /** What a token's entry gives, with what its entity and groups add. */
  readonly rightsOf: (entry: object) => Promise<Rights>
  readonly policies: PolicyStore
  readonly wrapping: Wrapping
  readonly wrappingJwt: WrappingJwt
  readonly leases: Leases
  readonly services: SystemServices
  readonly quotas: QuotaStore
  readonly telemetry: Telemetry
  readonly sealStatus: () => SealStatus
  /** The store as it is at the call, as a stream (storage/snapshot/snapshot-format.ts). */
  readonly saveSnapshot: () => Promise<ByteStream>
  /** Whether an endpoint of a mount that every server has needs `sudo` for the operation; false for all other paths. */
  readonly needsSudo: (path: string, operation: AclOperation) => boolean
  readonly audit: AuditDevices
  readonly openApi: () => object
  readonly #mounts: () => Mounts
  readonly #seal: (() => SealOperations) | undefined

  constructor(parts: SystemParts) {
    this.world = parts.world
    this.attempts = new AttemptLimits(parts.world.clock, parts.log)
    this.slow = parts.slow
    this.facts = parts.facts
    this.tokens = parts.tokens
    this.rightsOf = (entry) => rightsOf(entry as TokenEntry, parts.identities)
    this.policies = parts.policies
    this.wrapping = parts.wrapping
    this.wrappingJwt = parts.wrappingJwt
    this.tokenLimits = parts.tokenLimits
    this.leases = parts.leases
    this.services = parts.services
    this.quotas = parts.quotas
    this.telemetry = parts.telemetry
    this.sealStatus = parts.sealStatus
    this.saveSnapshot = parts.saveSnapshot
    this.needsSudo = parts.needsSudo
    this.audit = parts.audit
    this.openApi = parts.openApi
    this.#mounts = parts.mounts
    this.#seal = parts.seal
  }

  get mounts(): Mounts {
    return this.#mounts()
  }

  get seal(): SealOperations {
    if (this.#seal === undefined) throw new Error('Only the thread that writes seals and unseals')
    return this.#seal()
  }

  get edition(): Edition {
    return this.facts.edition ?? DEFAULT_EDITION
  }

  get cluster(): Cluster | undefined {
    return this.sealStatus().cluster
  }

  changed(): void {}
  reset(): void {}
}
