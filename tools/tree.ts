// The files that the checks of this folder read, and what they say about them.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Paths from the project's directory, with `/`, and what the files hold. */
export type Tree = ReadonlyMap<string, string>

/** What a check refuses, and where. */
export type Finding = {
  readonly path: string
  readonly line: number
  /** What is wrong, and what would be right. */
  readonly message: string
}

/** Every folder that holds source text of ours. */
const FOLDERS = ['src', 'test', 'tools', 'bench', 'examples', 'emulator']

/** All TypeScript and JavaScript of ours below `root`, in the order of the paths. */
export function readTree(root: string): Tree {
  const paths = globSync(`{${FOLDERS.join(',')}}/**/*.{ts,js}`, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** Tests, and what only tests use: they may do what the program may not. */
export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/')
}

/** Where tests are that a busy machine may fail: real processes, kills, power cuts, overload, memory, time. */
const PROOFS = 'test/proofs/'

/** A proof that fails is run once more. */
export function isProof(path: string): boolean {
  return path.startsWith(PROOFS)
}

/** A test that gives the same verdict on every machine at any load; it is never run twice. */
export function isExactTest(path: string): boolean {
  return path.endsWith('.test.ts') && !isProof(path)
}

/** In the form that terminals and editors make a link of. */
export function formatFinding({ path, line, message }: Finding): string {
  return `${path}:${line}: ${message}`
}
