// What a thread hands in for its part of the server: the same for all roles, but for the store and the ways to others.
import type { NodeRole } from '../api/node-role.ts'
import type { ChainHeadsMemory } from '../audit/chain-heads.ts'
import type { AuditSettings } from '../audit/device-changes.ts'
import type { KeptLimits } from '../auth/kept-values.ts'
import type { TokenLimits } from '../auth/token-rules.ts'
import type { CallWriter } from '../core/engine-context.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import type { CloudEnvironment } from '../engines/cloud/settings.ts'
import type { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import type { Log } from '../lib/log.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import type { Devices } from '../managed-keys/device-link.ts'
import type { ReadStore, Store } from '../storage/contract.ts'
import type { AutoSeal } from '../system/seal/auto-seal.ts'
import type { KeyKeeper, SealStatus } from '../system/seal/seal.ts'
import type { SealOperations, ServerFacts } from '../system/system.ts'
import type { NodeTelemetry } from './node-telemetry.ts'
import type { Restorable } from './restore.ts'
import { type ServingRole, THREAD_ROLES, type WritingRole } from './roles.ts'
import type { SealState } from './seal-state.ts'

export type CommonParts = {
  readonly world: World
  readonly slow: SlowWork
  /** Missing: the configuration has none. */
  readonly devices?: Devices
  readonly log: Log
  /** Of the data; missing: they are in memory. */
  readonly directory?: string
  readonly facts: ServerFacts
  readonly tokenLimits: TokenLimits & { readonly kept?: KeptLimits }
  /** What this node is among others, as it is at the call; missing: one that follows nobody. */
  readonly nodeRole?: () => NodeRole
  /** Of the thread; missing: one of its own. */
  readonly endOfTick?: EndOfTickQueue
  /** Missing: that of a server with one thread. */
  readonly telemetry?: NodeTelemetry
  /** Of logins by cloud identity; missing: the vendor's clouds, and nothing of the environment. */
  readonly cloud?: CloudEnvironment
  readonly audit?: AuditOptions
}

/** What the configuration says of audit, and what the threads of one process share. */
export type AuditOptions = {
  readonly settings?: AuditSettings
  readonly chainHeads?: ChainHeadsMemory
}

/** The way of a thread that serves to the one that writes. */
export type ToWriter = {
  /** As it was told last. */
  readonly sealStatus: () => SealStatus
  readonly forward: (request: WireRequest) => Promise<WireResponse>
  /** The same for what engines ask. */
  readonly ask: CallWriter
  /** Brings the caches up to what was committed there; undefined: nothing to do. */
  readonly catchUp: () => Promise<void> | undefined
}

/** The way of a thread that writes to the others. */
export type ToServing = {
  /** Resolves when every thread that serves has taken it over. */
  readonly announce: (news: SealState) => Promise<void>
  /** What reads a part of the configuration anew on every thread (sys/config/reload). */
  readonly configReloads: SealOperations['configReloads']
}

export type ServingParts = CommonParts & {
  readonly role: ServingRole
  readonly store: ReadStore
  readonly channels: ToWriter
}

export type WritingParts = CommonParts & {
  readonly role: WritingRole
  readonly store: Store
  /** What is missing of it is not there: other threads to tell, a configuration to read anew. */
  readonly channels?: Partial<ToServing>
  /** Opens the server when it starts; missing: shares do. */
  readonly autoSeal?: AutoSeal
  /** Hears of each new unseal key; only where the server protects nothing. */
  readonly keyKeeper?: KeyKeeper
  /** Missing where a store cannot be restored. */
  readonly restorable?: Restorable
}

export type NodeParts = ServingParts | WritingParts

export const isWriting = (parts: NodeParts): parts is WritingParts => THREAD_ROLES[parts.role].writes
