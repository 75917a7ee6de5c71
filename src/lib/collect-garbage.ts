import { overwriteFreed } from './freed-memory.ts'

/**
 * Frees at once what nothing refers to. The memory of a key is cleared when its last reference is collected, which by
 * itself may take hours. Memory that this thread freed before is overwritten, as far as it is found. Takes some tens of
 * milliseconds. Does nothing if the runtime was started without `--expose-gc`, as in tests of one room.
 */
export function collectGarbage(): void {
  if (globalThis.gc === undefined) return
  globalThis.gc()
  overwriteFreed(OVERWRITTEN_BYTES)
  globalThis.gc()
}

/** Bytes for each size of freed memory that is looked for. */
const OVERWRITTEN_BYTES = 2 << 20
