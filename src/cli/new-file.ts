// Writes a file of the caller: whole or not at all, and over another one only where that was asked for.
import { lstat, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { CliError, cliCodeOf, reasonOf } from './cli-error.ts'

export type NewFile = {
  readonly path: string
  /** Replace what is there. */
  readonly force: boolean
  /** Permission bits, before the umask. */
  readonly mode: number
}

/** So that nothing is asked of the server for a file that cannot be written in the end. @throws CliError */
export async function refuseExisting({ path, force }: NewFile): Promise<void> {
  if (force) return
  try {
    await lstat(path)
  } catch (error) {
    if (cliCodeOf(error) === 'ENOENT') return
    throw new CliError(`Cannot write ${path}: ${reasonOf(error)}`, error)
  }
  throw exists(path)
}

/** @throws CliError; the file is then as it was */
export async function writeNewFile(file: NewFile, bytes: Buffer | string | AsyncIterable<Buffer>): Promise<void> {
  const { path, force, mode } = file
  // Beside the file, so that renaming it stays within one file system; the old content is there until it is complete.
  const target = force ? `${path}.partial` : path
  if (force) await rm(target, { force: true })
  try {
    // `wx`: never an existing file, and never through a link that somebody else put there.
    const handle = await open(target, 'wx', mode)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } catch (error) {
      await rm(target, { force: true })
      throw error
    } finally {
      await handle.close()
    }
    if (force) await rename(target, path)
  } catch (error) {
    if (error instanceof CliError) throw error
    if (cliCodeOf(error) === 'EEXIST') throw exists(target)
    throw new CliError(`Cannot write ${path}: ${reasonOf(error)}`, error)
  }
}

/** Puts a text in the place of a file that is there; who may read it stays as it was. @throws CliError */
export async function replaceFile(path: string, text: string): Promise<void> {
  try {
    // Of a link, the file that it leads to.
    const real = await realpath(path)
    const { mode } = await stat(real)
    await writeNewFile({ path: real, force: true, mode: mode & 0o777 }, text)
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(`Cannot write ${path}: ${reasonOf(error)}`, error)
  }
}

function exists(path: string): CliError {
  return new CliError(`${path} exists already: replace it with -force, or name another file with -out`)
}
