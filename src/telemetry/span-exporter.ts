// Sends spans to a collector, apart from the requests. The queue is bounded: what does not fit or cannot be delivered
// is dropped and counted. Nothing here slows a request down or fails one.
import type { Log } from '../lib/log.ts'
import type { Timer, World } from '../lib/world.ts'
import { otlpTraces } from './otlp.ts'
import type { Span, SpanAttributes } from './request-trace.ts'

/** The parts of an exporter. The thread that makes it counts spans by the two callbacks. */
export type ExporterOptions = {
  readonly world: World
  /** Base URL of the collector, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string
  /** Attributes that describe this server. */
  readonly service: SpanAttributes
  readonly log: Log
  /** Called with the number of spans that the collector accepted. */
  readonly onExported: (spans: number) => void
  /** Called with the number of spans that were dropped. */
  readonly onDropped: (spans: number) => void
}

/** Bound of the queue while the collector is slow or down. */
const MAX_WAITING = 4_096
const MAX_AT_ONCE = 512
const SEND_EVERY_MS = 1_000
const TIMEOUT_MS = 5_000
/** Least time between two log lines about failed deliveries. */
const TELL_EVERY_MS = 60_000

/** The queue of one thread. One delivery runs at a time. */
export class SpanExporter {
  readonly #options: ExporterOptions
  #waiting: Span[] = []
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  #toldMs = Number.NEGATIVE_INFINITY

  constructor(options: ExporterOptions) {
    this.#options = options
  }

  /** Queues the spans of one request, or drops all of them if they do not fit. */
  take(spans: readonly Span[]): void {
    const room = MAX_WAITING - this.#waiting.length
    if (spans.length > room) {
      this.#options.onDropped(spans.length)
      return
    }
    this.#waiting.push(...spans)
    if (this.#waiting.length >= MAX_AT_ONCE) void this.flush()
    else this.#timer ??= this.#options.world.timers.after(SEND_EVERY_MS, () => void this.flush())
  }

  /** Sends everything that waits. Resolves when all is delivered or dropped; never rejects. */
  flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
    return this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.slice(0, MAX_AT_ONCE)
      this.#waiting = this.#waiting.slice(spans.length)
      await this.#send(spans)
    }
  }

  async #send(spans: readonly Span[]): Promise<void> {
    const { world, endpoint, service, onExported, onDropped } = this.#options
    try {
      const { status } = await world.outbound.request({
        method: 'POST',
        url: `${endpoint}/v1/traces`,
        headers: { 'Content-Type': 'application/json' },
        body: Buffer.from(JSON.stringify(otlpTraces(spans, service))),
        timeoutMs: TIMEOUT_MS,
      })
      if (status < 200 || status > 299) throw new Error(`status ${status}`)
      onExported(spans.length)
    } catch (cause) {
      onDropped(spans.length)
      this.#tell(cause)
    }
  }

  #tell(cause: unknown): void {
    const nowMs = this.#options.world.clock.monotonicMs()
    if (nowMs - this.#toldMs < TELL_EVERY_MS) return
    this.#toldMs = nowMs
    this.#options.log('warn', 'Traces cannot be delivered to the collector', {
      cause: cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : typeof cause,
    })
  }
}
