// The stored form of a key ring, inside the barrier. No secret of it ever becomes a string, which could not be wiped
// (threats N-10). The entry of a ring holds its newest versions, at most BLOCK_VERSIONS of them. Older versions stand
// in blocks beside it, of BLOCK_VERSIONS each (docs/decisions/0012). A rotation thus writes no more of the ring than
// its entry, and at times one block. Entry and block have one form:
//
//   offset  bytes
//   0       1      format. 1, 2: an entry that has all versions (1 is only read; its header has fewer members).
//                  3: an entry that has the newest versions alone, or a block
//   1       4      H, bytes of the header (big-endian, as all numbers)
//   5       H      JSON, with nothing secret in it. Entry: RingHeader, in format 3 with `older`. Block: BlockHead
//   5 + H          for each version of the header's list, in its order:
//             4      M, bytes of the material
//             M      material, as the key type generates and loads it
//             32     HMAC secret of the version (Interface 2.3)
//
// An entry has the digest of the last block, and a block that of the block before it. A reader thus sees whether all
// parts are of one state. A block never changes: if an old version does, all blocks are rewritten.
import { linkDigest, sha256 } from '../../../crypto/primitives/digest.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import { encodeStored } from '../../../storage/stored-record.ts'
import {
  type BlockHead,
  decodeBlockHead,
  decodeRingHead,
  firstStoredVersion,
  type RingFormat,
  type RingHead,
  type RingHeader,
} from './ring-header.ts'

/** The most that a rotation writes, twice with a block: about 9 KB of AES keys, 160 KB of RSA-4096 keys. */
export const BLOCK_VERSIONS = 64
const [WHOLE, SPLIT] = [2, 3] as const
const LENGTH_BYTES = 4
const HEADER_AT = 1 + LENGTH_BYTES
/** Bytes of the secret for HMACs that every version has. */
export const HMAC_SECRET_BYTES = 32

/** The secrets of one version. */
export type VersionSecrets = { readonly material: Secret; readonly hmac: Secret }

/** A ring with its secrets. It exists only while a ring is made, changed or loaded; its holder wipes it. */
export type StoredRing = {
  readonly header: RingHeader
  /** One for each entry of the header's list of versions. */
  readonly secrets: readonly VersionSecrets[]
}

/** The content of an entry: if there are older versions, header and secrets are those of the newest alone. */
export type RingEntry = RingHead & StoredRing

/** Zeros all secrets of a ring. */
export function wipeRing(ring: { readonly secrets: readonly VersionSecrets[] }): void {
  for (const { material, hmac } of ring.secrets) {
    material.wipe()
    hmac.wipe()
  }
}

/** The stored bytes of a ring; the caller wipes them. */
export type LaidOut = {
  readonly entry: Buffer
  /** The blocks that are to be written, by the number of their first version. */
  readonly blocks: ReadonlyMap<number, Buffer>
}

/** Returns the stored bytes of a whole ring, all its blocks included. */
export function layOut({ header, secrets }: StoredRing): LaidOut {
  return split({ header }, secrets.map(piecesOf))
}

/**
 * Returns the stored bytes of a ring after a rotation. `bytes` are its entry as it is stored, `header` already lists
 * the new version, and `fresh` are its secrets. Secrets of other versions are copied as bytes, and blocks are not read.
 * `bytes` stay the caller's to wipe.
 * @throws StorageCorrupt
 */
export function layOutGrown(bytes: Buffer, { header, older }: RingHead, fresh: VersionSecrets): LaidOut {
  const stored = storedSecrets(bytes, header.versions.length - 1).map((secrets) => [secrets])
  return split({ header, older }, [...stored, piecesOf(fresh)])
}

/** Returns the stored bytes of an entry, however many versions it lists; the caller wipes them. */
export function encodeRing({ header, older, secrets }: RingEntry): Buffer {
  return encodeEntry({ header, older }, secrets.map(piecesOf))
}

/** Cuts full blocks off the front, and leaves 1 to BLOCK_VERSIONS in the entry. `secrets`: pieces of each version. */
function split({ header, older: before }: RingHead, secrets: readonly (readonly Buffer[])[]): LaidOut {
  const blocks = new Map<number, Buffer>()
  const listed = firstStoredVersion(header)
  let older = before
  let at = 0
  for (; secrets.length - at > BLOCK_VERSIONS; at += BLOCK_VERSIONS) {
    const end = at + BLOCK_VERSIONS
    const versions = header.versions.slice(at, end)
    const head: BlockHead = older === undefined ? { versions } : { versions, before: older.digest }
    const block = encode(SPLIT, head, secrets.slice(at, end))
    blocks.set(listed + at, block)
    older = { first: older?.first ?? listed, digest: linkDigest(block) }
  }
  const newest = { ...header, versions: header.versions.slice(at) }
  return { entry: encodeEntry({ header: newest, older }, secrets.slice(at)), blocks }
}

function encodeEntry({ header, older }: RingHead, secrets: readonly (readonly Buffer[])[]): Buffer {
  return older === undefined ? encode(WHOLE, header, secrets) : encode(SPLIT, { ...header, older }, secrets)
}

/** Returns the stored parts of one version: the length of the material, the material, the HMAC secret. */
function piecesOf({ material, hmac }: VersionSecrets): Buffer[] {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(material.length)
  return [length, material.reveal(), hmac.reveal()]
}

function encode(format: RingFormat, head: object, secrets: readonly (readonly Buffer[])[]): Buffer {
  const header = encodeStored(head)
  const pieces = secrets.flat()
  // Not `concat`: its result may share memory with other Buffers (threats N-09).
  const bytes = Buffer.alloc(HEADER_AT + header.length + pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = bytes.writeUInt32BE(header.length, bytes.writeUInt8(format))
  for (const piece of [header, ...pieces]) at += piece.copy(bytes, at)
  return bytes
}

/**
 * Decodes an entry. It copies the secrets; `bytes` stay the caller's to wipe.
 * @throws StorageCorrupt
 */
export function decodeRing(bytes: Buffer): RingEntry {
  const head = decodeHead(bytes)
  return { ...head, secrets: secretsOf(bytes, head.header.versions.length) }
}

/** Decodes an entry without its secrets. @throws StorageCorrupt */
export function decodeHead(bytes: Buffer): RingHead {
  const head = decodeRingHead(headerOf(bytes), formatOf(bytes))
  const { header, older } = head
  if (older === undefined) return head
  const listed = header.versions.length
  const isWhole = (firstStoredVersion(header) - older.first) % BLOCK_VERSIONS === 0
  if (listed === 0 || listed > BLOCK_VERSIONS || !isWhole) throw corrupt('has older versions that fill no blocks')
  return head
}

/** A block that was read; the caller wipes its bytes. */
export type Block = BlockHead & { readonly bytes: Buffer }

/** Decodes a block, and checks that it has the secrets of its versions. @throws StorageCorrupt */
export function decodeBlock(bytes: Buffer): Block {
  const head = decodeBlockHead(headerOf(bytes))
  if (formatOf(bytes) !== SPLIT || head.versions.length !== BLOCK_VERSIONS)
    throw corrupt(`is no block of ${BLOCK_VERSIONS} versions`)
  storedSecrets(bytes, BLOCK_VERSIONS)
  return { ...head, bytes }
}

/**
 * Returns copies of the secrets of an entry or block with so many versions: of those at the indexes `start` to `end`,
 * without `end`. The caller wipes them.
 * @throws StorageCorrupt
 */
export function secretsOf(bytes: Buffer, versions: number, start = 0, end = versions): VersionSecrets[] {
  return storedSecrets(bytes, versions)
    .slice(start, end)
    .map((one) => {
      const hmacAt = one.length - HMAC_SECRET_BYTES
      return { material: new Secret(one.subarray(LENGTH_BYTES, hmacAt)), hmac: new Secret(one.subarray(hmacAt)) }
    })
}

/** Length and digest of the secrets of an entry, by which they are recognised later. It is not secret itself. */
export type SecretsMark = { readonly bytes: number; readonly digest: Buffer }

/** Returns the mark of the secrets in an entry. @throws StorageCorrupt */
export function markOf(bytes: Buffer): SecretsMark {
  const secrets = bytes.subarray(secretsAtOf(bytes))
  return { bytes: secrets.length, digest: sha256(secrets) }
}

/** True if the secrets of blocks and entry, one behind the other, begin with those of the mark. */
export function beginWith(stored: readonly Buffer[], mark: SecretsMark): boolean {
  let left = mark.bytes
  const parts = stored.map((bytes) => {
    const secrets = bytes.subarray(secretsAtOf(bytes)).subarray(0, left)
    left -= secrets.length
    return secrets
  })
  return left === 0 && sha256(NOTHING, ...parts).equals(mark.digest)
}

const NOTHING = Buffer.alloc(0)

/** Returns what is stored of each version's secrets. They are parts of `bytes`, not copies. @throws StorageCorrupt */
function storedSecrets(bytes: Buffer, versions: number): Buffer[] {
  const secrets: Buffer[] = []
  let at = secretsAtOf(bytes)
  for (let index = 0; index < versions; index += 1) {
    const materialAt = at + LENGTH_BYTES
    if (materialAt > bytes.length) throw corrupt('ends before its last version')
    const end = materialAt + bytes.readUInt32BE(at) + HMAC_SECRET_BYTES
    if (end > bytes.length) throw corrupt('ends inside a version')
    secrets.push(bytes.subarray(at, end))
    at = end
  }
  if (at !== bytes.length) throw corrupt('goes on after its last version')
  return secrets
}

function formatOf(bytes: Buffer): RingFormat {
  const format = bytes[0]
  if (format === 1 || format === 2 || format === 3) return format
  throw corrupt(`has format ${format}, known are 1 to 3`)
}

/** Returns the offset of the first version's secrets. @throws StorageCorrupt */
function secretsAtOf(bytes: Buffer): number {
  if (bytes.length < HEADER_AT) throw corrupt('is too short')
  formatOf(bytes)
  const secretsAt = HEADER_AT + bytes.readUInt32BE(1)
  if (secretsAt > bytes.length) throw corrupt('ends inside its header')
  return secretsAt
}

function headerOf(bytes: Buffer): Buffer {
  return bytes.subarray(HEADER_AT, secretsAtOf(bytes))
}

function corrupt(what: string): StorageCorrupt {
  return new StorageCorrupt(`A stored key ring ${what}`)
}
