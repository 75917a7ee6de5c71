// The vendor's cloud on loopback: directory, resource manager, graph, instance metadata, with what tests do to them.
import type { ServerResponse } from 'node:http'
import { type Clock, realWorld, type World } from '../src/lib/world.ts'
import { AccessTokens, bothSpellings } from './access-tokens.ts'
import { bearerCheck } from './bearer.ts'
import { makeLoopbackCertificate } from './certificates.ts'
import { Directory } from './directory.ts'
import { type CloudAnswer, type CloudRequest, type Handler, Refusal, type Scheme, type Service } from './exchange.ts'
import { graph } from './graph.ts'
import { identityProvider } from './identity-provider.ts'
import { Listener } from './listener.ts'
import { Machines } from './machines.ts'
import { Minting } from './minting.ts'
import { RequestLog } from './request-log.ts'
import { type ResourceManagerSettings, resourceManager } from './resource-manager.ts'
import { Resources } from './resources.ts'
import { SigningKeys } from './signing-keys.ts'
import { formatStanza, type StanzaOptions } from './stanza.ts'
import { tokenRoutes } from './token-endpoint.ts'

export type EmulatorOptions = {
  /** Time, randomness, timers and network; the real ones by default. */
  readonly world?: World
  /** Where it listens: 127.0.0.1 by default. */
  readonly host?: string
  /** Port of a service in a scheme, `http.graph`; any that is free by default. */
  readonly ports?: Readonly<Record<string, number>>
  /** Over which of its addresses tokens are issued that were not asked for at one: `http` by default. */
  readonly issuerScheme?: Scheme
}

/** What the emulator is asked over both schemes. */
const BOTH: readonly Service[] = ['authority', 'resourceManager', 'graph']

/** The addresses of one scheme: origins, without a slash at the end. */
export type Addresses = { readonly authority: string; readonly resourceManager: string; readonly graph: string }

/** A clock that can be set apart from that of the machine. */
export class SkewedClock implements Clock {
  readonly #clock: Clock
  /** Ahead of the machine's clock where positive. */
  skewMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.skewMs
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }
}

export class Emulator {
  readonly clock: SkewedClock
  readonly keys: SigningKeys
  readonly directory: Directory
  readonly resources: Resources
  readonly machines: Machines
  readonly tokens: AccessTokens
  readonly minting: Minting
  readonly requests = new RequestLog()
  readonly resourceSettings: ResourceManagerSettings = { pageSize: 50, remainingReads: 11_999 }
  /** PEM of the authority that signed the certificate of the TLS addresses. */
  readonly authorityCertificate: string
  readonly #listeners = new Map<string, Listener>()
  readonly #handlers = new Map<Service, Handler>()

  private constructor(world: World, keys: SigningKeys, options: EmulatorOptions) {
    this.clock = new SkewedClock(world.clock)
    this.keys = keys
    this.directory = new Directory(this.clock, world.random)
    this.resources = new Resources(this.directory, world.random)
    this.machines = new Machines(this.resources, world.random)
    this.tokens = new AccessTokens(keys, this.directory, this.resources, this.clock, world.random)
    this.minting = new Minting(this.tokens, keys, this.directory, this.resources, () =>
      this.addresses(options.issuerScheme ?? 'http'),
    )
    const certificate = makeLoopbackCertificate(world.clock.nowMs(), world.random)
    this.authorityCertificate = certificate.authority
    const { host = '127.0.0.1', ports = {} } = options
    for (const scheme of ['http', 'https'] as const) {
      for (const service of BOTH) {
        const name = `${scheme}.${service}`
        const serve = (request: CloudRequest, outgoing: ServerResponse): Promise<void> => this.#serve(request, outgoing)
        this.#listeners.set(name, new Listener({ service, scheme, host, port: ports[name] ?? 0, certificate, serve }))
      }
    }
  }

  static async start(options: EmulatorOptions = {}): Promise<Emulator> {
    const world = options.world ?? realWorld()
    const keys = await SigningKeys.make(world.clock, world.random)
    const emulator = new Emulator(world, keys, options)
    await Promise.all([...emulator.#listeners.values()].map((listener) => listener.open()))
    emulator.#connect(world)
    return emulator
  }

  addresses(scheme: Scheme): Addresses {
    return {
      authority: this.#origin(scheme, 'authority'),
      resourceManager: this.#origin(scheme, 'resourceManager'),
      graph: this.#origin(scheme, 'graph'),
    }
  }

  /** `cloud "TestCloud" { … }` for a server's configuration file. */
  stanza(options: Omit<StanzaOptions, 'addresses'> & { readonly scheme?: Scheme } = {}): string {
    return formatStanza({ ...options, addresses: this.addresses(options.scheme ?? 'http') })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#listeners.values()].map((listener) => listener.close()))
  }

  #origin(scheme: Scheme, service: Service): string {
    const listener = this.#listeners.get(`${scheme}.${service}`)
    if (listener === undefined) throw new Error(`The emulator has no ${scheme} address for ${service}`)
    return listener.origin
  }

  #connect({ random }: World): void {
    const both = [this.addresses('http'), this.addresses('https')] as const
    for (const { resourceManager: origin, graph: graphOrigin } of both) {
      for (const audience of [...bothSpellings(origin), ...bothSpellings(graphOrigin)]) {
        this.tokens.firstParty.add(audience)
      }
      for (const audience of bothSpellings(origin)) this.tokens.resourceManagerAudiences.add(audience)
      for (const audience of bothSpellings(graphOrigin)) this.tokens.graphAudiences.add(audience)
    }
    const checkBearer = bearerCheck(
      this.keys,
      this.clock,
      both.map(({ authority }) => authority),
    )
    const { directory, resources, keys, tokens, clock } = this
    const routes = tokenRoutes({
      directory,
      tokens,
      clock,
      graph: ({ scheme }) => this.addresses(scheme).graph,
      checkAssertion: async () => false,
    })
    this.#handlers.set('authority', identityProvider({ directory, keys, tokenRoutes: routes }))
    this.#handlers.set(
      'resourceManager',
      resourceManager({
        resources,
        checkBearer,
        audiences: tokens.resourceManagerAudiences,
        random,
        authority: ({ scheme }) => this.addresses(scheme).authority,
        settings: this.resourceSettings,
      }),
    )
    this.#handlers.set('graph', graph({ directory, checkBearer, audiences: tokens.graphAudiences, clock, random }))
  }

  async #serve(request: CloudRequest, outgoing: ServerResponse): Promise<void> {
    const logged = this.requests.add(request, this.clock.nowMs())
    const answer = await this.#answer(request)
    logged.status = answer.status
    const body = answer.body === undefined || Buffer.isBuffer(answer.body) ? answer.body : JSON.stringify(answer.body)
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json; charset=utf-8' }
    outgoing.writeHead(answer.status, { ...headers, ...answer.headers }).end(body)
  }

  async #answer(request: CloudRequest): Promise<CloudAnswer> {
    try {
      const handler = this.#handlers.get(request.service)
      return (await handler?.(request)) ?? { status: 503 }
    } catch (cause) {
      if (cause instanceof Refusal) return cause.answer
      throw cause
    }
  }
}

/** Starts on loopback, with one tenant and one subscription unless told otherwise; see emulator/README.md. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await Emulator.start(options)
  emulator.directory.addTenant({ domains: ['example.test'] })
  emulator.resources.addSubscription()
  return emulator
}
