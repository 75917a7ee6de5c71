/** Most marks that wait. Beyond them they are kept further apart: the ages are then coarser, and never too low. */
const MAX_MARKS = 1_024

type Mark = { readonly index: number; readonly atMs: number }

/**
 * Places of a log with their times, so that it is known what the time of a place was when someone has come to it. Of
 * several marks with one index the first or the last one counts.
 */
export class Marks {
  readonly #counts: 'first' | 'last'
  #waiting: Mark[] = []
  /** One of so many is kept, and the last one until the next comes. */
  #apart = 1
  #sinceKept = 0
  #reachedAtMs: number | undefined

  constructor(counts: 'first' | 'last') {
    this.#counts = counts
  }

  /** The time of the newest mark that was reached. */
  get reachedAtMs(): number | undefined {
    return this.#reachedAtMs
  }

  /** The time of the oldest mark that was not reached. */
  get missingSinceMs(): number | undefined {
    return this.#waiting[0]?.atMs
  }

  /** The log ended at this index at this time. Indexes do not go down. */
  add(index: number, atMs: number): void {
    if (this.#waiting.length === 0) this.#keepAll()
    if (this.#waiting.at(-1)?.index === index) {
      if (this.#counts === 'last') this.#waiting[this.#waiting.length - 1] = { index, atMs }
      return
    }
    // Never the oldest one: its time is asked for.
    if (this.#sinceKept % this.#apart !== 0 && this.#waiting.length > 1) this.#waiting.pop()
    this.#sinceKept++
    this.#waiting.push({ index, atMs })
    if (this.#waiting.length > MAX_MARKS) {
      this.#waiting = this.#waiting.filter((_, at) => at % 2 === 0)
      this.#apart *= 2
      this.#sinceKept = 0
    }
  }

  /** All up to this index is there. */
  reach(index: number): void {
    let reached = 0
    for (const mark of this.#waiting) {
      if (mark.index > index) break
      this.#reachedAtMs = mark.atMs
      reached++
    }
    this.#waiting.splice(0, reached)
  }

  #keepAll(): void {
    this.#apart = 1
    this.#sinceKept = 0
  }
}
