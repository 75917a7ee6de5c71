// The vendor's cloud on loopback: directory, resource manager, graph and instance metadata, and the means of tests to
// change, break and watch them. emulator/README.md is the guide.
import type { ServerResponse } from 'node:http'
import { realWorld, type World } from '../src/lib/world.ts'
import { AccessTokens, bothSpellings } from './access-tokens.ts'
import { type Addresses, type AddressName, Listeners } from './addresses.ts'
import { bearerCheck } from './bearer.ts'
import { makeLoopbackCertificate } from './certificates.ts'
import { Cluster } from './cluster.ts'
import { control } from './control.ts'
import { Deliveries } from './delivery.ts'
import { Directory } from './directory.ts'
import { type CloudAnswer, type CloudRequest, type Handler, Refusal, type Scheme, type Service } from './exchange.ts'
import { Faults } from './faults.ts'
import { faultOfAssertion } from './federation.ts'
import { graph } from './graph.ts'
import { identityProvider } from './identity-provider.ts'
import { instanceMetadata, RESOURCE_HEADER } from './instance-metadata.ts'
import { Machines } from './machines.ts'
import { Minting } from './minting.ts'
import { type CloudPlan, DEFAULT_PLAN, plant } from './plan.ts'
import { RequestLog } from './request-log.ts'
import { resourceManager } from './resource-manager.ts'
import { Resources } from './resources.ts'
import { SigningKeys } from './signing-keys.ts'
import { SkewedClock } from './skewed-clock.ts'
import { formatStanza, type StanzaOptions } from './stanza.ts'
import { tokenRoutes } from './token-endpoint.ts'

/** Settings of an emulator; it works without any. */
export type EmulatorOptions = {
  /** Time, randomness and timers; the real ones by default. */
  readonly world?: Pick<World, 'clock' | 'random' | 'timers'>
  /** The address to listen on, 127.0.0.1 by default. */
  readonly host?: string
  readonly ports?: Readonly<Partial<Record<AddressName, number>>>
  /** The scheme in `iss` of tokens that were not asked for at an address, as minted ones; `http` by default. */
  readonly issuerScheme?: Scheme
  /** The cloud at the start: one tenant and one subscription by default. */
  readonly plan?: CloudPlan
}

const PAGE_SIZE = 50
/** A subscription has 12,000 reads an hour, of which the first request spends one. */
const REMAINING_READS = 11_999

/** A running emulator. The members are its parts, for tests in the same process. */
export class Emulator {
  readonly clock: SkewedClock
  readonly keys: SigningKeys
  readonly directory: Directory
  readonly resources: Resources
  readonly machines: Machines
  readonly tokens: AccessTokens
  /** Makes good and bad tokens without a request. */
  readonly minting: Minting
  readonly cluster: Cluster
  readonly faults = new Faults()
  readonly requests = new RequestLog()
  readonly resourceSettings = { pageSize: PAGE_SIZE, remainingReads: REMAINING_READS }
  readonly listeners: Listeners
  /** PEM of the authority that signed the certificate of the TLS addresses. */
  readonly authorityCertificate: string
  /** The secret that services other than machines show to their metadata endpoint. */
  readonly identityHeader: string
  readonly #deliveries: Deliveries
  readonly #handlers = new Map<Service, Handler>()
  readonly #options: EmulatorOptions
  readonly #world: Pick<World, 'clock' | 'random' | 'timers'>

  private constructor(keys: SigningKeys, options: EmulatorOptions) {
    const world = options.world ?? realWorld()
    const { random } = world
    this.#world = world
    this.#options = options
    this.clock = new SkewedClock(world.clock)
    this.keys = keys
    this.directory = new Directory(this.clock, random)
    this.resources = new Resources(this.directory, random)
    this.machines = new Machines(this.resources, random)
    this.tokens = new AccessTokens(keys, this.directory, this.resources, this.clock, random)
    this.minting = new Minting(this.tokens, keys, this.directory, this.resources, () => this.#issuing)
    this.cluster = new Cluster(this.clock, random, () => this.origin('cluster'))
    this.identityHeader = random.bytes(24).toString('base64url')
    this.#deliveries = new Deliveries(this.clock, world.timers)
    const certificate = makeLoopbackCertificate(world.clock.nowMs(), random)
    this.authorityCertificate = certificate.authority
    const { host = '127.0.0.1', ports = {} } = options
    this.listeners = new Listeners({
      host,
      ports,
      certificate,
      serve: (request, outgoing) => this.#serve(request, outgoing),
    })
  }

  /** Starts an emulator. @throws Error if a port is taken */
  static async start(options: EmulatorOptions = {}): Promise<Emulator> {
    const { clock, random } = options.world ?? realWorld()
    const emulator = new Emulator(await SigningKeys.make(clock, random), options)
    await emulator.listeners.open()
    emulator.#connect()
    emulator.reset()
    return emulator
  }

  /** Puts back the cloud of the start, or of `plan`. Addresses and keys stay, so servers need no new configuration. */
  reset(plan: CloudPlan = this.#options.plan ?? DEFAULT_PLAN): void {
    for (const part of [this.directory, this.resources, this.faults, this.requests]) part.clear()
    this.clock.skewMs = 0
    Object.assign(this.resourceSettings, { pageSize: PAGE_SIZE, remainingReads: REMAINING_READS })
    plant(this, plan)
  }

  addresses(scheme: Scheme = 'http'): Addresses {
    return this.listeners.addresses(scheme)
  }

  /** Returns the address of a service, without a slash at the end. */
  origin(service: Service, scheme: Scheme = 'http'): string {
    return this.listeners.originOf(scheme, service)
  }

  /** Opens an address of metadata that answers as one resource would be answered, and returns it. */
  metadataOf(resourceId: string): Promise<string> {
    return this.listeners.openFurther('metadata', { [RESOURCE_HEADER]: this.resources.get(resourceId).id })
  }

  /** Returns the stanza `cloud "TestCloud" { … }` for a server's configuration file. */
  stanza(options: Omit<StanzaOptions, 'addresses'> & { readonly scheme?: Scheme } = {}): string {
    return formatStanza({ ...options, addresses: this.addresses(options.scheme) })
  }

  close(): Promise<void> {
    return this.listeners.close()
  }

  get #issuing(): Addresses {
    return this.addresses(this.#options.issuerScheme)
  }

  #connect(): void {
    const { directory, resources, keys, tokens, clock, identityHeader } = this
    const { random, timers } = this.#world
    const both = [this.addresses('http'), this.addresses('https')]
    for (const own of both) {
      for (const audience of bothSpellings(own.resourceManager)) tokens.resourceManagerAudiences.add(audience)
      for (const audience of bothSpellings(own.graph)) tokens.graphAudiences.add(audience)
    }
    const authorities = both.map(({ authority }) => authority)
    const checkBearer = bearerCheck(keys, clock, authorities)
    const ofScheme = ({ scheme }: CloudRequest): Addresses => this.addresses(scheme)
    const routes = tokenRoutes({
      directory,
      tokens,
      clock,
      graph: (request) => ofScheme(request).graph,
      userIdentityOf: (principal) => resources.userIdentityIdOf(principal),
      checkAssertion: ({ federatedCredentials }, assertion) =>
        faultOfAssertion(assertion, federatedCredentials, clock, timers),
    })
    const handlers: Readonly<Record<Service, Handler>> = {
      authority: identityProvider({ directory, keys, tokenRoutes: routes }),
      resourceManager: resourceManager({
        resources,
        checkBearer,
        audiences: tokens.resourceManagerAudiences,
        random,
        authority: (request) => ofScheme(request).authority,
        settings: this.resourceSettings,
      }),
      graph: graph({ directory, checkBearer, audiences: tokens.graphAudiences, clock }),
      metadata: instanceMetadata({ resources, tokens, addresses: () => this.#issuing, identityHeader }),
      cluster: this.cluster.handler(),
      elsewhere: () => ({ status: 200, body: {} }),
      control: control(this),
    }
    for (const [service, handler] of Object.entries(handlers)) this.#handlers.set(service as Service, handler)
  }

  async #serve(request: CloudRequest, outgoing: ServerResponse): Promise<void> {
    if (request.service === 'control') {
      await this.#deliveries.send(outgoing, request, await this.#answer(request), [])
      return
    }
    const logged = this.requests.add(request, this.clock.nowMs())
    const actions = this.faults.take(request)
    const answer = this.#deliveries.insteadOf(request, actions) ?? (await this.#answer(request))
    logged.status = await this.#deliveries.send(outgoing, request, answer, actions)
  }

  async #answer(request: CloudRequest): Promise<CloudAnswer> {
    try {
      const handler = this.#handlers.get(request.service)
      return (await handler?.(request)) ?? { status: 503 }
    } catch (cause) {
      if (cause instanceof Refusal) return cause.answer
      // A fault of the emulator itself, which the author of the test has to see.
      return {
        status: 500,
        body: { emulator: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) },
      }
    }
  }
}

/** Starts an emulator on loopback. @throws Error if a port is taken */
export function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  return Emulator.start(options)
}
