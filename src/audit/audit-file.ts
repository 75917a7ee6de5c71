// Opens the file of a device. It must be a regular file and is never reached through a link. What looks like a log may
// be a pipe that hangs the server, or lead to a file that must not be written (threats U-07, F-07).
import { constants } from 'node:fs'
import { dirname } from 'node:path'
import { linkDigest } from '../crypto/primitives/digest.ts'
import { own } from '../lib/own.ts'
import { type AuditFiles, type AuditHandle, SYSTEM_FILES } from './audit-files.ts'
import { lineStart, MOST_HEAD_CHARACTERS, readLineHead } from './line-head.ts'
import { wholeLines } from './whole-lines.ts'

/** Why a device cannot be used, in a sentence for the operator who set it up. */
export class DeviceError extends Error {
  override name = 'DeviceError'
}

/**
 * Which files are accepted. 'new-or-ours': one that does not exist yet, or already is an audit log. 'empty-or-ours':
 * also an empty one, as a rotation may make it. 'any': whatever the configuration file names.
 */
export type FileRule = 'new-or-ours' | 'empty-or-ours' | 'any'

/** An open file. The caller closes the handle. */
export type AuditFile = {
  readonly handle: AuditHandle
  /** True if the file does not end in a newline, so the next line must begin with one. */
  readonly isMidLine: boolean
  /** The chains that end in it, with their last lines. */
  readonly found: readonly FoundStream[]
}

/** The last whole line of a chain that stood in the file. */
export type FoundStream = { readonly stream: string; readonly seq: number; readonly hash: string }

/** Read and append. O_NONBLOCK: opening a pipe without a reader must not hang. */
const { O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
const APPEND = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK
const PERMISSIONS = 0o7777

/** Opens or creates the file with exactly this mode. Writes are appended. @throws DeviceError */
export async function openAuditFile(
  path: string,
  mode: number,
  rule: FileRule,
  files: AuditFiles = SYSTEM_FILES,
): Promise<AuditFile> {
  const { handle, isNew } = await openFile(path, mode, files)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new DeviceError(`${path} is no regular file`)
    const tail = await readTail(handle, stats.size)
    if (rule !== 'any' && stats.size > 0 && !(await isOurs(handle)))
      throw new DeviceError(`${path} exists and is no audit log of this server: choose another, or move it away`)
    if (rule === 'new-or-ours' && stats.size === 0 && !isNew)
      throw new DeviceError(`${path} exists and is empty: remove it, or choose another`)
    if ((stats.mode & PERMISSIONS) !== mode) await handle.chmod(mode)
    return { handle, isMidLine: tail.length > 0 && !tail.endsWith('\n'), found: findStreams(tail, stats.size) }
  } catch (cause) {
    await handle.close().catch(() => {})
    throw cause instanceof DeviceError ? cause : unusable(path, cause)
  }
}

type Opening = { readonly handle: AuditHandle; readonly isNew: boolean }

async function openFile(path: string, mode: number, files: AuditFiles): Promise<Opening> {
  try {
    return { handle: await files.open(path, APPEND | O_CREAT | O_EXCL, mode), isNew: true }
  } catch (cause) {
    if (systemCodeOf(cause) !== 'EEXIST') throw unusable(path, cause)
  }
  try {
    return { handle: await files.open(path, APPEND), isNew: false }
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

/** Returns the code of a system error, 'unknown' for any other value. */
export function systemCodeOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'
}

async function isOurs(handle: AuditHandle): Promise<boolean> {
  // A prefix may precede the first line.
  const bytes = Buffer.alloc(2 * MOST_HEAD_CHARACTERS)
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0)
  const text = bytes.toString('latin1', 0, bytesRead)
  const start = lineStart(text)
  return start !== -1 && start <= MOST_HEAD_CHARACTERS && readLineHead(text.slice(start)) !== undefined
}

/** How much of the end of a file is searched for the ends of chains. */
const TAIL_BYTES = 262_144

async function readTail(handle: AuditHandle, size: number): Promise<string> {
  const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES))
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - bytes.length)
  return bytes.toString('latin1', 0, bytesRead)
}

/** Most chains that a start names; more would only make a long line. */
const MOST_FOUND = 32

/**
 * Returns the last whole line of each chain. The next start repeats them, so they cannot be removed afterwards
 * unnoticed. A piece left by a full disk is not one of them: its own chain reports it, and continues with its number.
 */
function findStreams(tail: string, size: number): FoundStream[] {
  const streams = new Map<string, FoundStream>()
  // The first line of the tail may be cut; the last one is empty or torn.
  for (const line of tail.split('\n').slice(size > tail.length ? 1 : 0, -1)) {
    for (const { head, text } of wholeLines(line)) {
      const { stream, seq } = head
      streams.delete(stream)
      streams.set(stream, { stream, seq, hash: linkDigest(Buffer.from(text, 'latin1')) })
    }
  }
  return [...streams.values()].slice(-MOST_FOUND)
}

/** File systems behind a network or another program, by their numbers of statfs(2): a write there may hang. */
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

/** True if a write to the file may wait for more than this machine's memory. @throws DeviceError */
export async function isRemoteFile(path: string, files: AuditFiles = SYSTEM_FILES): Promise<boolean> {
  try {
    const { type } = await files.statfs(dirname(path))
    return REMOTE.has(type >>> 0)
  } catch (cause) {
    throw unusable(path, cause)
  }
}
