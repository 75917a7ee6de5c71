// A helper that sends requests to a server: at an even rate whatever comes back, so that waiting shows, or as fast as a
// number of connections gets answers.
import { PLAINTEXT } from '../targets.ts'
import { help, machineMs } from './helpers.ts'
import { Sender } from './sender.ts'

/** What is sent. `path` gets a number behind it where each request is for another name. */
export type LoadOrder = {
  readonly address: string
  readonly token: string
  readonly path: string
  readonly isNumbered: boolean
  readonly connections: number
  /** Undefined: as fast as it goes. */
  readonly perSecond?: number
}

/** By the number of the request, in milliseconds of `machineMs`: when it was due, and when its answer was there. */
export type LoadFigures = {
  readonly dueMs: Float64Array
  readonly answeredMs: Float64Array
  readonly failed: number
}

const BODY = JSON.stringify({ plaintext: PLAINTEXT })

let stop: () => Promise<LoadFigures> = () => Promise.reject(new Error('nothing was begun'))

const CALLS = {
  begin: async (order: LoadOrder): Promise<void> => {
    const { perSecond, connections, isNumbered, path } = order
    const sender = await Sender.open(order.address, connections)
    const [dueMs, answeredMs]: [number[], number[]] = [[], []]
    let failed = 0
    const send = async (due: number): Promise<void> => {
      const number = dueMs.push(due) - 1
      answeredMs.push(Number.NaN)
      const body = isNumbered ? '{}' : BODY
      const status = await sender.send('POST', `/v1/${path}${isNumbered ? number : ''}`, order.token, body)
      answeredMs[number] = machineMs()
      if (status >= 300) failed += 1
    }
    let isOver = false
    const all =
      perSecond === undefined ? flatOut(connections, send, () => isOver) : paced(perSecond, send, () => isOver)
    all.catch(() => {})
    stop = async () => {
      isOver = true
      await all
      sender.close()
      return { dueMs: new Float64Array(dueMs), answeredMs: new Float64Array(answeredMs), failed }
    }
  },
  end: () => stop(),
}

/** The calls of this helper. */
export type LoadCalls = typeof CALLS

async function flatOut(connections: number, send: (due: number) => Promise<void>, isOver: () => boolean) {
  const one = async (): Promise<void> => {
    while (!isOver()) await send(machineMs())
  }
  await Promise.all(Array.from({ length: connections }, one))
}

/** Each request is sent when it is due, or as soon after that as this process gets to it. */
async function paced(perSecond: number, send: (due: number) => Promise<void>, isOver: () => boolean): Promise<void> {
  const startMs = machineMs()
  const sent: Promise<void>[] = []
  while (!isOver()) {
    for (;;) {
      const due = startMs + (sent.length * 1_000) / perSecond
      if (due > machineMs()) break
      const one = send(due)
      // Whoever waits for all of them is told.
      one.catch(() => {})
      sent.push(one)
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(sent)
}

if (import.meta.main) help(CALLS)
