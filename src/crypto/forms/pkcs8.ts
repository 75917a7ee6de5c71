// Writes and reads private keys as they are stored: PKCS #8 (RFC 5208) in DER. OpenSSL frees its buffers without
// clearing them, so both run inside `overwritingFreed` (src/lib/freed-memory.ts; threats P-14).
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { overwritingFreed } from '../../lib/freed-memory.ts'

/** The key as PKCS #8; the caller wipes it. */
export function pkcs8Of(key: KeyObject): Buffer {
  // The first export only tells the length. What it leaves in freed memory is overwritten together with the second.
  const first = key.export({ type: 'pkcs8', format: 'der' })
  first.fill(0)
  return overwritingFreed(aroundPkcs8(first.length), () => key.export({ type: 'pkcs8', format: 'der' }))
}

/**
 * Reads PKCS #8. The caller checks the kind of the key and that nothing follows it, and wipes its bytes.
 * @throws what the runtime throws, which may quote the key: it must not reach a log or an answer
 */
export function openPkcs8(der: Buffer): KeyObject {
  return overwritingFreed(aroundPkcs8(der.length), () => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

/** Bytes of PKCS #8 around the inner key: the version, the algorithm, three heads. */
const OUTER_BYTES = 26

/** Sizes of the pieces that OpenSSL frees uncleared: the inner form, the whole, and base64 of it, longer by a third. */
function aroundPkcs8(bytes: number): number[] {
  return [Math.max(0, bytes - OUTER_BYTES), bytes, thirds(bytes + 3), thirds(bytes + 11)]
}

const thirds = (bytes: number): number => Math.floor(bytes / 3) * 4
