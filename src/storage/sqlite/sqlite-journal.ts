// Checks the journal before SQLite opens it. SQLite ends its recovery at the first frame that does not fit, and takes
// the rest for a torn end. If that frame is damaged and not torn, acknowledged commits would vanish without a word
// (threats P-04). https://www.sqlite.org/fileformat2.html#walformat
//
//   header  magic u32 | version u32 | page size u32 | sequence u32 | salt 8 | checksum 2 × u32
//   frame   page u32 | pages of the file after a commit, otherwise 0, u32 | salt 8 | checksum 2 × u32 | page
//
// Each commit is flushed before the next begins, so at most the last one can be torn. Then at most one end of a commit
// follows the first frame that does not fit. Two of them prove that the first commit was complete.
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { StorageCorrupt } from '../errors.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The lowest bit is 1 if the words of the checksums are big-endian. */
const MAGIC = 0x377f0682
const VERSION = 3_007_000

type Sum = { readonly first: number; readonly second: number }
type Journal = { readonly bigEndian: boolean; readonly pageBytes: number; readonly salt: Buffer; readonly sum: Sum }

/**
 * Reads the journal beside the database. A missing or empty one is sound. No process may have the store open.
 * @throws StorageCorrupt if SQLite would drop complete commits of the journal
 */
export function requireSoundJournal(databasePath: string): void {
  const path = `${databasePath}-wal`
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= HEADER_BYTES) return
  const handle = openSync(path, 'r')
  try {
    const journal = readHeader(readAt(handle, 0, HEADER_BYTES))
    if (journal === undefined) throw new StorageCorrupt(`${path} is damaged in its first ${HEADER_BYTES} bytes`)
    requireSoundFrames(handle, path, size, journal)
  } finally {
    closeSync(handle)
  }
}

/** Tells which pages commits have put into the journal, while the store is open. */
export class JournalPages {
  readonly #path: string
  #salt = Buffer.alloc(0)
  #next = HEADER_BYTES

  constructor(databasePath: string) {
    this.#path = `${databasePath}-wal`
  }

  /**
   * Numbers of the pages that came since the last call. It must be called before the journal is begun anew. Frames
   * behind the last commit are told again: another commit may take their place.
   */
  takeNew(): number[] {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
    if (size <= HEADER_BYTES) return []
    // SQLite has no locks on this file, so it may be closed.
    const handle = openSync(this.#path, 'r')
    try {
      return this.#read(handle, size)
    } finally {
      closeSync(handle)
    }
  }

  #read(handle: number, size: number): number[] {
    const journal = readHeader(readAt(handle, 0, HEADER_BYTES))
    if (journal === undefined) return []
    if (!journal.salt.equals(this.#salt)) {
      this.#salt = Buffer.from(journal.salt)
      this.#next = HEADER_BYTES
    }
    const frameBytes = FRAME_HEADER_BYTES + journal.pageBytes
    const pages: number[] = []
    for (let at = this.#next; at + frameBytes <= size; at += frameBytes) {
      const frame = readAt(handle, at, FRAME_HEADER_BYTES)
      if (!frame.subarray(8, 16).equals(journal.salt)) break
      pages.push(frame.readUInt32BE(0))
      if (frame.readUInt32BE(4) !== 0) this.#next = at + frameBytes
    }
    return pages
  }
}

function readHeader(header: Buffer): Journal | undefined {
  const magic = header.readUInt32BE(0)
  if ((magic & ~1) !== MAGIC || header.readUInt32BE(4) !== VERSION) return undefined
  const bigEndian = (magic & 1) === 1
  const sum = addToSum({ first: 0, second: 0 }, header.subarray(0, 24), bigEndian)
  if (!isSumAt(sum, header, 24)) return undefined
  return { bigEndian, pageBytes: header.readUInt32BE(8), salt: header.subarray(16, 24), sum }
}

function requireSoundFrames(handle: number, path: string, size: number, journal: Journal): void {
  const frameBytes = FRAME_HEADER_BYTES + journal.pageBytes
  let sum: Sum | undefined = journal.sum
  let firstFault = 0
  let commitsBehind = 0
  for (let at = HEADER_BYTES; at + frameBytes <= size; at += frameBytes) {
    const frame = readAt(handle, at, frameBytes)
    const isOfThisJournal = frame.subarray(8, 16).equals(journal.salt)
    if (sum !== undefined) {
      sum = isOfThisJournal ? sumOfFrame(sum, frame, journal) : undefined
      if (sum === undefined) firstFault = at
    }
    if (sum === undefined && isOfThisJournal && frame.readUInt32BE(4) !== 0) commitsBehind++
  }
  if (commitsBehind > 1) {
    throw new StorageCorrupt(`${path} is damaged at byte ${firstFault}: complete commits follow, they would be lost`)
  }
}

/** The running checksum after a frame; undefined if the frame does not have it. */
function sumOfFrame(before: Sum, frame: Buffer, { bigEndian }: Journal): Sum | undefined {
  const head = addToSum(before, frame.subarray(0, 8), bigEndian)
  const sum = addToSum(head, frame.subarray(FRAME_HEADER_BYTES), bigEndian)
  return isSumAt(sum, frame, 16) ? sum : undefined
}

/** SQLite's checksum over pairs of 32-bit words. It runs on from frame to frame. */
function addToSum({ first, second }: Sum, bytes: Buffer, bigEndian: boolean): Sum {
  let a = first
  let b = second
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + b) >>> 0
    b = (b + (bigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + a) >>> 0
  }
  return { first: a, second: b }
}

function isSumAt({ first, second }: Sum, bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second
}

function readAt(handle: number, position: number, count: number): Buffer {
  const bytes = Buffer.alloc(count)
  let read = 0
  while (read < count) {
    const got = readSync(handle, bytes, read, count - read, position + read)
    if (got === 0) throw new StorageCorrupt('The journal became shorter while it was read')
    read += got
  }
  return bytes
}
