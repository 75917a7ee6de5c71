// Dials a peer: TCP, TLS 1.3, the proof of both ends, and the word of the peer that it takes ours.
import { connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import {
  acceptorFailure,
  clockFailure,
  type DialFailure,
  type DialStage,
  FAILURE,
  ownFailure,
  timeoutFailure,
} from './link-failures.ts'
import {
  DIAL_MS,
  type Dialing,
  type DialLimits,
  type Link,
  type LinkAddress,
  LinkFailed,
  type LinkParts,
  MOST_UNSENT_BYTES,
} from './links.ts'
import { codeOf, peerCertificate, peerOf, type TlsConnection, TlsLink } from './tls-link.ts'
import { secureContextOf, TLS_RULES, VERDICT, VERDICT_TIME_BYTES } from './tls-settings.ts'

/** See `Links.dial`. */
export function dialTls(parts: LinkParts, to: LinkAddress, as: Dialing, limits: DialLimits = {}): Promise<Link> {
  const own = ownFailure(as, parts.clock.nowMs())
  if (own !== undefined) return Promise.reject(new LinkFailed(own.reason, to, own.what))
  const { signal } = limits
  if (signal?.aborted === true) return Promise.reject(new LinkFailed(FAILURE.givenUp.reason, to, FAILURE.givenUp.what))
  return new Promise((resolve, reject) => {
    const { raw, socket } = begin(to, as)
    let stage: DialStage = 'connecting'
    let isSettled = false
    const settle = (done: () => void): void => {
      if (isSettled) return
      isSettled = true
      deadline.cancel()
      signal?.removeEventListener('abort', giveUp)
      done()
    }
    const fail = ({ reason, what }: DialFailure): void =>
      settle(() => {
        // It closes `raw` too. The other way round frees what the TLS library, which may be the caller, still uses.
        socket.destroy()
        reject(new LinkFailed(reason, to, what))
      })
    const giveUp = (): void => fail(FAILURE.givenUp)
    signal?.addEventListener('abort', giveUp)
    const deadline = parts.timers.after(limits.timeoutMs ?? DIAL_MS, () => fail(timeoutFailure(stage)))
    const failBy = (cause?: Error): void => fail(failureOf(stage, cause ?? new Error('it was closed')))
    for (const each of [raw, socket]) each.on('error', failBy)
    for (const news of ['end', 'close']) socket.on(news, () => failBy())
    raw.once('connect', () => {
      stage = 'proving'
    })
    socket.once('secureConnect', () => {
      stage = 'awaiting acceptance'
      const failure = unproven(socket, as, parts.clock.nowMs())
      if (failure !== undefined) return fail(failure)
      socket.on('readable', () => {
        const verdict = isSettled ? 'not yet' : readVerdict(socket, parts.clock.nowMs())
        if (verdict === 'accepted') settle(() => resolve(linkOf({ raw, socket, timers: parts.timers }, to, as, limits)))
        else if (verdict !== 'not yet') fail(verdict)
      })
    })
  })
}

function begin({ host, port }: LinkAddress, { identity, serverName, protocol }: Dialing) {
  const secureContext = secureContextOf(identity)
  // One address: trying several in turn would put another connection below the TLS that is begun.
  const raw = connect({ host, port, noDelay: true, autoSelectFamily: false })
  const socket = connectTls({
    ...TLS_RULES,
    socket: raw,
    secureContext,
    servername: serverName,
    ALPNProtocols: [protocol],
    // The certificate is judged when the handshake is done, so that the reason can be told. Nothing is sent before.
    rejectUnauthorized: false,
  })
  return { raw, socket }
}

function linkOf(connection: TlsConnection, to: LinkAddress, as: Dialing, limits: DialLimits): Link {
  const { serverName, protocol, identity } = as
  const peer = peerOf(connection.socket, identity.trusted, { serverName, protocol, address: to.host })
  return new TlsLink(connection, peer, limits.mostUnsentBytes ?? MOST_UNSENT_BYTES)
}

/**
 * Both must agree: the runtime, which checks signatures and dates by the clock of the system, and the rule of links.
 */
function unproven(socket: TLSSocket, as: Dialing, nowMs: number): DialFailure | undefined {
  const protocol = socket.alpnProtocol === false ? undefined : (socket.alpnProtocol ?? undefined)
  const failure = acceptorFailure({ certificate: peerCertificate(socket), protocol }, as, nowMs)
  if (failure !== undefined || socket.authorized) return failure
  return { reason: 'untrusted', what: `showed a certificate that is not valid: ${String(socket.authorizationError)}` }
}

function readVerdict(socket: TLSSocket, nowMs: number): DialFailure | 'accepted' | 'not yet' {
  const verdict = socket.read(1) as Buffer | null
  if (verdict === null) return 'not yet'
  if (verdict[0] === VERDICT.accepted) return 'accepted'
  // It comes in one piece with the byte before it: one record.
  const time = verdict[0] === VERDICT.clock ? (socket.read(VERDICT_TIME_BYTES) as Buffer | null) : null
  if (time?.length !== VERDICT_TIME_BYTES) return FAILURE.noVerdict
  return clockFailure(Number(time.readBigUInt64BE()), nowMs)
}

const UNDECIPHERED = /BAD_RECORD_MAC|DECRYPT|DIGEST|SIGNATURE/

function failureOf(stage: DialStage, cause: Error): DialFailure {
  const code = codeOf(cause)
  if (stage === 'connecting') {
    const causes = cause instanceof AggregateError ? (cause.errors as Error[]) : [cause]
    if (causes.some((each) => codeOf(each) === 'ECONNREFUSED')) return FAILURE.refused
    if (code === 'ECONNRESET') return FAILURE.closed
    return { reason: 'unreachable', what: `cannot be reached: ${code}` }
  }
  // In TLS 1.3 the refusal of a certificate shows only now.
  if (stage === 'awaiting acceptance') return FAILURE.notAccepted
  if (!code.startsWith('ERR_SSL_')) return FAILURE.closed
  if (code.endsWith('ALERT_PROTOCOL_VERSION')) return FAILURE.olderTls
  if (code.includes('ALERT')) return FAILURE.notServed
  return UNDECIPHERED.test(code) ? FAILURE.undeciphered : FAILURE.noTls
}
