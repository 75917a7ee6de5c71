// Checks who may read and change what lies on the disk (B-02, B-09, B-10).
import { dirname, join, sep } from 'node:path'
import { type Check, type Finding, ok, refusing, unknown, warn, worst } from './check.ts'
import type { Machine } from './machine.ts'
import { dataDirectoryOf } from './setting.ts'

const OTHERS = 0o077
const EVERYBODY = 0o007
const WRITABLE_BY_OTHERS = 0o022

/** A longer list would hide the rest of the report. */
const SHOWN_PATHS = 5

/**
 * Yields the open ones among the paths and everything below them. Links are not followed. An open directory is
 * yielded alone, without what is in it.
 */
function* openIn(machine: Machine, paths: readonly string[], isOpen: (path: string) => boolean): Generator<string> {
  for (const path of paths) {
    if (isOpen(path)) yield path
    else if (machine.stat(path)?.kind === 'directory') {
      // No `join`: over all files of the program the runtime would optimise it, and load 5 MiB of its own code.
      const inside = machine.namesIn(path).map((name) => `${path}${sep}${name}`)
      yield* openIn(machine, inside, isOpen)
    }
  }
}

/**
 * Returns the files that are read as configuration: each path, or the configuration files in it if it is a directory.
 */
function configurationFiles(machine: Machine, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    if (machine.statTarget(path)?.kind !== 'directory') return [path]
    const names = machine.namesIn(path).filter((name) => /^[^.].*\.(?:hcl|json)$/.test(name))
    return names.map((name) => join(path, name))
  })
}

function listed(paths: readonly string[]): string {
  const more = paths.length - SHOWN_PATHS
  return `${paths.slice(0, SHOWN_PATHS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const program: Check = {
  id: 'B-02',
  title: 'The server cannot change itself',
  group: 'files',
  how: 'write access to program, runtime and configuration',
  again: true,
  run: (machine, { program: parts, configFiles }) => {
    const files = configurationFiles(machine, configFiles).filter((file) => !configFiles.includes(file))
    const pathsThat = (isOpen: (path: string) => boolean): readonly string[] => {
      const folders = configFiles.filter(isOpen)
      const others = files.filter((file) => isOpen(file) && !folders.includes(dirname(file)))
      return [...openIn(machine, parts, isOpen), ...folders, ...others]
    }
    const open = pathsThat((path) => ((machine.statTarget(path)?.mode ?? 0) & WRITABLE_BY_OTHERS) !== 0)
    if (open.length > 0) return warn(`Others may write ${listed(open)}: remove the permission (chmod go-w)`)
    if (machine.user === 0) return unknown('Root can write everything: see B-01')
    const writable = pathsThat((path) => machine.canWrite(path))
    if (writable.length === 0) return ok('The server can write neither its program nor its configuration')
    return warn(
      `The server can write ${listed(writable)}: give these to root, or an intruder can make a foothold permanent`,
    )
  },
}

/** File systems on which locks or syncs may not hold, by their numbers of statfs(2). */
const UNSAFE_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
])
/** File systems that are lost when the machine stops, by their numbers of statfs(2). */
const MEMORY_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
])
/** Commits fail once the disk is full, so the warning comes this much earlier. */
const LEAST_FREE_BYTES = 256 * 2 ** 20

const dataDirectory: Check = {
  id: 'B-09',
  title: 'Only the server can access its data',
  group: 'files',
  how: 'owner and mode of the data directory and its files, type of file system',
  again: true,
  run: (machine, setting) => {
    const directory = dataDirectoryOf(setting)
    if (directory === undefined) return ok('Nothing is stored: the data are in memory, and are lost with the process')
    const facts = machine.stat(directory)
    if (facts === undefined) return missingDirectory(machine, directory)
    if (facts.kind === 'link') return refusing(`${directory} is a link: name the directory itself`)
    if (facts.kind !== 'directory') return refusing(`The data directory ${directory} is not a directory: name another`)
    const findings = [modeOf(directory, facts.mode, '700'), ownerOf(machine, directory, facts.owner)]
    for (const name of machine.namesIn(directory)) findings.push(fileIn(machine, join(directory, name)))
    return worst([ok(`Only its owner can access ${directory}`), ...findings, fileSystem(machine, directory)])
  },
}

function missingDirectory(machine: Machine, directory: string): Finding {
  const above = dirname(directory)
  if (machine.stat(above) !== undefined && !machine.canWrite(above))
    return refusing(
      `${directory} is missing and cannot be created: create it, owned by the user of the server, mode 700`,
    )
  return ok(`${directory} does not exist yet; the server creates it, mode 700`)
}

function fileIn(machine: Machine, path: string): Finding {
  const facts = machine.stat(path)
  if (facts === undefined) return ok('')
  if (facts.kind === 'link') return refusing(`${path} is a link: remove it, the data directory must hold none`)
  return worst([
    modeOf(path, facts.mode, facts.kind === 'directory' ? '700' : '600'),
    ownerOf(machine, path, facts.owner),
  ])
}

function modeOf(path: string, mode: number, wanted: string): Finding {
  return (mode & OTHERS) === 0 ? ok('') : refusing(`Others can access ${path}: chmod ${wanted}`)
}

/**
 * Root may use files of other users, and leaves files that those users cannot use: a
 * warning. Any other user would fail.
 */
function ownerOf({ user }: Machine, path: string, owner: number): Finding {
  if (user === undefined || owner === user) return ok('')
  const sentence = `${path} belongs to user ${owner}, and this is user ${user}: chown it, or start as that user`
  return user === 0 ? warn(sentence) : refusing(sentence)
}

function fileSystem(machine: Machine, directory: string): Finding {
  const facts = machine.fileSystem(directory)
  if (facts === undefined) return unknown(`The type of the file system of ${directory} is unknown`)
  const unsafe = UNSAFE_FILE_SYSTEMS.get(facts.type)
  if (unsafe !== undefined)
    return warn(`${directory} is on ${unsafe}, where locks and syncs may be unreliable: use a local file system`)
  const memory = MEMORY_FILE_SYSTEMS.get(facts.type)
  if (memory !== undefined) return warn(`${directory} is on ${memory}, and is lost when the machine stops: use a disk`)
  if (facts.freeBytes < LEAST_FREE_BYTES)
    return warn(`${directory} has ${Math.floor(facts.freeBytes / 2 ** 20)} MiB left: free space before writes fail`)
  return ok('')
}

const inlineSecrets: Check = {
  id: 'B-10',
  title: 'No secret in the configuration',
  group: 'secrets',
  how: 'settings of the configuration file, its mode',
  again: true,
  run: (machine, { inlineSecrets: names, configFiles }) => {
    if (configFiles.length === 0) return ok('There is no configuration file')
    if (names.length === 0) return ok('The configuration holds no secret')
    const files = configurationFiles(machine, configFiles)
    const isReadable = files.some((file) => ((machine.statTarget(file)?.mode ?? 0) & EVERYBODY) !== 0)
    const where = `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} in the configuration itself`
    const readable = isReadable ? ', which every user can read' : ''
    return warn(`${where}${readable}: move the value to a file of its own, mode 600, and refer to it as file://PATH`)
  },
}

/** B-02, B-09 and B-10, for `CHECKS` in report.ts. */
export const FILE_CHECKS: readonly Check[] = [program, dataDirectory, inlineSecrets]
