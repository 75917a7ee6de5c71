// Decides how long the memory of a large body counts. It counts until its answer is sent or its connection is gone. The
// handler may go on after either, so it also counts until the handler no longer needs it (threats H-01, P-40).
import type { PipelinedRequest } from './connection-queue.ts'

/** Watches one request whose body counts in the shared budget. */
export class BodyHold {
  readonly #request: PipelinedRequest
  readonly #release: () => void
  #isGone = false
  #isHandled = false

  /** Make it when the body is complete and before the request is started. `release` is called once. */
  constructor(request: PipelinedRequest, release: () => void) {
    this.#request = request
    this.#release = release
    const { outgoing, incoming } = request
    const { socket } = incoming
    // An answer that waits behind others is not told of the end of its connection, so the socket is watched too.
    const gone = (): void => {
      outgoing.off('close', gone)
      socket.off('close', gone)
      this.#gone()
    }
    // There may be as many as a client sends without waiting for answers, so Node must not warn of a leak.
    socket.setMaxListeners(0)
    outgoing.once('close', gone)
    socket.once('close', gone)
  }

  /** The handler is done; it must be called once, whether it answered or failed. */
  handled(): void {
    this.#isHandled = true
    if (this.#isGone) this.#release()
  }

  #gone(): void {
    this.#isGone = true
    if (this.#isHandled) this.#release()
    else if (!this.#request.hasBegun) {
      this.#request.drop()
      this.#release()
    }
  }
}
