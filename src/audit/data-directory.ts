// Keeps audit files out of the data directory, which is the store's alone. A log in it would be taken for a file of the
// store, and use the space that the journal needs. It would vanish when data is moved or restored.
import type { BigIntStats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** True if the file would lie in the directory or below it, by whatever path it is reached. */
export async function liesIn(file: string, directory: string): Promise<boolean> {
  const resolved = await resolvedPath(directory)
  const facts = await factsOf(resolved)
  for (let at = dirname(await resolvedPath(file)); ; at = dirname(at)) {
    if (at === resolved) return true
    // One directory may have two names: mounted twice, or in a file system that ignores the case of letters.
    const found = facts === undefined ? undefined : await factsOf(at)
    if (found !== undefined && found.ino === facts?.ino && found.dev === facts.dev) return true
    if (at === dirname(at)) return false
  }
}

/**
 * Resolves the links of a path, as far as it exists; the rest stays as it is named. The path is not normalised first:
 * `..` behind a link goes up from the link's target.
 */
async function resolvedPath(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(await resolvedPath(above), basename(path))
  }
}

async function factsOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch {
    return undefined
  }
}

/** Returns the sentence that refuses a file in the data directory. */
export const inDataDirectory = (file: string): string =>
  `${file} lies in the data directory, which is the store's alone: name a place outside it`
