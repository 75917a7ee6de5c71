// Dialing and listening in the simulated network, with the steps of a real handshake.
import { createPublicKey, X509Certificate } from 'node:crypto'
import {
  acceptorFailure,
  clockFailure,
  type DialFailure,
  type DialStage,
  FAILURE,
  ownFailure,
  timeoutFailure,
} from '../../src/lib/link-failures.ts'
import {
  DIAL_MS,
  type Dialing,
  type DialLimits,
  type Link,
  type LinkAddress,
  LinkFailed,
  type LinkIdentity,
  type Links,
  type Listening,
  MOST_UNSENT_BYTES,
  SERVING_LIMITS,
  type Serving,
} from '../../src/lib/links.ts'
import { certificateFacts, judgeCertificate } from '../../src/lib/peer-certificate.ts'
import { type Segment, SimulatedSocket } from './network.ts'
import { SimulatedLink } from './simulated-link.ts'
import type { SimulatedHost, SimulatedNetwork } from './simulated-network.ts'

/** A connection that has come to a port. */
export type Arriving = { readonly socket: SimulatedSocket; readonly from: string }

const FIRST_FREE_PORT = 40_000

/** The links of the program that runs on `host`. */
export function simulatedLinks(network: SimulatedNetwork, host: SimulatedHost): Links {
  return {
    dial: (to, as, limits = {}) => new Dial(network, host, { to, as, limits }).link,
    listen: async ({ port }, serving) => listen(network, host, port, serving),
  }
}

type DialPlan = { readonly to: LinkAddress; readonly as: Dialing; readonly limits: DialLimits }

/** One dial, from the first segment to the link. */
class Dial {
  readonly link: Promise<Link>
  readonly #network: SimulatedNetwork
  readonly #host: SimulatedHost
  readonly #plan: DialPlan
  readonly #socket: SimulatedSocket
  readonly #settled = Promise.withResolvers<Link>()
  #deadline: { cancel(): void } | undefined
  #stage: DialStage = 'connecting'
  #certificate: Buffer = Buffer.alloc(0)

  constructor(network: SimulatedNetwork, host: SimulatedHost, plan: DialPlan) {
    this.#network = network
    this.#host = host
    this.#plan = plan
    this.link = this.#settled.promise
    this.#socket = host.newSocket(plan.to.host)
    this.#begin()
  }

  readonly #giveUp = (): void => this.#fail(FAILURE.givenUp)

  #begin(): void {
    const { to, as } = this.#plan
    const there = this.#network.find(to.host)
    const failure = ownFailure(as, this.#host.clock.nowMs())
    if (!fits(as.identity)) this.#settle(() => this.#settled.reject(new Error('The key is of another certificate')))
    else if (failure !== undefined) this.#fail(failure)
    else if (there === undefined) this.#fail({ reason: 'unreachable', what: 'cannot be reached: ENOTFOUND' })
    else if (this.#plan.limits.signal?.aborted === true) this.#fail(FAILURE.givenUp)
    else this.#open(there)
  }

  #open(there: SimulatedHost): void {
    const { to, limits } = this.#plan
    const timers = this.#network.parts.timers
    this.#deadline = timers.after(limits.timeoutMs ?? DIAL_MS, () => this.#fail(timeoutFailure(this.#stage)))
    limits.signal?.addEventListener('abort', this.#giveUp)
    this.#socket.onSegment = (segment) => this.#arrived(segment)
    this.#socket.onLost = () => this.#fail(lostFailure(this.#stage))
    const name = this.#host.name
    const other = there.newSocket(name)
    other.onSegment = (segment) => {
      if (segment.kind === 'open') opened(there, segment.port, { socket: other, from: name })
    }
    SimulatedSocket.join(
      this.#network.parts,
      [this.#socket, this.#network.path(name, to.host)],
      [other, this.#network.path(to.host, name)],
    )
    this.#socket.send({ kind: 'open', port: to.port })
  }

  #arrived(segment: Segment): void {
    const { as } = this.#plan
    const nowMs = this.#host.clock.nowMs()
    if (segment.kind === 'opened') {
      this.#stage = 'proving'
      this.#socket.send({ kind: 'hello', serverName: as.serverName, protocol: as.protocol })
    } else if (segment.kind === 'shown') {
      this.#stage = 'awaiting acceptance'
      this.#certificate = segment.certificate
      const shown = { certificate: segment.certificate, protocol: as.protocol }
      const failure = acceptorFailure(shown, as, nowMs)
      if (failure !== undefined) this.#fail(failure)
      else this.#socket.send({ kind: 'shown', certificate: as.identity.certificate })
    } else if (segment.kind === 'accepted') this.#accepted()
    else if (segment.kind === 'clock') this.#fail(clockFailure(segment.nowMs, nowMs))
    else if (segment.kind === 'alert') this.#fail(FAILURE.notServed)
    else if (segment.kind === 'no tls') this.#fail(FAILURE.noTls)
    else if (segment.kind === 'balancer') {
      const shown = { certificate: Buffer.alloc(0), protocol: undefined }
      this.#fail(acceptorFailure(shown, as, nowMs) ?? FAILURE.noVerdict)
    }
  }

  #accepted(): void {
    const { to, as, limits } = this.#plan
    const peer = {
      certificate: this.#certificate,
      names: factsOf(this.#certificate, as.identity.trusted).uris,
      serverName: as.serverName,
      protocol: as.protocol,
      address: to.host,
    }
    const { random } = this.#network.parts
    const mostUnsentBytes = limits.mostUnsentBytes ?? MOST_UNSENT_BYTES
    const link = new SimulatedLink(this.#socket, peer, { random, mostUnsentBytes })
    this.#settle(() => this.#settled.resolve(link))
  }

  #fail({ reason, what }: DialFailure): void {
    this.#settle(() => {
      this.#socket.reset()
      this.#settled.reject(new LinkFailed(reason, this.#plan.to, what))
    })
  }

  #settle(done: () => void): void {
    this.#deadline?.cancel()
    this.#plan.limits.signal?.removeEventListener('abort', this.#giveUp)
    done()
  }
}

function lostFailure(stage: DialStage): DialFailure {
  if (stage === 'connecting') return FAILURE.refused
  return stage === 'proving' ? FAILURE.closed : FAILURE.notAccepted
}

const MOST_REMEMBERED = 64
const remembered = new Map<string, ReturnType<typeof certificateFacts>>()
const judged = new WeakMap<LinkIdentity, boolean>()

/** Facts of certificates do not change, and the same ones come again and again. */
function factsOf(certificate: Buffer, trusted: readonly Buffer[]): ReturnType<typeof certificateFacts> {
  const name = [certificate, ...trusted].map((each) => each.toString('latin1')).join('\n')
  const facts = remembered.get(name) ?? certificateFacts(certificate, trusted)
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  remembered.set(name, facts)
  return facts
}

/** As the TLS library does, which makes no context of them. */
function fits(identity: LinkIdentity): boolean {
  const known = judged.get(identity)
  if (known !== undefined) return known
  const { key, certificate } = identity
  const isFit = new X509Certificate(certificate).publicKey.equals(createPublicKey(key))
  judged.set(identity, isFit)
  return isFit
}

function opened(host: SimulatedHost, port: number, arriving: Arriving): void {
  const arrived = host.ports.get(port)
  if (arrived === undefined) arriving.socket.reset()
  else {
    arrived(arriving)
    arriving.socket.send({ kind: 'opened' })
  }
}

function listen(network: SimulatedNetwork, host: SimulatedHost, wanted: number, serving: Serving): Listening {
  let port = wanted
  if (port === 0) for (port = FIRST_FREE_PORT; host.ports.has(port); ) port++
  if (host.ports.has(port)) throw Object.assign(new Error(`Port ${port} is in use`), { code: 'EADDRINUSE' })
  const handshakes = new Set<SimulatedSocket>()
  const arrived = (arriving: Arriving): void => handshake(network, host, serving, { ...arriving, handshakes })
  host.ports.set(port, arrived)
  return {
    port,
    close: () => {
      if (host.ports.get(port) === arrived) host.ports.delete(port)
      for (const socket of handshakes) socket.reset()
    },
  }
}

type Handshake = Arriving & { readonly handshakes: Set<SimulatedSocket> }

function handshake(
  network: SimulatedNetwork,
  host: SimulatedHost,
  serving: Serving,
  { socket, from, handshakes }: Handshake,
): void {
  const limits = { ...SERVING_LIMITS, ...serving.limits }
  let hello = { serverName: '', protocol: '' }
  const deadline = network.parts.timers.after(limits.handshakeMs, () => refuse())
  const leave = (): void => {
    deadline.cancel()
    handshakes.delete(socket)
  }
  const refuse = (segment: Segment = { kind: 'reset' }): void => {
    leave()
    if (segment.kind !== 'reset') socket.send(segment)
    socket.reset()
  }
  handshakes.add(socket)
  socket.onLost = leave
  socket.onSegment = (segment) => {
    if (segment.kind === 'hello') {
      hello = segment
      const identity = serving.identities(hello.serverName)
      if (identity === undefined || !serving.protocols.includes(hello.protocol)) refuse({ kind: 'alert' })
      else socket.send({ kind: 'shown', certificate: identity.certificate })
    } else if (segment.kind === 'shown') {
      const facts = factsOf(segment.certificate, serving.identities(hello.serverName)?.trusted ?? [])
      const nowMs = host.clock.nowMs()
      const refusal = judgeCertificate(facts, { by: 'dialer' }, nowMs)
      if (refusal !== undefined) return refuse(refusal.reason === 'clock' ? { kind: 'clock', nowMs } : undefined)
      leave()
      const { serverName, protocol } = hello
      const peer = { certificate: segment.certificate, names: facts.uris, serverName, protocol, address: from }
      const link = new SimulatedLink(socket, peer, { ...limits, random: network.parts.random })
      socket.send({ kind: 'accepted' })
      serving.accept(link)
    }
  }
}
