// The end of a thread that has slow work: it is done by the pool, and this thread goes on meanwhile.
import { collectGarbage } from '../lib/collect-garbage.ts'
import { type Job, JobFailed, JobForgotten, Overloaded, type SlowWork, type Split } from '../lib/slow-work.ts'
import type { FromClient, JobRefused, SlowPort, ToClient } from './slow-messages.ts'

/** What the pool and all its clients know at once, in memory that they share; hints, read without a message. */
export type Load = Int32Array<SharedArrayBuffer>
/** How many workers have nothing to do. */
const IDLE = 0
/** How many clients are at work that they split, or would have split. */
const SPLITTING = 1

export function newLoad(workers: number): Load {
  const load: Load = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  publishIdle(load, workers)
  return load
}

export function publishIdle(load: Load, workers: number): void {
  Atomics.store(load, IDLE, workers)
}

type Waiting = { readonly resolve: (output: unknown) => void; readonly reject: (cause: Error) => void }

export class PooledWork implements SlowWork {
  readonly #port: SlowPort
  readonly #load: Load
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #isGone = false

  constructor(port: SlowPort, load: Load) {
    this.#port = port
    this.#load = load
    port.on('message', (message) => this.#received(message as ToClient))
    port.on('close', () => this.#closed())
  }

  run<I, O>(job: Job<I, O>, input: I, moved: ArrayBuffer[] = []): Promise<O> {
    const message = { kind: 'run' as const, job: job.name, takes: job.takes, input, moved }
    return this.#ask<O>((id) => this.#send({ ...message, id }, moved))
  }

  split(): Split {
    // There are as many workers as cores, and each thread that is at such work takes a core as a worker does.
    const others = Atomics.add(this.#load, SPLITTING, 1)
    return {
      parts: Math.max(1, Atomics.load(this.#load, IDLE) - others),
      end: () => {
        Atomics.sub(this.#load, SPLITTING, 1)
      },
    }
  }

  forget(): Promise<void> {
    return this.#ask<void>((id) => this.#send({ kind: 'forget', id }, []))
  }

  #ask<O>(send: (id: number) => void): Promise<O> {
    if (this.#isGone) return Promise.reject(new JobFailed('the pool has ended'))
    const id = ++this.#lastId
    return new Promise<O>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (output: unknown) => void, reject })
      send(id)
    })
  }

  #send(message: FromClient, moved: ArrayBuffer[]): void {
    this.#port.postMessage(message, moved)
  }

  #received(message: ToClient): void {
    if (message.kind === 'collect') {
      collectGarbage()
      this.#send({ kind: 'collected' }, [])
      return
    }
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.kind === 'refused') waiting?.reject(errorOf(message))
    else waiting?.resolve(message.kind === 'done' ? message.output : undefined)
  }

  #closed(): void {
    this.#isGone = true
    for (const { reject } of this.#waiting.values()) reject(new JobFailed('the pool has ended'))
    this.#waiting.clear()
  }
}

function errorOf({ why, reason }: JobRefused): Error {
  switch (why) {
    case 'overloaded':
      return new Overloaded('More slow work waits than can be done soon')
    case 'forgotten':
      return new JobForgotten('The server was sealed before the work began')
    case 'died':
      return new JobFailed('its thread ended')
    case 'failed':
      return new JobFailed(reason)
  }
}
