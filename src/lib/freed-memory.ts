// Freed memory keeps its content until it is handed out again. Libraries below us free copies of secrets without
// clearing them: Node the memory that it decrypted into, OpenSSL the DER form of a private key. So this takes such
// memory itself at once, and clears it.
//
// The details are those of glibc; other allocators differ in figures only. The allocator gives a thread back the memory
// that it freed last, of the same size. If seven pieces of that size lie ready already, freed memory goes elsewhere.
// There it may be cut up, and become part of something that never writes all of it. So those seven pieces are taken
// away first.

const READY_PIECES = 7
/** More pieces may have been freed after those that were ready. */
const PIECES_AFTER = 2
/** A remainder too small to be a piece is handed out along with it: the piece then counts as one of the next size. */
const NEXT_SIZE_BYTES = 16

/**
 * Returns the result of `work`, which frees secrets in pieces of these sizes (bytes), and overwrites those pieces.
 * Takes some microseconds for each size.
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

/** Memory as it was found, then cleared here: memory that the runtime clears itself comes from elsewhere. */
const takeCleared = (bytes: number): ArrayBuffer => Buffer.allocUnsafeSlow(bytes).fill(0).buffer

/**
 * Freed pieces between these sizes lie ready for the thread that freed them, and are handed out for their size alone.
 */
const SMALLEST_READY = 24
const LARGEST_READY = 1_032

/** The allocator hands out the smallest piece that fits. Small pieces are looked for after large ones. */
const SIZES = [4_096, 1_024, 256, 96]

/**
 * Takes up to so many bytes of each of some sizes, from memory that this thread has freed, and frees them again
 * cleared. In a large heap some of that memory may be missed.
 */
export function overwriteFreed(bytesOfEachSize: number): void {
  const held: ArrayBuffer[] = []
  for (let size = SMALLEST_READY; size <= LARGEST_READY; size += NEXT_SIZE_BYTES) takeEach(held, [size], READY_PIECES)
  for (const size of SIZES) for (let taken = 0; taken < bytesOfEachSize; taken += size) held.push(takeCleared(size))
}
