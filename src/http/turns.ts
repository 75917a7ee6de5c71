// One connection, one request at a time, in the order of arrival (RFC 9112 section 9.3.2): a client that sends a write
// and, without waiting, a read of the same thing sees its write.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Turn = { readonly outgoing: ServerResponse; readonly answered: Promise<void> }

export class Turns {
  /** The last request of each connection, answered or not. */
  readonly #last = new WeakMap<Socket, Turn>()

  /** Runs `work`, which ends `outgoing`, when all that came before on the connection is answered. It never rejects. */
  take(socket: Socket, outgoing: ServerResponse, work: () => Promise<void>): void {
    const before = this.#last.get(socket)
    const isFree = before === undefined || before.outgoing.writableEnded
    this.#last.set(socket, { outgoing, answered: isFree ? work() : before.answered.then(work) })
  }

  /** Resolves when every answer is on its way, so that something can be written to the socket itself. */
  async over(socket: Socket): Promise<void> {
    const last = this.#last.get(socket)
    if (last === undefined) return
    await last.answered
    const { outgoing } = last
    if (!outgoing.writableFinished && !outgoing.destroyed) {
      await new Promise<void>((resolve) => outgoing.once('close', resolve))
    }
  }
}
