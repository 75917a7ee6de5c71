// The pool for slow work. It has workers started when there is a first job for them, and introduces every thread that
// has work to every worker. Jobs do not pass here, so the watching thread can hold it.
import { MessageChannel } from 'node:worker_threads'
import { collectGarbage } from '../lib/collect-garbage.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { PeerGone } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultEndsThread } from './fault-log.ts'
import { type Load, leaveSeat, takeSeat, takeSlot } from './load.ts'
import { CLIENT_CALLS, POOL_CALLS, type Takes, WORKER_CALLS } from './slow-messages.ts'

/** The services that the process hands to the pool. */
export type SlowPoolOptions = {
  /**
   * Starts the workers for this kind of job and announces each by `addWorker`. Called with the first job, and again if
   * it failed.
   */
  readonly start: (takes: Takes) => Promise<void>
  readonly load: Load
}

type Client = Peer<typeof CLIENT_CALLS>
type PoolWorker = { readonly peer: Peer<typeof WORKER_CALLS>; readonly takes: Takes; readonly slot: number }

/** Introduces clients and workers, and leads the forgetting at seal. */
export class SlowPool {
  readonly #options: SlowPoolOptions
  readonly #workers = new Set<PoolWorker>()
  readonly #clients = new Set<Client>()
  /** One entry for each kind that was started, or is being; removed if that failed. */
  readonly #started = new Map<Takes, Promise<boolean>>()
  #workerCount = 0
  /** How many callers wait for a forgetting. Clients begin no job meanwhile. */
  #forgetting = 0
  #forgotten: Promise<void> = Promise.resolve()

  constructor(options: SlowPoolOptions) {
    this.#options = options
  }

  /** Adds a thread that has work, until its port closes. Returns its seat in the shared memory. */
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
    // Not waited for: the new client has nothing on a lane.
    if (this.#forgetting > 0) void unlessGone(client.call('rest', undefined))
    for (const worker of this.#workers) introduce(client, worker)
    return seat
  }

  /** Adds a worker. Returns what to call when it has ended; its lanes close by themselves. */
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

  /** Lanes to workers that exist, or are being started, come by themselves. */
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

  /** One forgetting after the other: each answers for all that was done before it was asked. */
  #begin(): Promise<void> {
    this.#forgetting++
    this.#forgotten = this.#forgotten.then(() => this.#forget())
    return this.#forgotten
  }

  /**
   * First every client stops, so that nothing is begun. Then workers let go of what they did, then the clients that had
   * the answers, then this thread.
   */
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

/** Gives each of the two one end of a new lane. */
function introduce(client: Client, { peer, takes, slot }: PoolWorker): void {
  const { port1, port2 } = new MessageChannel()
  peer.tell('lane', { slot, port: port1 })
  client.tell('lane', { takes, slot, port: port2 })
}

/** A thread that has ended holds nothing and is not waited for. */
async function unlessGone(asked: Promise<void>): Promise<void> {
  try {
    await asked
  } catch (cause) {
    if (!(cause instanceof PeerGone)) throw cause
  }
}
