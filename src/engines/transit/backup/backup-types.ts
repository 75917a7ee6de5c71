// The numbers of key types in backups. Two products share one format, an original and its fork. A type that they added
// after they parted has another number in each, or is unknown to one of them. Backups of this server have the fork's.
import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { NEW_MANAGED_KEY } from '../ring/managed-type.ts'
import type { BackupMembers } from './backup-members.ts'

const LISTED = [...KEY_TYPES.values()]
const BY_ID: ReadonlyMap<number, KeyType> = new Map(LISTED.map((type) => [type.backupId, type]))
/** Types that have another number in the original. */
const BY_ORIGINAL_ID: ReadonlyMap<number, KeyType> = new Map(
  [...LISTED, NEW_MANAGED_KEY].flatMap((type): [number, KeyType][] =>
    type.originalBackupId === undefined ? [] : [[type.originalBackupId, type]],
  ),
)

/**
 * Returns the name of the type with this number; undefined if it stands for none that is known here. The product that
 * wrote the backup shows in members which only one of the two has. If none of them is there, `key_size` decides: it is
 * written for types of several sizes alone.
 */
export function backupTypeName(policy: BackupMembers, id: number): string | undefined {
  if (policy.has('soft_deleted')) return BY_ID.get(id)?.name
  const isOriginal = policy.has('ParameterSet') || policy.has('HybridConfig')
  const type = BY_ORIGINAL_ID.get(id)
  const isMeant = isOriginal || (type?.sizes !== undefined && policy.has('key_size'))
  return ((isMeant ? type : undefined) ?? BY_ID.get(id))?.name
}
