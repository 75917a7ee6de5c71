// Links that are begun when there is something to do: most servers follow no other and are followed by none. Until then
// neither TLS nor the protocol is loaded, and no port is open.
import type {
  AskOutcome,
  HandOver,
  Knock,
  Knocked,
  LinkControl,
  LinkState,
  LinkStatus,
} from '../replication/link/link-sides.ts'
import type { ReplicationFamily } from '../storage/peer-log.ts'

/** What has the links, once there is something to do. */
export interface LinksHost extends LinkControl {
  /** Ends all links, and closes the ports. */
  close(): Promise<void>
}

/** Status where nothing is linked. */
export const NO_LINKS: LinkStatus = {
  isSilent: false,
  ports: [],
  faults: [],
  secondaries: [],
  primaries: [],
  untold: [],
}

/** Begins the host with the first state that has something for it, or with the first knock. */
export class LateLinks implements LinksHost {
  readonly #begin: () => Promise<LinksHost>
  #host: Promise<LinksHost> | undefined
  #isClosed = false

  /** A `begin` that rejects is called again for what comes next. */
  constructor(begin: () => Promise<LinksHost>) {
    this.#begin = begin
  }

  async play(state: LinkState): Promise<void> {
    if (this.#isClosed) return
    const isIdle = state.listenAt.length === 0 && state.parts.length === 0
    const host = await (isIdle ? this.#present() : this.#begun())
    await host?.play(state)
  }

  async disconnect(family: ReplicationFamily, id: string): Promise<void> {
    const host = await this.#present()
    await host?.disconnect(family, id)
  }

  async knock(knock: Knock): Promise<Knocked> {
    if (this.#isClosed) return { kind: 'no-link', reason: 'unreachable', sentence: closing(knock) }
    const host = await this.#begun()
    return host.knock(knock)
  }

  async handOver(family: ReplicationFamily, withinMs: number): Promise<HandOver> {
    const host = await this.#present()
    return host?.handOver(family, withinMs) ?? { kind: 'no-link' }
  }

  async takeBack(family: ReplicationFamily): Promise<void> {
    const host = await this.#present()
    await host?.takeBack(family)
  }

  async ask(call: string, body: Buffer): Promise<AskOutcome> {
    const host = await this.#present()
    return host?.ask(call, body) ?? { kind: 'no-link' }
  }

  sealChanged(sealId: string): void {
    void this.#present().then((host) => host?.sealChanged(sealId))
  }

  async recover(family: ReplicationFamily): Promise<void> {
    const host = await this.#present()
    await host?.recover(family)
  }

  async compareAgain(family: ReplicationFamily): Promise<void> {
    const host = await this.#present()
    await host?.compareAgain(family)
  }

  async status(): Promise<LinkStatus> {
    const host = await this.#present()
    return host === undefined ? NO_LINKS : host.status()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const host = await this.#present()
    await host?.close()
  }

  /** The host, if it was begun. Who had it begun hears of a failure. */
  async #present(): Promise<LinksHost | undefined> {
    return this.#host?.catch(() => undefined)
  }

  #begun(): Promise<LinksHost> {
    if (this.#host === undefined) {
      this.#host = this.#begin()
      this.#host.catch(() => {
        this.#host = undefined
      })
    }
    return this.#host
  }
}

const closing = ({ address }: Knock): string => `${address} was not asked, since this server is stopping`
