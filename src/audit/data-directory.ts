// The data directory is the store's alone: a log in it would be read for a file of the store, take the space that its
// journal needs, and go away with it where data are moved or restored.
import type { BigIntStats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** Whether the file would lie in the directory or below it, by whatever way its path goes there. */
export async function liesIn(file: string, directory: string): Promise<boolean> {
  const place = await realPlace(directory)
  const facts = await factsOf(place)
  for (let at = dirname(await realPlace(file)); ; at = dirname(at)) {
    if (at === place) return true
    // Another name of the same directory: mounted twice, or in a file system that folds letters.
    const found = facts === undefined ? undefined : await factsOf(at)
    if (found !== undefined && found.ino === facts?.ino && found.dev === facts.dev) return true
    if (at === dirname(at)) return false
  }
}

/**
 * Without links as far as it is there; what is not there yet is as it is named. The path is taken as it stands: `..`
 * behind a link goes up from where the link leads.
 */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(await realPlace(above), basename(path))
  }
}

async function factsOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch {
    return undefined
  }
}

export const inDataDirectory = (file: string): string =>
  `${file} lies in the data directory, which is the store's alone: name a place outside it`
