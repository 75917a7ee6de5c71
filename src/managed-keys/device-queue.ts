// Between the threads of the server and the process of the devices: orders wait here and go to it one by one. A device
// that does not answer is given up with its process, so that nothing else waits for it.
import type { Log } from '../lib/log.ts'
import type { Timer, Timers } from '../lib/world.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { DEVICE_CALLS, type OrderFailure } from './device-link.ts'
import type { DeviceOrder, FromDevices, OrderOutcome, ToDevices } from './orders.ts'

/** The process, as far as it is needed. */
export type DeviceProcess = {
  send(message: ToDevices): void
  /**
   * Ends it, and resolves when it is no more. 'politely': it is let close its sessions, for a moment; a call of the
   * device that hangs does not hold it up.
   */
  end(how: 'politely' | 'now'): Promise<void>
  readonly onMessage: (listener: (message: FromDevices) => void) => void
  /** Called once, with a reason for the log. */
  readonly onEnd: (listener: (reason: string) => void) => void
}

export type DeviceQueueParts = {
  /** Files by the names of the configuration. */
  readonly libraries: Readonly<Record<string, string>>
  readonly start: () => DeviceProcess
  readonly timers: Timers
  /** A secret of this server's life: under it PINs that were refused are told apart. */
  readonly pinSalt: string
  readonly log: Log
}

/** Devices take milliseconds, new RSA keys seconds; what takes longer hangs. */
const TIMEOUT_MS = 30_000
/** Orders that wait; at 5 ms each the last one is answered within two seconds. */
const MOST_WAITING = 400

/** A thread's way here. */
export type DevicePort = Port & { close?(): void }

type Answer = OrderOutcome | { readonly refused: OrderFailure }
type Waiting = { readonly port: DevicePort; readonly order: DeviceOrder; readonly answer: (answer: Answer) => void }

export class DeviceQueue {
  readonly #parts: DeviceQueueParts
  readonly #queue: Waiting[] = []
  readonly #refusedPins = new Set<string>()
  readonly #ports = new Set<DevicePort>()
  #process: DeviceProcess | undefined
  #current: (Waiting & { readonly timer: Timer; readonly number: number }) | undefined
  #lastNumber = 0

  constructor(parts: DeviceQueueParts) {
    this.#parts = parts
  }

  /** A thread joins, until its port closes. */
  addThread(port: DevicePort): void {
    this.#ports.add(port)
    connectPeer({
      channel: portChannel(port),
      asks: NO_CALLS,
      answers: DEVICE_CALLS,
      handlers: {
        order: (order) => this.#ordered(port, order),
        forgive: () => this.#forgive(),
        forget: () => this.#forget(),
      },
      onFault: (call, cause) =>
        this.#parts.log('error', 'What this thread was asked it could not answer', { call, cause: nameOf(cause) }),
    })
    port.on('close', () => {
      this.#ports.delete(port)
      const kept = this.#queue.filter((one) => one.port !== port)
      this.#queue.splice(0, this.#queue.length, ...kept)
    })
  }

  /** Ends the process; the threads are told no more. */
  async stop(): Promise<void> {
    this.#queue.length = 0
    await this.#end('forgotten')
    for (const port of this.#ports) port.close?.()
  }

  #ordered(port: DevicePort, order: DeviceOrder): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const waiting: Waiting = { port, order, answer: resolve }
    if (this.#queue.length >= MOST_WAITING) refuse(waiting, 'overloaded')
    else this.#queue.push(waiting)
    this.#next()
    return promise
  }

  #forgive(): void {
    this.#refusedPins.clear()
    this.#process?.send({ kind: 'forgive' })
  }

  async #forget(): Promise<void> {
    for (const one of this.#queue.splice(0)) refuse(one, 'forgotten')
    await this.#end('forgotten')
  }

  #next(): void {
    if (this.#current !== undefined) return
    const waiting = this.#queue.shift()
    if (waiting === undefined) return
    const number = ++this.#lastNumber
    const timer = this.#parts.timers.after(TIMEOUT_MS, () => {
      this.#parts.log('error', 'A device does not answer: its process is ended', { afterMs: TIMEOUT_MS })
      void this.#end('late')
      this.#next()
    })
    this.#current = { ...waiting, timer, number }
    try {
      this.#running().send({ kind: 'order', id: number, order: waiting.order })
    } catch (cause) {
      this.#parts.log('error', 'The process of the devices does not start', { reason: nameOf(cause) })
      void this.#end('died')
      this.#next()
    }
  }

  /** Started with the first order, and again after it ended. */
  #running(): DeviceProcess {
    if (this.#process !== undefined) return this.#process
    const { libraries, pinSalt, log } = this.#parts
    const started = this.#parts.start()
    this.#process = started
    started.onMessage((message) => this.#heard(started, message))
    started.onEnd((reason) => {
      if (this.#process !== started) return
      log('error', 'The process of the devices ended, the next order starts another', { reason })
      void this.#end('died')
      this.#next()
    })
    started.send({ kind: 'begin', libraries, pinSalt, refusedPins: [...this.#refusedPins] })
    return started
  }

  #heard(from: DeviceProcess, message: FromDevices): void {
    if (this.#process !== from) return
    if (message.kind === 'pin-refused') {
      this.#refusedPins.add(message.tag)
      return
    }
    const current = this.#current
    if (current?.number !== message.id) return
    current.timer.cancel()
    this.#current = undefined
    current.answer(message.outcome)
    this.#next()
  }

  /** Ends the process, and with it every session and log-in; what was under way fails. */
  #end(why: Exclude<OrderFailure, 'overloaded'>): Promise<void> {
    const [ended, current] = [this.#process, this.#current]
    this.#process = undefined
    this.#current = undefined
    current?.timer.cancel()
    if (current !== undefined) refuse(current, why)
    return ended?.end(why === 'forgotten' ? 'politely' : 'now') ?? Promise.resolve()
  }
}

function refuse({ answer }: Waiting, refused: OrderFailure): void {
  answer({ refused })
}

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : 'unknown')
