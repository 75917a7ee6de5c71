// Secret bytes as KeyObjects. Their memory is outside the JavaScript heap and is cleared when the last reference is
// collected. They print as nothing, and threads share them without a copy (threats N-10, N-28).
import { createSecretKey, type KeyObject } from 'node:crypto'

/** A key with a copy of `bytes`; the caller wipes its own buffer. */
export function importSecret(bytes: Buffer): KeyObject {
  return createSecretKey(bytes)
}

/** A fresh copy of the bytes, for the caller to wipe. */
export function exportSecret(key: KeyObject): Buffer {
  return key.export()
}
