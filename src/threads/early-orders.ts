// Orders to a thread that is still starting: they are kept until it can carry them out.

export class EarlyOrders {
  /** Undefined once it has begun. */
  #early: (() => void)[] | undefined = []

  /** Carries it out, when this thread can; orders keep their order. */
  run<T>(order: () => T | Promise<T>): Promise<T> {
    if (this.#early === undefined) return Promise.try(order)
    const { promise, resolve } = Promise.withResolvers<T>()
    this.#early.push(() => resolve(Promise.try(order)))
    return promise
  }

  /** What came before is carried out first. */
  begin(): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const order of early) order()
  }
}
