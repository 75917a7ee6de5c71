/**
 * Frees the memory of `bytes` at once, if nothing else lies in it. By itself that would wait for a garbage collection,
 * while new data take new memory. A holder of the bytes finds them empty afterwards. Must not be called for memory that
 * cannot be taken away: Node's pool as a whole, or that of WebAssembly.
 */
export function letGo({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && !buffer.detached) buffer.transfer(0)
}
