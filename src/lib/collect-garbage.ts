import { overwriteFreed } from './freed-memory.ts'

/**
 * Frees what nothing refers to, now: the memory of a key is cleared when its last reference is collected, and
 * by itself that may take hours. What this thread freed before is overwritten, as far as it is found. Some tens of
 * milliseconds. Nothing where the runtime was started without `--expose-gc`, as in tests of one room.
 */
export function collectGarbage(): void {
  if (globalThis.gc === undefined) return
  globalThis.gc()
  overwriteFreed(OVERWRITTEN_BYTES)
  globalThis.gc()
}

/** Of each size that is looked for. */
const OVERWRITTEN_BYTES = 2 << 20
