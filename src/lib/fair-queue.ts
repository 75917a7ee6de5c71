// A queue that is fair between keys. Only so much work is done at once. Among the keys that wait, each gets one piece
// of work done before any gets another. A caller with much work waits behind itself, and delays others by one piece.

/** The limits of a queue. */
export type FairQueueLimits = {
  /** Pieces under way at once. */
  readonly atOnce: number
  /** Pieces that may wait for one key, and for all keys together. */
  readonly waitingOfOne: number
  readonly waitingOfAll: number
}

/** Too much work waits; nothing was begun. `of` tells which limit is reached. */
export class FairQueueFull extends Error {
  override name = 'FairQueueFull'
  readonly of: 'one' | 'all'

  constructor(of: 'one' | 'all') {
    super('Too much work waits')
    this.of = of
  }
}

/** Runs pieces of work by key; the caller decides what a key stands for. */
export class FairQueue {
  readonly #limits: FairQueueLimits
  /** Waiting work by key; first the key that is served next. No list is empty. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #waitingOfAll = 0
  #underWay = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
  }

  /** Runs `work` as soon as the key is served. @throws FairQueueFull if too much waits; what `work` throws */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#admission(key)
    try {
      return await work()
    } finally {
      this.#underWay--
      this.#next()
    }
  }

  /** Resolves when a piece of work of the key may begin; undefined if it may at once. */
  #admission(key: string): Promise<void> | undefined {
    if (this.#underWay < this.#limits.atOnce) {
      this.#underWay++
      return undefined
    }
    const ofKey = this.#waiting.get(key) ?? []
    if (ofKey.length >= this.#limits.waitingOfOne) throw new FairQueueFull('one')
    if (this.#waitingOfAll >= this.#limits.waitingOfAll) throw new FairQueueFull('all')
    this.#waitingOfAll++
    return new Promise((resolve) => {
      ofKey.push(resolve)
      if (ofKey.length === 1) this.#waiting.set(key, ofKey)
    })
  }

  #next(): void {
    const first = this.#waiting.entries().next()
    if (first.done === true) return
    const [key, ofKey] = first.value
    // The key moves behind all others that wait.
    this.#waiting.delete(key)
    const begin = ofKey.shift()
    if (ofKey.length > 0) this.#waiting.set(key, ofKey)
    this.#waitingOfAll--
    this.#underWay++
    begin?.()
  }
}
