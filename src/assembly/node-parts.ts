// The parts that a thread hands in for its share of the server. They are the same for all roles, except for the store
// and the links to other threads.
import type { RoleState } from '../api/node-role.ts'
import type { AuditFiles } from '../audit/audit-files.ts'
import type { ChainHeadsMemory } from '../audit/chain-heads.ts'
import type { AuditSettings } from '../audit/device-changes.ts'
import type { KeptLimits } from '../auth/kept-values.ts'
import type { TokenLimits } from '../auth/token-rules.ts'
import type { CallWriter } from '../core/engine-context.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import type { ToPrimary } from '../core/handed.ts'
import type { CloudEnvironment } from '../engines/cloud/settings.ts'
import type { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import type { Log } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { Devices } from '../managed-keys/device-link.ts'
import type { ConsistencySettings } from '../replication/consistency/settings.ts'
import type { SynchronousWrites } from '../replication/synchronous/synchronous-writes.ts'
import type { ReadStore, Store } from '../storage/contract.ts'
import type { ReplicationOperations } from '../system/replication-operations.ts'
import type { AutoSeal } from '../system/seal/auto-seal.ts'
import type { KeyKeeper, SealStatus } from '../system/seal/seal.ts'
import type { SealBundle } from '../system/seal/seal-bundle.ts'
import type { SealOperations, ServerFacts } from '../system/system.ts'
import type { LeaveOnly } from './emptied-store.ts'
import type { NodeTelemetry } from './node-telemetry.ts'
import type { ReplicationParts } from './replication/replication-parts.ts'
import type { Restorable } from './restore.ts'
import { type ServingRole, THREAD_ROLES, type WritingRole } from './roles.ts'
import type { SealState } from './seal-state.ts'

/** Parts that threads of every role hand in. */
export type CommonParts = {
  readonly world: World
  readonly slow: SlowWork
  /** The devices with managed keys; missing: the configuration names none. */
  readonly devices?: Devices
  readonly log: Log
  /** The directory of the data; missing: they are in memory. */
  readonly directory?: string
  readonly facts: ServerFacts
  readonly tokenLimits: TokenLimits & { readonly kept?: KeptLimits }
  /**
   * The link to its primary, at the time of the call. Only the thread that writes uses it. Missing: the links to other
   * clusters, if there are any.
   */
  readonly toPrimary?: () => ToPrimary | undefined
  /** The writes that wait for secondaries; missing on threads that do not write, and where nobody is waited for. */
  readonly synchronous?: SynchronousWrites
  /** How long requests and answers wait for the state of other clusters; missing: as without a configuration. */
  readonly consistency?: ConsistencySettings
  /** The queue of the thread; missing: the node makes one of its own. */
  readonly endOfTick?: EndOfTickQueue
  /** Missing: telemetry of a server with one thread is made. */
  readonly telemetry?: NodeTelemetry
  /** Settings of logins by cloud identity; missing: the vendor's clouds, and nothing of the environment. */
  readonly cloud?: CloudEnvironment
  readonly audit?: AuditOptions
}

/** Settings of audit from the configuration, and the part of it that the threads of one process share. */
export type AuditOptions = {
  readonly settings?: AuditSettings
  readonly chainHeads?: ChainHeadsMemory
  /** Missing: the files of this machine. Only a simulation has others. */
  readonly files?: AuditFiles
}

/** The link from a serving thread to the writing one. */
export type ToWriter = {
  /** The status that the writing thread told last. */
  readonly sealStatus: () => SealStatus
  /** The role of this node among others, as it was told last. */
  readonly roleState: () => RoleState
  /** Has the request carried out there. */
  readonly forward: (request: WireRequest) => Promise<WireResponse>
  /** Has a question of an engine answered there. */
  readonly ask: CallWriter
  /** As `Store.committedAfter`, of the commits there. */
  readonly committedAfter: (index: number) => Promise<number>
  /** Brings the caches up to what was committed there; returns undefined if they are up to date. */
  readonly catchUp: () => Promise<void> | undefined
}

/** The links from a writing thread to the serving ones. */
export type ToServing = {
  /** Resolves when every serving thread has taken over the state, has failed to, or has ended. */
  readonly announce: (news: SealState) => Promise<void>
  /** Reloads of a part of the configuration on every thread (sys/config/reload). */
  readonly configReloads: SealOperations['configReloads']
}

/** Parts that a serving thread hands in. */
export type ServingParts = CommonParts & {
  readonly role: ServingRole
  readonly store: ReadStore
  readonly channels: ToWriter
}

/** Parts that a writing thread hands in. */
export type WritingParts = CommonParts & {
  readonly role: WritingRole
  readonly store: Store
  /** What the node is when it starts; missing: it follows no other node until its opened store says so. */
  readonly firstRole?: RoleState
  /** Missing members stand for what is not there: other threads to tell, a configuration to reload. */
  readonly channels?: Partial<ToServing>
  /** Unseals the server at its start; missing: shares unseal it. */
  readonly autoSeal?: AutoSeal
  /** Hears of each new unseal key; only on a development server, which protects nothing. */
  readonly keyKeeper?: KeyKeeper
  /**
   * Hands the seal on to the secondaries, after a rekey of this cluster or of the primary that it follows. The bundle
   * is wiped when the promise settles. Missing: nobody but the links hears of it. Only tests hand it in.
   */
  readonly onRekeyed?: (bundle: SealBundle) => Promise<void>
  /** The links to other clusters; missing: replication is switched off. */
  readonly links?: ReplicationParts
  /** Missing if the store cannot be restored. */
  readonly restorable?: Restorable
  /** Missing if the cluster cannot begin to follow another (`emptied`). */
  readonly leaveOnly?: LeaveOnly
  /** What operators do with replication, in the place of what the links do. Only tests hand it in. */
  readonly replication?: () => ReplicationOperations
}

/** Parts that any thread hands in; `role` tells which kind they are. */
export type NodeParts = ServingParts | WritingParts

/** True if the role of the thread has the store open for writing. */
export const isWriting = (parts: NodeParts): parts is WritingParts => THREAD_ROLES[parts.role].writes
