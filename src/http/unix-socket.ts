// Handles the file of a Unix socket: a file left by a dead server is replaced, one of a live server is not.
import { chmodSync, chownSync, lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'

/** A Unix socket to listen on, with the rights of its file. */
export type UnixAddress = {
  readonly kind: 'unix'
  readonly path: string
  /** Permission bits; undefined: for the owner alone. */
  readonly mode: number | undefined
  /** User and group ids; undefined: those of the process. */
  readonly user: number | undefined
  readonly group: number | undefined
}

const OWNER_ONLY = 0o600

/**
 * Makes the path free.
 * @throws an error with `code`: EADDRINUSE if a server answers, ENOTSOCK if the file is no socket
 */
export async function makeRoom(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw Object.assign(new Error('Not a socket'), { code: 'ENOTSOCK' })
  if (await answers(path)) throw Object.assign(new Error('In use'), { code: 'EADDRINUSE' })
  unlinkSync(path)
}

/** Sets owner and mode; call it once the socket is listened on. @throws the system's error */
export function setOwner({ path, mode = OWNER_ONLY, user, group }: UnixAddress): void {
  // Until here the umask of the process keeps other users out.
  if (user !== undefined || group !== undefined) chownSync(path, user ?? -1, group ?? -1)
  chmodSync(path, mode)
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })
}
