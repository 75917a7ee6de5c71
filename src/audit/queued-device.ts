// A device whose writes may wait: a socket, a syslog server, standard output, a file behind a network. Lines wait in a
// queue, and after the deadline the device counts as failed (threats P-39, U-12). If it is unknown how much of a write
// arrived, the chain ends there and another begins.
import { DeviceError, systemCodeOf } from './audit-file.ts'
import { type Device, DeviceChain, type DeviceParts } from './device.ts'
import type { EntryType } from './line-stream.ts'

/** The receiver of the lines; opened anew after each failure. */
export type Sink = {
  /** Writes whole lines. Resolves when they have left this process; rejects if that is not certain. */
  write(lines: Buffer): Promise<void>
  /** For a connection: resolves when it has ended, with the cause. */
  readonly ended?: Promise<DeviceError>
  close(): void
}

/** The system does not take a line of this length; shorter ones pass. */
export class LineTooLong extends DeviceError {
  override name = 'LineTooLong'
  readonly bytes: number
  constructor(bytes: number) {
    super(`a line of ${bytes} bytes is too long for its datagram`)
    this.bytes = bytes
  }
}

/** Most bytes that wait for one device in one thread; a batch of 100,000 items needs some 20 MB. */
const MOST_QUEUED_BYTES = 64 * 1024 * 1024
const RETRY_MS = 1_000
/** Upper bound of a line's characters that are no members of the entry: time, chain, type, and its end. */
const AROUND_ENTRY = 256

/** How a queued device differs by its sink. */
export type QueueOptions = {
  /** True for a file that may be moved away. */
  readonly canReopen?: boolean
  /** Longest line in bytes, prefix included, newline excluded; undefined: any. */
  readonly longestLine?: number | undefined
}

/** A device over a sink. One write runs at a time, in the order of the lines. */
export class QueuedDevice implements Device {
  readonly path: string
  readonly format: DeviceParts['format']
  readonly hmac: DeviceParts['hmac']
  readonly #parts: DeviceParts
  readonly #openSink: () => Promise<Sink>
  readonly #chain: DeviceChain
  readonly #canReopen: boolean
  #longestLine: number
  #sink: Sink | undefined
  /** Resolves when everything queued is written, or has failed. */
  #last: Promise<void> = Promise.resolve()
  #queuedBytes = 0
  /** Number of the connection: lines queued for an earlier one are lost with it. */
  #generation = 0
  #isResting = false
  #isFailing = false
  /** True if the current chain has lost its connection. */
  #isBroken = false
  #hasRefused = false

  constructor(parts: DeviceParts, openSink: () => Promise<Sink>, options: QueueOptions = {}) {
    const { canReopen = false, longestLine = Number.POSITIVE_INFINITY } = options
    this.path = parts.path
    this.format = parts.format
    this.hmac = parts.hmac
    this.#parts = parts
    this.#openSink = openSink
    this.#canReopen = canReopen
    this.#longestLine = longestLine
    this.#chain = new DeviceChain(parts)
  }

  get waiting(): number {
    return this.#chain.waiting
  }

  /**
   * An entry that does not fit is refused before it enters the chain, so other entries of
   * the same tick are still stored.
   */
  append(type: EntryType, body: string, rest: string): boolean {
    if (this.#isBroken && this.#chain.waiting === 0) this.#renew()
    const bytes = this.#parts.settings.prefix.length + AROUND_ENTRY + body.length + rest.length
    if (bytes > this.#longestLine || this.#queuedBytes + this.#chain.waiting + bytes > MOST_QUEUED_BYTES) {
      this.#refuse(bytes)
      return false
    }
    this.#chain.append(type, body, rest)
    return true
  }

  /**
   * Reports a refused entry: in the chain each time, in the log of the server once, and only
   * if the entry itself is too long.
   */
  #refuse(bytes: number): void {
    this.#chain.skip()
    if (this.#hasRefused || bytes <= Math.min(this.#longestLine, MOST_QUEUED_BYTES)) return
    this.#hasRefused = true
    this.#parts.log('warn', 'An audit device does not take an entry of this length', { device: this.path, bytes })
  }

  #renew(): void {
    this.#isBroken = false
    this.#chain.renew()
  }

  begin(): void {
    this.#chain.begin()
  }

  checkpoint(): void {
    if (!this.#isBroken) this.#chain.checkpoint()
  }

  flush(): boolean | Promise<boolean> {
    const { gathered } = this.#chain
    const { length } = gathered
    if (length === 0) return !this.#isFailing
    if (this.#isBroken || this.#isResting || this.#queuedBytes + length > MOST_QUEUED_BYTES) {
      this.#chain.settle(0)
      if (this.#isBroken) this.#renew()
      return false
    }
    const lines = Buffer.from(gathered)
    this.#chain.settle(length)
    return this.#queue(lines)
  }

  async #queue(lines: Buffer): Promise<boolean> {
    const generation = this.#generation
    const { promise: late, reject } = Promise.withResolvers<never>()
    const { deadlineMs } = this.#parts.settings
    const timer = this.#parts.timers.after(deadlineMs, () => reject(new DeviceError(`no answer in ${deadlineMs} ms`)))
    this.#queuedBytes += lines.length
    const written = this.#last.then(() => this.#write(lines, generation))
    this.#last = written.catch(() => {})
    try {
      await Promise.race([written, late])
      this.#works()
      return true
    } catch (cause) {
      if (generation === this.#generation) {
        if (cause instanceof LineTooLong) this.#learned(cause)
        else this.#failed(cause)
      }
      return false
    } finally {
      timer.cancel()
      this.#queuedBytes -= lines.length
    }
  }

  async #write(lines: Buffer, generation: number): Promise<void> {
    if (generation !== this.#generation) throw new DeviceError('the connection was lost')
    if (this.#sink === undefined) {
      const sink = await this.#openSink()
      // The device failed meanwhile, so the connection comes too late.
      if (generation !== this.#generation) {
        sink.close()
        throw new DeviceError('the connection was lost')
      }
      this.#sink = sink
      void sink.ended?.then((cause) => {
        if (this.#sink === sink) this.#lost(cause)
      })
    }
    await this.#sink.write(lines)
  }

  #works(): void {
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#parts.log('info', 'An audit device can be written again', { device: this.path })
  }

  /** The connection works, but its chain has a gap that cannot be reported in it: it ends, and another begins. */
  #learned({ bytes, message }: LineTooLong): void {
    this.#break()
    this.#longestLine = Math.min(this.#longestLine, bytes - 1)
    if (this.#hasRefused) return
    this.#hasRefused = true
    this.#parts.log('warn', 'An audit device does not take an entry of this length', {
      device: this.path,
      why: message,
    })
  }

  #break(): void {
    this.#generation++
    this.#sink?.close()
    this.#sink = undefined
    // A write that hangs is not waited for.
    this.#last = Promise.resolve()
    this.#isBroken = true
  }

  #failed(cause: unknown): void {
    this.#break()
    this.#isResting = true
    this.#parts.timers.after(RETRY_MS, () => {
      this.#isResting = false
    })
    this.#noteFailure(cause)
  }

  /**
   * Reports the loss of the connection at once, whether or not lines wait. The next entry
   * opens a new connection, or fails.
   */
  #lost(cause: DeviceError): void {
    this.#break()
    this.#noteFailure(cause)
  }

  #noteFailure(cause: unknown): void {
    if (this.#isFailing) return
    this.#isFailing = true
    const why = cause instanceof DeviceError ? cause.message : systemCodeOf(cause)
    this.#parts.log('error', 'An audit device cannot be written', { device: this.path, cause: why })
  }

  async reopen(): Promise<(() => void) | undefined> {
    if (!this.#canReopen) return undefined
    return () => {
      const before = this.#sink
      if (before === undefined || this.#isBroken) return
      this.#chain.mark('reopen')
      const lines = Buffer.from(this.#chain.gathered)
      this.#chain.settle(lines.length)
      // After everything that is queued for the file that was moved away.
      this.#last = this.#last
        .then(() => before.write(lines))
        .catch(() => {})
        .then(() => {
          before.close()
          if (this.#sink === before) this.#sink = undefined
        })
    }
  }

  async end(): Promise<void> {
    if (this.#sink !== undefined && !this.#isBroken) {
      this.#chain.mark('end')
      await this.flush()
    }
    this.#sink?.close()
    this.#sink = undefined
    this.#generation++
    this.#chain.end()
  }
}
