// The errors that end a command, and the exit codes they end it with.

/**
 * 0: success. 1: the mistake is here, in usage or files. 2: the server, or the way to it, refused. 3: nothing is wrong,
 * and yet not all is proven (audit verify). The first three are the reference's, and docs/cli.md lists them.
 */
export type ExitCode = 0 | 1 | 2 | 3

/** A failure that the person can understand. The message is all that is printed; anything else thrown is a defect. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exitCode: ExitCode = 1
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
  }
}

/** The server refused, or could not be reached. The message is complete, `Error reading x: …`, and printed as it is. */
export class RemoteFailure extends CliError {
  override name = 'RemoteFailure'
  override readonly exitCode: ExitCode
  constructor(message: string, cause?: unknown, exitCode: ExitCode = 2) {
    super(message, cause)
    this.exitCode = exitCode
  }
}

/** Runs a command whose exit code 2 is an answer ("sealed"): a server that cannot be asked gives 1 instead. */
export async function answeredByExitCode(work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof RemoteFailure ? new RemoteFailure(error.message, error, 1) : error
  }
}

/** The command line itself is wrong: the message is followed by a pointer to the help of the command. */
export class UsageError extends CliError {
  override name = 'UsageError'
}

/** Returns a short reason for a failed system call, without the path and the call that Node puts around it. */
export function reasonOf(error: unknown): string {
  const code = cliCodeOf(error)
  return (code === undefined ? undefined : REASONS.get(code)) ?? code ?? 'unknown error'
}

/** Returns the code of an error, `ENOENT` and its like; undefined if it has none. */
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
