// Reads a body within the limits of its listener and of its sender. Every sender may fill the first block; only for
// more is its token checked, so small bodies cost no lookup. A sender without a live token may send no more than such a
// caller may have parsed; beyond that the request goes on without its body (threats H-01, P-40).
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { fail, type Refusal } from '../api/errors.ts'
import { letGo } from '../lib/let-go.ts'
import { BLOCK_BYTES, BodyCollector } from './body-collector.ts'
import type { PipelinedRequest } from './connection-queue.ts'
import type { Deadline, DeadlineQueue } from './deadlines.ts'
import type { ListenerLimits } from './limits.ts'
import type { BodyMemory } from './shared-figures.ts'

/** Limits, memory and deadlines that all bodies of a listener share. */
export type BodyParts = {
  readonly limits: ListenerLimits
  readonly memory: BodyMemory
  /** Deadlines for the whole body. */
  readonly reads: DeadlineQueue
}

/** The sender of a body. */
export type Sender = {
  readonly address: string
  /** Called at most once, and only for bodies beyond the first block. */
  readonly hasLiveToken: () => boolean | Promise<boolean>
}

/** The ways in which a body ends. One of them is called, once; none if the connection ends before the body. */
export type BodyEnds = {
  /** `release` gives back the memory of the body; undefined if the body counts in no budget. */
  readonly whole: (body: Buffer, release: (() => void) | undefined) => void
  /** The sender may not send so much: nothing is kept, and the rest is dropped. */
  readonly cut: () => void
  readonly refused: (refusal: Refusal) => void
}

/** Begins to read the body of a request; returns at once. An error of the connection destroys the answer. */
export function readBody(request: PipelinedRequest, sender: Sender, parts: BodyParts, ends: BodyEnds): void {
  const { incoming } = request
  const reading = new BodyReading(request, sender, parts, ends)
  incoming.on('data', (chunk: Buffer) => reading.arrived(chunk))
  incoming.on('end', () => reading.finished())
  incoming.on('error', () => reading.failed())
}

/** One body while it arrives. */
class BodyReading {
  readonly #request: PipelinedRequest
  readonly #sender: Sender
  readonly #parts: BodyParts
  readonly #ends: BodyEnds
  readonly #body: BodyCollector
  readonly #deadline: Deadline | undefined
  #isOver = false
  #isSenderChecked = false
  readonly #release = (): void => {
    this.#isOver = true
    this.#body.release()
  }

  constructor(request: PipelinedRequest, sender: Sender, parts: BodyParts, ends: BodyEnds) {
    this.#request = request
    this.#sender = sender
    this.#parts = parts
    this.#ends = ends
    this.#body = new BodyCollector(parts.memory, parts.limits.maxRequestBytes, sender.address)
    request.outgoing.once('close', this.#release)
    this.#deadline = parts.reads.add(() => this.#refuse(fail('request_timeout', [])))
  }

  arrived(chunk: Buffer): void {
    if (this.#isSenderChecked || this.#body.size + chunk.length <= BLOCK_BYTES) {
      this.#keep(chunk)
      return
    }
    const known = this.#sender.hasLiveToken()
    if (known instanceof Promise) this.#pauseUntil(known, chunk)
    else this.#senderChecked(chunk, known)
  }

  finished(): void {
    const { outgoing } = this.#request
    this.#parts.reads.remove(this.#deadline)
    // The connection remembers its last request: an idle one must not keep that request's memory.
    outgoing.off('close', this.#release)
    this.#ends.whole(this.#body.take(), this.#body.isCounted ? this.#release : undefined)
  }

  failed(): void {
    const { incoming, outgoing } = this.#request
    this.#parts.reads.remove(this.#deadline)
    // A complete body is freed by its holder.
    if (!incoming.readableEnded) this.#release()
    outgoing.destroy()
  }

  #pauseUntil(known: Promise<boolean>, chunk: Buffer): void {
    const { incoming } = this.#request
    incoming.pause()
    const goOn = (isKnown: boolean): void => {
      if (this.#isOver) {
        letGo(chunk)
        return
      }
      this.#senderChecked(chunk, isKnown)
      incoming.resume()
    }
    known.then(goOn, () => goOn(false))
  }

  #senderChecked(chunk: Buffer, isKnown: boolean): void {
    const { headers } = this.#request.incoming
    this.#isSenderChecked = true
    if (!isKnown) this.#body.limitToStrangers()
    // The announced length is already too much, so the rest is not waited for.
    if (!isKnown && Number(headers['content-length'] ?? 0) > MAX_OPEN_BODY_BYTES) {
      letGo(chunk)
      this.#stop(this.#ends.cut)
    } else this.#keep(chunk)
  }

  #keep(chunk: Buffer): void {
    const added = this.#body.add(chunk)
    if (added === 'added') return
    letGo(chunk)
    if (added === 'too-large') this.#refuse(fail('body_too_large', [this.#parts.limits.maxRequestBytes]))
    else if (added === 'too-large-for-strangers') this.#stop(this.#ends.cut)
    else this.#refuse(fail(added === 'no-share' ? 'body_share_full' : 'body_memory_full', []))
  }

  #refuse(refusal: Refusal): void {
    this.#stop(() => this.#ends.refused(refusal))
  }

  #stop(end: () => void): void {
    const { incoming } = this.#request
    this.#parts.reads.remove(this.#deadline)
    incoming.removeAllListeners('data')
    incoming.removeAllListeners('end')
    this.#release()
    end()
  }
}
