// The pipeline of this thread, and the services that its steps work with.
import type { Namespaces } from '../api/namespace.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Audit } from '../audit/audit.ts'
import { DEFAULT_KEPT_LIMITS } from '../auth/kept-values.ts'
import type { Consistency } from '../core/consistency.ts'
import { Core } from '../core/core.ts'
import type { MountTable } from '../core/mount-table.ts'
import type { PipelineServices } from '../core/pipeline-services.ts'
import { namedLog } from '../lib/log.ts'
import type { QuotaStore } from '../quotas/quota-store.ts'
import { RateLimiter } from '../quotas/rate-limiter.ts'
import type { Store } from '../storage/contract.ts'
import { StorageClosed } from '../storage/errors.ts'
import type { Position } from '../storage/peer-log.ts'
import type { SystemServices } from '../system/services.ts'
import { uiHeaderTexts } from '../system/ui-headers.ts'
import { CELL } from '../telemetry/cells.ts'
import type { AuthServices } from './auth-services.ts'
import type { StorageRoom } from './build-storage.ts'
import type { SealSide } from './build-system.ts'
import type { NodeGate } from './node-gate.ts'
import type { CommonParts, ToWriter } from './node-parts.ts'
import type { NodeTelemetry } from './node-telemetry.ts'
import { forwardOrRefuse } from './writer-refusals.ts'

/** Parts of other rooms that the pipeline needs. */
export type CoreRooms = {
  readonly seal: SealSide
  readonly storage: StorageRoom
  readonly auth: AuthServices
  readonly consistency: Consistency
  readonly namespaces: Namespaces
  readonly audit: Audit
  readonly quotas: QuotaStore
  readonly telemetry: NodeTelemetry
  readonly services: SystemServices
  readonly mounts: MountTable
  readonly gate: NodeGate
  readonly nodeRole: () => NodeRole
  readonly primaryAddress: () => string
  /** The link to the writing thread; undefined if this is it. */
  readonly writer: ToWriter | undefined
}

/**
 * Builds the pipeline. Without a link to a writing thread nothing is forwarded, and no commit of another thread is
 * followed.
 */
export function buildCore(parts: CommonParts, rooms: CoreRooms): Core {
  const { telemetry } = rooms.telemetry
  const catchUp = rooms.writer?.catchUp ?? (() => undefined)
  return new Core(pipelineServices(parts, rooms), telemetry.watch, namedLog(parts.log, 'core'), catchUp)
}

function pipelineServices(
  { world, facts, tokenLimits, synchronous, toPrimary = () => undefined }: CommonParts,
  rooms: CoreRooms,
): PipelineServices {
  const { auth, namespaces, audit, mounts, quotas, gate, seal, services, writer, nodeRole, primaryAddress } = rooms
  const { telemetry, limits } = rooms.telemetry
  const { tokens, policies, identities, rights, logins, wrapping } = auth
  return {
    namespaces,
    tokens,
    policies,
    identities,
    rights,
    logins,
    wrapping,
    mounts,
    browsers: {
      cors: () => services.cors.current(),
      uiHeaders: () => uiHeaders(services),
    },
    quotas,
    limiter: new RateLimiter(limits, world.clock, () => telemetry.count(CELL.quotaEvictions)),
    noteRateLimited: () => telemetry.count(CELL.rateLimited),
    noteUnrecorded: (what) =>
      telemetry.count(what === 'request' ? CELL.auditRequestFailures : CELL.auditResponseFailures),
    audit,
    sealed: () => !gate.isOpen,
    initialized: () => seal.status().initialized,
    nodeRole,
    toPrimary,
    consistency: rooms.consistency,
    synchronous,
    position: () => positionOf(rooms.storage.writes),
    primaryAddress,
    permissionHints: facts.permissionHints ?? true,
    mostFreeBytes: (tokenLimits.kept ?? DEFAULT_KEPT_LIMITS).entryBytes,
    forward: writer && forwardOrRefuse(writer.forward),
  }
}

function positionOf(store: Store | undefined): Position | undefined {
  try {
    return store?.positionNow()
  } catch (cause) {
    // Another store is taking its place.
    if (cause instanceof StorageClosed) return undefined
    throw cause
  }
}

function uiHeaders({ uiHeaders: setting }: SystemServices): Record<string, string> | Promise<Record<string, string>> {
  const found = setting.current()
  return found instanceof Promise ? found.then(uiHeaderTexts) : uiHeaderTexts(found)
}
