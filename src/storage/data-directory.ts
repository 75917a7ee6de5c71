// The data directory, whatever a driver keeps in it. Only its owner may use it, and creations in it are made durable
// (threats D-01, P-07, P-08, N-43).
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StorageError } from './errors.ts'

const DIRECTORY_MODE = 0o700
const FILE_MODE = 0o600
const OTHERS = 0o077
/** Windows has no such modes and cannot open a directory; there the directory's own access list protects it. */
const HAS_MODES = process.platform !== 'win32'

/** The size of the file system that the directory is on, or will be on; infinite if the system does not tell. */
export function fileSystemBytes(directory: string): number {
  let path = resolve(directory)
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path)
  try {
    const { bsize, blocks } = statfsSync(path)
    return bsize * blocks
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Creates the directory, and those above it, if missing. @throws StorageError if others may enter it */
export function prepareDirectory(directory: string): void {
  for (const made of makeMissing(resolve(directory))) syncDirectory(dirname(made))
  requireDirectory(directory)
}

/**
 * Makes missing directories and returns them, the outermost first. One by one: the recursive form of `mkdirSync` never
 * returns if the system refuses an existing directory with "no such directory", as in /proc.
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

/** @throws StorageError if it is missing, is no directory, or if others may enter it */
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

/**
 * Creates an empty file that only its owner may read, whatever the umask.
 * @throws the system's error for a name that exists, a link too (`isExisting` tells)
 */
export function createPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', FILE_MODE))
}

/** True if the error says that what was to be made exists already. */
export function isExisting(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST'
}

/** Makes the contents of a file durable. */
export function syncFile(path: string): void {
  const handle = openSync(path, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
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

/** A page of the database. */
const PROBE_BYTES = 4_096
/** The quickest of them counts: other load on the disk says nothing about its speed. */
const PROBES = 3
const PROBE_FILE = 'keywright.probe'

/** Milliseconds until a small write in the directory is durable. Leaves no file. @throws the system's error */
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
