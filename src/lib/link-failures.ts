// How a dialer judges what it is shown, and what it says of it: the same for real links and for simulated ones.
import type { Dialing, LinkFailure } from './links.ts'
import { certificateFacts, judgeCertificate, spanText } from './peer-certificate.ts'

/** Why a dial failed. `what` follows the address. */
export type DialFailure = { readonly reason: LinkFailure; readonly what: string }

/** Returns why a node need not dial at all: its own certificate is not valid by its own clock. */
export function ownFailure({ identity }: Dialing, nowMs: number): DialFailure | undefined {
  const facts = certificateFacts(identity.certificate, identity.trusted)
  const refusal = facts.isOurs ? judgeCertificate(facts, { by: 'dialer' }, nowMs) : undefined
  if (refusal?.reason !== 'clock') return undefined
  return { reason: 'clock', what: `was not dialed: the certificate of this node ${refusal.what}, by the clock here` }
}

/** Judges what an acceptor showed: its certificate, and the protocol that it chose, if any. */
export function acceptorFailure(
  shown: { readonly certificate: Buffer; readonly protocol: string | undefined },
  { identity, serverName, protocol }: Dialing,
  nowMs: number,
): DialFailure | undefined {
  const facts = certificateFacts(shown.certificate, identity.trusted)
  if (!facts.isOurs && shown.protocol !== protocol)
    return { reason: 'foreign', what: 'ends TLS, and is no peer: perhaps a load balancer that must pass TLS through' }
  const refusal = judgeCertificate(facts, { by: 'acceptor', serverName }, nowMs)
  if (refusal?.reason === 'clock')
    return { reason: 'clock', what: `showed a certificate that ${refusal.what}, by the clock here` }
  if (refusal !== undefined) return { reason: refusal.reason, what: `showed a certificate that ${refusal.what}` }
  return shown.protocol === protocol ? undefined : { reason: 'rejected', what: `does not serve ${protocol}` }
}

/** An acceptor has told its time, since by that the certificate of this node is not valid. */
export function clockFailure(thereMs: number, nowMs: number): DialFailure {
  const apart = `${spanText(Math.abs(thereMs - nowMs))} ${thereMs < nowMs ? 'behind' : 'ahead of'} the clock here`
  return { reason: 'clock', what: `does not take the certificate of this node by its clock, which is ${apart}` }
}

/** What a dial has reached when it fails. */
export type DialStage = 'connecting' | 'proving' | 'awaiting acceptance'

const WAITED_FOR: Readonly<Record<DialStage, string>> = {
  connecting: 'does not answer',
  proving: 'takes connections, and does not answer: no peer, or it has too much to do',
  'awaiting acceptance': 'does not say whether it takes the certificate of this node',
}

/** No answer came in time. */
export function timeoutFailure(stage: DialStage): DialFailure {
  return { reason: 'timeout', what: WAITED_FOR[stage] }
}

/** Failures without details. */
export const FAILURE = {
  givenUp: { reason: 'broken', what: 'was not waited for any more' },
  refused: { reason: 'refused', what: 'refuses connections: nothing listens there' },
  notAccepted: { reason: 'rejected', what: 'does not take the certificate of this node, and closed the connection' },
  notServed: { reason: 'rejected', what: 'does not serve this set, or not in this version' },
  closed: { reason: 'broken', what: 'closed the connection before both ends were proven: overload, or the network' },
  undeciphered: { reason: 'broken', what: 'sent what cannot be deciphered' },
  olderTls: { reason: 'foreign', what: 'does not speak TLS 1.3' },
  noTls: { reason: 'foreign', what: 'does not speak TLS: perhaps an HTTP server' },
  noVerdict: { reason: 'foreign', what: 'answers as no peer does' },
} as const satisfies Record<string, DialFailure>
