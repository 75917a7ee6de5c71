// Key types as backups number them. Two products with one format number them apart: what they added after they parted
// has another number in each, or is unknown to one.

import { own } from '../../../lib/own.ts'
import type { BackupMembers } from './backup-members.ts'

/**
 * As written here; where the two differ, as the fork writes them. The last ones are of this program: the fork has no
 * such types, and of the original it is not known how it writes them.
 */
const IDS: Readonly<Record<string, number>> = {
  'aes256-gcm96': 0,
  'ecdsa-p256': 1,
  ed25519: 2,
  'rsa-2048': 3,
  'rsa-4096': 4,
  'chacha20-poly1305': 5,
  'ecdsa-p384': 6,
  'ecdsa-p521': 7,
  'aes128-gcm96': 8,
  'rsa-3072': 9,
  hmac: 10,
  'xchacha20-poly1305': 11,
  'aes128-cmac': 12,
  'aes256-cmac': 13,
  'aes192-cmac': 16,
  'ecdsa-secp256k1': 20_001,
  'ml-dsa-44': 20_044,
  'ml-dsa-65': 20_065,
  'ml-dsa-87': 20_087,
}

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(IDS).map(([name, id]) => [id, name]))

/** Undefined for a type that is not backed up. */
export function backupTypeId(name: string): number | undefined {
  return own(IDS, name)
}

const FORK_HMAC = 10
const FORK_XCHACHA20 = 11

/**
 * Undefined for a number that stands for nothing here. Which product wrote it shows in members that only one of them
 * has; where both are missing, in what the number can mean.
 */
export function backupTypeName(policy: BackupMembers, id: number): string | undefined {
  const isFork = policy.has('soft_deleted')
  const isOriginal = policy.has('ParameterSet') || policy.has('HybridConfig')
  // In the original 10 is a key that lies elsewhere, and 11 is hmac.
  if (id === FORK_HMAC && isOriginal && !isFork) return 'managed_key'
  if (id === FORK_XCHACHA20 && !isFork && (isOriginal || policy.has('key_size'))) return 'hmac'
  return NAMES.get(id)
}
