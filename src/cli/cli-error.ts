// How a command ends when it does not end well.

/** 0 is success. 1: the mistake is here (usage, files); 2: the server, or the way to it, refused. */
export type ExitCode = 0 | 1 | 2

/** What the person in front of it gets to read, and the exit code. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: ExitCode
  constructor(message: string, exitCode: ExitCode = 1, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exitCode = exitCode
  }
}

/** The command line itself is wrong: the help of the command is worth a look. */
export class UsageError extends CliError {
  override name = 'UsageError'
}

/** Short reason of a failed system call, without the path and the call that Node puts around it. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  return (code === undefined ? undefined : REASONS.get(code)) ?? code ?? 'unknown error'
}

/** `ENOENT` and its like; undefined where the error has none. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EISDIR', 'it is a directory'],
  ['ENOTDIR', 'a part of the path is not a directory'],
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'the file system is read-only'],
  ['EEXIST', 'it exists already'],
])
