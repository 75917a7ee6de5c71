// Work that all requests of one turn of the event loop need is done once for them together when the turn ends: one
// write to an audit log, and answers that leave together. Leaving one by one, each answer wakes the other side, which
// costs more than the work for the request (docs/performance.md).
import { eventLoop, type Ticks } from './world.ts'

/** The parts of an end, in their order. Promises that one part settles go on before the next part begins. */
const PARTS = { 'record requests': 0, 'record responses': 1, answer: 2 } as const
const COUNT = 3
/** The name of a part. */
export type TickPart = keyof typeof PARTS

type Work = () => void

/** The queue of one thread. The audit and the listeners of the thread share it. */
export class EndOfTickQueue {
  readonly #ticks: Ticks
  readonly #waiting: Work[][] = [[], [], []]
  #isScheduled = false
  /** How many parts of the present end have begun. */
  #begun = 0

  constructor(ticks: Ticks = eventLoop) {
    this.#ticks = ticks
  }

  /** Runs `work` when the turn ends, or when the next one ends if that part is over. `work` must not throw. */
  add(part: TickPart, work: Work): void {
    this.#waiting[PARTS[part]]?.push(work)
    if (!this.#isScheduled) this.#schedule()
  }

  /** Runs `work` in the next part that records, of this end or of the next. */
  readonly record = (work: Work): void => {
    this.add(this.#begun === 1 ? 'record responses' : 'record requests', work)
  }

  #schedule(): void {
    this.#isScheduled = true
    // Each part in a tick of its own: between ticks the runtime lets promises go on.
    for (let part = 0; part < COUNT; part++) this.#ticks.run(this.#run, part)
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
