// The files that the checks of this folder read, and the form of their findings.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Texts of files by their path from the project's directory, with `/`. */
export type Tree = ReadonlyMap<string, string>

/** A place that a check refuses. */
export type Finding = {
  readonly path: string
  readonly line: number
  /** The fault, and the remedy. */
  readonly message: string
}

/** Folders that hold source text. */
const FOLDERS = ['src', 'test', 'tools', 'bench', 'examples', 'emulator']

/** Reads all TypeScript and JavaScript in those folders below `root`, sorted by path. */
export function readTree(root: string): Tree {
  const paths = globSync(`{${FOLDERS.join(',')}}/**/*.{ts,js}`, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** True for tests, and for files that only tests use: they may do what the program may not. */
export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.startsWith('test/')
}

/** The folder of tests that a busy machine may fail: real processes, kills, power cuts, overload, memory, time. */
const PROOFS = 'test/proofs/'

/** True for proofs. A proof that fails is run once more. */
export function isProof(path: string): boolean {
  return path.startsWith(PROOFS)
}

/** True for exact tests: they give the same verdict on every machine at any load, and are never run twice. */
export function isExactTest(path: string): boolean {
  return path.endsWith('.test.ts') && !isProof(path)
}

/** Formats a finding so that terminals and editors make a link of it. */
export function formatFinding({ path, line, message }: Finding): string {
  return `${path}:${line}: ${message}`
}
