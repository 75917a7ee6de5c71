// Memory that was freed keeps what stood there until somebody gets it again. Libraries below us free copies of secrets
// as they are (OpenSSL the DER form of a private key that it writes): so we take such memory ourselves, cleared.

/** The allocator gives the smallest piece that fits: small ones are looked for behind large ones. */
const SIZES = [4_096, 1_024, 256, 96]

/**
 * Takes up to so many bytes of each size, of what this thread has freed, and lets go of them again. As much as that is
 * overwritten: what a thread freed a moment ago is among it, what lies in a larger heap may not be.
 */
export function overwriteFreed(bytesOfEachSize: number): void {
  const held: ArrayBuffer[] = []
  for (const size of SIZES) for (let taken = 0; taken < bytesOfEachSize; taken += size) held.push(new ArrayBuffer(size))
}
