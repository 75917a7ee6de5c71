// What a cluster does on its way to be a secondary, and as one, each in one transaction. An operation that throws has
// changed nothing.
//
// The way in: the bundle of the token is stored first of all, with a key that the primary seals for, since a wrapped
// token gives it only once. Then the primary is asked (admission.ts). With what it gives the cluster becomes a
// secondary whose copy is not whole; it tells the primary, and forgets the bundle when that has answered.

import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import type { ReadCertificate } from '../../crypto/signatures/certificate.ts'
import { decodeBase64, encodeBase64 } from '../../lib/base64.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { MAX_AUTHORITIES } from '../protocol/messages.ts'
import {
  type ActivationBundle,
  ActivationRefused,
  decodeActivation,
  encodeActivation,
  wipeActivation,
} from './activation-bundle.ts'
import { secondaryKeyText } from './activation-token.ts'
import {
  CertificateRefused,
  EARLY_MS,
  holdsAt,
  issuerOf,
  type KeyedCertificate,
  LAST_DAYS_MS,
  publicKeyOf,
  readAuthority,
  readLeaf,
  type ShownPeer,
} from './certificates.ts'
import { faultOfApiAddress, faultOfClusterAddress } from './peer-address.ts'
import type { SetName } from './peer-name.ts'
import { requireKept, requireOperation } from './primary-operations.ts'
import {
  putState,
  readState,
  SECONDARY_IDENTITY,
  type SecondaryIdentity,
  type SetReader,
  type SetTransaction,
  setPath,
} from './records.ts'

/**
 * `secondary/generate-public-key`: keeps a new key, in place of an earlier one. Returns its public half as text.
 * `seed` is 32 random bytes, which the caller wipes. @throws SetRefused
 */
export async function keepPendingKey(tx: SetTransaction, family: ReplicationFamily, seed: Buffer): Promise<string> {
  await requireOperation(tx, family, 'secondary/generate-public-key')
  tx.put(setPath(family, 'pending-key'), seed)
  return secondaryKeyText(family, seed)
}

/** The key of the last `secondary/generate-public-key`, for the caller to wipe; undefined if there is none. */
export function pendingKey(tx: SetReader, family: ReplicationFamily): Promise<Buffer | undefined> {
  return tx.get(setPath(family, 'pending-key'))
}

/** An activation that was begun: its bundle, and the private half of the key that the primary seals for. */
export type KeptActivation = { readonly bundle: ActivationBundle; readonly receiver: Buffer }

/** The operations that an activation token is for. */
export type ActivatingOperation = 'secondary/enable' | 'secondary/update-primary'

/**
 * Keeps an activation, before the primary is asked anything. `of` is the digest of the text that led to it: a wrapped
 * token gives its bundle once, and the next try with it goes on from here. The key that a present primary seals for
 * stays as it is. @throws SetRefused if the operation is refused
 */
export async function keepActivation(
  tx: SetTransaction,
  operation: ActivatingOperation,
  { bundle, receiver }: KeptActivation,
  of: Buffer,
): Promise<void> {
  await requireOperation(tx, bundle.family, operation)
  const encoded = encodeActivation(bundle)
  tx.put(setPath(bundle.family, 'activation'), encoded)
  tx.put(setPath(bundle.family, 'activation-of'), of)
  tx.put(setPath(bundle.family, 'activation-receiver'), receiver)
  encoded.fill(0)
}

/** The activation that was begun with the text of this digest; the caller wipes it. */
export async function activationOf(
  tx: SetReader,
  family: ReplicationFamily,
  of: Buffer,
): Promise<KeptActivation | undefined> {
  const digest = await tx.get(setPath(family, 'activation-of'))
  return digest?.equals(of) === true ? keptActivation(tx, family) : undefined
}

/** The activation that was begun and not ended; the caller wipes it. */
export async function keptActivation(tx: SetReader, family: ReplicationFamily): Promise<KeptActivation | undefined> {
  const encoded = await tx.get(setPath(family, 'activation'))
  const receiver = (await tx.get(setPath(family, 'activation-receiver'))) ?? (await tx.get(setPath(family, 'receiver')))
  if (encoded === undefined || receiver === undefined) return undefined
  try {
    return { bundle: decodeActivation(encoded), receiver }
  } catch (cause) {
    if (!(cause instanceof ActivationRefused)) throw cause
    throw new StorageCorrupt(`The activation that is kept is ${cause.reason}`, { cause })
  } finally {
    encoded.fill(0)
  }
}

/** The activation by which this cluster follows its primary, if that has not heard yet that it was stored. */
export async function enteredActivation(tx: SetReader, family: ReplicationFamily): Promise<KeptActivation | undefined> {
  const isOnItsWay = (await tx.get(setPath(family, 'activation-receiver'))) !== undefined
  return isOnItsWay ? undefined : keptActivation(tx, family)
}

/** Forgets an activation that the primary refused. */
export function forgetActivation(tx: SetTransaction, family: ReplicationFamily): void {
  forgetBundle(tx, family)
  tx.delete(setPath(family, 'activation-receiver'))
}

/**
 * The primary has heard that what it gave for this nonce was stored, so the bundle is of no more use; one that came
 * meanwhile stays. The receiver stays: the primary seals its next shares for it, after a rekey.
 */
export async function activationWasHeard(tx: SetTransaction, family: ReplicationFamily, nonce: Buffer): Promise<void> {
  const kept = await enteredActivation(tx, family)
  if (kept === undefined) return
  const isIt = constantTimeEqual(kept.bundle.nonce.reveal(), nonce)
  kept.receiver.fill(0)
  wipeActivation(kept.bundle)
  if (isIt) forgetBundle(tx, family)
}

function forgetBundle(tx: SetTransaction, family: ReplicationFamily): void {
  tx.delete(setPath(family, 'activation'))
  tx.delete(setPath(family, 'activation-of'))
}

/**
 * The primary has let this cluster in: it is a secondary whose copy is not whole. The activation stays until the
 * primary has heard of it; the pending key is used up. @throws SetRefused unless `secondary/enable` is allowed
 */
export async function becomeSecondary(tx: SetTransaction, kept: KeptActivation, nowMs: number): Promise<void> {
  const { family, setId, epoch } = kept.bundle
  await requireOperation(tx, family, 'secondary/enable')
  putState(tx, family, {
    mode: 'bootstrapping',
    setId,
    epoch,
    clusterAddress: '',
    isFenced: false,
    sinceMs: nowMs,
  })
  // The data of before went, and with them what is of class local: it is written again.
  const encoded = encodeActivation(kept.bundle)
  tx.put(setPath(family, 'activation'), encoded)
  encoded.fill(0)
  putEntered(tx, kept)
}

/** Stores who the cluster is by an activation that the primary has accepted. */
export function putEntered(tx: SetTransaction, { bundle, receiver }: KeptActivation): void {
  const { family, clusterAddress, id, authority, nextAuthority, leaf, leafKey, apiAddress } = bundle
  putIdentity(tx, family, {
    id,
    authority: encodeBase64(authority),
    alsoTrusted: nextAuthority === undefined ? [] : [encodeBase64(nextAuthority)],
    leaf: encodeBase64(leaf),
    clusterAddress,
    knownAddresses: [],
    apiAddress,
    instance: 0,
  })
  tx.put(setPath(family, 'leaf-key'), leafKey.reveal())
  tx.put(setPath(family, 'receiver'), receiver)
  tx.delete(setPath(family, 'activation-receiver'))
  tx.delete(setPath(family, 'pending-key'))
}

/**
 * This cluster takes over who the primary that it followed for disaster recovery is in performance replication: the
 * primary of that set lets no earlier instance in any more.
 */
export async function takeOverIdentity(tx: SetTransaction): Promise<void> {
  const stored = await tx.get(setPath('performance', 'identity'))
  if (stored === undefined) return
  const record = SECONDARY_IDENTITY.decode(stored)
  putIdentity(tx, 'performance', { ...record, instance: record.instance + 1 })
}

/** How often this secondary was taken over. */
export async function ownInstance(tx: SetReader, family: ReplicationFamily): Promise<number> {
  const stored = await tx.get(setPath(family, 'identity'))
  return stored === undefined ? 0 : SECONDARY_IDENTITY.decode(stored).instance
}

function putIdentity(tx: SetTransaction, family: ReplicationFamily, identity: SecondaryIdentity): void {
  tx.put(setPath(family, 'identity'), SECONDARY_IDENTITY.encode(identity))
}

/** The copy of a secondary is whole: it serves from now on. False, and nothing is done, where it was before. */
export async function copyIsWhole(tx: SetTransaction, family: ReplicationFamily, nowMs: number): Promise<boolean> {
  const state = await readState(tx, family)
  if (state?.mode !== 'bootstrapping') return false
  putState(tx, family, { ...state, mode: 'secondary', sinceMs: nowMs })
  return true
}

/** Who this secondary is, as it shows itself to its primary. The caller wipes the key. */
export type OwnIdentity = ShownPeer & {
  readonly record: SecondaryIdentity
  /** The authorities that it trusts, that of its leaf first. */
  readonly trusted: readonly Buffer[]
  readonly own: KeyedCertificate
}

/** The identity of a secondary; undefined where the cluster is none. @throws StorageCorrupt if it does not fit */
export async function ownIdentity(tx: SetReader, family: ReplicationFamily): Promise<OwnIdentity | undefined> {
  const state = await readState(tx, family)
  const stored = await tx.get(setPath(family, 'identity'))
  const key = await tx.get(setPath(family, 'leaf-key'))
  if (state === undefined || stored === undefined || key === undefined) return undefined
  return identityIn({ setId: state.setId, family }, stored, key)
}

/** An identity as it is stored, with the private number of its leaf. @throws StorageCorrupt if they do not fit */
export function identityIn(set: SetName, stored: Buffer, key: Buffer): OwnIdentity {
  const record = SECONDARY_IDENTITY.decode(stored)
  const [authority, certificate] = [decodeBase64(record.authority), decodeBase64(record.leaf)]
  try {
    const shown = readLeaf(readAuthority(set, authority), certificate)
    const trusted = [authority, ...record.alsoTrusted.map(decodeBase64)]
    return { ...shown, record, trusted, own: { certificate, key } }
  } catch (cause) {
    if (!(cause instanceof CertificateRefused)) throw cause
    throw new StorageCorrupt(`The identity of a secondary cannot be read: ${cause.message}`, { cause })
  }
}

/** A leaf that the primary sent, with its key, and all authorities that it says are trusted. */
export type RenewedLeaf = KeyedCertificate & { readonly trusted: readonly Buffer[] }

/**
 * Keeps a renewed leaf and its key, in place of those before, and the authorities that come with it. @throws
 * CertificateRefused unless it is the leaf of this secondary for that key, by one of them, and can be used
 */
export async function keepRenewedLeaf(
  tx: SetTransaction,
  family: ReplicationFamily,
  { certificate, key, trusted }: RenewedLeaf,
  nowMs: number,
): Promise<void> {
  const identity = await ownIdentity(tx, family)
  if (identity === undefined) throw new CertificateRefused('This cluster is no secondary that a leaf could be for')
  const { peer, record, own, leaf } = identity
  own.key.fill(0)
  const told = trustOf(peer, trusted, certificate)
  const shown = readLeaf(readAuthority(peer, decodeBase64(told.authority)), certificate)
  const isOurs = shown.peer.id === peer.id && shown.peer.role === peer.role
  if (!isOurs || !shown.leaf.spki.equals(publicKeyOf(key)))
    throw new CertificateRefused('The renewed certificate is not for this secondary and its new key')
  requireUsable(leaf, shown.leaf, nowMs)
  putIdentity(tx, family, { ...record, ...told, leaf: encodeBase64(certificate) })
  tx.put(setPath(family, 'leaf-key'), key)
}

/**
 * A leaf that does not hold yet by the clock here opens no link before it does, and one of the two clocks is off. If
 * that of the primary is ahead, the leaf before is good, and the next answer may be as well. If the own one is behind,
 * the leaf before serves until it ends by the clock of the primary. So the leaf is left until then, but for the last
 * days: without any leaf that holds, only a new token lets the secondary in again, and the link comes by itself
 * otherwise.
 */
function requireUsable(before: ReadCertificate, next: ReadCertificate, nowMs: number): void {
  const primaryNowMs = next.notBeforeMs + EARLY_MS
  if (holdsAt(next, nowMs) !== 'early' || before.notAfterMs - primaryNowMs <= LAST_DAYS_MS) return
  const [begins, now] = [next.notBeforeMs, nowMs].map((ms) => new Date(ms).toISOString())
  throw new CertificateRefused(
    `The renewed certificate begins ${begins}, and the clock here says ${now}: set the clocks of both clusters`,
  )
}

/**
 * Keeps the authorities that the primary says are trusted, in place of those before. That of the own leaf must be one
 * of them. False if nothing is new. @throws CertificateRefused
 */
export async function keepTrust(
  tx: SetTransaction,
  family: ReplicationFamily,
  trusted: readonly Buffer[],
): Promise<boolean> {
  const identity = await ownIdentity(tx, family)
  if (identity === undefined) throw new CertificateRefused('This cluster is no secondary that trusts an authority')
  const { peer, record, own } = identity
  own.key.fill(0)
  const told = trustOf(peer, trusted, own.certificate)
  if (told.alsoTrusted.join() === record.alsoTrusted.join()) return false
  putIdentity(tx, family, { ...record, ...told })
  return true
}

/** What a record has of these authorities, beside a leaf of one of them. @throws CertificateRefused */
function trustOf(set: SetName, trusted: readonly Buffer[], leaf: Buffer) {
  for (const each of trusted) readAuthority(set, each)
  const authority = issuerOf(trusted, leaf)
  if (authority === undefined || trusted.length > MAX_AUTHORITIES)
    throw new CertificateRefused('The authority of the certificate of this secondary is not among those trusted')
  return {
    authority: encodeBase64(authority),
    alsoTrusted: trusted.filter((one) => !one.equals(authority)).map((one) => encodeBase64(one)),
  }
}

/** Most addresses of a primary that are kept. */
export const MAX_KNOWN_ADDRESSES = 16

/**
 * `secondary/update-primary` with addresses: the primary answers there from now on. Who the cluster is in the set
 * stays. False where it has no primary any more. The addresses have no fault.
 */
export async function movePrimary(
  tx: SetTransaction,
  family: ReplicationFamily,
  [first = '', ...others]: readonly string[],
): Promise<boolean> {
  await requireOperation(tx, family, 'secondary/update-primary')
  await requireKept(tx, family)
  const stored = await tx.get(setPath(family, 'identity'))
  if (stored === undefined) return false
  putIdentity(tx, family, { ...SECONDARY_IDENTITY.decode(stored), clusterAddress: first, knownAddresses: others })
  return true
}

/**
 * Keeps the addresses that the primary told, without what is none; that of the activation token stays beside them. An
 * API address that is none leaves the one that is known. False if nothing is new.
 */
export async function keepPrimaryAddresses(
  tx: SetTransaction,
  family: ReplicationFamily,
  addresses: readonly string[],
  apiAddress: string,
): Promise<boolean> {
  const stored = await tx.get(setPath(family, 'identity'))
  if (stored === undefined) return false
  const record = SECONDARY_IDENTITY.decode(stored)
  const good = addresses.filter((one) => faultOfClusterAddress(one) === undefined)
  const known = {
    knownAddresses: good.slice(0, MAX_KNOWN_ADDRESSES),
    apiAddress: faultOfApiAddress(apiAddress) === undefined ? apiAddress : record.apiAddress,
  }
  const isKnown =
    known.apiAddress === record.apiAddress && known.knownAddresses.join(' ') === record.knownAddresses.join(' ')
  if (!isKnown) putIdentity(tx, family, { ...record, ...known })
  return !isKnown
}
