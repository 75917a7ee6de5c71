// Writes a file of the person: whole or not at all, and over an existing one only if that was asked for.
import { lstat, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { CliError, cliCodeOf, reasonOf } from './cli-error.ts'

/** A file to write. */
export type NewFile = {
  readonly path: string
  /** Replace an existing file. */
  readonly force: boolean
  /** Permission bits, before the umask. */
  readonly mode: number
}

/** Checks early that the path is free: the server must not work for a file that cannot be kept. @throws CliError */
export async function refuseExisting({ path, force }: NewFile): Promise<void> {
  if (force) return
  try {
    // lstat, not stat: a link that leads nowhere is in the way as well.
    await lstat(path)
  } catch (error) {
    if (cliCodeOf(error) === 'ENOENT') return
    throw new CliError(`Cannot write ${path}: ${reasonOf(error)}`, error)
  }
  throw exists(path)
}

/** Writes the file, and syncs it before it counts. @throws CliError; the file is then as it was */
export async function writeNewFile(file: NewFile, bytes: Buffer | string | AsyncIterable<Buffer>): Promise<void> {
  const { path, force, mode } = file
  // The new content goes beside the file: renaming works within one file system only. Until then the old one is there.
  const target = force ? `${path}.partial` : path
  if (force) await rm(target, { force: true })
  try {
    // `wx` refuses existing files, and so links that another user put there.
    const handle = await open(target, 'wx', mode)
    try {
      await handle.writeFile(bytes)
      // Without it a crash after the rename could leave a file of the right name and no content.
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

/** Replaces the text of an existing file, whose permission bits stay. @throws CliError */
export async function replaceFile(path: string, text: string): Promise<void> {
  try {
    // A link stays a link: the file that it leads to is replaced.
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
