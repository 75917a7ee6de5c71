// Dials a peer: TCP, TLS 1.3, the proof of both ends, and the word of the peer that it takes ours.
import { connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import {
  DIAL_MS,
  type Dialing,
  type DialLimits,
  type Link,
  type LinkAddress,
  LinkFailed,
  type LinkFailure,
  type LinkParts,
  MOST_UNSENT_BYTES,
} from './links.ts'
import { type CertificateFacts, certificateFacts, judgeCertificate, spanText } from './peer-certificate.ts'
import { codeOf, type TlsConnection, TlsLink } from './tls-link.ts'
import { secureContextOf, TLS_RULES, VERDICT, VERDICT_TIME_BYTES } from './tls-settings.ts'

/** What a dial has reached when it fails. */
type Stage = 'connecting' | 'proving' | 'awaiting acceptance'
type Failure = { readonly reason: LinkFailure; readonly what: string }

const WAITED_FOR: Readonly<Record<Stage, string>> = {
  connecting: 'does not answer',
  proving: 'takes connections, and does not answer: no peer, or it has too much to do',
  'awaiting acceptance': 'does not say whether it takes the certificate of this node',
}

/** See `Links.dial`. */
export function dialTls(parts: LinkParts, to: LinkAddress, as: Dialing, limits: DialLimits = {}): Promise<Link> {
  const own = certificateFacts(as.identity.certificate, as.identity.trusted)
  const refusal = own.isOurs ? judgeCertificate(own, { by: 'dialer' }, parts.clock.nowMs()) : undefined
  if (refusal?.reason === 'clock') {
    const what = `was not dialed: the certificate of this node ${refusal.what}, by the clock here`
    return Promise.reject(new LinkFailed('clock', to, what))
  }
  return new Promise((resolve, reject) => {
    const { raw, socket } = begin(to, as)
    let stage: Stage = 'connecting'
    let isSettled = false
    const settle = (done: () => void): void => {
      if (isSettled) return
      isSettled = true
      deadline.cancel()
      done()
    }
    const fail = ({ reason, what }: Failure): void =>
      settle(() => {
        // It closes `raw` too. The other way round frees what the TLS library, which may be the caller, still uses.
        socket.destroy()
        reject(new LinkFailed(reason, to, what))
      })
    const deadline = parts.timers.after(limits.timeoutMs ?? DIAL_MS, () =>
      fail({ reason: 'timeout', what: WAITED_FOR[stage] }),
    )
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
  const raw = connect({ host, port, noDelay: true })
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
  const certificate = peerCertificate(connection.socket)
  const peer = {
    certificate,
    names: certificateFacts(certificate, as.identity.trusted).uris,
    serverName: as.serverName,
    protocol: as.protocol,
    address: to.host,
  }
  return new TlsLink(connection, peer, limits.mostUnsentBytes ?? MOST_UNSENT_BYTES)
}

/** The certificate that the peer showed; empty if there is none. */
export function peerCertificate(socket: TLSSocket): Buffer {
  return socket.getPeerX509Certificate()?.raw ?? Buffer.alloc(0)
}

/**
 * Both must agree: the runtime, which checks signatures and dates by the clock of the system, and the rule of links.
 */
function unproven(socket: TLSSocket, { identity, serverName, protocol }: Dialing, nowMs: number): Failure | undefined {
  const facts: CertificateFacts = certificateFacts(peerCertificate(socket), identity.trusted)
  const knowsProtocol = socket.alpnProtocol === protocol
  if (!facts.isOurs && !knowsProtocol)
    return { reason: 'foreign', what: 'ends TLS, and is no peer: perhaps a load balancer that must pass TLS through' }
  const refusal = judgeCertificate(facts, { by: 'acceptor', serverName }, nowMs)
  if (refusal?.reason === 'clock')
    return { reason: 'clock', what: `showed a certificate that ${refusal.what}, by the clock here` }
  if (refusal !== undefined) return { reason: refusal.reason, what: `showed a certificate that ${refusal.what}` }
  if (!socket.authorized)
    return { reason: 'untrusted', what: `showed a certificate that is not valid: ${String(socket.authorizationError)}` }
  return knowsProtocol ? undefined : { reason: 'rejected', what: `does not serve ${protocol}` }
}

function readVerdict(socket: TLSSocket, nowMs: number): Failure | 'accepted' | 'not yet' {
  const verdict = socket.read(1) as Buffer | null
  if (verdict === null) return 'not yet'
  if (verdict[0] === VERDICT.accepted) return 'accepted'
  // It comes in one piece with the byte before it: one record.
  const time = verdict[0] === VERDICT.clock ? (socket.read(VERDICT_TIME_BYTES) as Buffer | null) : null
  if (time?.length !== VERDICT_TIME_BYTES) return { reason: 'foreign', what: 'answers as no peer does' }
  return { reason: 'clock', what: clockText(Number(time.readBigUInt64BE()) - nowMs) }
}

/** Says what a peer meant that refused the certificate of this node by its clock, which is `aheadMs` ahead. */
export function clockText(aheadMs: number): string {
  const apart = `${spanText(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead of'} the clock here`
  return `does not take the certificate of this node by its clock, which is ${apart}`
}

const UNDECIPHERED = /BAD_RECORD_MAC|DECRYPT|DIGEST|SIGNATURE/
const CLOSED = 'closed the connection'

function failureOf(stage: Stage, cause: Error): Failure {
  const code = codeOf(cause)
  if (stage === 'connecting') {
    const causes = cause instanceof AggregateError ? (cause.errors as Error[]) : [cause]
    if (causes.some((each) => codeOf(each) === 'ECONNREFUSED'))
      return { reason: 'refused', what: 'refuses connections: nothing listens there' }
    return { reason: 'unreachable', what: `cannot be reached: ${code}` }
  }
  if (stage === 'awaiting acceptance')
    return { reason: 'rejected', what: `does not take the certificate of this node, and ${CLOSED}` }
  if (!code.startsWith('ERR_SSL_'))
    return { reason: 'broken', what: `${CLOSED} before both ends were proven: it has too much to do, or the network` }
  if (code.endsWith('ALERT_PROTOCOL_VERSION')) return { reason: 'foreign', what: 'does not speak TLS 1.3' }
  if (code.includes('ALERT')) return { reason: 'rejected', what: 'does not serve this set, or not in this version' }
  if (UNDECIPHERED.test(code)) return { reason: 'broken', what: 'sent what cannot be deciphered' }
  return { reason: 'foreign', what: 'does not speak TLS: perhaps an HTTP server' }
}
