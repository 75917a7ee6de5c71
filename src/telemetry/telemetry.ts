// The telemetry of one thread: its row of numbers, its observer of requests, and its way to ask the other threads.
import type { Endpoint } from '../api/endpoint.ts'
import type { Namespaces } from '../api/namespace.ts'
import type { LogLevels } from '../lib/log-levels.ts'
import type { World } from '../lib/world.ts'
import { add, type CELL, type CellRow, endpointColumns, type MetricMemory, rowOf } from './cells.ts'
import type { InFlightView } from './in-flight-requests.ts'
import { NamespacePlaces } from './namespace-places.ts'
import { processFigures } from './process-figures.ts'
import { type Reading, readMetrics, requestsAnswered } from './reading.ts'
import { RequestMeter } from './request-meter.ts'
import { RequestObserver } from './request-observer.ts'
import type { Tracer } from './tracer.ts'

/** State of the server that is shown among the metrics. */
export type ServerState = { readonly isSealed: boolean; readonly isInitialized: boolean }

/** Requests in flight of all threads; `silent` is the number of threads that did not answer in time. */
export type AllInFlight = { readonly requests: readonly InFlightView[]; readonly silent: number }

/** The parts that the start of a thread hands in. */
export type TelemetryParts = {
  readonly world: World
  readonly memory: MetricMemory
  /** Row of this thread. */
  readonly row: number
  /** All endpoints, in the order that every thread shares: positions in rows follow from it. */
  readonly endpoints: readonly Endpoint[]
  readonly levels: LogLevels
  /** Number of serving threads. */
  readonly threads: number
  readonly tracer?: Tracer | undefined
  /** Asks all threads; missing if this thread is the only one. */
  readonly askInFlight?: (() => Promise<AllInFlight>) | undefined
}

/** The telemetry of one thread, as the pipeline, `sys/metrics` and `sys/in-flight-req` use it. */
export class Telemetry {
  readonly row: CellRow
  readonly watch: RequestObserver
  readonly levels: LogLevels
  readonly #parts: TelemetryParts

  constructor(parts: TelemetryParts) {
    this.#parts = parts
    this.row = rowOf(parts.memory, parts.row)
    this.levels = parts.levels
    this.watch = new RequestObserver(
      parts.world,
      new RequestMeter(this.row, endpointColumns(parts.endpoints), new NamespacePlaces(parts.memory.namespaces)),
      parts.tracer,
    )
  }

  /** Reads the metrics of all threads. */
  read({ isSealed, isInitialized }: ServerState, namespaces: Namespaces): Reading[] {
    const { memory, endpoints, world, threads } = this.#parts
    const computed = {
      keywright_unsealed: isSealed ? 0 : 1,
      keywright_initialized: isInitialized ? 1 : 0,
      keywright_threads: threads,
      ...processFigures(world.clock.nowMs()),
    }
    return readMetrics(memory, { endpoints, namespaces }, computed)
  }

  /** Number of requests that all threads answered since the process started, and when that was. */
  requestsTaken(): { readonly sinceMs: number; readonly taken: number } {
    const { memory, endpoints } = this.#parts
    return { sinceMs: performance.timeOrigin, taken: requestsAnswered(memory, endpoints.length) }
  }

  /** Requests in flight of this thread, as they may be shown. */
  ownInFlight(): InFlightView[] {
    return this.watch.inFlight.shown(this.#parts.world.clock)
  }

  /** Requests in flight of all threads that answer in time. */
  async allInFlight(): Promise<AllInFlight> {
    return (await this.#parts.askInFlight?.()) ?? { requests: this.ownInFlight(), silent: 0 }
  }

  /** Adds to a counter or gauge of this thread. */
  count(cell: (typeof CELL)[keyof typeof CELL], by = 1): void {
    add(this.row, cell, by)
  }
}
