// Orders to a thread that is still starting. The first listener on a port makes all of its messages flow, whoever they
// are for: so this one is attached first, and keeps what cannot be carried out yet.

/** As much of a message port as is needed. */
export type OrderPort<O> = {
  on(event: 'message', listener: (order: O) => void): unknown
}

export class EarlyOrders<O> {
  #early: O[] = []
  #carryOut: ((order: O) => void) | undefined

  constructor(port: OrderPort<O>) {
    port.on('message', (order) => {
      if (this.#carryOut === undefined) this.#early.push(order)
      else this.#carryOut(order)
    })
  }

  /** What came before is carried out first, in its order. */
  begin(carryOut: (order: O) => void): void {
    const early = this.#early
    this.#early = []
    this.#carryOut = carryOut
    for (const order of early) carryOut(order)
  }
}
