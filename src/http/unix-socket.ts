// The file of a Unix socket: the one of a server that is gone is replaced, the one of a server that answers is not.
import { chmodSync, chownSync, lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'

export type UnixAddress = {
  readonly kind: 'unix'
  readonly path: string
  /** Undefined: for the owner alone. */
  readonly mode: number | undefined
  /** Ids; undefined: those of the process. */
  readonly user: number | undefined
  readonly group: number | undefined
}

const OWNER_ONLY = 0o600

/** @throws an error with `code`: EADDRINUSE where somebody answers, ENOTSOCK where it is another kind of file */
export async function makeRoom(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw Object.assign(new Error('Not a socket'), { code: 'ENOTSOCK' })
  if (await answers(path)) throw Object.assign(new Error('In use'), { code: 'EADDRINUSE' })
  unlinkSync(path)
}

/** Once it is listened on. @throws the system's error */
export function setOwner({ path, mode = OWNER_ONLY, user, group }: UnixAddress): void {
  // Until here the mask of the process keeps everybody else out.
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
