// The ports of a cluster: those that are wanted are opened, and tried again until they are.
import { isIP } from 'node:net'
import type { LinkAddress, Links, Listening, Serving } from '../../lib/links.ts'
import type { Log } from '../../lib/log.ts'
import type { Timer, World } from '../../lib/world.ts'
import type { LinkTimes } from './link-times.ts'

/** What the ports of a cluster need. */
export type ClusterPortsParts = {
  readonly world: { readonly links: Pick<Links, 'listen'>; readonly timers: Pick<World['timers'], 'after'> }
  readonly times: Pick<LinkTimes, 'portMs'>
  readonly serving: Serving
  readonly log: Log
}

type Port = { readonly at: LinkAddress; listening?: Listening; fault?: string; retry?: Timer; isUnwanted?: true }

/** Several addresses with one way to serve. */
export class ClusterPorts {
  readonly #parts: ClusterPortsParts
  readonly #wanted = new Map<string, Port>()

  constructor(parts: ClusterPortsParts) {
    this.#parts = parts
  }

  /** Ports that are open. */
  get open(): readonly number[] {
    return [...this.#wanted.values()].flatMap(({ listening }) => (listening === undefined ? [] : [listening.port]))
  }

  /** Sentences about those that could not be opened. */
  get faults(): readonly string[] {
    return [...this.#wanted.values()].flatMap(({ fault }) => (fault === undefined ? [] : [fault]))
  }

  /** Closes what is not wanted any more. Resolves when each of the others is open, or has failed once. */
  async listen(addresses: readonly LinkAddress[]): Promise<void> {
    const wanted = new Map(addresses.map((at) => [addressText(at), at]))
    for (const [key, port] of this.#wanted) {
      if (wanted.has(key)) continue
      this.#wanted.delete(key)
      port.isUnwanted = true
      port.retry?.cancel()
      port.listening?.close()
    }
    const fresh = [...wanted].filter(([key]) => !this.#wanted.has(key))
    for (const [key, at] of fresh) this.#wanted.set(key, { at })
    await Promise.all(fresh.map(([key]) => this.#open(this.#wanted.get(key))))
  }

  async #open(port: Port | undefined): Promise<void> {
    if (port === undefined) return
    const { world, times, serving, log } = this.#parts
    try {
      const listening = await world.links.listen(port.at, serving)
      if (port.isUnwanted) return listening.close()
      port.listening = listening
      if (port.fault !== undefined)
        log('info', 'A cluster port that could not be opened is open now', { address: addressText(port.at) })
      delete port.fault
    } catch (cause) {
      if (port.isUnwanted) return
      const fault = faultOf(port.at, cause)
      if (fault !== port.fault) log('error', fault)
      port.fault = fault
      port.retry = world.timers.after(times.portMs, () => void this.#open(port))
    }
  }
}

const addressText = ({ host, port }: LinkAddress): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

function faultOf(at: LinkAddress, cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  const address = addressText(at)
  if (code === 'EADDRINUSE') {
    return `The cluster port ${address} is in use: stop what listens there, or set another "cluster_address"`
  }
  if (code === 'EADDRNOTAVAIL') return `The cluster port ${address} is not at an address of this machine`
  if (code === 'EACCES') return `This process may not open the cluster port ${address}: take a port above 1023`
  return `The cluster port ${address} cannot be opened: ${code ?? (cause as Error).message}`
}
