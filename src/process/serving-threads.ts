// The threads that serve, as the watching thread sees them: where each one has its place, and what they are told.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { ChainHeadsMemory } from '../audit/chain-heads.ts'
import type { ServerConfig } from '../config/config.ts'
import { newSharedFigures, type SharedFigures } from '../http/shared-figures.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadPart } from '../lib/reload.ts'
import type { World } from '../lib/world.ts'
import type { Frame } from '../rpc/frames.ts'
import { connectPeer } from '../rpc/peer.ts'
import { threadChannel } from '../rpc/ports.ts'
import { Rows } from '../telemetry/rows.ts'
import type { PublishedIndex } from '../threads/change-follower.ts'
import { faultLog } from '../threads/fault-log.ts'
import type { PoolHandle } from '../threads/pooled-work.ts'
import type { ReloadCoordinator } from '../threads/reload-coordinator.ts'
import { endOf } from '../threads/thread-exit.ts'
import type { GroupThread } from '../threads/thread-group.ts'
import type { DeviceHandle } from './device-host.ts'
import { type ListenerAssignment, ListenFailed, type TlsMaterials } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import type { ServingData, ServingStarted } from './serving.ts'
import { StartError } from './start-error.ts'
import { flightsOfAll, SERVING_CALLS, type ServingPeer, WATCHER_CALLS, type WritingPeer } from './thread-calls.ts'

/** Where the system spreads the connections of one port over several sockets. */
const SHARES_PORTS = process.platform === 'linux'

export const servingThreads = ({ threads }: ServerConfig): number => (SHARES_PORTS ? threads : 1)

export type ServingContext = {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  readonly writing: WritingPeer
  readonly directory: string
  readonly published: PublishedIndex
  readonly shared: SharedTelemetry
  readonly chainHeads: ChainHeadsMemory
  readonly slow: () => PoolHandle
  readonly devices: () => DeviceHandle | undefined
  readonly tls: () => TlsMaterials
  /** Knows the writing thread already. */
  readonly reloads: ReloadCoordinator<ReloadState>
}

/** As much of a thread as its start needs. */
export type StartingThread = {
  on(event: 'message', listener: (message: ServingStarted) => void): unknown
  on(event: 'error', listener: (cause: unknown) => void): unknown
  off(event: 'message', listener: (message: ServingStarted) => void): unknown
  off(event: 'error', listener: (cause: unknown) => void): unknown
}

export class ServingThreads {
  readonly #place: ServingContext
  readonly #figures: SharedFigures
  readonly #workers = new Set<Worker>()
  readonly #freeRows: number[]
  /** Of metrics. */
  readonly #metricRows: Rows
  readonly #peers = new Set<ServingPeer>()
  /** The thread that has the Unix sockets; who takes its place takes them over. */
  #unixHolder: Worker | undefined
  #reloaded: ReloadState | undefined
  #isAbandoned = false
  readonly #allowed = Promise.withResolvers<void>()
  /** Settled by the first thread. */
  #ports: readonly number[]

  constructor(place: ServingContext) {
    this.#place = place
    this.#figures = newSharedFigures(this.count, place.world.random)
    this.#freeRows = Array.from({ length: this.count }, (_, row) => row)
    this.#metricRows = new Rows(place.shared.metrics)
    this.#ports = place.config.listeners.map(({ address }) => (address.kind === 'tcp' ? address.port : 0))
  }

  get count(): number {
    return servingThreads(this.#place.config)
  }

  get ports(): readonly number[] {
    return this.#ports
  }

  /** Where the first thread will listen. */
  firstPlace(): ListenerAssignment {
    return this.#placeOf(0, true)
  }

  /** False where something goes on as before on one of the threads, the writing one included. */
  reload(state: ReloadState, part: ReloadPart | undefined): Promise<boolean> {
    this.#reloaded = state
    return this.#place.reloads.tell(state, part)
  }

  renewTls(tls: TlsMaterials): void {
    // What comes before a thread listens waits for it.
    for (const peer of this.#peers) peer.tell('renewTls', tls)
  }

  /** Until then those that start load what they need, and hear nothing of the writing thread. */
  allowListening(): void {
    this.#allowed.resolve()
  }

  /** Ends those that start, which wait for a writing thread that is no more; from here on none is started. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true
    await Promise.all([...this.#workers].map((worker) => worker.terminate()))
  }

  /** @throws StartError, ListenFailed */
  async start(): Promise<GroupThread> {
    if (this.#isAbandoned) throw new StartError('The writing thread has ended')
    const row = this.#freeRows.shift()
    if (row === undefined) throw new Error('More threads serve than there are places')
    const holdsUnix = this.#unixHolder === undefined
    const metricRow = this.#metricRows.take()
    const worker = this.#launch(this.#placeOf(row, holdsUnix), metricRow)
    this.#workers.add(worker)
    if (holdsUnix) this.#unixHolder = worker
    const { peer, leave } = this.#join(worker)
    const ended = endOf(worker).then((reason) => {
      leave()
      this.#metricRows.giveBack(metricRow)
      this.#workers.delete(worker)
      this.#freeRows.push(row)
      if (this.#unixHolder === worker) this.#unixHolder = undefined
      return reason
    })
    this.#ports = await servingStarted(worker, ended)
    return {
      ended,
      stop: async () => {
        peer.tell('stop', undefined)
        await ended
      },
    }
  }

  #launch(place: ListenerAssignment, metricRow: number): Worker {
    const { config, directory, published, shared, chainHeads } = this.#place
    const common = { config, directory, published, shared, chainHeads }
    const slow = this.#place.slow()
    const devices = this.#place.devices()
    const writer = this.#wayToWriter()
    const workerData: ServingData = { ...common, writer, slow, devices, metricRow, place, reloaded: this.#reloaded }
    return new Worker(new URL('../start-thread.js', import.meta.url), {
      argv: ['serving'],
      name: 'serving',
      workerData,
      transferList: [writer, slow.port, ...(devices === undefined ? [] : [devices.port])],
    })
  }

  /** The end of one more thread; the writing thread gets the other when threads may listen. */
  #wayToWriter(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    void this.#allowed.promise.then(() => {
      try {
        this.#place.writing.tell('link', port1)
      } catch {
        // The thread ended while it loaded, and with it both ends of the channel; who started it is told of that.
      }
    })
    return port2
  }

  /** From here on it is asked what all are asked. `leave`: when it has ended. */
  #join(worker: Worker): { readonly peer: ServingPeer; readonly leave: () => void } {
    const { world, log, reloads } = this.#place
    const peer = connectPeer({
      channel: threadChannel(worker),
      asks: SERVING_CALLS,
      answers: WATCHER_CALLS,
      handlers: { allInFlight: () => flightsOfAll(this.#peers) },
      timers: world.timers,
      onFault: faultLog(log),
    })
    this.#peers.add(peer)
    const leaveReloads = reloads.add((order) => peer.call('reload', order))
    return {
      peer,
      leave: () => {
        this.#peers.delete(peer)
        leaveReloads()
      },
    }
  }

  #placeOf(row: number, holdsUnixSockets: boolean): ListenerAssignment {
    const tls = this.#place.tls()
    return { ports: this.#ports, sharePorts: SHARES_PORTS, holdsUnixSockets, figures: this.#figures, row, tls }
  }
}

/** @throws StartError, ListenFailed */
export function servingStarted(worker: StartingThread, ended: Promise<string>): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    // A thread that starts is already asked what it does: its answers come before its own news.
    const take = (message: ServingStarted | Frame): void => {
      if (!('kind' in message)) return
      worker.off('message', take)
      worker.off('error', fail)
      if (message.kind === 'listening') resolve(message.ports)
      else if (message.address === undefined) reject(new StartError(message.message))
      else reject(new ListenFailed(message.address, message.code))
    }
    // It has answered nobody yet, so what it says is of the program: which file is missing, or broken.
    const fail = (cause: unknown): void =>
      reject(new StartError(`A serving thread failed: ${cause instanceof Error ? cause.message : 'unknown'}`))
    worker.on('message', take)
    worker.on('error', fail)
    void ended.then((reason) => reject(new StartError(`A serving thread ended before it was ready: ${reason}`)))
  })
}
