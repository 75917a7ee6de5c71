// One end of a channel. Calls go out with a number, and answers come back with the same. It knows no thread, process,
// socket or time: those are handed in, so that every order of events can be tried in memory.
import { Refusal } from '../api/errors.ts'
import type { Timer, Timers } from '../lib/world.ts'
import type { Call, CallNames, CallTable, Handlers, InputOf, Notice, NoticeNames, OutputOf } from './calls.ts'
import { type Channel, type Movable, release } from './channel.ts'
import { CallFailed, CallLate, PeerGone, TooManyCalls, UnknownCall } from './errors.ts'
import { type Frame, frameOf, receivedRefusal, sentRefusal } from './frames.ts'

/** One end: `A` are the calls that it makes, `B` those that it answers. */
export type PeerParts<A extends CallTable, B extends CallTable> = {
  readonly channel: Channel
  /** Calls that the other end answers. */
  readonly asks: A
  /** Calls that this end answers, by `handlers`. */
  readonly answers: B
  readonly handlers: Handlers<B>
  /** For deadlines of `asks`; may be missing if none has one. */
  readonly timers?: Timers
  /** Called with a defect of this end. The other end is told only its name. */
  readonly onFault: (call: string, cause: unknown) => void
}

/** The other end, as this one sees it. */
export interface Peer<A extends CallTable> {
  /**
   * Asks the other end.
   * @throws Refusal as the other end threw it; CallFailed for its defects; PeerGone, TooManyCalls, CallLate; what the
   * channel throws if the input cannot be sent
   */
  call<N extends CallNames<A>>(name: N, input: InputOf<A[N]>): Promise<OutputOf<A[N]>>
  /** Sends a notice. @throws what the channel throws if the input cannot be sent */
  tell<N extends NoticeNames<A>>(name: N, input: InputOf<A[N]>): void
  /** Treats the other end as ended: calls that wait reject with PeerGone. */
  close(): void
  readonly hasEnded: boolean
  /** How many calls wait for answers. */
  readonly waiting: number
}

/** Starts to listen on the channel. @throws RangeError if a call has a deadline and there are no timers */
export function connectPeer<A extends CallTable, B extends CallTable>(parts: PeerParts<A, B>): Peer<A> {
  return new FramedPeer(parts as unknown as AnyParts) as Peer<A>
}

/** Tables have types for their users. In here, every input and output is opaque. */
type AnyCall = Call<unknown, unknown>
type AnyTable = Readonly<Record<string, AnyCall | Notice<unknown>>>
type AnyHandler = (input: unknown) => unknown
type AnyParts = Omit<PeerParts<CallTable, CallTable>, 'asks' | 'answers' | 'handlers'> & {
  readonly asks: AnyTable
  readonly answers: AnyTable
  readonly handlers: Readonly<Record<string, AnyHandler>>
}

type Waiting = {
  readonly name: string
  readonly resolve: (output: unknown) => void
  readonly reject: (cause: unknown) => void
  readonly timer: Timer | undefined
}

class FramedPeer {
  readonly #channel: Channel
  readonly #timers: Timers | undefined
  readonly #onFault: (call: string, cause: unknown) => void
  readonly #asks: ReadonlyMap<string, AnyCall | Notice<unknown>>
  readonly #answers: ReadonlyMap<string, AnyCall | Notice<unknown>>
  readonly #handlers: ReadonlyMap<string, AnyHandler>
  readonly #waiting = new Map<number, Waiting>()
  /** How many calls of each name wait. */
  readonly #open = new Map<string, number>()
  #lastId = 0
  #hasEnded = false

  constructor(parts: AnyParts) {
    const { channel, asks, answers, handlers, timers, onFault } = parts
    const hasDeadline = Object.values(asks).some((one) => one.kind === 'call' && one.deadlineMs !== undefined)
    if (hasDeadline && timers === undefined) throw new RangeError('Calls with a deadline need timers')
    this.#channel = channel
    this.#timers = timers
    this.#onFault = onFault
    // Maps, since names come from the other end too: a plain object would answer to names that all objects have.
    this.#asks = new Map(Object.entries(asks))
    this.#answers = new Map(Object.entries(answers))
    this.#handlers = new Map(Object.entries(handlers))
    channel.onMessage((message) => this.#received(message))
    channel.onEnd(() => this.close())
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  get waiting(): number {
    return this.#waiting.size
  }

  call(name: string, input: unknown): Promise<unknown> {
    const asked = callOf(this.#asks, name)
    if (this.#hasEnded) return Promise.reject(new PeerGone(`"${name}": the other end has ended`))
    const open = this.#open.get(name) ?? 0
    if (open >= asked.most) return Promise.reject(new TooManyCalls(`"${name}": ${open} calls wait already`))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = this.#deadline(id, asked.deadlineMs)
      // Noted before it is sent: some channels have the answer at once.
      this.#waiting.set(id, { name, resolve, reject, timer })
      this.#open.set(name, open + 1)
      try {
        this.#channel.send({ rpc: 'call', id, name, input } satisfies Frame, asked.moves(input))
      } catch (cause) {
        this.#take(id)?.reject(cause)
      }
    })
  }

  tell(name: string, input: unknown): void {
    const moved = this.#asks.get(name)?.moves(input) ?? []
    if (this.#hasEnded) release(moved)
    else this.#channel.send({ rpc: 'notice', name, input } satisfies Frame, moved)
  }

  close(): void {
    this.#hasEnded = true
    for (const id of [...this.#waiting.keys()]) {
      const one = this.#take(id)
      one?.reject(new PeerGone(`"${one.name}": the other end ended`))
    }
  }

  #deadline(id: number, deadlineMs: number | undefined): Timer | undefined {
    if (deadlineMs === undefined) return undefined
    return this.#timers?.after(deadlineMs, () => {
      const late = this.#take(id)
      late?.reject(new CallLate(`"${late.name}": no answer within ${deadlineMs} ms`))
    })
  }

  /** Removes and returns the call with this number; undefined if it does not wait. */
  #take(id: number): Waiting | undefined {
    const one = this.#waiting.get(id)
    if (one === undefined) return undefined
    this.#waiting.delete(id)
    this.#open.set(one.name, (this.#open.get(one.name) ?? 1) - 1)
    one.timer?.cancel()
    return one
  }

  #received(message: unknown): void {
    const frame = frameOf(message)
    switch (frame?.rpc) {
      case 'call':
        this.#asked(frame.id, frame.name, frame.input)
        break
      case 'notice':
        this.#noticed(frame.name, frame.input)
        break
      case 'answer': {
        const one = this.#take(frame.id)
        // Too late. No one else knows of what came with it.
        if (one === undefined) release(frame.moved ?? [])
        else one.resolve(frame.output)
        break
      }
      case 'refusal':
        this.#take(frame.id)?.reject(receivedRefusal(frame.refusal))
        break
      case 'failure': {
        const one = this.#take(frame.id)
        one?.reject(new CallFailed(one.name, frame.cause))
        break
      }
    }
  }

  #asked(id: number, name: string, input: unknown): void {
    try {
      const output = this.#handler(name)(input)
      if (!(output instanceof Promise)) this.#answer(id, name, output)
      else
        output.then(
          (settled) => this.#answer(id, name, settled),
          (cause: unknown) => this.#fail(id, name, cause),
        )
    } catch (cause) {
      this.#fail(id, name, cause)
    }
  }

  #noticed(name: string, input: unknown): void {
    try {
      this.#handler(name)(input)
    } catch (cause) {
      this.#onFault(name, cause)
    }
  }

  #handler(name: string): AnyHandler {
    const handler = this.#handlers.get(name)
    if (handler === undefined) throw new UnknownCall(`Nobody answers "${name}" here`)
    return handler
  }

  #answer(id: number, name: string, output: unknown): void {
    let moved: readonly Movable[] = []
    try {
      moved = callOf(this.#answers, name).answerMoves(output)
      const frame: Frame = moved.length === 0 ? { rpc: 'answer', id, output } : { rpc: 'answer', id, output, moved }
      if (this.#hasEnded) release(moved)
      else this.#channel.send(frame, moved)
    } catch (cause) {
      // The source of what could not be sent would stay open.
      release(moved)
      this.#fail(id, name, cause)
    }
  }

  #fail(id: number, name: string, cause: unknown): void {
    const isRefusal = cause instanceof Refusal
    if (!isRefusal) this.#onFault(name, cause)
    if (this.#hasEnded) return
    const frame: Frame = isRefusal
      ? { rpc: 'refusal', id, refusal: sentRefusal(cause) }
      : { rpc: 'failure', id, cause: cause instanceof Error ? cause.name : typeof cause }
    try {
      this.#channel.send(frame, [])
    } catch {
      // A channel that cannot take these few words is broken.
      this.close()
    }
  }
}

function callOf(table: ReadonlyMap<string, AnyCall | Notice<unknown>>, name: string): AnyCall {
  const row = table.get(name)
  if (row?.kind !== 'call') throw new UnknownCall(`"${name}" has no answer`)
  return row
}
