// What waits for the pool, in the order in which it is to be done. Short jobs come first, and each client has its turn,
// so that one with many jobs delays the others by one job and not by all. Long ones wait in the same way for one of the
// few workers that take them.

export type Takes = 'short' | 'long'

export type QueueLimits = { readonly short: number; readonly long: number }

/** `C` is the client; `J` what it wants done. */
export class JobQueue<C, J> {
  readonly #limits: QueueLimits
  readonly #waiting: { readonly [takes in Takes]: Map<C, J[]> } = { short: new Map(), long: new Map() }
  readonly #counts = { short: 0, long: 0 }

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  count(takes: Takes): number {
    return this.#counts[takes]
  }

  /** False where the queue is full: nothing was added. */
  add(client: C, takes: Takes, job: J): boolean {
    if (this.#counts[takes] >= this.#limits[takes]) return false
    const own = this.#waiting[takes].get(client)
    if (own === undefined) this.#waiting[takes].set(client, [job])
    else own.push(job)
    this.#counts[takes]++
    return true
  }

  /** One that was taken before and not begun: it is the next of its client, whatever the limit. */
  putBack(client: C, takes: Takes, job: J): void {
    this.#waiting[takes].set(client, [job, ...(this.#waiting[takes].get(client) ?? [])])
    this.#counts[takes]++
  }

  /** The next job of the client whose turn it is. */
  take(takes: Takes): J | undefined {
    const waiting = this.#waiting[takes]
    for (const [client, own] of waiting) {
      // A map keeps the order of insertion: who was served goes to the end.
      waiting.delete(client)
      const job = own.shift()
      if (own.length > 0) waiting.set(client, own)
      if (job === undefined) continue
      this.#counts[takes]--
      return job
    }
    return undefined
  }

  /** The client is no more: so are its jobs. */
  drop(client: C): void {
    for (const takes of ['short', 'long'] as const) {
      this.#counts[takes] -= this.#waiting[takes].get(client)?.length ?? 0
      this.#waiting[takes].delete(client)
    }
  }

  /** Takes all that waits. */
  clear(): J[] {
    const all = [...this.#waiting.short.values(), ...this.#waiting.long.values()].flat()
    for (const takes of ['short', 'long'] as const) {
      this.#waiting[takes].clear()
      this.#counts[takes] = 0
    }
    return all
  }
}
