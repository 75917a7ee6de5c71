// A crash must not write the memory of the server, and all keys with it, into a file (B-05).
import { writeFileSync } from 'node:fs'

/** Asks the kernel to leave all memory out of core dumps, which any process may for itself; Linux only. */
export function emptyCoreDumps(): void {
  try {
    writeFileSync('/proc/self/coredump_filter', '0')
  } catch {
    // The check says how it is.
  }
}
