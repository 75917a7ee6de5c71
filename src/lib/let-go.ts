/**
 * Frees the memory of `bytes` at once, where nothing else lies in it: by itself that waits for a collection, and what
 * comes meanwhile takes new memory. Whoever still has them finds them empty. Never of memory that cannot be taken away:
 * Node's pool as a whole, or that of WebAssembly.
 */
export function letGo({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength && !buffer.detached) buffer.transfer(0)
}
