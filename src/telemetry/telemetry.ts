// What one thread has of telemetry: its row of numbers, its watch over requests, and how it asks the others.
import type { Endpoint } from '../api/endpoint.ts'
import type { LogLevels } from '../lib/log-levels.ts'
import type { World } from '../lib/world.ts'
import { add, type CELL, type CellRow, endpointColumns, type MetricMemory, rowOf } from './cells.ts'
import type { InFlightView } from './in-flight-requests.ts'
import { processFigures } from './process-figures.ts'
import { type Reading, readMetrics, requestsAnswered } from './reading.ts'
import { RequestMeter } from './request-meter.ts'
import { RequestObserver } from './request-observer.ts'
import type { Tracer } from './tracer.ts'

/** What is known of the server besides what is counted. */
export type ServerState = { readonly isSealed: boolean; readonly isInitialized: boolean }

/** `silent` threads did not answer in time. */
export type AllInFlight = { readonly flights: readonly InFlightView[]; readonly silent: number }

export type TelemetryParts = {
  readonly world: World
  readonly memory: MetricMemory
  /** Of this thread. */
  readonly row: number
  /** All that there are, in the order that every thread has them in. */
  readonly endpoints: readonly Endpoint[]
  readonly levels: LogLevels
  /** Threads that serve. */
  readonly threads: number
  readonly tracer?: Tracer | undefined
  /** Missing where this thread is the only one. */
  readonly askInFlight?: (() => Promise<AllInFlight>) | undefined
}

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
      new RequestMeter(this.row, endpointColumns(parts.endpoints)),
      parts.tracer,
    )
  }

  /** Of all threads. */
  read({ isSealed, isInitialized }: ServerState): Reading[] {
    const { memory, endpoints, world, threads } = this.#parts
    return readMetrics(memory, endpoints, {
      keywright_unsealed: isSealed ? 0 : 1,
      keywright_initialized: isInitialized ? 1 : 0,
      keywright_threads: threads,
      ...processFigures(world.clock.nowMs()),
    })
  }

  /** How many requests all threads have answered since the process started. */
  requestsTaken(): { readonly sinceMs: number; readonly taken: number } {
    const { memory, endpoints } = this.#parts
    return { sinceMs: performance.timeOrigin, taken: requestsAnswered(memory, endpoints.length) }
  }

  /** Those of this thread. */
  ownInFlight(): InFlightView[] {
    return this.watch.flights.shown(this.#parts.world.clock)
  }

  /** Those of all threads that answer in time. */
  async flights(): Promise<AllInFlight> {
    return (await this.#parts.askInFlight?.()) ?? { flights: this.ownInFlight(), silent: 0 }
  }

  /** One more of what this number counts. */
  count(cell: (typeof CELL)[keyof typeof CELL], by = 1): void {
    add(this.row, cell, by)
  }
}
