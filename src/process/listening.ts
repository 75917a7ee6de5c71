// All listeners of one thread. They share its row among the figures of the process, and start and stop together.
import type { ServerConfig } from '../config/config.ts'
import { Deadlines } from '../http/deadlines.ts'
import { type Listener, listen } from '../http/listener.ts'
import type { ListenAddress } from '../http/listening-socket.ts'
import type { Service } from '../http/requests.ts'
import { type SharedFigures, ThreadFigures } from '../http/shared-figures.ts'
import type { TlsMaterial } from '../http/tls.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { listenFailed } from './free-addresses.ts'

/** By the index of the listener in the configuration; undefined for one without TLS. */
export type TlsMaterials = readonly (TlsMaterial | undefined)[]

/** The share of one thread in the listeners: it differs between threads, or changes while the server runs. */
export type ListenerAssignment = {
  /** By the index of the listener. If the configuration says 0, the first thread takes any free port. */
  readonly ports: readonly number[]
  /** True if several threads listen on each port. */
  readonly sharePorts: boolean
  /** True for one thread only: a Unix socket has room for one. */
  readonly holdsUnixSockets: boolean
  readonly figures: SharedFigures
  readonly row: number
  readonly tls: TlsMaterials
}

/** The data and services that the listeners of a thread share. */
export type ListeningParts = {
  readonly config: ServerConfig
  readonly assignment: ListenerAssignment
  readonly service: Service
  readonly world: World
  readonly log: Log
}

/** Longer than most requests take once they have arrived. Container runtimes kill what has not ended after 10 s. */
const STOP_TIMEOUT_MS = 5_000

/** The open listeners of one thread. */
export class ThreadListeners {
  readonly #listeners: ReadonlyMap<number, Listener>
  readonly #deadlines: Deadlines
  readonly #world: World
  /** By the index of the listener, also for listeners that another thread has. */
  readonly ports: readonly number[]

  private constructor(
    listeners: ReadonlyMap<number, Listener>,
    deadlines: Deadlines,
    { assignment, world }: ListeningParts,
  ) {
    this.#listeners = listeners
    this.#deadlines = deadlines
    this.#world = world
    this.ports = assignment.ports.map((port, index) => listeners.get(index)?.port ?? port)
  }

  /** Opens all listeners. @throws ListenFailed; then none is left open */
  static async start(parts: ListeningParts): Promise<ThreadListeners> {
    const { config, assignment, service, world, log } = parts
    const deadlines = new Deadlines(world)
    const figures = new ThreadFigures(assignment.figures, assignment.row, config.limits)
    const listeners = new Map<number, Listener>()
    for (const [index, { address, rules }] of config.listeners.entries()) {
      if (address.kind === 'unix' && !assignment.holdsUnixSockets) continue
      const where: ListenAddress =
        address.kind === 'unix'
          ? address
          : { ...address, port: assignment.ports[index] ?? address.port, share: assignment.sharePorts }
      const options = { address: where, rules, material: assignment.tls[index], service }
      try {
        listeners.set(index, await listen({ ...options, parts: { figures, deadlines, log } }))
      } catch (cause) {
        deadlines.stop()
        await Promise.all([...listeners.values()].map((listener) => listener.close()))
        throw listenFailed(address, cause)
      }
    }
    return new ThreadListeners(listeners, deadlines, parts)
  }

  /** New connections get the new material; those that are open keep theirs. */
  renewTls(tls: TlsMaterials): void {
    for (const [index, listener] of this.#listeners) {
      const material = tls[index]
      if (material !== undefined) listener.renewTls(material)
    }
  }

  /** Takes no new connection and lets requests end. What has not arrived or ended in STOP_TIMEOUT_MS is cut off. */
  async stop(): Promise<void> {
    const all = [...this.#listeners.values()]
    const timeout = this.#world.timers.after(STOP_TIMEOUT_MS, () => {
      for (const listener of all) listener.dropConnections()
    })
    await Promise.all(all.map((listener) => listener.close()))
    timeout.cancel()
    this.#deadlines.stop()
  }
}
