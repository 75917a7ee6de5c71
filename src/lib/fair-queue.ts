// Work in turns: only so much of it is done at once, and of those for whom some waits each gets one piece done before
// anybody gets another. Who has much waits behind himself, and delays others by one piece.

export type TurnLimits = {
  /** Pieces that are under way. */
  readonly atOnce: number
  /** Pieces that wait, of one key and of all together. */
  readonly waitingOfOne: number
  readonly waitingOfAll: number
}

/** Nothing was begun. */
export class FairQueueFull extends Error {
  override name = 'FairQueueFull'
  readonly of: 'one' | 'all'

  constructor(of: 'one' | 'all') {
    super('Too much work waits')
    this.of = of
  }
}

export class FairQueue {
  readonly #limits: TurnLimits
  /** What waits, by key; first the key whose turn is next. None is empty. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #waitingOfAll = 0
  #underWay = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  /** @throws FairQueueFull where too much waits; what `work` throws */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    await this.#turn(key)
    try {
      return await work()
    } finally {
      this.#underWay--
      this.#next()
    }
  }

  #turn(key: string): Promise<void> | undefined {
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
    // Behind all others that wait.
    this.#waiting.delete(key)
    const begin = ofKey.shift()
    if (ofKey.length > 0) this.#waiting.set(key, ofKey)
    this.#waitingOfAll--
    this.#underWay++
    begin?.()
  }
}
