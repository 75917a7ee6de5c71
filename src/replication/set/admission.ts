// What the primary decides about those who connect, by their certificates and by the registry, each in one transaction.
// A refusal is a value: it goes over the link as a code and a sentence.
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { certificateFingerprint, type ReadCertificate } from '../../crypto/signatures/certificate.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { authorityMark, readAuthorities, signingAuthority, trustedOf } from './authorities.ts'
import {
  CertificateRefused,
  holdsAt,
  issuerOf,
  type Making,
  newLeaf,
  readAuthority,
  readLeaf,
  renewalDueMs,
  type ShownPeer,
} from './certificates.ts'
import { isHandingOver } from './handing-over-note.ts'
import { faultOfApiAddress, faultOfClusterAddress } from './peer-address.ts'
import type { SetName } from './peer-name.ts'
import { digestOf, leafFacts } from './primary-operations.ts'
import { findSecondary, putSecondary, readState, type SecondaryEntry, type SetTransaction } from './records.ts'

/**
 * Why a peer is refused. 'not_primary': this cluster is none in the family. 'fenced': another took over from it.
 * 'set_mismatch': the peer is of another set, or not who it says. 'clock': its certificate does not hold yet.
 * 'certificate_ended', 'revoked': it needs a new token. 'not_activated': it was not let in yet. 'replaced': another
 * instance of it follows. 'token_…': about the
 * right to be let in. 'not_due', 'bad_key': about a renewal. 'conflict': two clusters were promoted. 'hands_over': what
 * the registry says now could be lost, so it says nothing new for a moment.
 */
export type PeerRefusalCode =
  | 'not_primary'
  | 'fenced'
  | 'set_mismatch'
  | 'clock'
  | 'certificate_ended'
  | 'revoked'
  | 'not_activated'
  | 'replaced'
  | 'token_unknown'
  | 'token_used'
  | 'token_taken'
  | 'token_ended'
  | 'not_due'
  | 'bad_key'
  | 'conflict'
  | 'hands_over'
/** A refusal; the sentence is for the operator at the other end, and tells no secret. */
export type PeerRefusal = { readonly refused: PeerRefusalCode; readonly sentence: string }

/** A peer as it came: what TLS says of it, and what it says itself. */
export type Greeting = {
  readonly family: ReplicationFamily
  /** The leaf that it proved to have the key of, in DER. */
  readonly certificate: Buffer
  /** Who it says it is; it must be whom the leaf names. */
  readonly says: SetName & { readonly id: string }
  readonly nowMs: number
}

/** A secondary that may go on; `leaf` is the one that it came with. */
export type Admitted = { readonly entry: SecondaryEntry; readonly leaf: ReadCertificate }

/** A refusal of this kind. */
export const refusedPeer = (refused: PeerRefusalCode, sentence: string): PeerRefusal => ({ refused, sentence })

const notPrimary = (family: ReplicationFamily): string =>
  `This cluster is no primary for ${family} replication: find out which cluster is the primary now`
const REVOKED =
  'The primary revoked this secondary, issued a newer token for its id, or took the place of one that had renewed ' +
  'this certificate since: a new token lets it in again, and "secondary/update-primary" takes it without a copy'

/** The key that a secondary comes with is not the one that it was let in with. */
export const OTHER_RECEIVER =
  'A cluster came with the certificate of this secondary and another key than it was let in with: if you know of no ' +
  'copy of its activation token, revoke the id'
const REPLACED =
  'A DR secondary of this cluster was promoted, and follows in its place: demote this one for dr, and make it follow ' +
  'that cluster'

const HANDS_OVER =
  'This cluster hands over, and what it lets in now could be lost: try again in a moment, at the cluster that took ' +
  'over if there is one'

/** The registry of a performance set goes to the cluster that takes the place of this one, as it was before. */
const isLeaving = async (tx: SetTransaction, family: ReplicationFamily): Promise<boolean> =>
  family === 'performance' && isHandingOver(tx)

/** Whether a secondary may follow. The first use of a renewed leaf ends the one before. */
export async function admitSecondary(tx: SetTransaction, greeting: Greeting): Promise<Admitted | PeerRefusal> {
  const known = await identify(tx, greeting)
  if ('refused' in known || known.entry.state === 'active') return known
  return refusedPeer('not_activated', 'This secondary was not let in yet: use its activation token')
}

/** What a secondary tells of itself that the registry asks for. `clusterId`: of the cluster that it is. */
export type ShownInstance = { readonly receiver: Buffer; readonly instance: number; readonly clusterId: string }

/**
 * As `admitSecondary`, for the link by which it follows. Once a cluster came that took over who a secondary is, the one
 * before is refused: it may not know of that. Which cluster it is is noted, since operators may name it by that.
 */
export async function admitInstance(
  tx: SetTransaction,
  greeting: Greeting,
  { receiver, instance, clusterId }: ShownInstance,
): Promise<Admitted | PeerRefusal> {
  const admitted = await admitSecondary(tx, greeting)
  if ('refused' in admitted) return admitted
  const { entry } = admitted
  // A copy of the token has the certificate, and not this key: it would push the secondary from its place.
  if (!isReceiverOf(entry, receiver)) return refusedPeer('revoked', OTHER_RECEIVER)
  if (instance < entry.instance) return refusedPeer('replaced', REPLACED)
  // A note that is made while this cluster hands over could be lost, and would hold the link up.
  const isNoted = clusterId === entry.clusterId || (await isHandingOver(tx))
  if (instance === entry.instance && isNoted) return admitted
  const taken = { ...entry, instance, clusterId }
  putSecondary(tx, greeting.family, taken)
  return { ...admitted, entry: taken }
}

/** A secondary with a leaf that counts in the registry, let in or not. */
export async function identify(
  tx: SetTransaction,
  greeting: Greeting,
  by: 'a primary' | 'also fenced' = 'a primary',
): Promise<Admitted | PeerRefusal> {
  const { family, certificate, says, nowMs } = greeting
  const state = await readState(tx, family)
  if (state?.mode !== 'primary') return refusedPeer('not_primary', notPrimary(family))
  if (state.isFenced && by === 'a primary')
    return refusedPeer('fenced', 'Another cluster took over as primary of this set: follow that one')
  const shown = await shownBy(tx, { setId: state.setId, family }, certificate)
  if ('refused' in shown) return shown
  const { peer, leaf } = shown
  if (says.setId !== peer.setId || says.family !== peer.family || says.id !== peer.id)
    return refusedPeer('set_mismatch', 'The secondary is not the one that its certificate names')
  const holds = holdsAt(leaf, nowMs)
  if (holds === 'early')
    return refusedPeer('clock', 'The certificate does not hold yet: one of the two clocks is wrong')
  if (holds === 'ended')
    return refusedPeer('certificate_ended', 'The certificate has ended: issue a new token for this id')
  const entry = await findSecondary(tx, family, peer.id)
  const fingerprint = encodeBase64(certificateFingerprint(certificate))
  if (entry === undefined || entry.state === 'revoked' || !countsOf(entry).includes(fingerprint))
    return refusedPeer('revoked', REVOKED)
  if (entry.renewed?.fingerprint !== fingerprint) return { entry, leaf }
  const moved = { ...entry, leaf: entry.renewed, renewed: null }
  putSecondary(tx, family, moved)
  return { entry: moved, leaf }
}

const countsOf = ({ leaf, renewed }: SecondaryEntry): string[] =>
  renewed === null ? [leaf.fingerprint] : [leaf.fingerprint, renewed.fingerprint]

async function shownBy(tx: SetTransaction, set: SetName, certificate: Buffer): Promise<ShownPeer | PeerRefusal> {
  const authorities = await readAuthorities(tx, set.family)
  try {
    const issuer = issuerOf(trustedOf(authorities), certificate) ?? authorities.present
    const shown = readLeaf(readAuthority(set, issuer), certificate)
    return shown.peer.role === 'secondary'
      ? shown
      : refusedPeer('set_mismatch', 'The certificate is not of a secondary')
  } catch (cause) {
    if (cause instanceof CertificateRefused) return refusedPeer('set_mismatch', cause.message)
    throw cause
  }
}

/** What a secondary shows to be let in: the nonce of its token, and the key that it wants keys sealed for. */
export type BootstrapClaim = { readonly nonce: Buffer; readonly receiver: Buffer }

/**
 * Whether the secondary may be let in. The first claim binds the token to its key: the same secondary may come again
 * after a crash, and a thief with a copy of the token gets nothing, or is noticed.
 */
export async function claimBootstrap(
  tx: SetTransaction,
  greeting: Greeting,
  claim: BootstrapClaim,
): Promise<Admitted | PeerRefusal> {
  const known = await identify(tx, greeting)
  if ('refused' in known) return known
  const { entry } = known
  const { bootstrap } = entry
  const fault = faultOfClaim(bootstrap, claim)
  if (fault !== undefined) return fault
  if (bootstrap === null || bootstrap.isUsed)
    return refusedPeer('token_used', 'The activation token was used already: issue a new one')
  if (await isLeaving(tx, greeting.family)) return refusedPeer('hands_over', HANDS_OVER)
  if (greeting.nowMs >= bootstrap.endsAtMs)
    return refusedPeer('token_ended', 'The activation token has ended, by the clock of the primary: issue a new one')
  if (bootstrap.receiverDigest !== null) return known
  const claimed = { ...entry, bootstrap: { ...bootstrap, receiverDigest: digestOf(claim.receiver) } }
  putSecondary(tx, greeting.family, claimed)
  return { ...known, entry: claimed }
}

/**
 * The secondary has stored what it was given, durably: its token is used up. It may say so again. The right may have
 * ended since the claim.
 */
export async function confirmBootstrap(
  tx: SetTransaction,
  greeting: Greeting,
  claim: BootstrapClaim,
): Promise<Admitted | PeerRefusal> {
  const known = await identify(tx, greeting)
  if ('refused' in known) return known
  const { entry } = known
  const { bootstrap } = entry
  const fault = faultOfClaim(bootstrap, claim)
  if (fault !== undefined) return fault
  if (bootstrap === null || bootstrap.receiverDigest === null)
    return refusedPeer('not_activated', 'The activation token was not claimed before: begin the activation again')
  if (bootstrap.isUsed) return known
  if (await isLeaving(tx, greeting.family)) return refusedPeer('hands_over', HANDS_OVER)
  const active = {
    ...entry,
    state: 'active' as const,
    activatedAtMs: greeting.nowMs,
    bootstrap: { ...bootstrap, isUsed: true },
  }
  putSecondary(tx, greeting.family, active)
  return { ...known, entry: active }
}

/** Whether this is the key that the secondary was let in with: keys are sealed for no other. */
export const isReceiverOf = ({ bootstrap }: SecondaryEntry, receiver: Buffer): boolean =>
  bootstrap !== null && bootstrap.receiverDigest !== null && isDigest(bootstrap.receiverDigest, receiver)

function faultOfClaim(bootstrap: SecondaryEntry['bootstrap'], claim: BootstrapClaim): PeerRefusal | undefined {
  if (bootstrap === null || !isDigest(bootstrap.nonceDigest, claim.nonce))
    return refusedPeer('token_unknown', 'The activation token is not the last one of this id')
  if (bootstrap.receiverDigest === null || isDigest(bootstrap.receiverDigest, claim.receiver)) return undefined
  const sentence = 'Another cluster came with this activation token before: if you know of none, revoke the id'
  return refusedPeer('token_taken', sentence)
}

const isDigest = (digest: string, of: Buffer): boolean =>
  constantTimeEqual(Buffer.from(digest), Buffer.from(digestOf(of)))

/** A new leaf for a secondary, to be sent to it. */
export type Renewed = Admitted & { readonly certificate: Buffer }

/**
 * Makes the next leaf of a secondary, for a key of its own choice. Both leaves count until the new one is used. A
 * secondary asks when the leaf that it has stored is due, one question at a time: a later answer replaces an earlier
 * one that was not used.
 */
export async function renewLeaf(
  tx: SetTransaction,
  greeting: Greeting,
  spki: Buffer,
  making: Making,
): Promise<Renewed | PeerRefusal> {
  const known = await admitSecondary(tx, greeting)
  if ('refused' in known) return known
  if (greeting.nowMs < renewalDueMs(known.leaf))
    return refusedPeer('not_due', 'The certificate is not due for renewal yet')
  const { family, says } = greeting
  if (await isLeaving(tx, family)) return refusedPeer('not_due', HANDS_OVER)
  const authority = await signingAuthority(tx, family, greeting.nowMs)
  try {
    const { setId, id } = says
    const certificate = newLeaf(authority, { setId, family, role: 'secondary', id }, spki, making)
    readLeaf(readAuthority(says, authority.certificate), certificate)
    const entry = { ...known.entry, renewed: leafFacts(certificate, authority.certificate) }
    putSecondary(tx, family, entry)
    return { ...known, entry, certificate }
  } catch (cause) {
    if (!(cause instanceof CertificateRefused)) throw cause
    return refusedPeer('bad_key', 'The key for the renewed certificate is not on P-256')
  } finally {
    authority.key.fill(0)
  }
}

/**
 * The authorities that a secondary is to trust from now on, all of them; undefined: it has said that it does. Who is
 * not let in is told nothing.
 */
export async function trustFor(tx: SetTransaction, greeting: Greeting): Promise<readonly Buffer[] | undefined> {
  const known = await admitSecondary(tx, greeting)
  if ('refused' in known) return undefined
  const trusted = trustedOf(await readAuthorities(tx, greeting.family))
  return trustsAll(known.entry, trusted.map(authorityMark)) ? undefined : trusted
}

/** Whether a secondary trusts these authorities, and no other, as far as it has said. */
function trustsAll({ trusts }: SecondaryEntry, marks: readonly string[]): boolean {
  // One that never said anything has the authority that its token came with.
  if (trusts.length === 0) return marks.length === 1
  return trusts.length === marks.length && marks.every((mark) => trusts.includes(mark))
}

/** Notes the authorities that a secondary says it trusts. False: that is not news. */
export async function noteTrust(tx: SetTransaction, greeting: Greeting, trusts: readonly string[]): Promise<boolean> {
  const known = await admitSecondary(tx, greeting)
  if ('refused' in known || trustsAll(known.entry, trusts)) return false
  putSecondary(tx, greeting.family, { ...known.entry, trusts })
  return true
}

/** What a secondary told of itself since it was last noted. `acknowledged` undefined: not known, so what was stays. */
export type Noted = Pick<SecondaryEntry, 'clusterAddresses' | 'apiAddress'> & {
  readonly acknowledged: SecondaryEntry['acknowledged'] | undefined
}

/** Most addresses of a secondary that are kept: one for each of its nodes. */
export const MAX_KEPT_ADDRESSES = 16

/** Notes how far a secondary is, and where. What is no address is left out: it would only be shown. */
export async function noteSecondary(
  tx: SetTransaction,
  family: ReplicationFamily,
  id: string,
  { acknowledged, clusterAddresses, apiAddress }: Noted,
): Promise<void> {
  const entry = await findSecondary(tx, family, id)
  if (entry?.state !== 'active') return
  const addresses = clusterAddresses.filter((one) => faultOfClusterAddress(one) === undefined)
  putSecondary(tx, family, {
    ...entry,
    acknowledged: acknowledged === undefined ? entry.acknowledged : acknowledged,
    clusterAddresses: addresses.slice(0, MAX_KEPT_ADDRESSES),
    apiAddress: faultOfApiAddress(apiAddress) === undefined ? apiAddress : '',
  })
}
