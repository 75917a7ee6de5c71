// The machine and this process as the checks see them. Checks are handed this, so that a test can describe a machine.
import { getFips } from 'node:crypto'
import { accessSync, constants, lstatSync, readdirSync, readFileSync, type Stats, statfsSync, statSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import type { World } from '../lib/world.ts'

/** Facts about one name in the file system. */
export type FileFacts = {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  /** Permission bits alone, such as 0o600. */
  readonly mode: number
  /** User id of the owner. */
  readonly owner: number
  readonly bytes: number
}

/** Facts about a file system. `type` is its number of statfs(2); `freeBytes` counts what this user may fill. */
export type FileSystemFacts = { readonly type: number; readonly freeBytes: number }

/**
 * Everything that checks may ask of the machine. Nothing here throws: what the system
 * refuses is undefined, false or empty.
 */
export type Machine = {
  readonly platform: NodeJS.Platform
  /** User id; undefined on systems without user ids. */
  readonly user: number | undefined
  readonly umask: number
  readonly env: NodeJS.ProcessEnv
  /** Options of the runtime that stood before the program on the command line. */
  readonly flags: readonly string[]
  readonly nodeVersion: string
  readonly opensslVersion: string
  readonly isFips: boolean
  readonly heapLimitBytes: number
  readonly world: World
  /** Returns the text; undefined if the file is missing or may not be read. */
  readText(path: string): string | undefined
  /** Facts about the name itself: a link is not followed. */
  stat(path: string): FileFacts | undefined
  /** Facts about the target, if the name is a link; otherwise about the name itself. */
  statTarget(path: string): FileFacts | undefined
  canWrite(path: string): boolean
  namesIn(folder: string): readonly string[]
  fileSystem(path: string): FileSystemFacts | undefined
}

/** The machine that this process runs on. Some facts are read now, files and file systems whenever a check asks. */
export function realMachine(world: World): Machine {
  return {
    platform: process.platform,
    user: process.getuid?.(),
    umask: process.umask(),
    env: process.env,
    flags: process.execArgv,
    nodeVersion: process.versions.node,
    opensslVersion: process.versions.openssl,
    isFips: getFips() === 1,
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    world,
    readText: (path) => attempt(() => readFileSync(path, 'utf8')),
    stat: (path) => attempt(() => factsOf(lstatSync(path))),
    statTarget: (path) => attempt(() => factsOf(statSync(path))),
    canWrite: (path) => attempt(() => accessSync(path, constants.W_OK) ?? true) ?? false,
    namesIn: (folder) => attempt(() => readdirSync(folder)) ?? [],
    fileSystem: (path) =>
      attempt(() => {
        const { type, bavail, bsize } = statfsSync(path)
        return { type, freeBytes: bavail * bsize }
      }),
  }
}

/** Returns undefined if the system refuses: a check cannot see it then. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

const PERMISSIONS = 0o777

function factsOf(stats: Stats): FileFacts {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'other'
  return { kind, mode: stats.mode & PERMISSIONS, owner: stats.uid, bytes: stats.size }
}
