// New keys and new versions, made and tried before they are stored (threats P-15).
import type { KeyObject } from 'node:crypto'
import { publicHalf } from '../../../crypto/forms/public-keys.ts'
import { type Cipher, type KeyType, PROOF_OPTIONS } from '../../../crypto/key-types/key-type.ts'
import type { NoncePool } from '../../../crypto/primitives/nonce-pool.ts'
import { freshBytes } from '../../../crypto/primitives/random-bytes.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { signWith, verifyWith } from '../../../crypto/signing-jobs.ts'
import type { SlowWork } from '../../../lib/slow-work.ts'
import type { World } from '../../../lib/world.ts'
import type { CountedSince } from '../budget/message-ledger.ts'
import { HMAC_SECRET_BYTES, type StoredRing, type VersionSecrets } from './key-ring.ts'
import {
  CONVERGENT_VERSION,
  MADE_HERE,
  type ManagedReference,
  type RingHeader,
  type VersionHeader,
} from './ring-header.ts'
import { FIRST_BOUNDS } from './versions.ts'

/** The choices of a request that makes a key. */
export type NewKey = Pick<
  RingHeader,
  'derived' | 'convergent' | 'exportable' | 'allowPlaintextBackup' | 'autoRotatePeriodSeconds'
> & {
  readonly type: KeyType
  /** 0: the usual size of the type. */
  readonly keySizeBytes: number
}

/** A new version: its secrets, and the managed key that it stands for, if it does. */
export type NewVersion = VersionSecrets & { readonly managedKey?: ManagedReference }

/** The parts of a mount that try a key. */
export type Prover = {
  readonly slow: SlowWork
  readonly nonces: NoncePool
}

/** The parts of a mount that make keys. */
export type KeyMaker = Prover & {
  readonly world: World
  readonly messageCounts?: Counts
}

/** What the header of a new version says of its count (message-count-store.ts). */
type Counts = { since(): Promise<CountedSince> }

/** The parts of a mount that make keys whose messages are counted. */
export type CountingMaker = KeyMaker & { readonly messageCounts: Counts }

/** Makes a ring with its first version; the caller wipes it. Slow for key types that are slow to generate. */
export async function newRing({ type, ...flags }: NewKey, maker: KeyMaker): Promise<StoredRing> {
  const keySizeBytes = flags.keySizeBytes || (type.sizes?.usual ?? 0)
  const secrets = await newSecrets(type, keySizeBytes, maker)
  const since = await maker.messageCounts?.since()
  return ringOf({ type, ...flags, keySizeBytes }, secrets, maker.world, since)
}

/** Returns a ring with this first version; secrets are not copied. `since` comes from the counts of the mount. */
export function ringOf(
  { type, ...flags }: NewKey,
  { managedKey, ...secrets }: NewVersion,
  world: World,
  since?: CountedSince,
): StoredRing {
  const header: RingHeader = {
    ...FIRST_BOUNDS,
    ...MADE_HERE,
    ...flags,
    type: type.name,
    deletionAllowed: false,
    versions: [newVersionHeader(flags.convergent, world, since, managedKey)],
  }
  return { header, secrets: [secrets] }
}

/** Returns the header with one version more; its minimums stay. `since` comes from the counts of the mount. */
export function withNewVersion(
  header: RingHeader,
  { managedKey }: NewVersion,
  world: World,
  since?: CountedSince,
): RingHeader {
  return {
    ...header,
    latestVersion: header.latestVersion + 1,
    // Interface 3.4: a rotated key takes no imported versions any more, so it counts as made here.
    imported: false,
    allowImportedRotation: false,
    versions: [...header.versions, newVersionHeader(header.convergent, world, since, managedKey)],
  }
}

function newVersionHeader(
  convergent: boolean,
  world: World,
  since: CountedSince | undefined,
  managedKey?: ManagedReference,
): VersionHeader {
  return {
    createdAtMs: world.clock.nowMs(),
    convergentVersion: convergent ? CONVERGENT_VERSION : 0,
    ...since,
    ...(managedKey === undefined ? {} : { managedKey }),
  }
}

/** Makes the secrets of one version, and tries the key; the caller wipes them. */
export async function newSecrets(type: KeyType, keySizeBytes: number, maker: KeyMaker): Promise<VersionSecrets> {
  const random = maker.world.random.bytes
  const material = await type.generate(random, maker.slow, keySizeBytes)
  const hmac = freshBytes(random, HMAC_SECRET_BYTES)
  try {
    await proveMaterial(type, material, maker)
    return { material: new Secret(material), hmac: new Secret(hmac) }
  } finally {
    material.fill(0)
    hmac.fill(0)
  }
}

/** A key that does not do what it is for. Material from a caller is refused with it; a key made here is a fault. */
export class KeyNotProven extends Error {
  override name = 'KeyNotProven'
}

const PROOF = Buffer.from('sealed and opened, signed and verified once before the key is used')

/**
 * Has the key do once what it is for, before any caller is told of it (threats P-15). An imported pair proves here that
 * its halves belong together.
 * @throws AuthenticationFailed if it does not open what it sealed
 * @throws KeyNotProven if it does not give back what it sealed, or does not verify what it signed
 */
export async function proveMaterial(type: KeyType, material: Buffer, { slow, nonces }: Prover): Promise<void> {
  const key = type.load(material)
  if (type.cipher !== undefined) await proveCipher(type.name, type.cipher, key, { slow, nonces })
  if (type.signing !== undefined) await proveSigning(type, key, slow)
}

async function proveCipher(name: string, cipher: Cipher, key: KeyObject, { slow, nonces }: Prover): Promise<void> {
  const sealed = cipher.sealWithNonce(key, nonces.take(cipher.nonceBytes), PROOF)
  const opened = await (cipher.openSlowly?.(slow, key, sealed) ?? cipher.openWithNonce(key, sealed))
  if (!opened.equals(PROOF)) throw new KeyNotProven(`A new key of type ${name} does not open what it sealed`)
}

async function proveSigning(type: KeyType, key: KeyObject, slow: SlowWork): Promise<void> {
  const signature = await signWith(type, slow, key, PROOF, PROOF_OPTIONS)
  const isProven = await verifyWith(type, slow, publicHalf(key), PROOF, signature, PROOF_OPTIONS)
  if (!isProven) throw new KeyNotProven(`A new key of type ${type.name} does not verify what it signed`)
}
