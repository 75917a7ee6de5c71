// Long work of audit lets others in between.

export function pauseTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
