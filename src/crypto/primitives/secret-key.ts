// Secret bytes as KeyObjects: their memory is outside the JavaScript heap, is cleared when the last reference goes,
// prints as nothing, and is shared between threads without a copy (threats N-10, N-28).
import { createSecretKey, type KeyObject } from 'node:crypto'

/** Copies `bytes`; the caller wipes its own buffer. */
export function importSecret(bytes: Buffer): KeyObject {
  return createSecretKey(bytes)
}

/** A fresh copy of the bytes, for the caller to wipe. */
export function exportSecret(key: KeyObject): Buffer {
  return key.export()
}
