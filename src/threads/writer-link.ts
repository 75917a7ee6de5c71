// The link between a serving thread and the writing one. Requests go up whole and responses come down. The writer tells
// the state of the seal, and waits until it is confirmed. `S` is that state, opaque here.
import { Refusal } from '../api/errors.ts'
import type { ByteStream } from '../api/request.ts'
import type { WireRequest, WireResponse } from '../core/exchange.ts'
import type { Log } from '../lib/log.ts'
import { call } from '../rpc/calls.ts'
import { PeerGone, Unreachable } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { faultLog } from './fault-log.ts'

/**
 * How many requests may wait for the writer at once, and how many questions. Beyond it the caller is told to try again.
 */
const MAX_WAITING = 10_000

const streamsOf = ({ stream }: WireRequest | WireResponse): ByteStream[] => (stream === undefined ? [] : [stream])

/** A question to a mount, named by its UUID. */
type MountQuestion = { readonly mount: string; readonly question: unknown }
/** 'none': there was no answer. The reason stays on the writing thread, unless it is a refusal. */
type MountAnswer = { readonly answer: unknown } | 'none'

/** Calls that the writing thread answers to a serving one. */
const WRITER_CALLS = {
  forward: call<WireRequest, WireResponse>({ most: MAX_WAITING, moves: streamsOf, answerMoves: streamsOf }),
  ask: call<MountQuestion, MountAnswer>({ most: MAX_WAITING }),
}

/** Calls that a serving thread answers to the writing one: to take over a state. */
type ServingCalls<S> = { readonly takeOver: ReturnType<typeof call<S, void>> }
const SERVING_CALLS = { takeOver: call<unknown, void>() }

/** Answers a mount, by its UUID, that asks the same mount on the writing thread. */
export type WriterCallHandler = (mount: string, question: unknown) => Promise<unknown>

/** The end in a serving thread. */
export class WriterLink<S> {
  readonly #peer: Peer<typeof WRITER_CALLS>

  /** `apply` takes over a new state; the writer waits until it resolves. */
  constructor(port: Port, apply: (state: S) => Promise<void>, log: Log) {
    const answers: ServingCalls<S> = SERVING_CALLS
    this.#peer = connectPeer({
      channel: portChannel(port),
      asks: WRITER_CALLS,
      answers,
      // A failure is handled in `apply`, where its meaning is known. The writer goes on all the same.
      handlers: { takeOver: (state: S) => apply(state).catch(() => {}) },
      onFault: faultLog(log),
    })
  }

  /**
   * Returns what the same mount on the writing thread answers.
   * @throws Refusal as the engine threw it; Unreachable if there is no answer; another error if the question or its
   * answer cannot be sent
   */
  async ask(mount: string, question: unknown): Promise<unknown> {
    const reply = await this.#peer.call('ask', { mount, question })
    if (reply === 'none') throw new Unreachable('The writing thread has no answer')
    return reply.answer
  }

  /**
   * Has the writing thread carry out the request.
   * @throws Unreachable if the writer ended or is overloaded: whether the request was carried out is then not known;
   * another error if the request or its response cannot be sent between threads
   */
  forward(request: WireRequest): Promise<WireResponse> {
    return this.#peer.call('forward', request)
  }

  /** The writer has ended: calls that wait for it reject at once. */
  close(): void {
    this.#peer.close()
  }
}

/** The services of the writing thread for serving threads. */
export type WriterService = {
  readonly handle: (request: WireRequest) => Promise<WireResponse>
  /** Answers questions of engines. */
  readonly answer: WriterCallHandler
  readonly log: Log
}

/** The end in the writing thread, one for each serving thread. */
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
          // The rest of a body that was not read is thrown away at its source; otherwise its way here would stay open.
          const drop = (): void => void request.stream?.cancel().catch(() => {})
          if (request.stream !== undefined) handled.then(drop, drop)
          return handled
        },
        ask: ({ mount, question }) =>
          answer(mount, question).then(
            (answered): MountAnswer => ({ answer: answered }),
            (cause: unknown): MountAnswer => {
              if (cause instanceof Refusal) throw cause
              return 'none'
            },
          ),
      },
      onFault: faultLog(log),
    })
  }

  /** Resolves when the other thread has taken over the state, has failed to, or has ended. */
  async tell(state: S): Promise<void> {
    try {
      await this.#peer.call('takeOver', state)
    } catch (cause) {
      if (!(cause instanceof PeerGone)) throw cause
    }
  }
}
