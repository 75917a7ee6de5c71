// A key ring as it is stored, inside the barrier: no secret of it ever becomes a string, which could not be wiped
// (threats N-10). Its entry holds the newest versions, at most BLOCK_VERSIONS of them. Older ones stand in blocks
// beside it, of BLOCK_VERSIONS each, so that a rotation writes the entry, at times one block, and nothing else.
// Entry and block have one form:
//
//   offset  bytes
//   0       1      format: of an entry that has all versions 2 (1 is read as well, whose header has fewer members);
//                  of an entry that has the newest alone, and of a block, 3
//   1       4      H, bytes of the header (big-endian, as all numbers)
//   5       H      JSON: nothing in it is secret. Of an entry RingHeader, in format 3 with `older`; of a block
//                  BlockHead
//   5 + H          for each version of the header's list, in its order:
//             4      M, bytes of the material
//             M      material, as the key type generates and loads it
//             32     HMAC secret of the version (Interface 2.3)
//
// An entry bears the digest of the last block, and a block that of the one before it: what is read is one state, or
// shows that it is not. A block never changes: where an old version does, all blocks are made anew.
import { linkDigest, sha256 } from '../../../crypto/primitives/digest.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { StorageCorrupt } from '../../../storage/contract.ts'
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

/** About 9 KB of AES keys, 160 KB of RSA-4096 keys: what a rotation writes at most, or twice that with a block. */
export const BLOCK_VERSIONS = 64
const [WHOLE, SPLIT] = [2, 3] as const
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

/** What the entry of a ring has: where there are older versions, header and secrets are of the newest alone. */
export type RingEntry = RingHead & StoredRing

export function wipeRing(ring: { readonly secrets: readonly VersionSecrets[] }): void {
  for (const { material, hmac } of ring.secrets) {
    material.wipe()
    hmac.wipe()
  }
}

/** Stored bytes of a ring; they are the caller's to wipe. */
export type LaidOut = {
  readonly entry: Buffer
  /** That are to be written, by the number of their first version. */
  readonly blocks: ReadonlyMap<number, Buffer>
}

export function layOut({ header, secrets }: StoredRing): LaidOut {
  return split({ header }, secrets.map(piecesOf))
}

/**
 * The same of a ring that has one version more, of `fresh`: `bytes` are its entry as it is stored, and `header` has the
 * version already. The secrets of the other versions are not looked at. `bytes` stay the caller's to wipe.
 */
export function layOutGrown(bytes: Buffer, { header, older }: RingHead, fresh: VersionSecrets): LaidOut {
  const stored = storedSecrets(bytes, header.versions.length - 1).map((secrets) => [secrets])
  return split({ header, older }, [...stored, piecesOf(fresh)])
}

/** The stored bytes of an entry, however many versions it lists; they are the caller's to wipe. */
export function encodeRing({ header, older, secrets }: RingEntry): Buffer {
  return encodeEntry({ header, older }, secrets.map(piecesOf))
}

/** `secrets`: the pieces of each version's. As many blocks are cut off the front as there can be. */
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

/** The length stands in front. */
function piecesOf({ material, hmac }: VersionSecrets): Buffer[] {
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32BE(material.length)
  return [length, material.reveal(), hmac.reveal()]
}

function encode(format: RingFormat, head: object, secrets: readonly (readonly Buffer[])[]): Buffer {
  const header = encodeStored(head)
  const pieces = secrets.flat()
  // Not `concat`: what it gives may share memory with others (threats N-09).
  const bytes = Buffer.alloc(HEADER_AT + header.length + pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = bytes.writeUInt32BE(header.length, bytes.writeUInt8(format))
  for (const piece of [header, ...pieces]) at += piece.copy(bytes, at)
  return bytes
}

/**
 * What the entry of a ring has. Copies what is secret; `bytes` stay the caller's to wipe.
 * @throws StorageCorrupt
 */
export function decodeRing(bytes: Buffer): RingEntry {
  const head = decodeHead(bytes)
  return { ...head, secrets: secretsOf(bytes, head.header.versions.length) }
}

/** @throws StorageCorrupt */
export function decodeHead(bytes: Buffer): RingHead {
  const head = decodeRingHead(headerOf(bytes), formatOf(bytes))
  const { header, older } = head
  if (older === undefined) return head
  const listed = header.versions.length
  const isWhole = (firstStoredVersion(header) - older.first) % BLOCK_VERSIONS === 0
  if (listed === 0 || listed > BLOCK_VERSIONS || !isWhole) throw corrupt('has older versions that fill no blocks')
  return head
}

/** The caller wipes its bytes. */
export type Block = BlockHead & { readonly bytes: Buffer }

/** @throws StorageCorrupt */
export function decodeBlock(bytes: Buffer): Block {
  const head = decodeBlockHead(headerOf(bytes))
  if (formatOf(bytes) !== SPLIT || head.versions.length !== BLOCK_VERSIONS)
    throw corrupt(`is no block of ${BLOCK_VERSIONS} versions`)
  storedSecrets(bytes, BLOCK_VERSIONS)
  return { ...head, bytes }
}

/** Of an entry or block with so many versions: those from the place `start` on. @throws StorageCorrupt */
export function secretsOf(bytes: Buffer, versions: number, start = 0, end = versions): VersionSecrets[] {
  return storedSecrets(bytes, versions)
    .slice(start, end)
    .map((one) => {
      const hmacAt = one.length - HMAC_SECRET_BYTES
      return { material: new Secret(one.subarray(LENGTH_BYTES, hmacAt)), hmac: new Secret(one.subarray(hmacAt)) }
    })
}

/** The secrets of the versions of an entry, by which they are known again, and told from others: nothing secret. */
export type SecretsMark = { readonly bytes: number; readonly digest: Buffer }

export function markOf(bytes: Buffer): SecretsMark {
  const secrets = bytes.subarray(secretsAtOf(bytes))
  return { bytes: secrets.length, digest: sha256(secrets) }
}

/** Whether the secrets of blocks and entry, one behind the other, begin with those of the mark. */
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

/** Of each version all that is stored of its secrets: parts of `bytes`. @throws StorageCorrupt */
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

/** @throws StorageCorrupt */
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
