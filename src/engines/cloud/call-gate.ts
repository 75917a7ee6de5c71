// How many calls to the cloud are under way: a slow cloud takes a bounded part of this server, whoever logs in.

const MOST_RUNNING = 64
const MOST_WAITING = 256

export class CallGate {
  #running = 0
  readonly #waiting: (() => void)[] = []

  /** Undefined where too many wait already; else what is to be called when the call has ended. */
  async enter(): Promise<(() => void) | undefined> {
    if (this.#running >= MOST_RUNNING) {
      if (this.#waiting.length >= MOST_WAITING) return undefined
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const next = this.#waiting.shift()
      if (next === undefined) this.#running -= 1
      else next()
    }
  }
}
