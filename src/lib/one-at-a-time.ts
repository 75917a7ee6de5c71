/** Runs pieces of work one after the other, in the order in which they came. A failure does not hold up the next. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}
