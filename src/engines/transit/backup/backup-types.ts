// Key types as backups number them. Two products with one format number them apart: what they added after they parted
// has another number in each, or is unknown to one. What is written here has the numbers of the fork.
import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { NEW_MANAGED_KEY } from '../ring/managed-type.ts'
import type { BackupMembers } from './backup-members.ts'

const LISTED = [...KEY_TYPES.values()]
const BY_ID: ReadonlyMap<number, KeyType> = new Map(LISTED.map((type) => [type.backupId, type]))
/** Those that have another number in the original. */
const BY_ORIGINAL_ID: ReadonlyMap<number, KeyType> = new Map(
  [...LISTED, NEW_MANAGED_KEY].flatMap((type): [number, KeyType][] =>
    type.originalBackupId === undefined ? [] : [[type.originalBackupId, type]],
  ),
)

/**
 * Undefined for a number that stands for nothing here. Which product wrote it shows in members that only one of them
 * has; where both are missing, in what the number can mean: only of a type of several sizes a size is written.
 */
export function backupTypeName(policy: BackupMembers, id: number): string | undefined {
  if (policy.has('soft_deleted')) return BY_ID.get(id)?.name
  const isOriginal = policy.has('ParameterSet') || policy.has('HybridConfig')
  const type = BY_ORIGINAL_ID.get(id)
  const isMeant = isOriginal || (type?.sizes !== undefined && policy.has('key_size'))
  return ((isMeant ? type : undefined) ?? BY_ID.get(id))?.name
}
