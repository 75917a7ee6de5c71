// The addresses of the services: one for each service and scheme.
import type { LoopbackCertificate } from './certificates.ts'
import { type Scheme, SERVICES, type Service } from './exchange.ts'
import { Listener, type Serve } from './listener.ts'

/** The addresses that clients of one scheme are told: origins, without a slash at the end. */
export type Addresses = { readonly authority: string; readonly resourceManager: string; readonly graph: string }

/** `http.graph`, `https.authority`. */
export type AddressName = `${Scheme}.${Service}`

/** Machines ask their metadata without TLS, and the emulator is told what to do the same way. */
const PLAIN_ONLY: readonly Service[] = ['metadata', 'control']

/** Where listeners are opened, and who answers. */
export type ListenersOptions = {
  readonly host: string
  /** Ports by address; any free one for an address without. */
  readonly ports: Readonly<Partial<Record<AddressName, number>>>
  readonly certificate: LoopbackCertificate
  readonly serve: Serve
}

/** The listeners of one emulator. Ports stay the same from the first opening on, also after `refuse` and `accept`. */
export class Listeners {
  readonly #listeners = new Map<string, Listener>()
  readonly #further: Listener[] = []
  readonly #options: ListenersOptions

  constructor(options: ListenersOptions) {
    this.#options = options
    for (const service of SERVICES) {
      for (const scheme of ['http', 'https'] as const) {
        if (scheme === 'https' && PLAIN_ONLY.includes(service)) continue
        const name: AddressName = `${scheme}.${service}`
        this.#listeners.set(name, this.#make(service, scheme, options.ports[name] ?? 0))
      }
    }
  }

  /** Opens all addresses. @throws Error if a port is taken, after closing those that were open */
  async open(): Promise<void> {
    const opened = await Promise.allSettled([...this.#listeners.values()].map((listener) => listener.open()))
    const failed = opened.find((each) => each.status === 'rejected')
    if (failed === undefined) return
    await this.close()
    throw failed.reason
  }

  async close(): Promise<void> {
    await Promise.all([...this.#listeners.values(), ...this.#further].map((listener) => listener.close()))
  }

  /** Returns an origin, without a slash at the end. @throws Error if there is no such address */
  originOf(scheme: Scheme, service: Service): string {
    return this.#get(scheme, service).origin
  }

  addresses(scheme: Scheme): Addresses {
    return {
      authority: this.originOf(scheme, 'authority'),
      resourceManager: this.originOf(scheme, 'resourceManager'),
      graph: this.originOf(scheme, 'graph'),
    }
  }

  /** Opens a further address of a service over HTTP. Every request to it gets these headers. */
  async openFurther(service: Service, headers: Readonly<Record<string, string>>): Promise<string> {
    const serve: Serve = (request, outgoing) =>
      this.#options.serve({ ...request, headers: { ...request.headers, ...headers } }, outgoing)
    const listener = this.#make(service, 'http', 0, serve)
    await listener.open()
    this.#further.push(listener)
    return listener.origin
  }

  /** Closes the addresses of a service: connections are refused until `accept`. */
  async refuse(service: Service): Promise<void> {
    await Promise.all(this.#of(service).map((listener) => listener.close()))
  }

  async accept(service: Service): Promise<void> {
    await Promise.all(this.#of(service).map((listener) => listener.open()))
  }

  /** Makes a service end each TLS handshake with an alert, or stops that. */
  breakTls(service: Service, broken: boolean): void {
    this.#get('https', service).breaksTls = broken
  }

  #make(service: Service, scheme: Scheme, port: number, serve: Serve = this.#options.serve): Listener {
    const { host, certificate } = this.#options
    return new Listener({ service, scheme, host, port, certificate, serve })
  }

  #of(service: Service): Listener[] {
    return (['http', 'https'] as const).flatMap((scheme) => this.#listeners.get(`${scheme}.${service}`) ?? [])
  }

  #get(scheme: Scheme, service: Service): Listener {
    const listener = this.#listeners.get(`${scheme}.${service}`)
    if (listener === undefined) throw new Error(`The emulator has no address for ${service} over ${scheme}`)
    return listener
  }
}
