/**
 * Zeros for a secret that will be wiped. They lie outside the JavaScript heap. The engine keeps small buffers inside
 * it, and its collector moves them without clearing the old place: a later `fill(0)` would not reach every copy.
 */
export function secretBytes(count: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(count))
}

/** A copy of a secret that can be wiped, as above. */
export function copySecret(bytes: Buffer): Buffer<ArrayBuffer> {
  const copy = secretBytes(bytes.length)
  bytes.copy(copy)
  return copy
}
