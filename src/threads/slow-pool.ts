// The pool for slow work: takes jobs from every thread, and gives them to workers that nothing else depends on. It does
// no work itself, so one thread that otherwise only watches can hold it.
import { collectGarbage } from '../lib/collect-garbage.ts'
import { JobQueue, type QueueLimits, type Takes } from './job-queue.ts'
import { type Load, publishIdle } from './pooled-work.ts'
import type { FromClient, FromWorker, JobOrder, Refused, SlowPort, ToClient, ToWorker } from './slow-messages.ts'

export type SlowPoolOptions = {
  readonly limits: QueueLimits
  /** Workers that may do long jobs at once; fewer than there are workers, so that short ones always have some. */
  readonly longSlots: number
  /** Makes the workers, each to be told by `addWorker`: called once, when there is a first job. */
  readonly start: () => Promise<void>
  readonly load: Load
  /** Counts what waits and what is done; missing: nobody does. */
  readonly meter?: PoolMeter
}

export type PoolMeter = {
  readonly nowMs: () => number
  /** How long the job waited for a worker. */
  readonly begun: (waitedMs: number) => void
  readonly done: () => void
  readonly refused: () => void
  readonly waiting: (short: number, long: number) => void
}

type Task = {
  readonly client: SlowPort
  readonly takes: Takes
  readonly order: JobOrder
  /** Since when it waits; 0 where nobody counts. */
  readonly sinceMs: number
}
type PoolWorker = {
  readonly port: SlowPort
  /** The first is being done. */
  readonly tasks: Task[]
  collected: (() => void) | undefined
}

/** One is done while the next is already there: the way to it takes as long as a short job (0.1 ms). */
const SHORT_AHEAD = 2

export class SlowPool {
  readonly #options: SlowPoolOptions
  readonly #queue: JobQueue<SlowPort, Task>
  readonly #workers = new Set<PoolWorker>()
  readonly #clients = new Map<SlowPort, (() => void) | undefined>()
  #started: Promise<void> | undefined
  /** How many ask for it: nothing is begun meanwhile. */
  #forgetting = 0

  constructor(options: SlowPoolOptions) {
    this.#options = options
    this.#queue = new JobQueue(options.limits)
  }

  /** A thread that has work joins, until its port closes. */
  addClient(port: SlowPort): void {
    this.#clients.set(port, undefined)
    port.on('message', (message) => this.#fromClient(port, message as FromClient))
    port.on('close', () => {
      this.#clients.get(port)?.()
      this.#clients.delete(port)
      this.#queue.drop(port)
    })
  }

  /** Gives what is to be called when the worker has ended: its job fails, what it had not begun goes on elsewhere. */
  addWorker(port: SlowPort): () => void {
    const worker: PoolWorker = { port, tasks: [], collected: undefined }
    this.#workers.add(worker)
    port.on('message', (message) => this.#fromWorker(worker, message as FromWorker))
    this.#assign()
    return () => this.#workerEnded(worker)
  }

  #fromClient(client: SlowPort, message: FromClient): void {
    if (message.kind === 'collected') {
      this.#clients.get(client)?.()
      this.#clients.set(client, undefined)
    } else if (message.kind === 'forget') {
      this.#forgetting++
      void this.#forget().then(() => {
        this.#forgetting--
        tell(client, { kind: 'forgotten', id: message.id })
      })
    } else {
      const { takes, ...order } = message
      // Of a client that had not heard yet: its batch would go on, with keys that nobody may hold any more.
      if (this.#forgetting > 0) {
        refuse(client, order.id, 'forgotten')
        return
      }
      const { meter } = this.#options
      const isTaken = this.#queue.add(client, takes, { client, takes, order, sinceMs: meter?.nowMs() ?? 0 })
      if (!isTaken) {
        meter?.refused()
        refuse(client, order.id, 'overloaded')
      } else if (this.#started === undefined) this.#start()
      else this.#assign()
    }
  }

  #start(): void {
    this.#started = this.#options.start().catch(() => {
      this.#started = undefined
      for (const { client, order } of this.#queue.clear()) refuse(client, order.id, 'died')
    })
  }

  #fromWorker(worker: PoolWorker, message: FromWorker): void {
    if (message.kind === 'collected') {
      worker.collected?.()
      worker.collected = undefined
      return
    }
    const task = worker.tasks.shift()
    if (task !== undefined) {
      this.#options.meter?.done()
      const answer = { ...message, id: task.order.id }
      tell(task.client, answer, message.kind === 'done' ? message.moved : [])
    }
    this.#assign()
  }

  #workerEnded(worker: PoolWorker): void {
    this.#workers.delete(worker)
    worker.collected?.()
    const [begun, ...ahead] = worker.tasks.splice(0)
    if (begun !== undefined) refuse(begun.client, begun.order.id, 'died')
    for (const task of ahead) {
      // What was handed over is gone with the worker.
      if (task.order.moved.length > 0) refuse(task.client, task.order.id, 'died')
      else if (this.#clients.has(task.client)) this.#queue.putBack(task.client, task.takes, task)
    }
    this.#assign()
  }

  #assign(): void {
    while (this.#assignOne());
    const free = [...this.#workers].filter(({ tasks }) => tasks.length === 0).length
    const { load, meter } = this.#options
    publishIdle(load, Math.max(0, free - this.#queue.count('short')))
    meter?.waiting(this.#queue.count('short'), this.#queue.count('long'))
  }

  #assignOne(): boolean {
    const workers = [...this.#workers]
    const free = workers.find(({ tasks }) => tasks.length === 0)
    // Long ones first, in the few places they have: behind all short ones they would never begin.
    if (this.#queue.count('long') > 0 && workers.filter(isLong).length < this.#options.longSlots) {
      return this.#give(free, 'long')
    }
    const worker = free ?? workers.find((one) => !isLong(one) && one.tasks.length < SHORT_AHEAD)
    return this.#give(worker, 'short')
  }

  /** False where there is no worker or no task. */
  #give(worker: PoolWorker | undefined, takes: Takes): boolean {
    const task = worker && this.#queue.take(takes)
    if (worker === undefined || task === undefined) return false
    const { meter } = this.#options
    meter?.begun(meter.nowMs() - task.sinceMs)
    worker.tasks.push(task)
    worker.port.postMessage(task.order, task.order.moved)
    return true
  }

  /** Workers first, then the threads whose answers they were, then this one, through which all passed. */
  async #forget(): Promise<void> {
    if (this.#started === undefined) return
    for (const { client, order } of this.#queue.clear()) refuse(client, order.id, 'forgotten')
    await Promise.all(
      [...this.#workers].map((worker) =>
        confirmed(worker.collected, (confirm) => {
          worker.collected = confirm
          worker.port.postMessage({ kind: 'collect' } satisfies ToWorker, [])
        }),
      ),
    )
    await Promise.all(
      [...this.#clients].map(([client, before]) =>
        confirmed(before, (confirm) => {
          this.#clients.set(client, confirm)
          tell(client, { kind: 'collect' })
        }),
      ),
    )
    collectGarbage()
  }
}

const isLong = ({ tasks }: PoolWorker): boolean => tasks[0]?.takes === 'long'

function tell(client: SlowPort, message: ToClient, moved: ArrayBuffer[] = []): void {
  client.postMessage(message, moved)
}

function refuse(client: SlowPort, id: number, why: Refused): void {
  tell(client, { kind: 'refused', id, why, reason: '' })
}

/** Resolves with the confirmation; one that somebody waits for already is not lost. */
function confirmed(before: (() => void) | undefined, ask: (confirm: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    ask(() => {
      before?.()
      resolve()
    })
  })
}
