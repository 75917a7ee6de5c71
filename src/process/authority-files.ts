// Reads the certificates of authorities that a caller of the API names by `ca_file` or `ca_path`. Files of a server are
// not for callers, so only directories that the configuration allows are looked into; and nothing of a file is told but
// its name (threats R-09).
import { X509Certificate } from 'node:crypto'
import { constants } from 'node:fs'
import { open, opendir, realpath } from 'node:fs/promises'
import { isAbsolute, join, normalize, relative, sep } from 'node:path'
import type { Authorities, FoundAuthorities } from '../assembly/replication/primary-api.ts'

/** Limits: of one file, of the entries of a directory, and of all files in it. */
const MAX_FILE_BYTES = 1 << 20
const MAX_ENTRIES = 1_000
const MAX_TOTAL_BYTES = 4 << 20
/** PATH_MAX of Linux. */
const MAX_PATH_CHARACTERS = 4_096

const BEGIN = '-----BEGIN CERTIFICATE-----'
const END = '-----END CERTIFICATE-----'

type Field = 'ca_file' | 'ca_path'
/** Why files cannot be used: a sentence. */
class AuthoritiesRefused extends Error {
  override name = 'AuthoritiesRefused'
}

/** Returns the reader of files below `allowed`, the setting `allowed_ca_paths`. */
export function authorityFiles(allowed: readonly string[]): Authorities {
  return {
    read: async ({ caFile, caPath }): Promise<FoundAuthorities | { readonly sentence: string }> => {
      if (caFile === '' && caPath === '') return { ca: undefined, trust: 'system' }
      if (caFile !== '' && caPath !== '') return { sentence: 'Give "ca_file" or "ca_path", not both' }
      const [field, path] = caFile === '' ? (['ca_path', caPath] as const) : (['ca_file', caFile] as const)
      try {
        const directories = await allowedFor(field, path, allowed)
        const ca = await (field === 'ca_file' ? readOne(path, directories) : readAll(path, directories))
        return { ca, trust: field }
      } catch (cause) {
        if (cause instanceof AuthoritiesRefused) return { sentence: cause.message }
        throw cause
      }
    },
  }
}

/**
 * The real paths of the allowed directories. The path is judged as it is written before anything is looked at: outside
 * of them a caller must not learn even whether a file is there. @throws AuthoritiesRefused
 */
async function allowedFor(field: Field, path: string, allowed: readonly string[]): Promise<readonly string[]> {
  if (allowed.length === 0) {
    throw new AuthoritiesRefused(
      `"${field}" is not allowed here: no directory is named by "allowed_ca_paths" of the stanza "replication"`,
    )
  }
  // Control characters end a path early for the system, or change the look of a log.
  const isPath = isAbsolute(path) && path.length <= MAX_PATH_CHARACTERS && !/\p{Cc}/u.test(path)
  if (!isPath || path.split(sep).includes('..'))
    throw new AuthoritiesRefused(`"${field}" must be an absolute path without "..", of a file on this server`)
  const real = await Promise.all(allowed.map((directory) => realpath(directory).catch(() => undefined)))
  const directories = real.filter((each) => each !== undefined)
  if (![...allowed, ...directories].some((each) => isBelow(normalize(path), normalize(each))))
    throw outside(`"${field}"`)
  return directories
}

const outside = (told: string): AuthoritiesRefused =>
  new AuthoritiesRefused(
    `${told} leads out of the directories of "allowed_ca_paths" of the stanza "replication": add its own to them`,
  )

/** True for the directory itself too. */
function isBelow(path: string, directory: string): boolean {
  const rest = relative(directory, path)
  return rest === '' || !(rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest))
}

async function readOne(path: string, directories: readonly string[]): Promise<string> {
  const told = '"ca_file"'
  const content = await contentOf(await realBelow(path, told, directories), told)
  if (content === undefined) throw new AuthoritiesRefused(`${told} is a directory: "ca_path" takes one`)
  return certificatesIn(content, told)
}

/** All files of a directory; directories in it are passed over. A file that several names lead to is read once. */
async function readAll(path: string, directories: readonly string[]): Promise<string> {
  const root = await realBelow(path, '"ca_path"', directories)
  const found = new Map<string, string>()
  let total = 0
  for (const name of await namesIn(root)) {
    const told = `The file ${JSON.stringify(name)} of "ca_path"`
    const real = await realBelow(join(root, name), told, directories)
    if (found.has(real)) continue
    const content = await contentOf(real, told)
    if (content === undefined) continue
    total += content.length
    if (total > MAX_TOTAL_BYTES)
      throw new AuthoritiesRefused(`The files of "ca_path" have more than ${MAX_TOTAL_BYTES} bytes in all`)
    found.set(real, certificatesIn(content, told))
  }
  if (found.size === 0) throw new AuthoritiesRefused('The directory "ca_path" has no file')
  return [...found.values()].join('')
}

async function namesIn(directory: string): Promise<readonly string[]> {
  const names: string[] = []
  try {
    for await (const { name } of await opendir(directory)) {
      if (names.length === MAX_ENTRIES)
        throw new AuthoritiesRefused(`The directory "ca_path" has more than ${MAX_ENTRIES} entries`)
      names.push(name)
    }
  } catch (cause) {
    throw cause instanceof AuthoritiesRefused ? cause : unreadable('The directory "ca_path"', cause)
  }
  // By name, and not as the file system lists them: what is told of a bad directory is the same everywhere.
  return names.toSorted()
}

/** Where a path really leads. @throws AuthoritiesRefused if that is outside: a link can lead anywhere */
async function realBelow(path: string, told: string, directories: readonly string[]): Promise<string> {
  const real = await realpath(path).catch((cause: unknown) => {
    throw unreadable(told, cause)
  })
  if (!directories.some((each) => isBelow(real, each))) throw outside(told)
  return real
}

/** The bytes of a file; undefined for a directory. @throws AuthoritiesRefused */
async function contentOf(path: string, told: string): Promise<Buffer | undefined> {
  // Not held up by a pipe that nobody writes to, and not led elsewhere by a link that was put there meanwhile.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW
  const file = await open(path, flags).catch((cause: unknown) => {
    throw unreadable(told, cause)
  })
  try {
    const stats = await file.stat()
    if (stats.isDirectory()) return undefined
    if (!stats.isFile()) throw new AuthoritiesRefused(`${told} is no file`)
    if (stats.size > MAX_FILE_BYTES) throw new AuthoritiesRefused(`${told} has more than ${MAX_FILE_BYTES} bytes`)
    const content = Buffer.alloc(stats.size)
    const { bytesRead } = await file.read(content, 0, content.length, 0)
    return content.subarray(0, bytesRead)
  } catch (cause) {
    throw cause instanceof AuthoritiesRefused ? cause : unreadable(told, cause)
  } finally {
    await file.close()
  }
}

/** The certificates alone, each parsed: whatever else the file holds goes no further. @throws AuthoritiesRefused */
function certificatesIn(content: Buffer, told: string): string {
  const found = content.toString('latin1').split(BEGIN).slice(1)
  if (found.length === 0) throw new AuthoritiesRefused(`${told} holds no certificate in PEM form`)
  return found
    .map((rest) => {
      try {
        return new X509Certificate(`${BEGIN}${rest.slice(0, Math.max(rest.indexOf(END), 0))}${END}\n`).toString()
      } catch {
        throw new AuthoritiesRefused(`${told} holds a certificate that cannot be read`)
      }
    })
    .join('')
}

const unreadable = (told: string, cause: unknown): AuthoritiesRefused =>
  new AuthoritiesRefused(`${told} cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`)
