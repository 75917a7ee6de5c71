// The framing in memory: every message waits until the test hands it over, so each order of events can be had.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fail, failFor, Refusal, RefusalForNow } from '../api/errors.ts'
import type { Timers } from '../lib/world.ts'
import { call, type Handlers, NO_CALLS, notice } from './calls.ts'
import type { Channel, Movable } from './channel.ts'
import { CallFailed, CallLate, PeerGone, TooManyCalls, UnknownCall } from './errors.ts'
import type { Frame } from './frames.ts'
import { connectPeer, type Peer } from './peer.ts'

const MOST = 4
const DEADLINE_MS = 1_000
const CALLS = {
  double: call<number, number>(),
  few: call<number, number>({ most: MOST }),
  timed: call<number, number>({ deadlineMs: DEADLINE_MS }),
  stream: call<ReadableStream, ReadableStream>({
    deadlineMs: DEADLINE_MS,
    moves: (stream) => [stream],
    answerMoves: (stream) => [stream],
  }),
  seen: notice<string>(),
}

type Sent = { readonly frame: Frame; readonly moved: readonly Movable[] }

/** A channel whose messages wait; `refuse` says which cannot be sent. */
class Wire implements Channel {
  readonly sent: Sent[] = []
  #hear: ((message: unknown) => void)[] = []
  #end: (() => void)[] = []
  other: Wire | undefined
  refuse: (frame: Frame) => boolean = () => false
  readonly send = (message: unknown, moved: readonly Movable[]): void => {
    if (this.refuse(message as Frame)) throw new TypeError('cannot be sent')
    this.sent.push({ frame: message as Frame, moved })
  }
  readonly onMessage = (listener: (message: unknown) => void): void => void this.#hear.push(listener)
  readonly onEnd = (listener: () => void): void => void this.#end.push(listener)
  /** Hands over the one at that place of those that wait. */
  deliver(at = 0): void {
    const [one] = this.sent.splice(at, 1)
    this.other?.hear(one?.frame)
  }
  hear(message: unknown): void {
    for (const listener of this.#hear) listener(message)
  }
  end(): void {
    for (const listener of this.#end) listener()
  }
}

function wires(): [Wire, Wire] {
  const [own, other] = [new Wire(), new Wire()]
  own.other = other
  other.other = own
  return [own, other]
}

/** Timers that fire when the test says so. */
function heldTimers() {
  const due: (() => void)[] = []
  const timers: Timers = {
    after: (_ms, work) => {
      due.push(work)
      return { cancel: () => void (due.includes(work) && due.splice(due.indexOf(work), 1)) }
    },
    sleep: async () => {},
  }
  return { due, timers }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const HANDLERS: Handlers<typeof CALLS> = {
  double: (number) => number * 2,
  few: async (number) => number * 2,
  timed: async (number) => number * 2,
  stream: (stream) => stream,
  seen: () => {},
}

function stage(handlers: Partial<Handlers<typeof CALLS>> = {}) {
  const [up, down] = wires()
  const { due, timers } = heldTimers()
  const faults: string[] = []
  const onFault = (name: string, cause: unknown) => void faults.push(`${name} ${(cause as Error).name}`)
  const peer: Peer<typeof CALLS> = connectPeer({
    channel: up,
    asks: CALLS,
    answers: NO_CALLS,
    handlers: {},
    timers,
    onFault,
  })
  const given = { ...HANDLERS, ...handlers } as Handlers<typeof CALLS>
  const answering = connectPeer({ channel: down, asks: NO_CALLS, answers: CALLS, handlers: given, onFault })
  return { up, down, due, faults, peer, answering }
}

test('an answer comes to the call that it is for, in whatever order the two ends are heard', async () => {
  const { up, down, peer } = stage()
  const asked = [1, 2, 3].map((number) => peer.call('double', number))
  up.deliver(2)
  up.deliver(0)
  up.deliver(0)
  while (down.sent.length > 0) down.deliver(down.sent.length - 1)
  assert.deepEqual(await Promise.all(asked), [2, 4, 6])
  assert.equal(peer.waiting, 0)
})

test('an answer that comes while the call is still being sent is not lost', async () => {
  const { up, down, peer } = stage()
  const send = up.send
  Object.assign(up, {
    send: (message: unknown, moved: readonly Movable[]) => {
      send(message, moved)
      up.deliver()
      down.deliver()
    },
  })
  assert.equal(await peer.call('double', 4), 8)
})

test('a refusal crosses with all that its caller is told, and no defect is logged', async () => {
  const refusals = [
    fail('sealed', []),
    failFor(7, 'overloaded', []),
    new Refusal('permission_denied', 403, 'no', 0, 'hint'),
  ]
  const { up, down, faults, peer } = stage({
    double: (at) => {
      throw refusals[at]
    },
  })
  for (const [at, { code, status, message, hint }] of refusals.entries()) {
    const asked = peer.call('double', at)
    up.deliver()
    down.deliver()
    await assert.rejects(asked, (cause) => {
      assert.ok(cause instanceof Refusal)
      assert.deepEqual([cause.code, cause.status, cause.message, cause.hint], [code, status, message, hint])
      assert.equal(cause instanceof RefusalForNow ? cause.retryAfterSeconds : undefined, at === 1 ? 7 : undefined)
      return true
    })
  }
  assert.deepEqual(faults, [])
})

test('a defect is told of where it arose, and crosses as its name alone', async () => {
  for (const kind of ['thrown', 'rejected'] as const) {
    const { up, down, faults, peer } = stage({
      double: () => {
        const cause = new RangeError('a secret')
        if (kind === 'thrown') throw cause
        return Promise.reject(cause)
      },
    })
    const asked = peer.call('double', 1)
    up.deliver()
    await turn()
    assert.doesNotMatch(JSON.stringify(down.sent), /secret/)
    down.deliver()
    await assert.rejects(asked, (cause) => cause instanceof CallFailed && cause.name === 'CallFailed, for RangeError')
    assert.deepEqual(faults, ['double RangeError'])
  }
})

test('a call that the other end does not know fails, whatever its name', async () => {
  const { up, down, faults } = stage()
  const heard: Frame[] = []
  up.onMessage((message) => void heard.push(message as Frame))
  // The last is a notice, which has no answer.
  for (const name of ['gone', 'toString', '__proto__', 'seen']) {
    down.hear({ rpc: 'call', id: 1, name, input: undefined })
    down.deliver()
  }
  assert.deepEqual(
    heard.map((frame) => frame.rpc === 'failure' && frame.cause),
    Array(4).fill(UnknownCall.name),
  )
  assert.deepEqual(
    faults,
    ['gone', 'toString', '__proto__', 'seen'].map((name) => `${name} UnknownCall`),
  )
})

test('who waits for an end that ends is told at once, and nobody waits after that', async () => {
  const { up, due, peer } = stage()
  const waiting = [peer.call('double', 1), peer.call('timed', 2)]
  up.end()
  for (const one of waiting) await assert.rejects(one, PeerGone)
  assert.deepEqual([peer.hasEnded, peer.waiting, due.length], [true, 0, 0])
  await assert.rejects(peer.call('double', 1), PeerGone)
  peer.tell('seen', 'nothing')
  assert.equal(up.sent.length, 2)
})

test('of one name as many may wait as its row says, one above is refused, and other names are not', async () => {
  const { up, down, peer } = stage()
  const waiting = Array.from({ length: MOST }, () => peer.call('few', 1))
  await assert.rejects(peer.call('few', 1), TooManyCalls)
  const other = peer.call('double', 1)
  assert.equal(up.sent.length, MOST + 1)
  up.deliver()
  await turn()
  down.deliver()
  assert.equal(await waiting[0], 2)
  waiting.push(peer.call('few', 1))
  await assert.rejects(peer.call('few', 1), TooManyCalls)
  up.end()
  await Promise.allSettled([...waiting, other])
})

test('a call that cannot be sent fails alone and leaves nothing, however often', async () => {
  const { up, due, peer } = stage()
  up.refuse = (frame) => frame.rpc !== 'answer'
  for (let time = 0; time <= MOST; time++) await assert.rejects(peer.call('few', 1), /cannot be sent/)
  await assert.rejects(peer.call('timed', 1), /cannot be sent/)
  assert.throws(() => peer.tell('seen', 'text'), /cannot be sent/)
  assert.deepEqual([peer.waiting, due.length], [0, 0])
})

test('an answer that cannot be sent fails its own call, and what it would have handed over is let go of', async () => {
  const cancelled = Promise.withResolvers<unknown>()
  const stream = new ReadableStream({ cancel: cancelled.resolve })
  const { up, down, faults, peer } = stage({ stream: () => stream })
  down.refuse = (frame) => frame.rpc === 'answer'
  const asked = peer.call('stream', new ReadableStream())
  up.deliver()
  down.deliver()
  await assert.rejects(asked, { name: 'CallFailed, for TypeError' })
  await cancelled.promise
  assert.deepEqual(faults, ['stream TypeError'])
})

test('an end whose channel takes nothing any more counts as ended', async () => {
  const { up, down, answering } = stage({ double: () => Promise.reject(new Error('a defect')) })
  down.refuse = () => true
  up.send({ rpc: 'call', id: 1, name: 'double', input: 1 } satisfies Frame, [])
  up.deliver()
  await turn()
  assert.equal(answering.hasEnded, true)
})

test('a call ends at its deadline, and a late answer is dropped with what came with it', async () => {
  const { up, down, due, peer } = stage()
  const cancelled = Promise.withResolvers<unknown>()
  const asked = peer.call('stream', new ReadableStream({ cancel: cancelled.resolve }))
  up.deliver()
  due[0]?.()
  await assert.rejects(asked, CallLate)
  assert.equal(peer.waiting, 0)
  down.deliver()
  await cancelled.promise
  // A number is used once: the next call does not hear the answer of the last.
  const next = peer.call('timed', 3)
  up.deliver()
  await turn()
  down.deliver()
  assert.equal(await next, 6)
  assert.equal(due.length, 0)
})

test('what is answered to an end that ended meanwhile is let go of', async () => {
  const cancelled = Promise.withResolvers<unknown>()
  const answered = Promise.withResolvers<ReadableStream>()
  const { up, down, peer } = stage({ stream: () => answered.promise })
  void peer.call('stream', new ReadableStream()).catch(() => {})
  up.deliver()
  down.end()
  answered.resolve(new ReadableStream({ cancel: cancelled.resolve }))
  await cancelled.promise
  assert.equal(down.sent.length, 0)
  up.end()
})

test('notices arrive, a defect of who hears one is told of, and nothing comes back', () => {
  const seen: string[] = []
  const { up, down, faults, peer } = stage({
    seen: (text) => {
      if (text === 'bad') throw new RangeError('a secret')
      seen.push(text)
    },
  })
  for (const text of ['one', 'bad', 'two']) peer.tell('seen', text)
  while (up.sent.length > 0) up.deliver()
  assert.deepEqual([seen, faults, down.sent], [['one', 'two'], ['seen RangeError'], []])
})

test('messages of others on the same channel are left alone', () => {
  const { up, down, faults } = stage()
  for (const message of [undefined, null, 1, 'call', { kind: 'stop' }, []]) down.hear(message)
  assert.deepEqual([faults, down.sent, up.sent], [[], [], []])
})

test('calls with a deadline and no timers are refused where the end is made', () => {
  const parts = { asks: CALLS, answers: NO_CALLS, handlers: {}, onFault: () => {} }
  assert.throws(() => connectPeer({ ...parts, channel: wires()[0] }), RangeError)
})

type Step =
  | {
      readonly do: 'call' | 'deliver up' | 'deliver down' | 'answer' | 'refuse' | 'break' | 'expire'
      readonly at: number
    }
  | { readonly do: 'end' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('call' as const), at: fc.constant(0) }) },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constantFrom('deliver up', 'deliver down', 'answer', 'refuse', 'break', 'expire'),
      at: fc.nat({ max: 7 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const) }) },
)

/**
 * The outcome that each call must have: its answer, its deadline or the end of the other side, whichever comes first.
 */
async function play(steps: readonly Step[]): Promise<void> {
  const handling: { readonly input: number; readonly outcome: PromiseWithResolvers<number> }[] = []
  const { up, down, due, peer } = stage({
    timed: (input) => {
      const outcome = Promise.withResolvers<number>()
      handling.push({ input, outcome })
      return outcome.promise
    },
  })
  const expected: string[] = []
  const calls: Promise<string>[] = []
  /** By the number that is on the wire, and by the timer. */
  const [ids, timers] = [new Map<number, number>(), new Map<() => void, number>()]
  const settle = (at: number | undefined, outcome: string): void => {
    if (at !== undefined) expected[at] ??= outcome
  }
  const end = (): void => {
    up.end()
    for (const at of calls.keys()) settle(at, 'gone')
  }
  for (const one of steps) {
    if (one.do === 'end') end()
    else if (one.do === 'call') {
      const at = calls.length
      const asked = peer.call('timed', at)
      calls.push(asked.then(String, (cause: Error) => (cause instanceof PeerGone ? 'gone' : cause.message)))
      if (peer.hasEnded) settle(at, 'gone')
      const frame = up.sent.at(-1)?.frame
      if (frame?.rpc === 'call' && !ids.has(frame.id)) ids.set(frame.id, at)
      const timer = due.at(-1)
      if (timer !== undefined && !timers.has(timer)) timers.set(timer, at)
    } else if (one.do === 'deliver up') {
      if (up.sent.length > 0) up.deliver(one.at % up.sent.length)
    } else if (one.do === 'deliver down') {
      const place = one.at % Math.max(1, down.sent.length)
      const frame = down.sent[place]?.frame
      if (frame === undefined) continue
      if (frame.rpc === 'answer') settle(ids.get(frame.id), String(frame.output))
      else if (frame.rpc === 'refusal') settle(ids.get(frame.id), frame.refusal.message)
      else if (frame.rpc === 'failure') settle(ids.get(frame.id), 'The call "timed" failed at the other end')
      down.deliver(place)
    } else if (one.do === 'expire') {
      const timer = due[one.at % Math.max(1, due.length)]
      if (timer === undefined) continue
      settle(timers.get(timer), `"timed": no answer within ${DEADLINE_MS} ms`)
      timer()
    } else {
      const [handled] = handling.splice(one.at % Math.max(1, handling.length), 1)
      if (one.do === 'answer') handled?.outcome.resolve(handled.input)
      else if (one.do === 'refuse') handled?.outcome.reject(new Refusal('bad_request', 400, `no ${handled.input}`))
      else handled?.outcome.reject(new RangeError('a defect'))
      await turn()
    }
  }
  end()
  assert.deepEqual(await Promise.all(calls), expected)
  // An answer says its own call's number: none was given another's.
  for (const [at, outcome] of expected.entries())
    if (/^(no )?\d+$/.test(outcome)) assert.match(outcome, new RegExp(`^(no )?${at}$`))
  assert.deepEqual([peer.waiting, due.length], [0, 0])
}

test('in every order of messages a call ends once, with its own answer, its deadline or the end', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), play), { numRuns: 300 })
})
