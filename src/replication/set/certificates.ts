// The certificates of a set: its authority, a leaf for each node of the primary, a leaf for each secondary. A peer is
// who its leaf says, and nothing that it sends can change that.

import { DerError } from '../../crypto/encoding/der.ts'
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { drawScalar, loadScalar } from '../../crypto/forms/ec-private-key.ts'
import { spkiDer } from '../../crypto/forms/public-keys.ts'
import { freshBytes } from '../../crypto/primitives/random-bytes.ts'
import {
  type CertificateFacts,
  type CertificateSigner,
  isIssuedBy,
  type ReadCertificate,
  readCertificate,
  SERIAL_BYTES,
  writeCertificate,
} from '../../crypto/signatures/certificate.ts'
import type { Random } from '../../lib/world.ts'
import { type PeerName, peerOfUri, type SetName, serverNameOf, uriOfPeer } from './peer-name.ts'

/** A certificate in DER, and the private number of its key, which the holder wipes. */
export type KeyedCertificate = { readonly certificate: Buffer; readonly key: Buffer }

/** What making a certificate needs. */
export type Making = {
  readonly random: Random
  readonly nowMs: number
  /** Missing: the runtime signs. */
  readonly signer?: CertificateSigner
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** A certificate holds from an hour before it is made: a peer's clock may be behind by as much. */
export const EARLY_MS = HOUR_MS
/**
 * An authority holds from a month before it is made. It is made once, and no leaf holds before it does: one that was
 * made while the clock was a day ahead would keep the whole set apart for a day after the clock is right again.
 */
export const AUTHORITY_EARLY_MS = 30 * DAY_MS
/** How long an authority holds: ten years of 365 days. */
export const AUTHORITY_LIFE_MS = 3_650 * DAY_MS
/** How long the leaf of a node holds: it can always be made anew, since its node has the authority. */
export const SERVER_LIFE_MS = 30 * DAY_MS
/** How long the leaf of a secondary holds: longer, since a link may be down for weeks. */
export const CLIENT_LIFE_MS = 90 * DAY_MS
/** So long before the leaf of a secondary ends, its next one is taken even if that does not hold yet. */
export const LAST_DAYS_MS = 3 * DAY_MS
/** A leaf is renewed when so much of its life is over: the rest is for links that are down. */
const RENEWAL = 2 / 3

/** A private number on P-256, the caller's to wipe. */
export const newLeafKey = (random: Random): Buffer => drawScalar(P256, (count) => random.bytes(count))

/** The public half of a private number, as certificates have it. */
export const publicKeyOf = (key: Buffer): Buffer => spkiDer(loadScalar(P256, key))

/** The common name of a set's authority. */
const authorityName = (set: SetName): string => `ca.${serverNameOf(set)}`

/**
 * Makes an authority of a set. One that is to follow another holds from when that one did, and for as long at least:
 * what was made while the clock was years off is still good when the clock is right again.
 */
export function newAuthority(
  set: SetName,
  { random, nowMs, signer }: Making,
  before?: Pick<ReadCertificate, 'notBeforeMs' | 'notAfterMs'>,
): KeyedCertificate {
  const key = newLeafKey(random)
  const spki = publicKeyOf(key)
  const facts: CertificateFacts = {
    kind: 'authority',
    serial: newSerial(random),
    issuer: authorityName(set),
    notBeforeMs: before?.notBeforeMs ?? nowMs - AUTHORITY_EARLY_MS,
    notAfterMs: Math.max(nowMs + AUTHORITY_LIFE_MS, before?.notAfterMs ?? 0),
    spki,
    dnsNames: [],
    uris: [],
  }
  return { certificate: writeCertificate(facts, loadScalar(P256, key), spki, signer), key }
}

/**
 * Makes the leaf of a peer, for its public key. It ends with its authority at the latest.
 * @throws CertificateRefused if the authority has ended
 */
export function newLeaf(authority: KeyedCertificate, peer: PeerName, spki: Buffer, making: Making): Buffer {
  const { random, nowMs, signer } = making
  const { notBeforeMs, notAfterMs, ...ca } = readCertificate(authority.certificate)
  const isServer = peer.role === 'primary'
  const life = lifeOf(nowMs, isServer ? SERVER_LIFE_MS : CLIENT_LIFE_MS)
  if (notAfterMs <= nowMs) throw new CertificateRefused('The authority of the set has ended')
  const facts: CertificateFacts = {
    kind: isServer ? 'server' : 'client',
    serial: newSerial(random),
    issuer: ca.issuer,
    notBeforeMs: Math.max(life.notBeforeMs, notBeforeMs),
    notAfterMs: Math.min(life.notAfterMs, notAfterMs),
    spki,
    dnsNames: isServer ? [serverNameOf(peer)] : [],
    uris: [uriOfPeer(peer)],
  }
  return writeCertificate(facts, loadScalar(P256, authority.key), ca.spki, signer)
}

function lifeOf(nowMs: number, lifeMs: number): { readonly notBeforeMs: number; readonly notAfterMs: number } {
  return { notBeforeMs: nowMs - EARLY_MS, notAfterMs: nowMs + lifeMs }
}

/** Positive, and of one length: its first bits are 0 and 1. */
function newSerial(random: Random): Buffer {
  const serial = freshBytes((count) => random.bytes(count), SERIAL_BYTES)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  return serial
}

/** A certificate that is not what it should be; the message is a sentence without anything secret. */
export class CertificateRefused extends Error {
  override name = 'CertificateRefused'
}

/** Reads the authority of a set. @throws CertificateRefused unless it is one, signed by itself */
export function readAuthority(set: SetName, certificate: Buffer): ReadCertificate {
  const read = readOne('authority', certificate)
  if (read.kind !== 'authority' || read.issuer !== authorityName(set) || !isIssuedBy(read, read))
    throw new CertificateRefused('The certificate is not that of the authority of this set')
  return read
}

/** A peer as its leaf shows it. Whether the leaf holds now, and is the one that counts, is for others to judge. */
export type ShownPeer = { readonly peer: PeerName; readonly leaf: ReadCertificate }

/** The one of these authorities that has signed a leaf; undefined: none of them. @throws CertificateRefused */
export function issuerOf(authorities: readonly Buffer[], leaf: Buffer): Buffer | undefined {
  const read = readOne('leaf', leaf)
  return authorities.find((each) => isIssuedBy(read, readOne('authority', each)))
}

/**
 * Reads who a leaf is for. It must name one peer and nothing else, be of the kind that the peer's role uses, and be
 * signed by the authority of that peer's set.
 * @throws CertificateRefused
 */
export function readLeaf(authority: ReadCertificate, certificate: Buffer): ShownPeer {
  const leaf = readOne('leaf', certificate)
  const [uri = '', ...others] = leaf.uris
  const peer = others.length === 0 ? peerOfUri(uri) : undefined
  if (peer === undefined) throw new CertificateRefused('The certificate does not name a member of a set')
  const isServer = peer.role === 'primary'
  const names = isServer ? [serverNameOf(peer)] : []
  const fits =
    leaf.kind === (isServer ? 'server' : 'client') &&
    leaf.dnsNames.length === names.length &&
    leaf.dnsNames[0] === names[0]
  if (!fits) throw new CertificateRefused('The certificate is for another use than that of the member it names')
  if (authority.issuer !== authorityName(peer) || !isIssuedBy(leaf, authority))
    throw new CertificateRefused('The certificate was not made by the authority of this set')
  return { peer, leaf }
}

/** More than the peers of a set, with their authorities. */
const READ_LAST = 64
/** The certificates that were read last: each message of a peer is judged by its leaf, which is mostly the same. */
const readLast = new Map<string, ReadCertificate>()

function readAgain(certificate: Buffer): ReadCertificate {
  const bytes = certificate.toString('latin1')
  const known = readLast.get(bytes)
  if (known !== undefined) return known
  // What is read are views, and the bytes are the caller's.
  const read = readCertificate(Buffer.from(certificate))
  if (readLast.size >= READ_LAST) readLast.clear()
  readLast.set(bytes, read)
  return read
}

function readOne(what: string, certificate: Buffer): ReadCertificate {
  try {
    return readAgain(certificate)
  } catch (cause) {
    if (!(cause instanceof DerError)) throw cause
    throw new CertificateRefused(
      `The certificate is not that of ${what === 'leaf' ? 'a' : 'an'} ${what}: ${cause.message}`,
    )
  }
}

/** What the clock of the reader says of a certificate. `early`: one of the two clocks is off by more than an hour. */
export type Holds = 'now' | 'early' | 'ended'

/** Whether a certificate holds at this time. Its first and its last second belong to it. */
export function holdsAt({ notBeforeMs, notAfterMs }: ReadCertificate, nowMs: number): Holds {
  if (nowMs < notBeforeMs) return 'early'
  return nowMs > notAfterMs + 999 ? 'ended' : 'now'
}

/** When a certificate is due for renewal: two thirds into its life. */
export function renewalDueMs({ notBeforeMs, notAfterMs }: Pick<ReadCertificate, 'notBeforeMs' | 'notAfterMs'>): number {
  return notBeforeMs + Math.floor((notAfterMs - notBeforeMs) * RENEWAL)
}

/** When an authority is due for another: a third of the life that one has when it is made is left. */
export const successorDueMs = ({ notAfterMs }: Pick<ReadCertificate, 'notAfterMs'>): number =>
  notAfterMs - Math.ceil(AUTHORITY_LIFE_MS * (1 - RENEWAL))
