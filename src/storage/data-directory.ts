// The data directory, whatever a driver keeps in it: nobody else may use it, and what is made in it is durable
// (threats P-07, P-08, N-43).
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StorageError } from './contract.ts'

const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600
const OTHERS = 0o077
/** Windows has no such modes and cannot open a directory; there the directory's own access list protects. */
const HAS_MODES = process.platform !== 'win32'

/** Creates the directory where it is missing. @throws StorageError where others may enter it */
export function prepareDirectory(directory: string): void {
  for (const made of makeMissing(resolve(directory))) syncDirectory(dirname(made))
  requireDirectory(directory)
}

/**
 * The directories that were missing, the outermost first. Made one by one, because the recursive form of `mkdirSync`
 * never returns where the system refuses with "no such directory" what is there, as in /proc.
 */
function makeMissing(path: string): string[] {
  const above = dirname(path)
  if (above === path || existsSync(path)) return []
  const made = makeMissing(above)
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE })
  } catch (error) {
    // Another process was quicker.
    if (!isExisting(error)) throw error
  }
  return [...made, path]
}

export function requireDirectory(directory: string): void {
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) throw new StorageError(`The data directory ${directory} is missing`)
  if (!stats.isDirectory()) throw new StorageError(`The data directory ${directory} is not a directory`)
  requireOwnersOnly(directory, stats, DIRECTORY_MODE)
}

/** @throws StorageError for a file that others may read */
export function requirePrivateFile(path: string, stats: Stats): void {
  requireOwnersOnly(path, stats, FILE_MODE)
}

function requireOwnersOnly(path: string, stats: Stats, wanted: number): void {
  if (!HAS_MODES || (stats.mode & OTHERS) === 0) return
  throw new StorageError(`${path} may be used by others: its mode must be ${wanted.toString(8)} (chmod)`)
}

/** Creates an empty file that only its owner may read, whatever the umask. What is there, or a link, is refused. */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', FILE_MODE))
}

/** Whether what was to be made is there already. */
export function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}

/** Makes a creation or renaming in the directory durable. */
export function syncDirectory(directory: string): void {
  if (!HAS_MODES) return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const PROBE_BYTES = 4_096
/** The quickest counts: what else the disk does at one moment is not how fast it is. */
const PROBES = 3
const PROBE_FILE = 'keywright.probe'

/** How long a write takes until it is durable there, in milliseconds. @throws the system's error */
export function measureSync(directory: string, monotonicMs: () => number): number {
  const path = join(directory, PROBE_FILE)
  rmSync(path, { force: true })
  const file = openSync(path, 'wx', FILE_MODE)
  try {
    let leastMs = Number.POSITIVE_INFINITY
    for (let probe = 0; probe < PROBES; probe++) {
      const startMs = monotonicMs()
      writeSync(file, Buffer.alloc(PROBE_BYTES))
      fdatasyncSync(file)
      leastMs = Math.min(leastMs, monotonicMs() - startMs)
    }
    return leastMs
  } finally {
    closeSync(file)
    rmSync(path, { force: true })
  }
}
