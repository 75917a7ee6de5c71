// Private keys as they are stored: PKCS #8 (RFC 5208) in DER.
import type { KeyObject } from 'node:crypto'
import { overwriteFreed } from '../lib/freed-memory.ts'

/** What OpenSSL allocates around an export, several times over. */
const AROUND_EXPORT_BYTES = 128 * 1024

/** The caller wipes it. OpenSSL frees its own copy as it is: that is overwritten. */
export function pkcs8Of(key: KeyObject): Buffer {
  const der = key.export({ type: 'pkcs8', format: 'der' })
  overwriteFreed(AROUND_EXPORT_BYTES)
  return der
}
