// The algorithm that seals the messages of a key version, as it follows from the header. With a wrong one messages
// would not open, or would be sealed too weakly (threats C-02).
import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import type { KeyUse } from '../../../crypto/message.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import type { RingHeader, VersionHeader } from './ring-header.ts'

/**
 * Bytes of the nonce that callers of convergent version 1 give (Interface 4.3). Types with other nonces never had it.
 */
export const CALLER_NONCE_BYTES = 12

/** Returns the algorithm of a version. @throws StorageCorrupt if version, derivation and type do not go together */
export function keyUseOf(
  { derived, convergent, kdf }: Pick<RingHeader, 'derived' | 'convergent' | 'kdf'>,
  { convergentVersion: version }: Pick<VersionHeader, 'convergentVersion'>,
  { name, derivation, cipher }: KeyType,
): KeyUse {
  if (derived && kdf === 'counter') {
    // Convergent encryption is younger than HKDF, and its version 3 needs more bytes than the counter mode derives.
    if (convergent || version !== 0 || derivation?.deriveByCounter === undefined)
      throw new StorageCorrupt(`A key of type ${name} has a kdf that it cannot have`)
    return 'derived-by-counter'
  }
  if (!convergent && version === 0) return derived ? 'derived' : 'plain'
  if (convergent && derived && derivation?.convergent !== undefined) {
    if (version === 2 || version === 3) return `convergent-${version}`
    if (version === 1 && cipher?.nonceBytes === CALLER_NONCE_BYTES) return 'convergent-1'
  }
  throw new StorageCorrupt(`A version of a key of type ${name} has convergent version ${version}, which it cannot have`)
}
