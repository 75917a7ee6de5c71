// Checks who imports whom, against the table of rooms, the order of their folders and the packages of package.json, and
// that there are no circles, and that no thread loads at its start what it has no use for: `npm run imports`.
// docs/architecture.md has the same table, in words.
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { knotFindings } from './import-knots.ts'
import { wallFindings } from './import-walls.ts'
import { type Import, readImports } from './imports.ts'
import { readSource } from './source-text.ts'
import { type Finding, formatFinding, isTest, readTree, type Tree } from './tree.ts'

/** The files that start the program and its threads. Besides the version nothing else lies beside the rooms. */
const ENTRY = 'the entry'
const ENTRY_FILES = ['start.js', 'start-thread.js', 'compile-cache.js', 'own-files.js', 'main.ts']
const VERSION = 'version.ts'

/** The rooms of src, and what each may import besides itself. A row may name one engine alone. */
export const ROOMS: ReadonlyMap<string, readonly string[]> = new Map([
  ['lib', []],
  ['crypto', ['lib']],
  ['storage', ['lib', 'crypto']],
  ['api', ['lib']],
  // The way in which threads, processes and later nodes ask each other: below all rooms that ask.
  ['rpc', ['lib', 'api']],
  ['auth', ['lib', 'crypto', 'storage', 'api', 'namespaces']],
  ['hardening', ['lib', 'crypto', 'storage']],
  ['audit', ['lib', 'crypto', 'storage', 'api']],
  // Metrics, logs and traces. It knows of endpoints only what all have in common.
  ['telemetry', ['lib', 'storage', 'api']],
  ['namespaces', ['lib', 'crypto', 'storage', 'api']],
  ['quotas', ['lib', 'crypto', 'storage', 'api', 'namespaces']],
  // Where managed keys are: the registry, and the process that calls devices.
  ['managed-keys', ['lib', 'rpc', 'crypto', 'storage', 'api']],
  // It implements what tokens and policies ask of it.
  ['identity', ['lib', 'storage', 'api', 'auth']],
  // Each folder in it is a room of its own. An engine sees the contract of storage, not which kind it was given.
  ['engines', ['lib', 'crypto', 'storage', 'api']],
  ['replication', ['lib', 'crypto', 'storage']],
  // It knows the types of audit devices, and their options.
  [
    'system',
    [
      'lib',
      'crypto',
      'storage',
      'api',
      'namespaces',
      'auth',
      'hardening',
      'audit',
      'replication',
      'telemetry',
      'quotas',
      'managed-keys',
    ],
  ],
  ['core', ['lib', 'storage', 'api', 'namespaces', 'auth', 'audit', 'replication', 'telemetry', 'quotas']],
  ['http', ['lib', 'api', 'core']],
  ['threads', ['lib', 'rpc', 'api', 'core', 'storage', 'replication']],
  // It runs where none of the others do: in browsers, in programs of others.
  ['client', ['lib']],
  ['cli', ['lib', 'crypto', 'api', 'client']],
  [VERSION, []],
  // The operator's settings. It knows of each room what can be configured, and starts nothing.
  ['config', ['lib', 'storage', 'api', 'auth', 'hardening', 'audit', 'replication', 'http', 'engines/cloud']],
  // One server over one store, in any thread: it starts none and listens nowhere.
  [
    'assembly',
    [
      'lib',
      'rpc',
      'crypto',
      'storage',
      'api',
      'namespaces',
      'auth',
      'audit',
      'telemetry',
      'quotas',
      'managed-keys',
      'identity',
      'engines',
      'replication',
      'system',
      'core',
      'config',
      VERSION,
    ],
  ],
  // The process: its threads, their listeners, how it starts and ends.
  [
    'process',
    [
      'lib',
      'rpc',
      'crypto',
      'storage',
      'hardening',
      'audit',
      'telemetry',
      'managed-keys',
      'engines/cloud',
      'replication',
      'system',
      'http',
      'threads',
      'config',
      'assembly',
    ],
  ],
  // Commands that work without a server.
  [
    'offline',
    ['lib', 'storage', 'api', 'hardening', 'audit', 'system', 'http', 'cli', 'config', 'assembly', 'process'],
  ],
  [ENTRY, ['lib', 'cli', 'process', 'offline', VERSION]],
])

/**
 * The folders of a room, from users to used: each may import what stands in its own line or further down. `.` is the
 * room itself. A file that gathers the folders stands in the first line.
 */
export const FOLDERS: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ['crypto', [['.', 'jwt'], ['devices'], ['key-types', 'signatures', 'forms'], ['encoding', 'primitives']]],
  ['storage', [['drivers.ts'], ['sqlite', 'verify'], ['snapshot'], ['.', 'commit', 'log']]],
  ['engines/transit', [['transit.ts'], ['endpoints'], ['backup', 'managed'], ['.'], ['ring'], ['budget']]],
  ['replication', [['link'], ['sink', 'source', 'set', 'undone', 'synchronous'], ['protocol'], ['.']]],
  ['system', [['endpoints.ts'], ['endpoints'], ['.'], ['seal']]],
])

/**
 * Circles that types close, by one file of each, with the number of files that may be in it. No other is allowed. A
 * number falls with its circle, and never grows.
 */
export const KNOTS: ReadonlyMap<string, number> = new Map()

/** Development code beside src. The product never imports it, and it imports this part of the product alone. */
const EMULATOR = { folder: 'emulator/', imports: 'src/lib/' }
const CONTRACT = 'src/storage/contract.ts'
/** Files of storage whose values engines may import: none knows a store. */
const OF_STORAGE = [CONTRACT, 'src/storage/errors.ts', 'src/storage/stored-record.ts']

/** Returns every import that breaks a rule. `packages` are those that package.json lists for run time. */
export function checkImports(tree: Tree, packages: readonly string[], knots = KNOTS): Finding[] {
  const imports = new Map([...tree].map(([path, source]) => [path, readImports(readSource(source))]))
  const findings = [...imports].flatMap(([path, list]) => {
    if (isTest(path)) return []
    if (path.startsWith(EMULATOR.folder)) return list.flatMap((each) => emulatorFindings(path, each, packages))
    if (!path.startsWith('src/')) return []
    if (roomOf(path) === undefined) {
      return [
        {
          path,
          line: 1,
          message: `belongs to no room: src holds ${[...ROOMS.keys()].join(', ')}`,
        },
      ]
    }
    return list.flatMap((each) => {
      const message = refusal(path, each, packages)
      return message === undefined ? [] : [{ path, line: each.line, message }]
    })
  })
  const atRunTime = circles(imports)
  // Circles at run time are told first: types close more of them around the same files.
  const withTypes = atRunTime.length === 0 ? knotFindings(graphOf(imports), knots) : []
  return [...findings, ...atRunTime, ...withTypes, ...wallFindings(imports)]
}

/** Returns the room of a file, `engines/transit` for an engine; undefined if the table does not know it. */
function roomOf(path: string): string | undefined {
  const [, folder = '', engine, inEngine] = path.split('/')
  if (engine === undefined) return ENTRY_FILES.includes(folder) ? ENTRY : folder === VERSION ? VERSION : undefined
  if (folder === 'engines') return inEngine === undefined ? undefined : `engines/${engine}`
  return ROOMS.has(folder) ? folder : undefined
}

function refusal(from: string, { specifier, typeOnly }: Import, packages: readonly string[]): string | undefined {
  if (specifier === undefined) return 'import() of a computed path cannot be checked: write the path out'
  if (!specifier.startsWith('.')) return packageRefusal(specifier, packages)
  const to = resolve(from, specifier)
  if (!to.startsWith('src/')) return `src may not import ${to}, which is no part of the program`
  if (isTest(to)) return `only tests may import ${to}`
  const [own, other] = [roomOf(from), roomOf(to)]
  if (own === undefined) return undefined
  if (own === other) return folderRefusal(own, from, to)
  if (other === ENTRY) return `no room imports ${to}: what starts the program hands in what it needs`
  if (other === undefined) return `${to} belongs to no room`
  const [ownFolder = '', otherFolder = ''] = [own.split('/')[0], other.split('/')[0]]
  const allowed = ROOMS.get(ownFolder) ?? []
  if (!allowed.includes(otherFolder) && !allowed.includes(other))
    return `${own} may not import ${other}, only ${allowed.join(', ') || 'nothing'}`
  if (ownFolder === 'engines' && otherFolder === 'storage' && !typeOnly && !OF_STORAGE.includes(to)) {
    return `an engine takes only types (import type) or ${OF_STORAGE.join(', ')} from storage`
  }
  return undefined
}

function folderRefusal(room: string, from: string, to: string): string | undefined {
  const lines = FOLDERS.get(room)
  if (lines === undefined) return undefined
  const [own, other] = [lineOf(room, lines, from), lineOf(room, lines, to)]
  if (own === -1) return `stands in a folder that FOLDERS does not know in ${room}`
  if (other === -1) return `${to} stands in a folder that FOLDERS does not know in ${room}`
  return own <= other ? undefined : `${room} is in order: ${from} may not import ${to}, which uses it`
}

function lineOf(room: string, lines: readonly (readonly string[])[], path: string): number {
  const [folder = '', inFolder] = path.slice(`src/${room}/`.length).split('/')
  const line = lines.findIndex((names) => names.includes(folder))
  return line === -1 && inFolder === undefined ? lines.findIndex((names) => names.includes('.')) : line
}

function emulatorFindings(path: string, { specifier, line }: Import, packages: readonly string[]): Finding[] {
  const at = (message: string | undefined): Finding[] => (message === undefined ? [] : [{ path, line, message }])
  if (specifier === undefined) return at('import() of a computed path cannot be checked: write the path out')
  if (!specifier.startsWith('.')) return at(packageRefusal(specifier, packages))
  const to = resolve(path, specifier)
  const allowed = [EMULATOR.folder, EMULATOR.imports].some((folder) => to.startsWith(folder)) && !isTest(to)
  return at(allowed ? undefined : `the emulator may not import ${to}, only ${EMULATOR.imports}`)
}

function packageRefusal(specifier: string, packages: readonly string[]): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  const [scope = '', name = ''] = specifier.split('/')
  const wanted = scope.startsWith('@') ? `${scope}/${name}` : scope
  return packages.includes(wanted) ? undefined : `${wanted} is not among the "dependencies" of package.json`
}

function resolve(from: string, specifier: string): string {
  return posix.join(posix.dirname(from), specifier)
}

function graphOf(imports: ReadonlyMap<string, readonly Import[]>): Map<string, string[]> {
  return new Map(
    [...imports]
      .filter(([path]) => !isTest(path))
      .map(([path, list]) => [
        path,
        list.flatMap(({ specifier }) => (specifier?.startsWith('.') ? [resolve(path, specifier)] : [])),
      ]),
  )
}

/** Finds circles of imports that are left at run time: the file that is loaded first sees the others half made. */
function circles(imports: ReadonlyMap<string, readonly Import[]>): Finding[] {
  const findings: Finding[] = []
  const done = new Set<string>()
  const trail: string[] = []
  const visit = (path: string): void => {
    trail.push(path)
    for (const { specifier, typeOnly, line } of imports.get(path) ?? []) {
      if (typeOnly || !specifier?.startsWith('.')) continue
      const to = resolve(path, specifier)
      const start = trail.indexOf(to)
      if (start !== -1) {
        const message = `closes a circle of imports: ${[...trail.slice(start), to].join(' > ')}`
        findings.push({ path, line, message })
      } else if (!done.has(to)) visit(to)
    }
    trail.pop()
    done.add(path)
  }
  for (const path of imports.keys()) if (!done.has(path)) visit(path)
  return findings
}

/** Returns the packages that package.json lists for run time. */
export function runtimePackages(root: string): string[] {
  const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
    dependencies?: Record<string, string>
  }
  return Object.keys(dependencies ?? {})
}

if (import.meta.main) {
  const root = process.cwd()
  const findings = checkImports(readTree(root), runtimePackages(root))
  for (const finding of findings) console.log(formatFinding(finding))
  process.exitCode = findings.length === 0 ? 0 : 1
}
