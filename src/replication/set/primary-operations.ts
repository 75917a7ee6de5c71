// What operators do on a primary, each in one transaction: begin a set and end it, issue tokens, revoke secondaries.
// An operation that throws has changed nothing.
import { sha256 } from '../../crypto/primitives/digest.ts'
import type { Secret } from '../../crypto/primitives/secret.ts'
import { certificateFingerprint, readCertificate } from '../../crypto/signatures/certificate.ts'
import { encodeBase64 } from '../../lib/base64.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { type ActivationBundle, authoritiesIn } from './activation-bundle.ts'
import { authorityMark, readAuthorities, signingAuthority } from './authorities.ts'
import { CertificateRefused, type KeyedCertificate, type Making, newLeaf, publicKeyOf } from './certificates.ts'
import { type FamilyOperation, refusalOfOperation } from './family-operations.ts'
import { isHandingOver } from './handing-over-note.ts'
import { faultOfApiAddress, faultOfClusterAddress } from './peer-address.ts'
import { faultOfPeerId, peerSegment } from './peer-name.ts'
import { owesPurgeInPlace } from './purge-note.ts'
import {
  allSecondaries,
  EVERYTHING,
  encodeReach,
  FORMERS_FOLDER,
  familyParts,
  filterPath,
  findSecondary,
  isTelling,
  MAX_SECONDARIES,
  putLineage,
  putPromotions,
  putSecondary,
  putState,
  readLineage,
  readPromotions,
  readReach,
  readState,
  registryFolder,
  type SecondaryEntry,
  type SetReader,
  SetRefused,
  type SetState,
  type SetTransaction,
  setPath,
} from './records.ts'

/** Shortest and longest life of a token's right: a second, and the 768 hours that tokens have at most by default. */
const MIN_TOKEN_TTL_MS = 1_000
const MAX_TOKEN_TTL_MS = 768 * 3_600_000
const FIRST_EPOCH = 1
const WIPE_PAGE = 500

/** @throws SetRefused unless the cluster may do this now; it names the modes of both families */
export async function requireOperation(
  tx: SetReader,
  family: ReplicationFamily,
  operation: FamilyOperation,
): Promise<void> {
  const refusal = refusalOfOperation(await familyParts(tx), family, operation)
  if (refusal !== undefined) throw new SetRefused(refusal.status, refusal.sentence)
}

/**
 * What a cluster is in a set for performance goes to the one that takes its place for disaster recovery. @throws
 * SetRefused while it hands over: what changes then would be lost, a revocation among it
 */
export async function requireKept(tx: SetReader, family: ReplicationFamily): Promise<void> {
  if (family === 'performance') await requireNoHandingOver(tx)
}

/** For what removes the records of a family, and with them the note that this cluster hands over: it would write. */
async function requireNoHandingOver(tx: SetReader): Promise<void> {
  if (await isHandingOver(tx)) throw handsOver()
}

/** What is asked of a cluster that hands over, and has to wait. */
export const handsOver = (): SetRefused =>
  new SetRefused(
    503,
    'This cluster hands over, and what changes in its sets now could be lost: ask again in a moment, the cluster ' +
      'that took over if there is one',
  )

/** What a new set begins with. Id and authority are made before: a transaction may run several times. */
export type NewSet = {
  readonly family: ReplicationFamily
  /** A new UUID. */
  readonly setId: string
  /** From `newAuthority`; the caller wipes its key. */
  readonly authority: KeyedCertificate
  /** `primary_cluster_addr` as the operator gave it; '' for none. */
  readonly clusterAddress: string
  readonly nowMs: number
}

/** `primary/enable`: begins a new set with this cluster as its primary, and with no secondary. @throws SetRefused */
export async function enablePrimary(tx: SetTransaction, begun: NewSet): Promise<void> {
  const { family, setId, authority, clusterAddress, nowMs } = begun
  await requireOperation(tx, family, 'primary/enable')
  await requireNoHandingOver(tx)
  const fault = clusterAddress === '' ? undefined : faultOfClusterAddress(clusterAddress)
  if (fault !== undefined) throw new SetRefused(400, `"primary_cluster_addr" ${fault}`)
  await wipeFamily(tx, family)
  putState(tx, family, {
    mode: 'primary',
    setId,
    epoch: FIRST_EPOCH,
    clusterAddress,
    isFenced: false,
    sinceMs: nowMs,
  })
  tx.put(setPath(family, 'authority'), authority.certificate)
  tx.put(setPath(family, 'authority-key'), authority.key)
}

/**
 * `primary/disable` and `secondary/disable`: the cluster has no part in the family any more. Authority, registry and
 * identity are gone: a later set is a new one. @throws SetRefused
 */
export async function disableFamily(
  tx: SetTransaction,
  family: ReplicationFamily,
  operation: 'primary/disable' | 'secondary/disable',
): Promise<void> {
  await requireOperation(tx, family, operation)
  await requireNoHandingOver(tx)
  if (family === 'dr' && operation === 'secondary/disable') await owesPurgeInPlace(tx)
  await wipeFamily(tx, family)
  // A DR secondary has the records of its primary for performance replication: there cannot be two of that one.
  if (family === 'dr' && operation === 'secondary/disable') {
    await wipeFamily(tx, 'performance')
    await wipeFormers(tx)
  }
}

/**
 * Nobody is told any more that it was replaced (formers.ts). Behind `primary/disable` it is a step of its own, as this
 * is of another class: of what is left in between nobody is called, since no later set has the same id.
 */
export async function wipeFormers(tx: SetTransaction): Promise<void> {
  for (const key of await tx.keys(FORMERS_FOLDER, '', WIPE_PAGE)) tx.delete(key)
}

/** As `wipeFamily`, for a cluster that stays in its set: what it knows of the primaries before stays. */
export async function wipeButPast(tx: SetTransaction, family: ReplicationFamily): Promise<void> {
  const [promotions, lineage] = [await readPromotions(tx, family), await readLineage(tx, family)]
  await wipeFamily(tx, family)
  putPromotions(tx, family, promotions)
  await putLineage(tx, family, lineage)
}

/** Removes all that the cluster keeps of a family. What a filter has taken from it goes on being removed. */
export async function wipeFamily(tx: SetTransaction, family: ReplicationFamily): Promise<void> {
  const left = family === 'performance' ? await readReach(tx) : EVERYTHING
  for (let more = true; more; ) {
    const keys = await tx.keys(`${family}/`, '', WIPE_PAGE)
    for (const key of keys) tx.delete(key)
    more = keys.length === WIPE_PAGE
  }
  const goesOn = { ...left, reach: undefined }
  if (isTelling(goesOn)) tx.put(setPath('performance', 'reach'), encodeReach(goesOn))
}

/** What `primary/secondary-token` was given, and what the cluster says of itself. */
export type Issuing = Making & {
  readonly family: ReplicationFamily
  readonly id: string
  readonly ttlMs: number
  /** Drawn before, since the transaction may run several times; they become part of the bundle. */
  readonly leafKey: Secret
  readonly nonce: Secret
  /** Where this cluster can be reached; '' if it does not know. What `primary/enable` was given comes before it. */
  readonly clusterAddress: string
  /** Where its API is; '' if it does not know. */
  readonly apiAddress: string
  /** The present history of the log. */
  readonly historyId: Buffer
  /** True if a secondary of this id has a connection to any node now. */
  readonly isConnected: (id: string) => boolean
}

/** A new token; `replaced` says what the id stood for until now, which the caller is warned of. */
export type Issued = {
  readonly bundle: ActivationBundle
  readonly replaced: 'nothing' | 'unused token' | 'claimed token' | 'secondary'
  /** The id had a filter, which is gone. */
  readonly hadFilter: boolean
}

/**
 * `primary/secondary-token`: makes a secondary that may be let in once, within the TTL. What the id stood for before is
 * refused from now on. @throws SetRefused
 */
export async function issueActivation(tx: SetTransaction, issuing: Issuing): Promise<Issued> {
  const { family, id, ttlMs, nowMs, leafKey, nonce } = issuing
  await requireOperation(tx, family, 'primary/secondary-token')
  await requireKept(tx, family)
  const state = await stateOfPrimary(tx, family)
  const clusterAddress = requireIssuable(state, issuing)
  const former = await findSecondary(tx, family, id)
  if (former !== undefined && former.state !== 'revoked' && issuing.isConnected(id)) {
    throw new SetRefused(400, '"id" names a secondary that is connected: revoke it first, or choose another id')
  }
  await makeRoom(tx, family, nowMs, former !== undefined)
  const hadFilter = await dropFilter(tx, family, id)
  const { setId, epoch } = state
  const { authority, leaf, nextAuthority } = await leafFor(tx, setId, issuing)
  const endsAtMs = nowMs + ttlMs
  putSecondary(tx, family, {
    id,
    state: 'issued',
    issuedAtMs: nowMs,
    activatedAtMs: null,
    leaf: leafFacts(leaf, authority),
    renewed: null,
    bootstrap: { nonceDigest: digestOf(nonce.reveal()), endsAtMs, receiverDigest: null, isUsed: false },
    acknowledged: null,
    mayHaveTakenOver: false,
    clusterAddresses: [],
    apiAddress: '',
    clusterId: '',
    trusts: authoritiesIn({ authority, nextAuthority }).map(authorityMark),
    instance: 0,
  })
  // The secondary may be given another address, so a bad one is no reason to refuse.
  const apiAddress = faultOfApiAddress(issuing.apiAddress) === undefined ? issuing.apiAddress : ''
  const { historyId } = issuing
  const bundle = {
    setId,
    family,
    id,
    authority,
    nextAuthority,
    leaf,
    leafKey,
    nonce,
    endsAtMs,
    clusterAddress,
    apiAddress,
    epoch,
    historyId,
  }
  return { bundle, replaced: replacedBy(former), hadFilter }
}

/** Certificates for the token, in DER. @throws SetRefused */
async function leafFor(
  tx: SetTransaction,
  setId: string,
  issuing: Issuing,
): Promise<Pick<ActivationBundle, 'authority' | 'leaf' | 'nextAuthority'>> {
  const { family, id, leafKey, nowMs } = issuing
  const authority = await signingAuthority(tx, family, nowMs)
  try {
    const spki = publicKeyOf(leafKey.reveal())
    const leaf = newLeaf(authority, { setId, family, role: 'secondary', id }, spki, issuing)
    const { next } = await readAuthorities(tx, family)
    const isNext = next === undefined || next.equals(authority.certificate)
    return { authority: authority.certificate, leaf, nextAuthority: isNext ? undefined : next }
  } catch (cause) {
    if (!(cause instanceof CertificateRefused)) throw cause
    throw new SetRefused(400, `${cause.message}: "primary/disable" and "primary/enable" begin a new one`)
  } finally {
    authority.key.fill(0)
  }
}

function replacedBy(former: SecondaryEntry | undefined): Issued['replaced'] {
  if (former === undefined || former.state === 'revoked') return 'nothing'
  if (former.state === 'active') return 'secondary'
  // Whoever claimed it was handed the keys, whether or not it said so.
  return (former.bootstrap?.receiverDigest ?? null) === null ? 'unused token' : 'claimed token'
}

/** The cluster address for the token. @throws SetRefused for an id or a TTL that cannot be, or without an address */
function requireIssuable({ clusterAddress: given }: SetState, { id, ttlMs, clusterAddress: own }: Issuing): string {
  const fault = faultOfPeerId(id)
  if (fault !== undefined) throw new SetRefused(400, `"id" ${fault}`)
  if (!(ttlMs >= MIN_TOKEN_TTL_MS && ttlMs <= MAX_TOKEN_TTL_MS))
    throw new SetRefused(400, `"ttl" must be from 1 second to ${MAX_TOKEN_TTL_MS / 3_600_000} hours`)
  const address = given === '' ? own : given
  const unreachable = address === '' ? 'is not known' : faultOfClusterAddress(address)
  if (unreachable === undefined) return address
  throw new SetRefused(
    400,
    `The cluster address of this primary ${unreachable}: set "cluster_addr" in the configuration, or give ` +
      '"primary_cluster_addr" to "primary/enable"',
  )
}

/** Forgets revoked secondaries whose certificates have ended. @throws SetRefused where there is no room for another */
async function makeRoom(tx: SetTransaction, family: ReplicationFamily, nowMs: number, isKnown: boolean): Promise<void> {
  const all = await allSecondaries(tx, family)
  const ended = all.filter(({ state, leaf }) => state === 'revoked' && leaf.notAfterMs < nowMs)
  for (const { id } of ended) tx.delete(registryFolder(family) + peerSegment(id))
  if (isKnown || all.length - ended.length < MAX_SECONDARIES) return
  const message = `The set has ${MAX_SECONDARIES} secondaries, revoked ones of the last 90 days included`
  throw new SetRefused(400, `${message}: use an id again that is no longer used`)
}

/**
 * `primary/revoke-secondary`: the id is refused until it gets a new token. The caller closes its connections. Returns
 * whether the id had a filter, which is gone. @throws SetRefused
 */
export async function revokeSecondary(tx: SetTransaction, family: ReplicationFamily, id: string): Promise<boolean> {
  await requireOperation(tx, family, 'primary/revoke-secondary')
  await requireKept(tx, family)
  if (id === '') throw new SetRefused(400, '"id" is missing: it is the id that a token was issued for')
  const entry = await findSecondary(tx, family, id)
  if (entry === undefined || entry.state === 'revoked')
    throw new SetRefused(404, 'No secondary has this id: "known_secondaries" of the status lists them')
  putSecondary(tx, family, { ...entry, state: 'revoked', renewed: null, bootstrap: null })
  return await dropFilter(tx, family, id)
}

/**
 * The id stands for another secondary from now on, or for none: what filtered the one of before goes with it. Returns
 * whether there was a filter.
 */
async function dropFilter(tx: SetTransaction, family: ReplicationFamily, id: string): Promise<boolean> {
  if (family !== 'performance' || (await tx.get(filterPath(id))) === undefined) return false
  tx.delete(filterPath(id))
  return true
}

/** Ids of all secondaries but revoked ones, whether or not their tokens were used. */
export async function knownSecondaries(tx: SetReader, family: ReplicationFamily): Promise<string[]> {
  return (await allSecondaries(tx, family)).filter(({ state }) => state !== 'revoked').map(({ id }) => id)
}

/** The state of a family in which this cluster is primary; the caller has checked that it is. */
async function stateOfPrimary(tx: SetReader, family: ReplicationFamily): Promise<SetState> {
  return (await readState(tx, family)) ?? missing('state')
}

function missing(entry: string): never {
  throw new StorageCorrupt(`A primary has no entry "${entry}" of its set`)
}

/** What the registry keeps of a certificate, and of the authority that signed it. */
export function leafFacts(certificate: Buffer, authority: Buffer): SecondaryEntry['leaf'] {
  const { serial, notAfterMs } = readCertificate(certificate)
  return {
    serial: serial.toString('hex'),
    fingerprint: encodeBase64(certificateFingerprint(certificate)),
    notAfterMs,
    authority: authorityMark(authority),
  }
}

/** What the registry keeps of random bytes: they cannot be guessed, so a plain digest does. */
export const digestOf = (bytes: Buffer): string => encodeBase64(sha256(bytes))
