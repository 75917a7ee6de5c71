// The turns of the event loop: what arrives in one is written together, and long work lets others in between.

/** Runs `work` when what arrived in this turn was taken up. */
export function afterTurn(work: () => void): void {
  setImmediate(work)
}

export function pauseTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
