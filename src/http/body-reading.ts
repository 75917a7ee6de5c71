// How a body comes: within the limits of its listener, and of who sends it. The first block is anybody's; who sends
// more is looked for then, so that what is small costs no look. Without a live token no more is taken than such a
// caller may have parsed: the rest of the request goes on without its body (threats H-01, P-40).
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import { fail, type Refusal } from '../api/errors.ts'
import { letGo } from '../lib/let-go.ts'
import { BLOCK_BYTES, BodyCollector } from './body-collector.ts'
import type { PipelinedRequest } from './connection-queue.ts'
import type { DeadlineQueue } from './deadlines.ts'
import type { ListenerLimits } from './limits.ts'
import type { BodyMemory } from './shared-figures.ts'

export type BodyParts = {
  readonly limits: ListenerLimits
  readonly memory: BodyMemory
  readonly reads: DeadlineQueue
}

/** Who sends it. */
export type Sender = {
  readonly address: string
  readonly hasLiveToken: () => boolean | Promise<boolean>
}

/** One of them is called, once; none where the connection ends before. */
export type BodyEnds = {
  /** `release` gives back what it takes, where that counts. */
  readonly whole: (body: Buffer, release: (() => void) | undefined) => void
  /** More than the sender may send: nothing is kept, and the rest is not wanted. */
  readonly cut: () => void
  readonly refused: (refusal: Refusal) => void
}

export function readBody(
  { incoming, outgoing }: PipelinedRequest,
  sender: Sender,
  parts: BodyParts,
  ends: BodyEnds,
): void {
  const { maxRequestBytes } = parts.limits
  const body = new BodyCollector(parts.memory, maxRequestBytes, sender.address)
  let isOver = false
  let isJudged = false
  const release = (): void => {
    isOver = true
    body.release()
  }
  outgoing.once('close', release)
  const stop = (end: () => void): void => {
    parts.reads.remove(deadline)
    incoming.removeAllListeners('data')
    incoming.removeAllListeners('end')
    release()
    end()
  }
  const refuse = (refusal: Refusal): void => stop(() => ends.refused(refusal))
  const deadline = parts.reads.add(() => refuse(fail('request_timeout', [])))
  const keep = (chunk: Buffer): void => {
    const added = body.add(chunk)
    if (added === 'added') return
    letGo(chunk)
    if (added === 'too-large') refuse(fail('body_too_large', [maxRequestBytes]))
    else if (added === 'too-large-for-strangers') stop(ends.cut)
    else refuse(fail(added === 'no-share' ? 'body_share_full' : 'body_memory_full', []))
  }
  const judge = (chunk: Buffer, isKnown: boolean): void => {
    isJudged = true
    if (!isKnown) body.limitToStrangers()
    // What is announced to be too much is not waited for.
    if (!isKnown && Number(incoming.headers['content-length'] ?? 0) > MAX_OPEN_BODY_BYTES) {
      letGo(chunk)
      stop(ends.cut)
    } else keep(chunk)
  }
  incoming.on('data', (chunk: Buffer) => {
    if (isJudged || body.size + chunk.length <= BLOCK_BYTES) {
      keep(chunk)
      return
    }
    const known = sender.hasLiveToken()
    if (!(known instanceof Promise)) {
      judge(chunk, known)
      return
    }
    incoming.pause()
    const goOn = (isKnown: boolean): void => {
      if (isOver) {
        letGo(chunk)
        return
      }
      judge(chunk, isKnown)
      incoming.resume()
    }
    known.then(goOn, () => goOn(false))
  })
  incoming.on('end', () => {
    parts.reads.remove(deadline)
    // The connection remembers its last request: an idle one must not hold what that carried.
    outgoing.off('close', release)
    ends.whole(body.take(), body.isCounted ? release : undefined)
  })
  incoming.on('error', () => {
    parts.reads.remove(deadline)
    // A body that is whole is let go by who holds it.
    if (!incoming.readableEnded) release()
    outgoing.destroy()
  })
}
