// A channel that calls go through: a port between threads, a pipe to a process, later a socket to another node. The
// framing knows no more of it than this.
import type { MessagePort } from 'node:worker_threads'

/**
 * Memory, ports and streams that are handed over with a message instead of copied: only the other end has them
 * afterwards.
 */
export type Movable = ArrayBuffer | MessagePort | ReadableStream

/** One end of a two-way channel that keeps the order of messages. */
export type Channel = {
  /** Sends a message. @throws if it cannot be sent; then nothing was sent and nothing handed over */
  readonly send: (message: unknown, moved: readonly Movable[]) => void
  /** The listener may hear messages that are no frames; it leaves them alone. */
  readonly onMessage: (listener: (message: unknown) => void) => void
  /** Called when the other end has ended. */
  readonly onEnd: (listener: () => void) => void
}

/** Closes what was handed over and will not be used: its other half would stay open. */
export function release(moved: readonly Movable[]): void {
  for (const each of moved) {
    if (each instanceof ReadableStream) each.cancel().catch(() => {})
    else if (!(each instanceof ArrayBuffer)) each.close()
  }
}
