// Orders to a thread that is still starting. They wait until it can carry them out.

/** A queue in front of a thread's handlers: messages may arrive before the parts that answer them exist. */
export class EarlyOrders {
  /** Undefined once the thread has begun. */
  #early: (() => void)[] | undefined = []

  /** Carries out the order as soon as this thread can. Orders keep their sequence. */
  run<T>(order: () => T | Promise<T>): Promise<T> {
    if (this.#early === undefined) return Promise.try(order)
    const { promise, resolve } = Promise.withResolvers<T>()
    this.#early.push(() => resolve(Promise.try(order)))
    return promise
  }

  /** Carries out what has waited, in its order; later orders are carried out at once. */
  begin(): void {
    const early = this.#early ?? []
    this.#early = undefined
    for (const order of early) order()
  }
}
