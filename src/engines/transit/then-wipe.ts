/**
 * Returns what `work` returns, and zeros the bytes when it is done: after its promise, if it returns one, or its error.
 */
export function thenWipe<T>(bytes: Buffer, work: () => T | Promise<T>): T | Promise<T> {
  const wipe = (): void => {
    bytes.fill(0)
  }
  try {
    const done = work()
    if (done instanceof Promise) return done.finally(wipe)
    wipe()
    return done
  } catch (cause) {
    wipe()
    throw cause
  }
}
