// Between a thread that serves requests and the one that writes: requests go up whole, responses come down, and the
// state of the seal is told by the writer and confirmed before it goes on. `S` is that state, opaque here.
import type { ByteStream } from '../api/request.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import type { Log } from '../lib/log.ts'
import { call } from '../rpc/calls.ts'
import { PeerGone, Unreachable } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultLog } from './fault-log.ts'

/** Requests that may wait for the writer at once, and questions; beyond it the caller is told to come back. */
const MAX_WAITING = 10_000

const streamsOf = ({ stream }: WireRequest | WireResponse): ByteStream[] => (stream === undefined ? [] : [stream])

/** For a mount, by its UUID. */
type MountQuestion = { readonly mount: string; readonly question: unknown }
/** 'none': whatever the reason is, it stays there. */
type MountAnswer = { readonly answer: unknown } | 'none'

/** What the thread that writes is asked. */
const WRITER_CALLS = {
  forward: call<WireRequest, WireResponse>({ most: MAX_WAITING, moves: streamsOf, answerMoves: streamsOf }),
  ask: call<MountQuestion, MountAnswer>({ most: MAX_WAITING }),
}

/** What a thread that serves is asked: to take over a state. */
type ServingCalls<S> = { readonly takeOver: ReturnType<typeof call<S, void>> }
const SERVING_CALLS = { takeOver: call<unknown, void>() }

/** What a mount, by its UUID, answers to itself on a thread that serves. */
export type WriterCallHandler = (mount: string, question: unknown) => Promise<unknown>

/** The end in a thread that serves. */
export class WriterLink<S> {
  readonly #peer: Peer<typeof WRITER_CALLS>

  /** `apply` takes over a new state; the writer waits until it is done. */
  constructor(port: Port, apply: (state: S) => Promise<void>, log: Log) {
    const answers: ServingCalls<S> = SERVING_CALLS
    this.#peer = connectPeer({
      channel: portChannel(port),
      asks: WRITER_CALLS,
      answers,
      // Where it fails, this thread knows what that means; the writer goes on all the same.
      handlers: { takeOver: (state: S) => apply(state).catch(() => {}) },
      onFault: faultLog(log),
    })
  }

  /**
   * What the same mount answers there.
   * @throws Unreachable where it does not; another error where the question or its answer cannot be sent
   */
  async ask(mount: string, question: unknown): Promise<unknown> {
    const reply = await this.#peer.call('ask', { mount, question })
    if (reply === 'none') throw new Unreachable('The writing thread has no answer')
    return reply.answer
  }

  /**
   * @throws Unreachable where the writer ended, or is overloaded: whether the request was carried out is not known;
   * another error where the request or its response is nothing that threads can send each other
   */
  forward(request: WireRequest): Promise<WireResponse> {
    return this.#peer.call('forward', request)
  }

  /** The writer is no more: nobody waits for it in vain. */
  close(): void {
    this.#peer.close()
  }
}

/** What the thread that writes does for those that serve. */
export type WriterService = {
  readonly handle: (request: WireRequest) => Promise<WireResponse>
  /** What engines ask. */
  readonly answer: WriterCallHandler
  readonly log: Log
}

/** The end in the thread that writes; one for each thread that serves. */
export class ServingLink<S> {
  readonly #peer: Peer<ServingCalls<S>>

  constructor(port: Port, { handle, answer, log }: WriterService) {
    const asks: ServingCalls<S> = SERVING_CALLS
    this.#peer = connectPeer({
      channel: portChannel(port),
      asks,
      answers: WRITER_CALLS,
      handlers: {
        forward: (request) => {
          const handled = handle(request)
          // What nobody read of it is thrown away where it comes from; its way here would stay open.
          const drop = (): void => void request.stream?.cancel().catch(() => {})
          if (request.stream !== undefined) handled.then(drop, drop)
          return handled
        },
        ask: ({ mount, question }) =>
          answer(mount, question).then(
            (answered): MountAnswer => ({ answer: answered }),
            (): MountAnswer => 'none',
          ),
      },
      onFault: faultLog(log),
    })
  }

  /** Resolves when the other thread has taken it over, or is no more. */
  async tell(state: S): Promise<void> {
    try {
      await this.#peer.call('takeOver', state)
    } catch (cause) {
      if (!(cause instanceof PeerGone)) throw cause
    }
  }
}
