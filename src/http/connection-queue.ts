// Answers the requests of one connection one at a time, in the order of arrival (RFC 9112 section 9.3.2). A client that
// sends a write and, without waiting, a read of the same thing sees its write.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** One request in the order of its connection. It is over when it was answered, or never will be. */
export class PipelinedRequest {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  #before: PipelinedRequest | undefined
  #isOver = false
  #hasBegun = false
  #work: (() => Promise<void>) | undefined
  /** Requests that wait for the end of this one; usually none. */
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

  /** The request before this one, until it is answered. */
  get before(): PipelinedRequest | undefined {
    return this.#before?.isOver === true ? undefined : this.#before
  }

  /**
   * Runs `work` once all earlier requests are answered. `work` must answer and never reject. If the connection is gone
   * before its work began, it is not run: its answer could not be sent.
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

  /** Forgets the work of a request that has not begun, and all that the work holds. */
  drop(): void {
    this.#work = undefined
  }

  #begin(): void {
    const work = this.incoming.socket.destroyed ? undefined : this.#work
    this.#work = undefined
    if (work !== undefined) this.#run(work)
    // The work never ran, so the holder of its body frees that. Not synchronously: a chain of any length may be
    // waiting.
    else void Promise.resolve().then(() => this.end())
  }

  #run(work: () => Promise<void>): void {
    this.#hasBegun = true
    void work().then(() => this.end())
  }

  /** Marks the request as over and starts the next one. */
  end(): void {
    this.#isOver = true
    for (const next of this.#waiting ?? []) next()
    this.#waiting = undefined
  }

  /** Calls `next` when the request is over; at once if it already is. */
  whenOver(next: () => void): void {
    if (this.#isOver) next()
    else {
      this.#waiting ??= []
      this.#waiting.push(next)
    }
  }
}

/** The requests of all connections of a listener. A connection that is gone takes its entry with it. */
export class ConnectionQueue {
  readonly #last = new WeakMap<Socket, PipelinedRequest>()

  /** Appends a request to its connection. Requests must be taken in the order in which they arrived. */
  take(incoming: IncomingMessage, outgoing: ServerResponse): PipelinedRequest {
    const before = this.#last.get(incoming.socket)
    const request = new PipelinedRequest(incoming, outgoing, before?.isOver === true ? undefined : before)
    this.#last.set(incoming.socket, request)
    return request
  }

  /** Resolves when every answer was handed to the socket, so that something can be written to the socket itself. */
  async over(socket: Socket): Promise<void> {
    let last = this.#last.get(socket)
    // A request that did not arrive completely is never answered.
    while (last !== undefined && !last.incoming.complete) last = last.before
    if (last === undefined) return
    await new Promise<void>((resolve) => last.whenOver(resolve))
    const { outgoing } = last
    if (outgoing.writableFinished || outgoing.destroyed) return
    await new Promise<void>((resolve) => outgoing.once('close', resolve))
  }
}
