// The audit of requests, as one thread writes it.
import { Audit } from '../audit/audit.ts'
import { newChainHeadsMemory } from '../audit/chain-heads.ts'
import type { AuditSettings } from '../audit/device-changes.ts'
import { EndOfTickQueue } from '../lib/end-of-tick-queue.ts'
import { namedLog } from '../lib/log.ts'
import type { StorageRoom } from './build-storage.ts'
import type { NodeParts } from './node-parts.ts'

const NO_AUDIT_SETTINGS: AuditSettings = { declared: [], allowsApi: true }

/**
 * Builds the audit of this thread. It opens no device before the gate does. Chain heads lie in memory that all threads
 * of a process share; a thread alone makes that memory itself.
 */
export function buildAudit(parts: NodeParts, { storage, invalidation, histories }: StorageRoom): Audit {
  const { settings = NO_AUDIT_SETTINGS, chainHeads = newChainHeadsMemory(), files } = parts.audit ?? {}
  const { world, role, endOfTick = new EndOfTickQueue(world.ticks) } = parts
  const log = namedLog(parts.log, 'audit')
  const placed = { dataDirectory: parts.directory, ...settings }
  return new Audit({
    storage,
    invalidation,
    world,
    log,
    settings: placed,
    chainHeads,
    thread: role,
    endOfTick,
    files,
    histories,
  })
}
