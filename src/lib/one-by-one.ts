/**
 * Runs pieces of work one after the other. One that fails holds up no other.
 * @throws what the first of them threw, once all have run
 */
export async function oneByOne(work: Iterable<() => unknown>): Promise<void> {
  const failures: unknown[] = []
  for (const piece of work) {
    try {
      await piece()
    } catch (cause) {
      failures.push(cause)
    }
  }
  if (failures.length > 0) throw failures[0]
}
