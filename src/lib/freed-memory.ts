// Memory that was freed keeps what stood there until somebody gets it again. Libraries below us free copies of secrets
// as they are (Node what it decrypted into, OpenSSL the DER form of a private key): so we take such memory ourselves at
// once, and clear it.
//
// The allocator (glibc's; others differ in figures only) gives a thread back what it freed last, of the same size,
// unless seven pieces of that size lie ready already: then what is freed goes elsewhere, and may be cut up and become
// part of something that never writes all of its memory. So those seven are taken away first.

const READY_PIECES = 7
/** Behind the ready ones something may have been freed in between. */
const PIECES_AFTER = 2
/** Where what would be left over is too small to be a piece, it is given along: the piece is of the next size then. */
const NEXT_SIZE_BYTES = 16

/**
 * Gives what `work` gives, which frees secrets in pieces of these sizes (bytes), and overwrites those pieces. Some
 * microseconds for each size.
 */
export function overwritingFreed<T>(sizes: readonly number[], work: () => T): T {
  const held: ArrayBuffer[] = []
  takeEach(held, sizes, READY_PIECES)
  try {
    return work()
  } finally {
    takeEach(held, sizes, PIECES_AFTER)
    for (const piece of held) piece.transfer(0)
  }
}

function takeEach(held: ArrayBuffer[], sizes: readonly number[], count: number): void {
  for (const bytes of sizes) {
    for (let taken = 0; taken < count; taken++) held.push(takeCleared(bytes), takeCleared(bytes + NEXT_SIZE_BYTES))
  }
}

/** Memory as it was found, cleared by us: what the runtime itself clears it takes from elsewhere. */
const takeCleared = (bytes: number): ArrayBuffer => Buffer.allocUnsafeSlow(bytes).fill(0).buffer

/** Pieces of each size between lie ready for the thread that freed them, and are given for that size alone. */
const SMALLEST_READY = 24
const LARGEST_READY = 1_032

/** The allocator gives the smallest piece that fits: small ones are looked for behind large ones. */
const SIZES = [4_096, 1_024, 256, 96]

/**
 * Takes up to so many bytes of each of some sizes, of whatever this thread has freed, and lets go of them again. As
 * much as that is overwritten; what lies in a larger heap may not be.
 */
export function overwriteFreed(bytesOfEachSize: number): void {
  const held: ArrayBuffer[] = []
  for (let size = SMALLEST_READY; size <= LARGEST_READY; size += NEXT_SIZE_BYTES) takeEach(held, [size], READY_PIECES)
  for (const size of SIZES) for (let taken = 0; taken < bytesOfEachSize; taken += size) held.push(takeCleared(size))
}
