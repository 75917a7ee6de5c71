// Who waits for a commit that is still to come. They stand in the order of the indexes they wait for, so a commit looks
// at those whom it wakes and at no other.

type Waiter = {
  readonly index: number
  readonly resolve: (committed: number) => void
  readonly reject: (cause: Error) => void
}

/** Those who wait for one store, or for one counter of a thread. */
export class CommitWaiters {
  #waiting: Waiter[] = []
  #closed: Error | undefined

  get size(): number {
    return this.#waiting.length
  }

  /** Resolves with the last committed index once it is above `index`; at once if `committed` is. */
  after(index: number, committed: number): Promise<number> {
    if (committed > index) return Promise.resolve(committed)
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    return new Promise((resolve, reject) => {
      this.#waiting.splice(this.#countUpTo(index), 0, { index, resolve, reject })
    })
  }

  /** Wakes all who wait for something up to `committed`. */
  wake(committed: number): void {
    if (this.#waiting.length === 0) return
    const woken = this.#waiting.splice(0, this.#countUpTo(committed - 1))
    for (const { resolve } of woken) resolve(committed)
  }

  /** Ends the waiting of all, and of everyone who comes later. Only the first cause counts. */
  close(cause: Error): void {
    this.#closed ??= cause
    for (const { reject } of this.#waiting.splice(0)) reject(this.#closed)
  }

  /** The number of those who wait for something after `index` or an earlier one, by binary search. */
  #countUpTo(index: number): number {
    let low = 0
    let high = this.#waiting.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const waiter = this.#waiting[middle]
      if (waiter !== undefined && waiter.index <= index) low = middle + 1
      else high = middle
    }
    return low
  }
}
