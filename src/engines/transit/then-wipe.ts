/** Zeros when `work` is done with the bytes, which may be later; also where it fails. */
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
