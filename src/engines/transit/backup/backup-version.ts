// Reads one version of a backup.
import type { BackupParts, FromBackup, RsaParts } from '../../../crypto/forms/material-form.ts'
import { requireCrtParts } from '../../../crypto/forms/rsa-parts.ts'
import { InvalidKeyMaterial, type KeyType, type ListedKeyType } from '../../../crypto/key-types/key-type.ts'
import { freshBytes } from '../../../crypto/primitives/random-bytes.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { Base64Error, decodeBase64 } from '../../../lib/base64.ts'
import type { World } from '../../../lib/world.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import { isCertificate, MAX_CERTIFICATES, MAX_CHAIN_CHARACTERS } from '../certificate-chain.ts'
import { HMAC_SECRET_BYTES, type VersionSecrets } from '../ring/key-ring.ts'
import { keyUseOf } from '../ring/key-use.ts'
import { publicPartOf } from '../ring/loaded-ring.ts'
import { CONVERGENT_VERSION, type RingHeader, type VersionHeader } from '../ring/ring-header.ts'
import { type BackupMembers, MAX_NUMBER, naturalOf, refuseBackup } from './backup-members.ts'

/** Facts that all versions of a key share. */
export type SharedByVersions = {
  readonly header: RingHeader
  readonly type: ListedKeyType
  /** The convergent version for versions that do not have their own; -1: each has its own. */
  readonly convergentVersion: number
  readonly world: World
}

type ReadVersion = VersionSecrets & { readonly header: VersionHeader }

/** Reads one version; the caller wipes its secrets. @throws Refusal naming the member */
export function readBackupVersion(version: BackupMembers, shared: SharedByVersions): ReadVersion {
  const { type } = shared
  const header = headerOf(version, shared)
  try {
    return { ...readSecrets(version, shared, header), hmac: hmacSecretOf(version, shared) }
  } catch (cause) {
    if (!(cause instanceof InvalidKeyMaterial)) throw cause
    throw refuseBackup(version.path, `is no key of type ${type.name}. ${cause.message}`, cause)
  }
}

function readSecrets(
  version: BackupMembers,
  { type, header: { derived } }: SharedByVersions,
  header: VersionHeader,
): { readonly header: VersionHeader; readonly material: Secret } {
  const { material, isPublic } = fromBackup(version, type)
  try {
    if (isPublic && derived) throw refuseBackup(version.path, 'has no private key, of which others are to be derived')
    if (isPublic) publicPartOf(type).load(material)
    else type.load(material)
    return { header: isPublic ? { ...header, isPublic } : header, material: new Secret(material) }
  } finally {
    material.fill(0)
  }
}

function fromBackup(version: BackupMembers, type: ListedKeyType): FromBackup {
  const parts = readParts(version, type)
  try {
    return type.form.fromBackup(parts)
  } finally {
    parts.key?.fill(0)
  }
}

function headerOf(version: BackupMembers, shared: SharedByVersions): VersionHeader {
  const made = version.time('time') ?? { ms: 1000 * version.whole('creation_time', 0, MAX_NUMBER), nanos: 0 }
  const convergentVersion = convergentVersionOf(version, shared)
  try {
    keyUseOf(shared.header, { convergentVersion }, shared.type)
  } catch (cause) {
    if (!(cause instanceof StorageCorrupt)) throw cause
    const what = `"kdf" and a "convergent_version" of ${convergentVersion} together`
    throw refuseBackup(version.path, `cannot be: keys of type ${shared.type.name} do not have ${what}`, cause)
  }
  return { createdAtMs: made.ms, ...nanosOf(made, 'createdNanos'), convergentVersion, ...certificatesOf(version) }
}

/** Returns the nanoseconds as a member of this name, or nothing if they are 0: headers leave them out then. */
export function nanosOf<K extends string>(
  { nanos }: { readonly nanos: number },
  as: K,
): { readonly [key in K]?: number } {
  return nanos === 0 ? {} : ({ [as]: nanos } as { readonly [key in K]?: number })
}

/** Returns the convergent algorithm. Keys that are older than its numbering do not say it, and have the first one. */
function convergentVersionOf(version: BackupMembers, { header, convergentVersion }: SharedByVersions): number {
  const own = version.whole('convergent_version', 0, CONVERGENT_VERSION)
  if (!header.convergent) return 0
  if (own !== 0) return own
  if (convergentVersion === -1) throw version.refuse('convergent_version', 'is missing')
  return convergentVersion === 0 ? 1 : convergentVersion
}

/** Reads certificates within the bounds of set-certificate; neither their order nor their key is checked again. */
function certificatesOf(version: BackupMembers): { readonly certificates?: readonly string[] } {
  const refuse = (why: string) => version.refuse('certificate_chain', why)
  const chain = version.list('certificate_chain')
  if (chain.length === 0) return {}
  if (chain.length > MAX_CERTIFICATES) throw refuse(`has more than ${MAX_CERTIFICATES} certificates`)
  const texts = chain.filter((one) => typeof one === 'string')
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  if (characters > MAX_CHAIN_CHARACTERS) throw refuse(`has more than ${MAX_CHAIN_CHARACTERS} characters`)
  const certificates = texts.map(decodeOrEmpty)
  if (texts.length !== chain.length || !certificates.every(isCertificate))
    throw refuse('is no list of certificates (base64 of X.509 in DER)')
  return { certificates: certificates.map((one) => one.toString('base64')) }
}

function decodeOrEmpty(text: string): Buffer {
  try {
    return decodeBase64(text)
  } catch (cause) {
    if (cause instanceof Base64Error) return Buffer.alloc(0)
    throw cause
  }
}

/**
 * Returns the HMAC secret of the version. It is fresh if the material itself is the HMAC key, or if the key is older
 * than HMAC secrets.
 */
function hmacSecretOf(version: BackupMembers, { type, world }: SharedByVersions): Secret {
  const given = type.isHmacKey === true ? undefined : version.bytes('hmac_key')
  const bytes = given ?? freshBytes(world.random.bytes, HMAC_SECRET_BYTES)
  try {
    if (bytes.length !== HMAC_SECRET_BYTES) throw version.refuse('hmac_key', `has not ${HMAC_SECRET_BYTES} bytes`)
    return new Secret(bytes)
  } finally {
    bytes.fill(0)
  }
}

function readParts(version: BackupMembers, type: KeyType): BackupParts {
  // The original product writes some HMAC keys under the second name alone.
  const key = version.bytes('key') ?? (type.isHmacKey === true ? version.bytes('hmac_key') : undefined)
  const [x, y, d] = [version.natural('ec_x'), version.natural('ec_y'), version.natural('ec_d')]
  const rsa = version.group('rsa_key')
  const rsaPublic = version.group('rsa_public_key')
  if ((x === undefined) !== (y === undefined) || (x === undefined && d !== undefined))
    throw refuseBackup(version.path, 'has some of "ec_x", "ec_y" and "ec_d", and not all that belong together')
  return {
    ...(key === undefined ? {} : { key }),
    ...(x === undefined || y === undefined ? {} : { ec: { x, y, ...(d === undefined ? {} : { d }) } }),
    ...(rsa === undefined ? {} : { rsa: readRsa(rsa) }),
    ...(rsaPublic === undefined
      ? {}
      : { rsaPublic: { n: requireNatural(rsaPublic, 'N'), e: requireNatural(rsaPublic, 'E') } }),
    publicText: version.text('public_key'),
  }
}

function readRsa(rsa: BackupMembers): RsaParts {
  const primes = rsa.list('Primes').map((prime, index) => naturalOf(prime, `${rsa.path}.Primes[${index}]`))
  const [p, q] = primes
  if (p === undefined || q === undefined || primes.length !== 2) throw rsa.refuse('Primes', 'are not two')
  const parts = { n: requireNatural(rsa, 'N'), e: requireNatural(rsa, 'E'), d: requireNatural(rsa, 'D'), p, q }
  requirePrecomputed(rsa, parts)
  return parts
}

/** Checks the CRT numbers if they are there; other products compute them again. @throws InvalidKeyMaterial */
function requirePrecomputed(rsa: BackupMembers, parts: RsaParts): void {
  const given = rsa.group('Precomputed')
  const [dp, dq, qInverse] = [given?.natural('Dp'), given?.natural('Dq'), given?.natural('Qinv')]
  if (dp === undefined || dq === undefined || qInverse === undefined) return
  requireCrtParts(parts, { dp, dq, qInverse })
}

function requireNatural(members: BackupMembers, name: string): bigint {
  const value = members.natural(name)
  if (value === undefined) throw members.refuse(name, 'is missing')
  return value
}
