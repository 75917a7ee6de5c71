// A helper that writes to a set at an even rate while it changes hands: to the cluster that took the last write, and
// where that one refuses, to each of the two in turn until one takes it. Meanwhile one write asks for all.
import { setTimeout as sleep } from 'node:timers/promises'
import { help, machineMs } from './helpers.ts'
import { Sender } from './sender.ts'

/** What is sent: each request makes another name, which the path gets a number for. */
export type MovingOrder = {
  /** The first one is the primary. */
  readonly addresses: readonly [string, string]
  readonly token: string
  readonly path: string
  readonly connections: number
  readonly perSecond: number
}

/** Writes that were taken, in order: when the answer was there, in milliseconds of `machineMs`, and who gave it. */
export type Taken = { readonly atMs: Float64Array; readonly by: Uint8Array }

/** Between two questions to clusters that refuse. */
const TURN_MS = 2
/** A fenced primary says the one, a secondary the other. */
const REFUSALS = [503, 400]

class MovingLoad {
  readonly #order: MovingOrder
  readonly #senders: readonly Sender[]
  readonly #atMs: number[] = []
  readonly #by: number[] = []
  #current = 0
  #sent = 0
  #turning: Promise<void> | undefined
  #isOver = false
  readonly #done: Promise<void>

  private constructor(order: MovingOrder, senders: readonly Sender[]) {
    this.#order = order
    this.#senders = senders
    this.#done = this.#paced()
    this.#done.catch(() => {})
  }

  static async begin(order: MovingOrder): Promise<MovingLoad> {
    const senders: Sender[] = []
    for (const address of order.addresses) senders.push(await Sender.open(address, order.connections))
    return new MovingLoad(order, senders)
  }

  async end(): Promise<Taken> {
    this.#isOver = true
    await this.#done
    for (const sender of this.#senders) sender.close()
    return { atMs: new Float64Array(this.#atMs), by: new Uint8Array(this.#by) }
  }

  async #paced(): Promise<void> {
    const startMs = machineMs()
    const writes: Promise<void>[] = []
    while (!this.#isOver) {
      for (; startMs + (writes.length * 1_000) / this.#order.perSecond <= machineMs(); ) {
        const one = this.#write()
        // Whoever waits for all of them is told.
        one.catch(() => {})
        writes.push(one)
      }
      await sleep(1)
    }
    await Promise.all(writes)
  }

  async #write(): Promise<void> {
    for (;;) {
      const at = this.#current
      if (await this.#isTaken(at)) return
      if (at !== this.#current) continue
      this.#turning ??= this.#turn().finally(() => {
        this.#turning = undefined
      })
      await this.#turning
    }
  }

  async #turn(): Promise<void> {
    for (let at = 1 - this.#current; ; at = 1 - at) {
      if (await this.#isTaken(at)) {
        this.#current = at
        return
      }
      await sleep(TURN_MS)
    }
  }

  async #isTaken(at: number): Promise<boolean> {
    const { path, token } = this.#order
    const status = (await this.#senders[at]?.send('POST', `/v1/${path}${this.#sent++}`, token, '{}')) ?? 0
    if (status < 300) {
      this.#atMs.push(machineMs())
      this.#by.push(at)
    } else if (!REFUSALS.includes(status)) throw new Error(`a write was answered by ${status}`)
    return status < 300
  }
}

let load: MovingLoad | undefined

const CALLS = {
  begin: async (order: MovingOrder): Promise<void> => {
    load = await MovingLoad.begin(order)
  },
  end: async (): Promise<Taken> => {
    if (load === undefined) throw new Error('nothing was begun')
    return load.end()
  },
}

/** The calls of this helper. */
export type MovingLoadCalls = typeof CALLS

if (import.meta.main) help(CALLS)
