// Opens the file of a device. Only a regular file, never through a link: what looks like a log may be a pipe that hangs
// the server, or a way to write where nobody meant to (threats U-07, F-07).
import { constants } from 'node:fs'
import { type FileHandle, open, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { linkDigest } from '../crypto/primitives/digest.ts'
import { own } from '../lib/own.ts'
import { lineStart, MOST_HEAD_CHARACTERS, readLineHead } from './line-head.ts'
import { wholeLines } from './whole-lines.ts'

/** Why a device cannot be used, in a sentence for the one who set it up. */
export class DeviceError extends Error {
  override name = 'DeviceError'
}

/**
 * 'new-or-ours': a file that is not there yet, or is an audit log already. 'empty-or-ours': the same after a rotation,
 * which may have made it. 'any': the configuration file names it.
 */
export type FileRule = 'new-or-ours' | 'empty-or-ours' | 'any'

export type AuditFile = {
  readonly handle: FileHandle
  /** It ends with something that no newline follows. */
  readonly isMidLine: boolean
  /** The chains that end in it, as they were found. */
  readonly found: readonly FoundStream[]
}

export type FoundStream = { readonly stream: string; readonly seq: number; readonly hash: string }

/** Read and append; a pipe without a reader does not hold up the opening. */
const { O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
const APPEND = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK
const PERMISSIONS = 0o7777

/** @throws DeviceError */
export async function openAuditFile(path: string, mode: number, rule: FileRule): Promise<AuditFile> {
  const handle = await openFile(path, mode)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new DeviceError(`${path} is no regular file`)
    const tail = await readTail(handle, stats.size)
    if (rule !== 'any' && stats.size > 0 && !(await isOurs(handle)))
      throw new DeviceError(`${path} exists and is no audit log of this server: choose another, or move it away`)
    if (rule === 'new-or-ours' && stats.size === 0 && !handle.isNew)
      throw new DeviceError(`${path} exists and is empty: remove it, or choose another`)
    if ((stats.mode & PERMISSIONS) !== mode) await handle.chmod(mode)
    return { handle, isMidLine: tail.length > 0 && !tail.endsWith('\n'), found: findStreams(tail, stats.size) }
  } catch (cause) {
    await handle.close().catch(() => {})
    throw cause instanceof DeviceError ? cause : unusable(path, cause)
  }
}

async function openFile(path: string, mode: number): Promise<FileHandle & { isNew: boolean }> {
  try {
    return Object.assign(await open(path, APPEND | O_CREAT | O_EXCL, mode), { isNew: true })
  } catch (cause) {
    if (systemCodeOf(cause) !== 'EEXIST') throw unusable(path, cause)
  }
  try {
    return Object.assign(await open(path, APPEND), { isNew: false })
  } catch (cause) {
    throw unusable(path, cause)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its directory does not exist',
  ENOTDIR: 'its directory does not exist',
  ELOOP: 'it is a symbolic link',
  EISDIR: 'it is a directory',
  EACCES: 'the server may not write there',
  EPERM: 'the server may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENXIO: 'it is no regular file',
}

function unusable(path: string, cause: unknown): DeviceError {
  const code = systemCodeOf(cause)
  return new DeviceError(`${path} cannot be opened: ${own(REASONS, code) ?? code}`)
}

export function systemCodeOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'
}

async function isOurs(handle: FileHandle): Promise<boolean> {
  // A prefix may stand before the first line.
  const bytes = Buffer.alloc(2 * MOST_HEAD_CHARACTERS)
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
  const text = bytes.toString('latin1', 0, bytesRead)
  const start = lineStart(text)
  return start !== -1 && start <= MOST_HEAD_CHARACTERS && readLineHead(text.slice(start)) !== undefined
}

const TAIL_BYTES = 262_144

async function readTail(handle: FileHandle, size: number): Promise<string> {
  const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - bytes.length)
  return bytes.toString('latin1', 0, bytesRead)
}

/** A start that names more than these would be a long line for nothing. */
const MOST_FOUND = 32

/**
 * The last whole line of each chain: the next start tells of them, so that they cannot be taken away afterwards. A
 * piece that a full disk left is none: its chain tells of it, and goes on with that number.
 */
function findStreams(tail: string, size: number): FoundStream[] {
  const streams = new Map<string, FoundStream>()
  // The first line may be cut, the last one is empty or torn.
  for (const line of tail.split('\n').slice(size > tail.length ? 1 : 0, -1)) {
    for (const { head, text } of wholeLines(line)) {
      const { stream, seq } = head
      streams.delete(stream)
      streams.set(stream, { stream, seq, hash: linkDigest(Buffer.from(text, 'latin1')) })
    }
  }
  return [...streams.values()].slice(-MOST_FOUND)
}

/** statfs(2) of file systems behind a network or another program: a write there may hang. */
const REMOTE = new Set([
  0x6969, // NFS
  0x517b, // SMB
  0xfe534d42, // SMB2
  0xff534d42, // CIFS
  0x65735546, // FUSE
  0x01021997, // 9P
  0x00c36400, // Ceph
  0x5346414f, // AFS
  0x6b414653, // kAFS
  0x0bd00bd0, // Lustre
  0x47504653, // GPFS
  0x01161970, // GFS2
  0x7461636f, // OCFS2
  0x786f4256, // VirtualBox
])

/** Whether a write to the file may wait for something else than this machine's memory. @throws DeviceError */
export async function isRemoteFile(path: string): Promise<boolean> {
  try {
    const { type } = await statfs(dirname(path))
    return REMOTE.has(type >>> 0)
  } catch (cause) {
    throw unusable(path, cause)
  }
}
