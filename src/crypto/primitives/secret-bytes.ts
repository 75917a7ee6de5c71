/**
 * Zeros for a secret that will be wiped. Outside the JavaScript heap: the engine keeps small buffers inside it, and its
 * collector copies what lies there without clearing where it lay, so a later `fill(0)` would not reach every copy.
 */
export function secretBytes(count: number): Buffer<ArrayBuffer> {
  return Buffer.from(new ArrayBuffer(count))
}

/** A copy that can be wiped. */
export function copySecret(bytes: Buffer): Buffer<ArrayBuffer> {
  const copy = secretBytes(bytes.length)
  bytes.copy(copy)
  return copy
}
