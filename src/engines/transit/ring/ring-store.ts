// Key rings in the storage of a mount, read and written as a whole or only as far as they grew. Their paths:
//
//   key/NAME            the entry of a ring: settings and newest versions (key-ring.ts draws the bytes)
//   key-block/NAME/N    a block of older versions, N being the number of the first of them (16 digits)
//
// Names of keys have no '/', so the blocks of a key have a folder of their own. A transaction that changes blocks also
// changes the entry: readers see from its digest whether blocks and entry are of one state.
import { linkDigest } from '../../../crypto/primitives/digest.ts'
import { StorageCorrupt } from '../../../storage/errors.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import {
  BLOCK_VERSIONS,
  type Block,
  beginWith,
  decodeBlock,
  decodeHead,
  encodeRing,
  type LaidOut,
  layOut,
  markOf,
  type SecretsMark,
  type StoredRing,
  secretsOf,
  type VersionSecrets,
  wipeRing,
} from './key-ring.ts'
import {
  firstStoredVersion,
  isGrownFrom,
  isLoadedAlike,
  type OlderVersions,
  type RingHead,
  type RingHeader,
  type VersionHeader,
} from './ring-header.ts'

/** The folder of the entries, by the names of their keys. */
export const FOLDER = 'key/'
const BLOCK_FOLDER = 'key-block/'
const DIGITS = 16

type Gets = Pick<View, 'get'>

const blocksOf = (name: string): string => `${BLOCK_FOLDER}${name}/`
const blockPath = (name: string, first: number): string => blocksOf(name) + String(first).padStart(DIGITS, '0')

/** Returns the name of the key whose entry or block has this path, relative to the mount; undefined if none has. */
export function nameAt(path: string): string | undefined {
  if (path.startsWith(FOLDER)) return path.slice(FOLDER.length)
  return path.startsWith(BLOCK_FOLDER) ? path.slice(BLOCK_FOLDER.length, path.lastIndexOf('/')) : undefined
}

/** Reads settings and newest versions; returns undefined if no key has the name. @throws StorageCorrupt */
export async function readRingHead(storage: Gets, name: string): Promise<RingHead | undefined> {
  return withEntry(storage, name, decodeHead)
}

/** Runs `use` with the bytes of the entry, and wipes them afterwards; returns undefined if no key has the name. */
export async function withEntry<T>(
  storage: Gets,
  name: string,
  use: (bytes: Buffer) => T | Promise<T>,
): Promise<T | undefined> {
  const bytes = await storage.get(FOLDER + name)
  try {
    return bytes && (await use(bytes))
  } finally {
    bytes?.fill(0)
  }
}

/** A ring with all its versions; the caller wipes it. */
export type WholeRing = StoredRing & Pick<RingHead, 'older'>

/**
 * Reads a ring; returns undefined if no key has the name. Within a transaction blocks and entry are of one state, so no
 * retry is needed (`readGrown`).
 * @throws StorageCorrupt
 */
export async function readRing(tx: ViewTransaction, name: string): Promise<WholeRing | undefined> {
  return withEntry(tx, name, async (bytes) => {
    const { ring, older } = await readGrownBehind(tx, name, bytes, undefined)
    return { ...ring, older }
  })
}

/** Makes something of one version of a ring. The secrets are wiped when it returns. */
export type ReadVersion<T> = (header: RingHeader, version: VersionHeader, secrets: VersionSecrets) => T

/**
 * Returns what `read` makes of one version; undefined if the ring does not have it. Only the entry, and one block at
 * most, are read.
 * @throws StorageCorrupt
 */
export async function readRingVersion<T>(
  tx: ViewTransaction,
  name: string,
  number: number,
  read: ReadVersion<T>,
): Promise<T | undefined> {
  return withEntry(tx, name, async (bytes) => {
    const { header, older } = decodeHead(bytes)
    const listed = firstStoredVersion(header)
    if (number >= listed) return readOne(header, { bytes, versions: header.versions }, number - listed, read)
    if (older === undefined || number < older.first) return undefined
    const index = (number - older.first) % BLOCK_VERSIONS
    // The chain of digests is not followed: callers recognise the version by its secrets.
    const block = await readBlock(tx, name, number - index)
    try {
      return readOne(header, block, index, read)
    } finally {
      block.bytes.fill(0)
    }
  })
}

function readOne<T>(header: RingHeader, { bytes, versions }: Part, at: number, read: ReadVersion<T>): T | undefined {
  const secrets = secretsOf(bytes, versions.length, at, at + 1)
  try {
    const [version, one] = [versions[at], secrets[0]]
    return version && one && read(header, version, one)
  } finally {
    wipeRing({ secrets })
  }
}

/** A ring that was read before, without its secrets. */
export type KnownRing = { readonly header: RingHeader; readonly mark: RingMark }

/** Recognises a ring that was read before. It holds nothing secret. */
export type RingMark = { readonly older: OlderVersions | undefined; readonly newest: SecretsMark }

/** A ring as it was read, compared with what was known of it before. */
export type GrownRing = {
  readonly mark: RingMark
  /** So many versions, from the first of the header's list, have the secrets that were known. */
  readonly known: number
  /** So many of these stand in known blocks: their headers are unchanged too. */
  readonly unchanged: number
  /** The header of all versions, with the secrets of those behind the known ones. */
  readonly ring: StoredRing
}

/**
 * Reads a ring; returns undefined if no key has the name. Blocks that were known before are not read again, and known
 * secrets are not decoded again. The caller wipes the ring.
 * @throws StorageCorrupt
 */
export async function readGrown(storage: Gets, name: string, before?: KnownRing): Promise<GrownRing | undefined> {
  for (;;) {
    const bytes = await storage.get(FOLDER + name)
    if (bytes === undefined) return undefined
    try {
      return await readGrownBehind(storage, name, bytes, before)
    } catch (cause) {
      if (!(cause instanceof StorageCorrupt) || (await isEntry(storage, name, bytes))) throw cause
      // The entry changed: it was read before a commit, and the blocks after it. Read both again.
    } finally {
      bytes.fill(0)
    }
  }
}

/** True if the entry is still stored as it was read. */
async function isEntry(storage: Gets, name: string, bytes: Buffer): Promise<boolean> {
  const stored = await storage.get(FOLDER + name)
  const isSame = stored?.equals(bytes) === true
  stored?.fill(0)
  return isSame
}

/** Reads what stands behind an entry, whose bytes are given. @throws StorageCorrupt */
async function readGrownBehind(
  storage: Gets,
  name: string,
  bytes: Buffer,
  known: KnownRing | undefined,
): Promise<GrownRing & { readonly older: OlderVersions | undefined }> {
  const { header, older } = decodeHead(bytes)
  const listed = firstStoredVersion(header)
  const first = older?.first ?? listed
  const before = known !== undefined && isGrownFrom(known.header, header, first) ? known : undefined
  const blocks = await readBlocks(storage, name, { older, listed }, before)
  try {
    const read: Part[] = [...blocks.read, { bytes, versions: header.versions }]
    const unchanged = blocks.from - first
    const behind = read.flatMap(({ versions }) => versions)
    const newest = isKnownIn(read, behind, before, unchanged) ? before.header.versions.length - unchanged : 0
    const secrets = read.flatMap(({ bytes: stored, versions }, at) =>
      secretsOf(stored, versions.length, Math.max(0, newest - at * BLOCK_VERSIONS)),
    )
    const versions = (before?.header.versions ?? []).slice(0, unchanged).concat(behind)
    return {
      mark: { older, newest: markOf(bytes) },
      known: unchanged + newest,
      unchanged,
      ring: { header: { ...header, versions }, secrets },
      older,
    }
  } finally {
    for (const block of blocks.read) block.bytes.fill(0)
  }
}

type Part = { readonly bytes: Buffer; readonly versions: readonly VersionHeader[] }

/**
 * True if what was read begins with the versions that the entry had before, with equal secrets and headers that load
 * them alike. `behind` are the headers of all versions that were read; `unchanged` versions stand before them.
 */
function isKnownIn(
  read: readonly Part[],
  behind: readonly VersionHeader[],
  before: KnownRing | undefined,
  unchanged: number,
): before is KnownRing {
  if (before === undefined) return false
  if (unchanged !== (before.mark.older === undefined ? 0 : versionsInBlocks(before.header))) return false
  return (
    before.header.versions.slice(unchanged).every((version, at) => isLoadedAlike(version, behind[at])) &&
    beginWith(
      read.map(({ bytes }) => bytes),
      before.mark.newest,
    )
  )
}

/** Returns how many versions of a ring stand in blocks. The entry always has one at least. */
function versionsInBlocks({ versions }: RingHeader): number {
  return Math.floor((versions.length - 1) / BLOCK_VERSIONS) * BLOCK_VERSIONS
}

/**
 * Reads the blocks behind those that are known, or all of them: from the last back along the digests. Returns them
 * with the oldest first, which begins with version `from`; the caller wipes them. `listed` begins the entry.
 * @throws StorageCorrupt
 */
async function readBlocks(
  storage: Gets,
  name: string,
  { older, listed }: { readonly older: OlderVersions | undefined; readonly listed: number },
  before: KnownRing | undefined,
): Promise<{ readonly from: number; readonly read: readonly Block[] }> {
  if (older === undefined) return { from: listed, read: [] }
  const known = before?.mark.older && {
    from: older.first + versionsInBlocks(before.header),
    digest: before.mark.older.digest,
  }
  const read: Block[] = []
  let from = listed
  let digest: string | undefined = older.digest
  try {
    while (from > older.first && !(from === known?.from && digest === known.digest)) {
      from -= BLOCK_VERSIONS
      const wanted = digest
      const block = await readBlock(storage, name, from, (bytes) => linkDigest(bytes) === wanted)
      read.unshift(block)
      digest = block.before
    }
    if (from === older.first && digest !== undefined) throw corrupt(name, from, 'is not the first')
  } catch (cause) {
    for (const block of read) block.bytes.fill(0)
    throw cause
  }
  return { from, read }
}

async function readBlock(
  storage: Gets,
  name: string,
  first: number,
  isWanted: (bytes: Buffer) => boolean = () => true,
): Promise<Block> {
  const bytes = await storage.get(blockPath(name, first))
  if (bytes === undefined) throw corrupt(name, first, 'is missing')
  try {
    if (!isWanted(bytes)) throw corrupt(name, first, 'is none of the key as it is')
    return decodeBlock(bytes)
  } catch (cause) {
    bytes.fill(0)
    throw cause instanceof BlockCorrupt ? cause : corrupt(name, first, 'cannot be read', cause)
  }
}

class BlockCorrupt extends StorageCorrupt {}

function corrupt(name: string, first: number, what: string, cause?: unknown): BlockCorrupt {
  const sentence = `${blockPath(name, first)}, a block of older versions of a key, ${what}`
  return new BlockCorrupt(sentence, cause === undefined ? undefined : { cause })
}

/** Stores a ring under a free name, or in place of the ring whose head is given. */
export async function storeRing(
  tx: ViewTransaction,
  name: string,
  ring: StoredRing,
  before: Pick<RingHead, 'older'> | undefined,
): Promise<void> {
  if (before?.older !== undefined) await deleteBlocks(tx, name)
  putLaidOut(tx, name, layOut(ring))
}

/** Stores a changed ring. If no version changed, only the entry is written. */
export async function replaceRing(
  tx: ViewTransaction,
  name: string,
  before: WholeRing,
  after: StoredRing,
): Promise<void> {
  const { older } = before
  const isSame = after.secrets === before.secrets && after.header.versions === before.header.versions
  if (older === undefined || !isSame) return storeRing(tx, name, after, before)
  const inBlocks = versionsInBlocks(after.header)
  const header = { ...after.header, versions: after.header.versions.slice(inBlocks) }
  const entry = encodeRing({ header, secrets: after.secrets.slice(inBlocks), older })
  putLaidOut(tx, name, { entry, blocks: NO_BLOCKS })
}

const NO_BLOCKS: LaidOut['blocks'] = new Map()

/** Writes the stored bytes of a ring, and wipes them. */
export function putLaidOut(tx: ViewTransaction, name: string, { entry, blocks }: LaidOut): void {
  try {
    for (const [first, bytes] of blocks) tx.put(blockPath(name, first), bytes)
    tx.put(FOLDER + name, entry)
  } finally {
    // `put` seals at once, so the bytes in clear are needed no longer.
    for (const bytes of [entry, ...blocks.values()]) bytes.fill(0)
  }
}

/** Removes a key with its blocks. */
export async function deleteRing(tx: ViewTransaction, name: string, { older }: Pick<RingHead, 'older'>): Promise<void> {
  tx.delete(FOLDER + name)
  if (older !== undefined) await deleteBlocks(tx, name)
}

async function deleteBlocks(tx: ViewTransaction, name: string): Promise<void> {
  for (const block of await tx.list(blocksOf(name))) tx.delete(blocksOf(name) + block)
}
