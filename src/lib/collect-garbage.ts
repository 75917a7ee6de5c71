/**
 * Frees what nothing refers to any more, now: the memory of a key is cleared when its last reference is collected, and
 * by itself that may take hours. Some tens of milliseconds. Nothing where the runtime was started without
 * `--expose-gc`, as in tests of one room.
 */
export function collectGarbage(): void {
  globalThis.gc?.()
}

/** What of it was made a moment ago; about a millisecond, whatever else there is. */
export function collectYoungGarbage(): void {
  globalThis.gc?.({ type: 'minor' })
}
