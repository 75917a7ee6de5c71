// How long the memory of a large body counts: until its answer is sent or its connection gone, and also until the
// handler, which may go on after either, has no more need of it (threats H-01, P-40).
import type { PipelinedRequest } from './connection-queue.ts'

export class BodyHold {
  readonly #turn: PipelinedRequest
  readonly #release: () => void
  #isGone = false
  #isHandled = false

  /** From when the body is whole, and before its turn is asked for; `release` is called once. */
  constructor(turn: PipelinedRequest, release: () => void) {
    this.#turn = turn
    this.#release = release
    const { outgoing, incoming } = turn
    const { socket } = incoming
    // An answer that waits behind others hears nothing of the end of its connection.
    const gone = (): void => {
      outgoing.off('close', gone)
      socket.off('close', gone)
      this.#gone()
    }
    // As many as a client sends without waiting for answers.
    socket.setMaxListeners(0)
    outgoing.once('close', gone)
    socket.once('close', gone)
  }

  handled(): void {
    this.#isHandled = true
    if (this.#isGone) this.#release()
  }

  #gone(): void {
    this.#isGone = true
    if (this.#isHandled) this.#release()
    else if (!this.#turn.hasBegun) {
      this.#turn.drop()
      this.#release()
    }
  }
}
