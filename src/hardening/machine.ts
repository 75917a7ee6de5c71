// What the checks may see of the machine and of this process. Handed in, so that a test describes a machine.
import { getFips } from 'node:crypto'
import { accessSync, constants, lstatSync, readdirSync, readFileSync, type Stats, statfsSync, statSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import type { World } from '../lib/world.ts'

export type FileFacts = {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  /** Permission bits. */
  readonly mode: number
  readonly owner: number
  readonly bytes: number
}

export type FileSystemFacts = { readonly type: number; readonly freeBytes: number }

export type Machine = {
  readonly platform: NodeJS.Platform
  /** Undefined where the system has no such numbers. */
  readonly user: number | undefined
  readonly umask: number
  readonly env: NodeJS.ProcessEnv
  /** What the runtime was told before the program. */
  readonly flags: readonly string[]
  readonly nodeVersion: string
  readonly opensslVersion: string
  readonly isFips: boolean
  readonly heapLimitBytes: number
  readonly world: World
  /** Undefined where it is not there or may not be read. */
  readText(path: string): string | undefined
  /** Of the name itself, not of what it leads to. */
  stat(path: string): FileFacts | undefined
  /** Of what the name leads to, where it is a link. */
  statTarget(path: string): FileFacts | undefined
  canWrite(path: string): boolean
  namesIn(folder: string): readonly string[]
  fileSystem(path: string): FileSystemFacts | undefined
}

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

/** What the system refuses is nothing that can be seen. */
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
