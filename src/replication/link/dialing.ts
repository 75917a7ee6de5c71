// Dials a cluster port. What goes wrong becomes a sentence that an operator can act on: the address, what is wrong, and
// what to do.
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import { type Dialing, type DialLimits, type Link, LinkFailed, type LinkFailure } from '../../lib/links.ts'
import { faultOfClusterAddress, linkAddressOf } from '../set/peer-address.ts'
import { serverNameOf } from '../set/peer-name.ts'
import type { LinkWorld } from './end-parts.ts'
import type { SecondaryPart } from './link-sides.ts'

/** There is no link, or none any more ('cut'). The message is for the operator. */
export class NoLink extends Error {
  override name = 'NoLink'
  readonly reason: LinkFailure | 'cut'
  constructor(reason: LinkFailure | 'cut', sentence: string) {
    super(sentence)
    this.reason = reason
  }
}

const CHECK_NETWORK =
  'Check "cluster_addr" of the primary, and that firewalls and load balancers let TCP through to its cluster port'

const REMEDIES: Readonly<Record<LinkFailure, string>> = {
  unreachable: CHECK_NETWORK,
  refused: CHECK_NETWORK,
  timeout: CHECK_NETWORK,
  broken: 'Try again; if it stays so, the log of the primary may say why',
  foreign: 'No cluster port answers at this address. A load balancer before one must pass TCP through, and not end TLS',
  untrusted:
    'The primary of this set does not answer at this address: does it lead to another cluster? If it does not, the ' +
    'set has another authority by now: a new activation token is needed',
  rejected:
    'Check whether the address leads to the primary of this set, and whether that revoked this secondary: it then ' +
    'needs a new activation token',
  clock: 'Set the clocks of both clusters',
}

/** A certificate is renewed over the link alone, so one that has ended ends the membership in the set. */
const HAS_ENDED =
  'If the clock here is right, this secondary was without its primary for too long: a new activation token lets it ' +
  'in again, with "secondary/update-primary", and it keeps what it has'

/**
 * Dials the address `https://host:port` of a cluster port. `remedy` is what helps where the own certificate has ended.
 * @throws NoLink
 */
export async function dialClusterPort(
  { links, clock }: Pick<LinkWorld, 'links' | 'clock'>,
  address: string,
  as: Dialing,
  limits: Pick<DialLimits, 'timeoutMs' | 'signal'>,
  remedy = REMEDIES.clock,
): Promise<Link> {
  const to = linkAddressOf(address)
  if (to === undefined) {
    throw new NoLink('unreachable', `The address of the cluster port ${faultOfClusterAddress(address)}`)
  }
  try {
    return await links.dial(to, as, limits)
  } catch (cause) {
    if (!(cause instanceof LinkFailed)) throw cause
    const hasEnded = cause.reason === 'clock' && readCertificate(as.identity.certificate).notAfterMs < clock.nowMs()
    throw new NoLink(cause.reason, `${cause.message}. ${hasEnded ? remedy : REMEDIES[cause.reason]}`)
  }
}

/** A link to a primary, and at which address. */
export type DialedPrimary = { readonly link: Link; readonly address: string }

/** Dials the primary of a set at one address after the other. @throws NoLink for the first of them */
export async function dialPrimary(
  world: Pick<LinkWorld, 'links' | 'clock'>,
  { identity, set }: SecondaryPart,
  addresses: readonly string[],
  protocol: string,
  signal: AbortSignal,
): Promise<DialedPrimary> {
  const as = { identity, serverName: serverNameOf(set), protocol }
  let failure: NoLink | undefined
  for (const address of addresses) {
    try {
      return { link: await dialClusterPort(world, address, as, { signal }, HAS_ENDED), address }
    } catch (cause) {
      if (!(cause instanceof NoLink) || signal.aborted) throw cause
      failure ??= cause
    }
  }
  throw failure ?? noAddress()
}

/** There is nothing to dial. */
export const noAddress = (): NoLink => new NoLink('unreachable', 'No address of the primary is known')

/** The address as it stands in sentences: host and port alone. */
export const shownAddress = (address: string): string => address.replace(/^https:\/\//, '').replace(/\/$/, '')
