// Hosts of the simulated network, their links, and what goes wrong between them. Certificates are real ones, judged by
// the rule of real links; keys must fit them, and nothing is enciphered.
import type { Links } from '../../src/lib/links.ts'
import { type NetworkParts, Path, type PathSettings, SimulatedSocket } from './network.ts'
import { type Arriving, simulatedLinks } from './simulated-links.ts'

/** What answers at a port without being a peer; see the conformance suite of links. */
export type ForeignKind = 'silent' | 'http' | 'tls'

/** A machine of the network. */
export class SimulatedHost {
  readonly name: string
  /** Judges certificates; a host may have a clock of its own. */
  clock: { nowMs(): number }
  readonly ports = new Map<number, (arriving: Arriving) => void>()
  readonly #network: SimulatedNetwork
  readonly #sockets = new Map<SimulatedSocket, string>()
  #isOff = false
  #links: Links

  constructor(network: SimulatedNetwork, name: string, clock: { nowMs(): number }) {
    this.#network = network
    this.name = name
    this.clock = clock
    this.#links = simulatedLinks(network, this)
  }

  /** Those of the program that runs there now. A crash takes them away: what is asked of them then never answers. */
  get links(): Links {
    return this.#links
  }

  get isOff(): boolean {
    return this.#isOff
  }

  /** The power goes. Peers are told nothing, and go on as if the links were up. */
  crash(): void {
    this.#isOff = true
    this.ports.clear()
    for (const socket of [...this.#sockets.keys()]) socket.vanish()
    this.#links = { dial: () => new Promise(() => {}), listen: () => new Promise(() => {}) }
  }

  /** It is there again and knows nothing: peers that send to it learn so. */
  restart(): void {
    this.#isOff = false
    this.#links = simulatedLinks(this.#network, this)
    this.#network.unblock()
  }

  /** The program dies, and its kernel closes what it had open. */
  kill(): void {
    this.ports.clear()
    for (const socket of [...this.#sockets.keys()]) socket.reset()
    this.#links = simulatedLinks(this.#network, this)
  }

  /** What answers at `port` is no peer. */
  foreign(port: number, kind: ForeignKind): void {
    this.ports.set(port, ({ socket }) => {
      if (kind === 'silent') return
      socket.onSegment = ({ kind: of }) => {
        if (of === 'hello') socket.send({ kind: kind === 'http' ? 'no tls' : 'balancer' })
      }
    })
  }

  /** Makes one end of a connection to `peer`. */
  newSocket(peer: string): SimulatedSocket {
    const socket: SimulatedSocket = new SimulatedSocket(() => this.#sockets.delete(socket))
    this.#sockets.set(socket, peer)
    return socket
  }

  socketsTo(peer: string): readonly SimulatedSocket[] {
    return [...this.#sockets].filter(([, name]) => name === peer).map(([socket]) => socket)
  }
}

/** All hosts and paths. What it does depends on the seed, the timers and the calls alone. */
export class SimulatedNetwork {
  readonly parts: NetworkParts
  readonly #clock: { nowMs(): number }
  readonly #hosts = new Map<string, SimulatedHost>()
  readonly #paths = new Map<string, Path>()

  constructor(parts: NetworkParts & { readonly clock: { nowMs(): number } }) {
    this.parts = parts
    this.#clock = parts.clock
  }

  /** The host of that name; it is made when it is first asked for. */
  host(name: string): SimulatedHost {
    const found = this.#hosts.get(name) ?? new SimulatedHost(this, name, this.#clock)
    this.#hosts.set(name, found)
    return found
  }

  find(name: string): SimulatedHost | undefined {
    return this.#hosts.get(name)
  }

  /** The direction from one host to another. */
  path(from: string, to: string): Path {
    const key = `${from} ${to}`
    const isOff = (): boolean => this.host(from).isOff || this.host(to).isOff
    const found = this.#paths.get(key) ?? new Path(this.parts, isOff)
    this.#paths.set(key, found)
    return found
  }

  set(from: string, to: string, settings: Partial<PathSettings>): void {
    const path = this.path(from, to)
    path.settings = { ...path.settings, ...settings }
  }

  /** Nothing gets through in this direction; `heal` lets it, and what was held arrives. */
  cut(from: string, to: string): void {
    this.path(from, to).isCut = true
  }

  heal(from: string, to: string): void {
    this.path(from, to).isCut = false
  }

  /** Something on the way resets all connections, for both sides at once. */
  reset(one: string, other: string): void {
    for (const [at, to] of [
      [one, other],
      [other, one],
    ] as const)
      for (const socket of this.host(at).socketsTo(to)) socket.lose()
  }

  /** One side loses its connections, without a word to the other, which believes them up. */
  loseAt(at: string, to: string): void {
    for (const socket of this.host(at).socketsTo(to)) socket.lose()
  }

  /** The next bytes in this direction arrive damaged. */
  flipNext(from: string, to: string): void {
    this.path(from, to).flipsNext = true
  }

  unblock(): void {
    for (const path of this.#paths.values()) path.unblock()
  }
}
