// The queue between the threads of the server and the process of the devices, in the watching thread. Orders go to the
// process one by one: so a PIN is never tried twice at once (docs/decisions/0010). If a device does not answer, its
// process is ended, so that the orders behind it do not wait for it.
import type { Log } from '../lib/log.ts'
import type { Timer, Timers } from '../lib/world.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import { DEVICE_CALLS, type OrderFailure } from './device-link.ts'
import type { DeviceOrder, FromDevices, OrderOutcome, ToDevices } from './orders.ts'

/** The process of the devices, as far as the queue needs it. */
export type DeviceProcess = {
  send(message: ToDevices): void
  /**
   * Ends the process, and resolves when it has ended. 'politely' gives it a moment to close its sessions; a device call
   * that hangs does not delay the end.
   */
  end(how: 'politely' | 'now'): Promise<void>
  readonly onMessage: (listener: (message: FromDevices) => void) => void
  /** Called once, with a reason for the log. */
  readonly onEnd: (listener: (reason: string) => void) => void
}

/** The environment of the queue. */
export type DeviceQueueParts = {
  /** The files of the libraries, by the names that the configuration gives them. */
  readonly libraries: Readonly<Record<string, string>>
  readonly start: () => DeviceProcess
  readonly timers: Timers
  /** A secret, new at each start of the server: refused PINs are remembered as digests with it (pin-guard.ts). */
  readonly pinSalt: string
  readonly log: Log
}

/** Devices take milliseconds, and seconds for a new RSA key. A call that takes longer hangs. */
const TIMEOUT_MS = 30_000
/** Orders that may wait: at 5 ms each, the last one is answered within two seconds. */
const MOST_WAITING = 400

/** The port of a thread that sends orders. */
export type DevicePort = Port & { close?(): void }

type Answer = OrderOutcome | { readonly refused: OrderFailure }
type Waiting = { readonly port: DevicePort; readonly order: DeviceOrder; readonly answer: (answer: Answer) => void }

/** Answers DEVICE_CALLS of all threads, and starts the process when an order needs it. */
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

  /** Takes orders from a thread until its port closes; orders that wait then are dropped. */
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
        this.#parts.log('error', 'An internal call to this thread failed', { call, cause: nameOf(cause) }),
    })
    port.on('close', () => {
      this.#ports.delete(port)
      const kept = this.#queue.filter((one) => one.port !== port)
      this.#queue.splice(0, this.#queue.length, ...kept)
    })
  }

  /** Ends the process and closes the ports; orders that wait are not answered. */
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

  /** Sends the next order, unless one is under way. */
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

  /** Returns the process; it is started with the first order, and again after it ended. */
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
    // A process that is being ended may still speak: it is not listened to.
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

  /** Ends the process, and with it every session and log-in; the order under way fails with this reason. */
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
