// What every request of one turn of the event loop needs is done once for all of them when the turn ends: one write to
// an audit log, and answers that leave together. Leaving one by one, each wakes the other side, which costs more than
// the work for the request (docs/performance.md).

/** In this order; what promises of one part set off is done before the next part begins. */
const PARTS = { 'record requests': 0, 'record responses': 1, answer: 2 } as const
const COUNT = 3
export type TurnPart = keyof typeof PARTS

type Work = () => void

export class EndOfTickQueue {
  readonly #waiting: Work[][] = [[], [], []]
  #isScheduled = false
  /** Parts of this end that have begun. */
  #begun = 0

  /** Runs `work`, which must not throw, when the turn ends; for a part that is over then, when the next one ends. */
  add(part: TurnPart, work: Work): void {
    this.#waiting[PARTS[part]]?.push(work)
    if (!this.#isScheduled) this.#schedule()
  }

  /** The same for the next part in which something is recorded, of this end or of the next. */
  readonly record = (work: Work): void => {
    this.add(this.#begun === 1 ? 'record responses' : 'record requests', work)
  }

  #schedule(): void {
    this.#isScheduled = true
    // Each in a callback of its own: between them the runtime lets promises go on.
    for (let part = 0; part < COUNT; part++) setImmediate(this.#run, part)
  }

  readonly #run = (part: number): void => {
    this.#begun = (part + 1) % COUNT
    const waiting = this.#waiting[part] as Work[]
    if (waiting.length > 0) {
      this.#waiting[part] = []
      for (const work of waiting) work()
    }
    if (part < COUNT - 1) return
    this.#isScheduled = false
    if (this.#waiting.some((left) => left.length > 0)) this.#schedule()
  }
}
