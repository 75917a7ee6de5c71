// A key ring as it is stored, inside the barrier: no secret of it ever becomes a string, which could not be wiped
// (threats N-10).
//
//   offset  bytes
//   0       1      format: 2; 1 is read as well, whose header has fewer members
//   1       4      H, bytes of the header (big-endian, as all numbers)
//   5       H      RingHeader as JSON: nothing in it is secret
//   5 + H          for each version of the header's list, in its order:
//             4      M, bytes of the material
//             M      material, as the key type generates and loads it
//             32     HMAC secret of the version (Interface 2.3)
import { sha256OfBoth } from '../../crypto/digest.ts'
import { Secret } from '../../crypto/secret.ts'
import { parseStoredJson } from '../../lib/json.ts'
import { StorageCorrupt } from '../../storage/contract.ts'
import { headerFromJson, isGrownFrom, type RingHeader } from './ring-header.ts'

const FORMAT = 2
const LENGTH_BYTES = 4
const HEADER_AT = 1 + LENGTH_BYTES
export const HMAC_SECRET_BYTES = 32

export type VersionSecrets = { readonly material: Secret; readonly hmac: Secret }

/** Exists only while a ring is made, changed or loaded; whoever holds one wipes it. */
export type StoredRing = {
  readonly header: RingHeader
  /** One for each entry of the header's list of versions. */
  readonly secrets: readonly VersionSecrets[]
}

export function wipeRing(ring: StoredRing): void {
  for (const { material, hmac } of ring.secrets) {
    material.wipe()
    hmac.wipe()
  }
}

/** The bytes are the caller's to wipe. */
export function encodeRing(ring: StoredRing): Buffer {
  const header = Buffer.from(JSON.stringify(ring.header))
  const secretBytes = ring.secrets.reduce(
    (sum, { material, hmac }) => sum + LENGTH_BYTES + material.length + hmac.length,
    0,
  )
  // Not `concat`: what it gives may share memory with others (threats N-09).
  const bytes = Buffer.alloc(HEADER_AT + header.length + secretBytes)
  let at = bytes.writeUInt32BE(header.length, bytes.writeUInt8(FORMAT))
  at += header.copy(bytes, at)
  for (const { material, hmac } of ring.secrets) {
    at = bytes.writeUInt32BE(material.length, at)
    at += material.reveal().copy(bytes, at)
    at += hmac.reveal().copy(bytes, at)
  }
  return bytes
}

/**
 * The stored bytes of a ring that has one version more, of `secrets`, and the secrets of the others as they stand in
 * `bytes`: none of them is looked at. Both are the caller's to wipe.
 */
export function encodeGrown(bytes: Buffer, header: RingHeader, { material, hmac }: VersionSecrets): Buffer {
  const head = Buffer.from(JSON.stringify(header))
  const others = bytes.subarray(secretsAtOf(bytes))
  const grown = Buffer.alloc(HEADER_AT + head.length + others.length + LENGTH_BYTES + material.length + hmac.length)
  let at = grown.writeUInt32BE(head.length, grown.writeUInt8(FORMAT))
  at += head.copy(grown, at)
  at += others.copy(grown, at)
  at = grown.writeUInt32BE(material.length, at)
  at += material.reveal().copy(grown, at)
  hmac.reveal().copy(grown, at)
  return grown
}

/**
 * Copies what is secret; `bytes` stay the caller's to wipe.
 * @throws StorageCorrupt
 */
export function decodeRing(bytes: Buffer): StoredRing {
  const header = decodeHeader(bytes)
  return { header, secrets: decodeSecrets(bytes, secretsAtOf(bytes), header.versions.length) }
}

/** @throws StorageCorrupt */
export function decodeHeader(bytes: Buffer): RingHeader {
  const secretsAt = secretsAtOf(bytes)
  return headerFromJson(parseHeader(bytes.subarray(HEADER_AT, secretsAt)), bytes[0] === 1 ? 1 : FORMAT)
}

/** @throws StorageCorrupt */
function secretsAtOf(bytes: Buffer): number {
  if (bytes.length < HEADER_AT) throw corrupt('is too short')
  const format = bytes[0]
  if (format !== 1 && format !== FORMAT) throw corrupt(`has format ${format}, known are 1 and ${FORMAT}`)
  const secretsAt = HEADER_AT + bytes.readUInt32BE(1)
  if (secretsAt > bytes.length) throw corrupt('ends inside its header')
  return secretsAt
}

/** The secrets of a stored ring, by which they are known again, and told from others: nothing secret. */
export type SecretsMark = { readonly bytes: number; readonly digest: Buffer }

/** A ring that was read before. */
export type KnownRing = { readonly header: RingHeader; readonly mark: SecretsMark }

export type GrownRing = {
  readonly mark: SecretsMark
  /** Of how many of the header's versions, from the first, the secrets are those that are known. */
  readonly known: number
  /** Its secrets are those of the versions behind them. */
  readonly ring: StoredRing
}

/**
 * The same where the ring may have been read before: what was known of it then is not decoded again.
 * @throws StorageCorrupt
 */
export function decodeGrown(bytes: Buffer, before: KnownRing | undefined): GrownRing {
  const header = decodeHeader(bytes)
  const secretsAt = secretsAtOf(bytes)
  const secrets = bytes.subarray(secretsAt)
  const knownBytes = before === undefined || !isGrownFrom(before.header, header) ? 0 : before.mark.bytes
  const { first, all } = sha256OfBoth(secrets, Math.min(knownBytes, secrets.length))
  const isKnown = knownBytes > 0 && knownBytes <= secrets.length && before?.mark.digest.equals(first) === true
  const [known, knownEnd] = isKnown ? [before.header.versions.length, secretsAt + knownBytes] : [0, secretsAt]
  return {
    mark: { bytes: secrets.length, digest: all },
    known,
    ring: { header, secrets: decodeSecrets(bytes, knownEnd, header.versions.length - known) },
  }
}

function parseHeader(bytes: Buffer) {
  try {
    return parseStoredJson(bytes)
  } catch (cause) {
    throw corrupt('has a header that is not JSON', cause)
  }
}

function decodeSecrets(bytes: Buffer, start: number, count: number): VersionSecrets[] {
  const secrets: VersionSecrets[] = []
  let at = start
  for (let index = 0; index < count; index += 1) {
    const materialAt = at + LENGTH_BYTES
    if (materialAt > bytes.length) throw corrupt('ends before its last version')
    const hmacAt = materialAt + bytes.readUInt32BE(at)
    at = hmacAt + HMAC_SECRET_BYTES
    if (at > bytes.length) throw corrupt('ends inside a version')
    const [material, hmac] = [bytes.subarray(materialAt, hmacAt), bytes.subarray(hmacAt, at)]
    secrets.push({ material: new Secret(material), hmac: new Secret(hmac) })
  }
  if (at !== bytes.length) throw corrupt('goes on after its last version')
  return secrets
}

function corrupt(what: string, cause?: unknown): StorageCorrupt {
  return new StorageCorrupt(`A stored key ring ${what}`, cause === undefined ? undefined : { cause })
}
