// What calls go through: a port between threads, a pipe to a process, later a socket to another node. The framing knows
// no more of it than this.
import type { MessagePort } from 'node:worker_threads'

/** What is handed over with a message and not copied: it is the other end's alone from then on. */
export type Movable = ArrayBuffer | MessagePort | ReadableStream

export type Channel = {
  /** @throws where the other end cannot have the message: then nothing of it was sent, and nothing was handed over */
  readonly send: (message: unknown, moved: readonly Movable[]) => void
  /** Messages of others on the same channel are heard too, and left alone. */
  readonly onMessage: (listener: (message: unknown) => void) => void
  /** The other end is no more. */
  readonly onEnd: (listener: () => void) => void
}

/** Lets go of what was handed over and nobody will use: its other half would stay open. */
export function release(moved: readonly Movable[]): void {
  for (const each of moved) {
    if (each instanceof ReadableStream) each.cancel().catch(() => {})
    else if (!(each instanceof ArrayBuffer)) each.close()
  }
}
