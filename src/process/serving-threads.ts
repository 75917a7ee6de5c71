// The serving threads, as the watching thread sees them: what each is assigned, and what they are told.
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
import type { CommittedIndex } from '../threads/committed-index.ts'
import { faultLog } from '../threads/fault-log.ts'
import type { PoolHandle } from '../threads/pooled-work.ts'
import type { ReloadCoordinator } from '../threads/reload-coordinator.ts'
import { endOf } from '../threads/thread-exit.ts'
import type { GroupThread } from '../threads/thread-group.ts'
import type { DeviceHandle } from './device-handle.ts'
import { ListenFailed } from './free-addresses.ts'
import type { ListenerAssignment, TlsMaterials } from './listening.ts'
import type { ReloadState } from './reload-state.ts'
import type { ServingData, ServingStarted } from './serving.ts'
import { StartError } from './start-error.ts'
import { inFlightOfAll, SERVING_CALLS, type ServingPeer, WATCHER_CALLS, type WritingPeer } from './thread-calls.ts'

/** Linux spreads the connections of one port over the sockets of several threads. Elsewhere one thread serves. */
const SHARES_PORTS = process.platform === 'linux'

/** How many threads serve requests with this configuration. */
export const servingThreads = ({ threads }: ServerConfig): number => (SHARES_PORTS ? threads : 1)

/** Data and links that all serving threads are given. */
export type ServingContext = {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  readonly writing: WritingPeer
  readonly directory: string
  readonly published: PublishedIndex
  readonly committed: CommittedIndex
  readonly shared: SharedTelemetry
  readonly chainHeads: ChainHeadsMemory
  readonly slow: () => PoolHandle
  readonly devices: () => DeviceHandle | undefined
  readonly tls: () => TlsMaterials
  /** Has the writing thread added already. */
  readonly reloads: ReloadCoordinator<ReloadState>
}

/** The part of a Worker that the start of a thread needs. */
export type StartingThread = {
  on(event: 'message', listener: (message: ServingStarted) => void): unknown
  on(event: 'error', listener: (cause: unknown) => void): unknown
  off(event: 'message', listener: (message: ServingStarted) => void): unknown
  off(event: 'error', listener: (cause: unknown) => void): unknown
}

/** Starts serving threads for the group, and gives each a row and its listeners. */
export class ServingThreads {
  readonly #context: ServingContext
  readonly #figures: SharedFigures
  readonly #workers = new Set<Worker>()
  readonly #freeRows: number[]
  /** Rows of metrics. A thread that replaces a dead one goes on in its row. */
  readonly #metricRows: Rows
  readonly #peers = new Set<ServingPeer>()
  /** The thread that has the Unix sockets; its replacement takes them over. */
  #unixHolder: Worker | undefined
  #reloaded: ReloadState | undefined
  #isAbandoned = false
  readonly #allowed = Promise.withResolvers<void>()
  /** Set when the first thread listens; all others use the same ports. */
  #ports: readonly number[]

  constructor(context: ServingContext) {
    this.#context = context
    this.#figures = newSharedFigures(this.count, context.world.random)
    this.#freeRows = Array.from({ length: this.count }, (_, row) => row)
    this.#metricRows = new Rows(context.shared.metrics)
    this.#ports = context.config.listeners.map(({ address }) => (address.kind === 'tcp' ? address.port : 0))
  }

  get count(): number {
    return servingThreads(this.#context.config)
  }

  get ports(): readonly number[] {
    return this.#ports
  }

  /** Tells all threads, the writing one included. Resolves with false if something goes on as before on one of them. */
  reload(state: ReloadState, part: ReloadPart | undefined): Promise<boolean> {
    this.#reloaded = state
    return this.#context.reloads.tell(state, part)
  }

  /** Gives all threads new keys for session tickets. */
  renewTls(tls: TlsMaterials): void {
    // A thread that is not listening yet keeps the order until it is.
    for (const peer of this.#peers) peer.tell('renewTls', tls)
  }

  /** Lets threads listen. Until then they load what they need, and hear nothing of the writing thread. */
  allowListening(): void {
    this.#allowed.resolve()
  }

  /** Ends threads that are starting, which would wait for a writing thread that has ended; no other is started. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true
    await Promise.all([...this.#workers].map((worker) => worker.terminate()))
  }

  /** Starts one thread. Resolves when it listens. @throws StartError, ListenFailed */
  async start(): Promise<GroupThread> {
    if (this.#isAbandoned) throw new StartError('The writing thread has ended')
    const row = this.#freeRows.shift()
    if (row === undefined) throw new Error('More threads serve than there are places')
    const holdsUnix = this.#unixHolder === undefined
    const metricRow = this.#metricRows.take()
    const worker = this.#launch(this.#assignmentOf(row, holdsUnix), metricRow)
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

  #launch(assignment: ListenerAssignment, metricRow: number): Worker {
    const { config, directory, published, committed, shared, chainHeads } = this.#context
    const common = { config, directory, published, committed, shared, chainHeads }
    const slow = this.#context.slow()
    const devices = this.#context.devices()
    const writer = this.#linkToWriter()
    const workerData: ServingData = {
      ...common,
      writer,
      slow,
      devices,
      metricRow,
      assignment,
      reloaded: this.#reloaded,
    }
    return new Worker(new URL('../start-thread.js', import.meta.url), {
      argv: ['serving'],
      name: 'serving',
      workerData,
      transferList: [writer, slow.port, ...(devices === undefined ? [] : [devices.port])],
    })
  }

  /**
   * Returns this thread's end of a link to the writing thread. The writing thread gets its end once threads may listen.
   */
  #linkToWriter(): MessagePort {
    const { port1, port2 } = new MessageChannel()
    void this.#allowed.promise.then(() => {
      try {
        this.#context.writing.tell('link', port1)
      } catch {
        // The serving thread ended while it loaded, and both ends of the channel with it. Its starter is told of that.
      }
    })
    return port2
  }

  /** Connects the calls of the thread. `leave` is to be called when it has ended. */
  #join(worker: Worker): { readonly peer: ServingPeer; readonly leave: () => void } {
    const { world, log, reloads } = this.#context
    const peer = connectPeer({
      channel: threadChannel(worker),
      asks: SERVING_CALLS,
      answers: WATCHER_CALLS,
      handlers: { allInFlight: () => inFlightOfAll(this.#peers) },
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

  #assignmentOf(row: number, holdsUnixSockets: boolean): ListenerAssignment {
    const tls = this.#context.tls()
    return { ports: this.#ports, sharePorts: SHARES_PORTS, holdsUnixSockets, figures: this.#figures, row, tls }
  }
}

/** Resolves with the ports when the thread listens. @throws StartError, ListenFailed */
export function servingStarted(worker: StartingThread, ended: Promise<string>): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    // A starting thread is asked calls already, so answers to those come before its own message.
    const take = (message: ServingStarted | Frame): void => {
      if (!('kind' in message)) return
      worker.off('message', take)
      worker.off('error', fail)
      if (message.kind === 'listening') resolve(message.ports)
      else if (message.address === undefined) reject(new StartError(message.message))
      else reject(new ListenFailed(message.address, message.code))
    }
    // No request was answered yet, so the message holds no secret: it says which file of the program is missing or
    // broken.
    const fail = (cause: unknown): void =>
      reject(new StartError(`A serving thread failed: ${cause instanceof Error ? cause.message : 'unknown'}`))
    worker.on('message', take)
    worker.on('error', fail)
    void ended.then((reason) => reject(new StartError(`A serving thread ended before it was ready: ${reason}`)))
  })
}
