// The pool for slow work: it has workers started when there is a first job for them, and introduces every thread that
// has work to every worker. Jobs do not pass here, so one thread that otherwise only watches can hold it.
import { MessageChannel } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { PeerGone } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultEndsThread } from './fault-log.ts'
import { type Load, leaveSeat, takeSeat, takeSlot } from './load.ts'
import { CLIENT_CALLS, POOL_CALLS, type Takes, WORKER_CALLS } from './slow-messages.ts'

export type SlowPoolOptions = {
  /** Makes the workers for such jobs, each to be told by `addWorker`: called once, when there is a first job. */
  readonly start: (takes: Takes) => Promise<void>
  readonly load: Load
}

type Client = Peer<typeof CLIENT_CALLS>
type PoolWorker = { readonly peer: Peer<typeof WORKER_CALLS>; readonly takes: Takes; readonly slot: number }

export class SlowPool {
  readonly #options: SlowPoolOptions
  readonly #workers = new Set<PoolWorker>()
  readonly #clients = new Set<Client>()
  /** False once they could not be started. */
  readonly #started = new Map<Takes, Promise<boolean>>()
  #workerCount = 0
  /** How many ask for it: nothing is begun meanwhile. One is done after the other. */
  #forgetting = 0
  #forgotten: Promise<void> = Promise.resolve()

  constructor(options: SlowPoolOptions) {
    this.#options = options
  }

  /** A thread that has work joins, until its port closes. Gives its seat in the memory that is shared. */
  addClient(port: Port): number {
    const seat = takeSeat(this.#options.load)
    const client = connectPeer({
      channel: portChannel(port),
      asks: CLIENT_CALLS,
      answers: POOL_CALLS,
      handlers: { start: (takes) => this.#start(takes), forget: () => this.#begin() },
      onFault: faultEndsThread,
    })
    this.#clients.add(client)
    port.on('close', () => {
      this.#clients.delete(client)
      leaveSeat(this.#options.load, seat)
    })
    // Nobody waits for it: it joined with nothing on a lane.
    if (this.#forgetting > 0) void unlessGone(client.call('rest', undefined))
    for (const worker of this.#workers) introduce(client, worker)
    return seat
  }

  /** Gives what is to be called when the worker has ended. Its lanes close with it. */
  addWorker(port: Port, takes: Takes): () => void {
    const slot = takeSlot(this.#options.load, this.#workerCount++)
    const peer = connectPeer({
      channel: portChannel(port),
      asks: WORKER_CALLS,
      answers: NO_CALLS,
      handlers: {},
      onFault: faultEndsThread,
    })
    const worker: PoolWorker = { peer, takes, slot }
    this.#workers.add(worker)
    for (const client of this.#clients) introduce(client, worker)
    return () => {
      this.#workers.delete(worker)
      peer.close()
    }
  }

  /** Where they are there, or on their way, the lanes come by themselves. */
  #start(takes: Takes): Promise<boolean> {
    const begun = this.#started.get(takes)
    if (begun !== undefined) return begun
    const started = this.#options.start(takes).then(
      () => true,
      () => {
        this.#started.delete(takes)
        return false
      },
    )
    this.#started.set(takes, started)
    return started
  }

  /** Each in its turn. */
  #begin(): Promise<void> {
    this.#forgetting++
    this.#forgotten = this.#forgotten.then(() => this.#forget())
    return this.#forgotten
  }

  /** Nobody begins anything; then the workers let go of what was done, the threads whose answers it was, this one. */
  async #forget(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => unlessGone(client.call('rest', undefined))))
    if (this.#started.size > 0) {
      await Promise.all([...this.#workers].map(({ peer }) => unlessGone(peer.call('collect', undefined))))
      await Promise.all([...this.#clients].map((client) => unlessGone(client.call('collect', undefined))))
      collectGarbage()
    }
    this.#forgetting--
    if (this.#forgetting > 0) return
    for (const client of this.#clients) client.tell('goOn', undefined)
  }
}

/** Gives each the end of a lane between them. */
function introduce(client: Client, { peer, takes, slot }: PoolWorker): void {
  const { port1, port2 } = new MessageChannel()
  peer.tell('lane', { slot, port: port1 })
  client.tell('lane', { takes, slot, port: port2 })
}

/** What has ended holds nothing, and is not waited for. */
async function unlessGone(asked: Promise<void>): Promise<void> {
  try {
    await asked
  } catch (cause) {
    if (!(cause instanceof PeerGone)) throw cause
  }
}
