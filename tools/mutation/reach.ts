// Finds the test files that reach a file by imports, the nearest first.
import { posix } from 'node:path'
import { type Import, readImports } from '../imports.ts'
import { readSource } from '../source-text.ts'
import type { Tree } from '../tree.ts'

/** This fixture starts the program as a process, so it reaches it without an import. */
const STARTS_PROGRAM = { file: 'test/fixtures/server-process.ts', program: 'src/main.ts' }
/** Tests that start processes, or take long, come last: others notice sooner. */
const LAST = /^(?:bench|emulator|test\/(?:torture|faults|start|pages|memory|managed-keys|clients|proofs?))\//
/** These are broad and quick. */
const EARLY = /^test\/wire\//
/** Shorter words are parts of too many names. */
const LEAST_WORD = 4

/** Answers about the imports of a tree. */
export type Reach = {
  /** Test files that reach it, the nearest first. */
  testsOf(path: string): readonly string[]
  /** Files that import a file, if only for a type. */
  importersOf(path: string): readonly string[]
}

/** Reads the imports of all files of a tree. */
export function reachOf(tree: Tree): Reach {
  const running = new Map<string, Set<string>>()
  const all = new Map<string, Set<string>>()
  for (const [path, text] of tree) {
    const source = readSource(text)
    const imports = readImports(source)
    for (const each of imports) add(all, target(path, each), path)
    // One statement may import the types of a file, and another what runs.
    const atRun = new Set(imports.filter((each) => !each.typeOnly).map(({ specifier }) => specifier))
    const typesOnly = new Set(imports.map(({ specifier }) => specifier)).difference(atRun)
    // Threads and processes are started by the names of their files.
    const named = source.strings.filter(({ text: name }) => /^\.\.?\/.*\.[jt]s$/.test(name) && !typesOnly.has(name))
    for (const { text: specifier } of named) add(running, target(path, { specifier }), path)
  }
  add(running, STARTS_PROGRAM.program, STARTS_PROGRAM.file)
  return {
    testsOf: (path) => inOrder(path, distancesFrom(running, path)),
    importersOf: (path) => [...(all.get(path) ?? [])],
  }
}

function target(from: string, { specifier = '' }: Pick<Import, 'specifier'>): string {
  return posix.join(posix.dirname(from), specifier)
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const set = map.get(key) ?? new Set()
  map.set(key, set.add(value))
}

/** Returns the number of imports between the file and each that reaches it. */
function distancesFrom(importers: ReadonlyMap<string, ReadonlySet<string>>, path: string): Map<string, number> {
  const distances = new Map([[path, 0]])
  for (const [file, distance] of distances) {
    for (const importer of importers.get(file) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1)
    }
  }
  return distances
}

function inOrder(path: string, distances: ReadonlyMap<string, number>): string[] {
  const tests = [...distances].filter(([file]) => file.endsWith('.test.ts'))
  return tests
    .toSorted(([a, near], [b, far]) => rank(path, a) - rank(path, b) || near - far || (a < b ? -1 : 1))
    .map(([test]) => test)
}

/** Ranks a test: its own first, then by name or folder, its room, its room by name, recorded exchanges, others. */
function rank(path: string, test: string): number {
  const stem = path.replace(/\.[jt]s$/, '')
  const folder = posix.dirname(path)
  if (test === `${stem}.test.ts`) return 0
  if (LAST.test(test)) return 6
  const words = posix.basename(stem).split('-')
  const [room, testsRoom] = [posix.basename(folder), posix.basename(posix.dirname(test))]
  const name = testsRoom === room ? posix.basename(test) : `${testsRoom}/${posix.basename(test)}`
  if (words.some((word) => word.length >= LEAST_WORD && name.includes(word))) return 1
  if (posix.dirname(test) === folder) return 2
  if (testsRoom === room || posix.basename(test).includes(room)) return 3
  return EARLY.test(test) ? 4 : 5
}
