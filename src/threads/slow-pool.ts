// The pool for slow work: it has workers started when there is a first job for them, and introduces every thread that
// has work to every worker. Jobs do not pass here, so one thread that otherwise only watches can hold it.
import { MessageChannel } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import { type Load, leaveSeat, takeSeat, takeSlot } from './load.ts'
import type { FromClient, SlowPort, Takes, ToClient, ToWorker } from './slow-messages.ts'

export type SlowPoolOptions = {
  /** Makes the workers for such jobs, each to be told by `addWorker`: called once, when there is a first job. */
  readonly start: (takes: Takes) => Promise<void>
  readonly load: Load
}

/** What somebody waits for that a thread is to confirm. */
type Awaited = (() => void) | undefined
type Client = { readonly port: SlowPort; idle: Awaited; collected: Awaited }
type PoolWorker = { readonly port: SlowPort; readonly takes: Takes; readonly slot: number; collected: Awaited }

export class SlowPool {
  readonly #options: SlowPoolOptions
  readonly #workers = new Set<PoolWorker>()
  readonly #clients = new Set<Client>()
  readonly #started = new Set<Takes>()
  #workerCount = 0
  /** How many ask for it: nothing is begun meanwhile. One is done after the other. */
  #forgetting = 0
  #forgotten: Promise<void> = Promise.resolve()
  #round = 0

  constructor(options: SlowPoolOptions) {
    this.#options = options
  }

  /** A thread that has work joins, until its port closes. Gives its seat in the memory that is shared. */
  addClient(port: SlowPort): number {
    const seat = takeSeat(this.#options.load)
    const client: Client = { port, idle: undefined, collected: undefined }
    this.#clients.add(client)
    port.on('message', (message) => this.#fromClient(client, message as FromClient))
    port.on('close', () => {
      this.#clients.delete(client)
      leaveSeat(this.#options.load, seat)
      client.idle?.()
      client.collected?.()
    })
    if (this.#forgetting > 0) tell(client, { kind: 'forget', round: this.#round })
    for (const worker of this.#workers) introduce(client, worker)
    return seat
  }

  /** Gives what is to be called when the worker has ended. Its lanes close with it. */
  addWorker(port: SlowPort, takes: Takes): () => void {
    const slot = takeSlot(this.#options.load, this.#workerCount++)
    const worker: PoolWorker = { port, takes, slot, collected: undefined }
    this.#workers.add(worker)
    port.on('message', () => {
      worker.collected?.()
      worker.collected = undefined
    })
    for (const client of this.#clients) introduce(client, worker)
    return () => {
      this.#workers.delete(worker)
      worker.collected?.()
    }
  }

  #fromClient(client: Client, message: FromClient): void {
    switch (message.kind) {
      case 'start':
        this.#start(message.takes)
        break
      case 'forget':
        this.#forgetting++
        this.#forgotten = this.#forgotten
          .then(() => this.#forget())
          .then(() => tell(client, { kind: 'forgotten', id: message.id }))
        break
      case 'idle':
        // Of one that joined in an earlier round it says nothing about this one.
        if (message.round !== this.#round) break
        client.idle?.()
        client.idle = undefined
        break
      case 'collected':
        client.collected?.()
        client.collected = undefined
        break
    }
  }

  #start(takes: Takes): void {
    // Where they are there, or on their way, the lanes come by themselves.
    if (this.#started.has(takes)) return
    this.#started.add(takes)
    this.#options.start(takes).catch(() => {
      this.#started.delete(takes)
      for (const client of this.#clients) tell(client, { kind: 'not started', takes })
    })
  }

  /** Nobody begins anything; then the workers let go of what was done, the threads whose answers it was, this one. */
  async #forget(): Promise<void> {
    this.#round++
    await this.#ofClients('idle', { kind: 'forget', round: this.#round })
    if (this.#started.size > 0) {
      await Promise.all([...this.#workers].map(collectedBy))
      await this.#ofClients('collected', { kind: 'collect' })
      collectGarbage()
    }
    this.#forgetting--
    if (this.#forgetting > 0) return
    for (const client of this.#clients) tell(client, { kind: 'go on' })
  }

  async #ofClients(what: 'idle' | 'collected', message: ToClient): Promise<void> {
    const asked = [...this.#clients].map((client) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      client[what] = resolve
      tell(client, message)
      return promise
    })
    await Promise.all(asked)
  }
}

/** Gives each the end of a lane between them. */
function introduce(client: Client, { port: worker, takes, slot }: PoolWorker): void {
  const { port1, port2 } = new MessageChannel()
  worker.postMessage({ kind: 'lane', slot, port: port1 } satisfies ToWorker, [port1])
  client.port.postMessage({ kind: 'lane', takes, slot, port: port2 } satisfies ToClient, [port2])
}

function tell(client: Client, message: ToClient): void {
  client.port.postMessage(message, [])
}

function collectedBy(worker: PoolWorker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.collected = resolve
  worker.port.postMessage({ kind: 'collect' } satisfies ToWorker, [])
  return promise
}
