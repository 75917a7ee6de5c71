// What the configuration allows of replication: its operations at all, and its status at a listener.
import { requireReplication } from '../api/edition.ts'
import { fail } from '../api/errors.ts'
import type { RequestInfo } from '../api/request.ts'
import type { ReplicationFamily } from '../storage/peer-log.ts'
import type { System } from './system.ts'

/**
 * Requires that operations of the family are switched on. Each of them but the status asks first.
 * @throws Refusal that names the setting
 */
export function requireReplicationOn({ edition, facts }: Pick<System, 'edition' | 'facts'>, family: ReplicationFamily) {
  if (facts.replicationEnabled === false) throw fail('replication_off', [])
  requireReplication(edition, family)
}

/** Requires that the listener shows the status of replication. @throws Refusal */
export function requireStatusShown({ listener }: Pick<RequestInfo, 'listener'>): void {
  if (listener?.hidesReplicationStatus === true) throw fail('replication_status_hidden', [])
}
