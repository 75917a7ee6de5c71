/** Runs pieces of work one after the other, in the order in which they came. A failure does not hold up the next. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}

/** Runs pieces of work with the same key one after the other. Those with another key do not wait for them. */
export class OneAtATimeByKey {
  readonly #queues = new Map<string, { readonly queue: OneAtATime; pieces: number }>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const ofKey = this.#queues.get(key) ?? { queue: new OneAtATime(), pieces: 0 }
    this.#queues.set(key, ofKey)
    ofKey.pieces++
    try {
      return await ofKey.queue.run(work)
    } finally {
      if (--ofKey.pieces === 0) this.#queues.delete(key)
    }
  }
}
