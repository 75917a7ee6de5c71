// Whether a certificate proves a peer: one rule for real links and for simulated ones. The authorities of a set issue
// the certificates of nodes themselves, so no chain is followed.
import { X509Certificate } from 'node:crypto'

/** What a certificate says that the rule needs. */
export type PeerCertificateFacts = {
  /** One of the trusted authorities has issued it, which its signature shows. */
  readonly isOurs: boolean
  /** The first and last moment at which both the certificate and its authority are valid. */
  readonly fromMs: number
  readonly toMs: number
  readonly dnsNames: readonly string[]
  readonly uris: readonly string[]
  /** Extended key usages, as object identifiers; undefined: any. */
  readonly usages: readonly string[] | undefined
}

/** At which end of a link a certificate was shown. */
export type Shown = { readonly by: 'dialer' } | { readonly by: 'acceptor'; readonly serverName: string }

/** Why a certificate proves nothing. `what` follows "the certificate". */
export type CertificateRefusal = { readonly reason: 'untrusted' | 'clock'; readonly what: string }

/** RFC 5280 section 4.2.1.12. */
const USAGE = { acceptor: '1.3.6.1.5.5.7.3.1', dialer: '1.3.6.1.5.5.7.3.2' } as const
const NOT_OURS: PeerCertificateFacts = { isOurs: false, fromMs: 0, toMs: 0, dnsNames: [], uris: [], usages: undefined }

/** Reads a certificate in DER. What cannot be read is not ours. */
export function certificateFacts(certificate: Buffer, trusted: readonly Buffer[]): PeerCertificateFacts {
  try {
    const leaf = new X509Certificate(certificate)
    const issuer = trusted.map((each) => new X509Certificate(each)).find((each) => hasIssued(each, leaf))
    // The runtime quotes a name that could be mistaken for several. No authority of a set issues one.
    const names = leaf.subjectAltName ?? ''
    if (issuer === undefined || names.includes('"')) return NOT_OURS
    const named = (kind: string): string[] =>
      names
        .split(', ')
        .filter((name) => name.startsWith(kind))
        .map((name) => name.slice(kind.length))
    return {
      isOurs: true,
      fromMs: Math.max(leaf.validFromDate.getTime(), issuer.validFromDate.getTime()),
      toMs: Math.min(leaf.validToDate.getTime(), issuer.validToDate.getTime()),
      dnsNames: named('DNS:'),
      uris: named('URI:'),
      usages: leaf.keyUsage,
    }
  } catch {
    return NOT_OURS
  }
}

/** A certificate of an authority proves no node, were it issued by another one. */
function hasIssued(authority: X509Certificate, leaf: X509Certificate): boolean {
  return authority.ca && !leaf.ca && leaf.checkIssued(authority) && leaf.verify(authority.publicKey)
}

/** Judges a certificate; undefined: it proves its owner. */
export function judgeCertificate(
  facts: PeerCertificateFacts,
  shown: Shown,
  nowMs: number,
): CertificateRefusal | undefined {
  if (!facts.isOurs) return { reason: 'untrusted', what: 'is not from the authority of this set' }
  if (facts.usages?.includes(USAGE[shown.by]) === false) return { reason: 'untrusted', what: 'is for another use' }
  if (shown.by === 'acceptor' && !facts.dnsNames.includes(shown.serverName))
    return { reason: 'untrusted', what: `is for another name than "${shown.serverName}"` }
  if (nowMs < facts.fromMs) return { reason: 'clock', what: `is valid only in ${spanText(facts.fromMs - nowMs)}` }
  if (nowMs > facts.toMs) return { reason: 'clock', what: `expired ${spanText(nowMs - facts.toMs)} ago` }
  return undefined
}

const UNITS: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

/** How long it is, for people: "3 days", "1 second". Rounded down, and never below a second. */
export function spanText(ms: number): string {
  const [name, unitMs] = UNITS.find(([, each]) => ms >= each) ?? ['second', ms || 1]
  const count = Math.floor(ms / unitMs) || 1
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
