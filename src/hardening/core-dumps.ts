// Keeps a crash from writing the memory of the server, with all keys in it, to a file (B-05).
import { writeFileSync } from 'node:fs'

/**
 * Tells the kernel to leave all memory out of core dumps. Every process may do so for itself, on Linux
 * only; elsewhere nothing happens.
 */
export function emptyCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {
    // Check B-05 reports what was achieved.
  }
}
