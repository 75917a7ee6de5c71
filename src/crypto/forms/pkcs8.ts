// Private keys as they are stored: PKCS #8 (RFC 5208) in DER.
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { overwritingFreed } from '../../lib/freed-memory.ts'

/** The caller wipes it. */
export function pkcs8Of(key: KeyObject): Buffer {
  // The first one says how long it is: what it leaves is overwritten with what the second leaves.
  const first = key.export({ type: 'pkcs8', format: 'der' })
  first.fill(0)
  return overwritingFreed(aroundPkcs8(first.length), () => key.export({ type: 'pkcs8', format: 'der' }))
}

/**
 * Reads one; which kind it is, and what follows it, is the caller's to look at. The bytes stay the caller's to wipe.
 * @throws what the runtime throws, which may quote the key: not for anybody to see
 */
export function openPkcs8(der: Buffer): KeyObject {
  return overwritingFreed(aroundPkcs8(der.length), () => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

/** What stands around the key inside: the version, the algorithm, three heads. */
const OUTER_BYTES = 26

/** The pieces that OpenSSL frees as they are: the inner form, the whole, and texts of it, which grow by thirds. */
function aroundPkcs8(bytes: number): number[] {
  return [Math.max(0, bytes - OUTER_BYTES), bytes, thirds(bytes + 3), thirds(bytes + 11)]
}

const thirds = (bytes: number): number => Math.floor(bytes / 3) * 4
