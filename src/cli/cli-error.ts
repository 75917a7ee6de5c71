// How a command ends when it does not end well.

/** 0 is success. 1: the mistake is here (usage, files); 2: the server, or the way to it, refused. */
/** 3: nothing is wrong, and yet not all is proven (audit verify). */
export type ExitCode = 0 | 1 | 2 | 3

/** What the person in front of it gets to read. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: ExitCode = 1
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
  }
}

/** The server refused, or could not be asked. The message is a whole one, `Error reading x: …`. */
export class RemoteFailure extends CliError {
  override name = 'RemoteFailure'
  override readonly exitCode: ExitCode
  constructor(message: string, cause?: unknown, exitCode: ExitCode = 2) {
    super(message, cause)
    this.exitCode = exitCode
  }
}

/** For commands whose exit code 2 is an answer: where there is none, it is 1. */
export async function answeredByExitCode(work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof RemoteFailure ? new RemoteFailure(error.message, error, 1) : error
  }
}

/** The command line itself is wrong: the help of the command is worth a look. */
export class UsageError extends CliError {
  override name = 'UsageError'
}

/** Short reason of a failed system call, without the path and the call that Node puts around it. */
export function reasonOf(error: unknown): string {
  const code = cliCodeOf(error)
  return (code === undefined ? undefined : REASONS.get(code)) ?? code ?? 'unknown error'
}

/** `ENOENT` and its like; undefined where the error has none. */
export function cliCodeOf(error: unknown): string | undefined {
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
