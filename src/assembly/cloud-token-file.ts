// Reads the token that workload identity leaves for this server in a file, and replaces there before it expires.
import { constants, type FileHandle, open } from 'node:fs/promises'
import { CloudUnavailable } from '../engines/cloud/refusals.ts'

/** Signed tokens have a few thousand bytes; more is no token. */
const MAX_BYTES = 16_384
/** The compact form of a signed token (RFC 7515 section 7.1). */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/
const WHAT = 'the token of this server for the cloud cannot be read: see AZURE_FEDERATED_TOKEN_FILE, and the log'

/**
 * Returns the token. It is read again each time: the file changes while the server runs.
 * @throws CloudUnavailable, with details for the log: which file, what is wrong, and what to do
 */
export async function readCloudToken(path: string): Promise<string> {
  const text = (await readBounded(path)).trim()
  if (!COMPACT.test(text)) throw unreadable(path, 'holds no signed token: have workload identity write it anew')
  return text
}

async function readBounded(path: string): Promise<string> {
  let file: FileHandle | undefined
  try {
    // Non-blocking, or a pipe without a writer would be waited for.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!(await file.stat()).isFile()) throw unreadable(path, 'is no file: name the one that holds the token')
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0)
    if (bytesRead > MAX_BYTES) throw unreadable(path, `is longer than ${MAX_BYTES} bytes: a token is not`)
    return buffer.toString('latin1', 0, bytesRead)
  } catch (cause) {
    if (cause instanceof CloudUnavailable) throw cause
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    throw unreadable(path, `cannot be read (${code}): it must be there, and the user of this server may read it`, cause)
  } finally {
    await file?.close()
  }
}

const unreadable = (path: string, fault: string, cause?: unknown): CloudUnavailable =>
  new CloudUnavailable(WHAT, `${path}, which AZURE_FEDERATED_TOKEN_FILE names, ${fault}`, cause)
