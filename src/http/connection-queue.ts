// One connection, one request at a time, in the order of arrival (RFC 9112 section 9.3.2): a client that sends a write
// and, without waiting, a read of the same thing sees its write.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The place of one request among those of its connection. */
export class PipelinedRequest {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  #before: PipelinedRequest | undefined
  #isOver = false
  #hasBegun = false
  #work: (() => Promise<void>) | undefined
  /** What waits for the end of this one; mostly nothing does. */
  #waiting: (() => void)[] | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, before: PipelinedRequest | undefined) {
    this.incoming = incoming
    this.outgoing = outgoing
    this.#before = before
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** The request in front of it, as long as that is not answered. */
  get before(): PipelinedRequest | undefined {
    return this.#before?.isOver === true ? undefined : this.#before
  }

  /**
   * Runs `work`, which answers and never rejects, when all that came before is answered. What has not begun when its
   * connection is gone is not begun: nobody would hear of it.
   */
  start(work: () => Promise<void>): void {
    const { before } = this
    this.#before = undefined
    if (before === undefined) this.#run(work)
    else {
      this.#work = work
      before.whenOver(() => this.#begin())
    }
  }

  /** Of one that has not begun: its work, and what that holds, is forgotten. */
  drop(): void {
    this.#work = undefined
  }

  #begin(): void {
    const work = this.incoming.socket.destroyed ? undefined : this.#work
    this.#work = undefined
    if (work !== undefined) this.#run(work)
    // It has not begun, so who holds its body lets go of it. Not at once: any number of them may wait for each other.
    else void Promise.resolve().then(() => this.end())
  }

  #run(work: () => Promise<void>): void {
    this.#hasBegun = true
    void work().then(() => this.end())
  }

  /** Answered, or never to be. */
  end(): void {
    this.#isOver = true
    for (const next of this.#waiting ?? []) next()
    this.#waiting = undefined
  }

  whenOver(next: () => void): void {
    if (this.#isOver) next()
    else {
      this.#waiting ??= []
      this.#waiting.push(next)
    }
  }
}

export class ConnectionQueue {
  readonly #last = new WeakMap<Socket, PipelinedRequest>()

  take(incoming: IncomingMessage, outgoing: ServerResponse): PipelinedRequest {
    const before = this.#last.get(incoming.socket)
    const turn = new PipelinedRequest(incoming, outgoing, before?.isOver === true ? undefined : before)
    this.#last.set(incoming.socket, turn)
    return turn
  }

  /** Resolves when every answer is on its way, so that something can be written to the socket itself. */
  async over(socket: Socket): Promise<void> {
    let last = this.#last.get(socket)
    // A request that did not arrive whole is never answered.
    while (last !== undefined && !last.incoming.complete) last = last.before
    if (last === undefined) return
    await new Promise<void>((resolve) => last.whenOver(resolve))
    const { outgoing } = last
    if (outgoing.writableFinished || outgoing.destroyed) return
    await new Promise<void>((resolve) => outgoing.once('close', resolve))
  }
}
