// Telemetry of one thread, made from what every thread is given: shared memory and the configuration.

import { ALL_ENDPOINTS } from '../assembly/engine-types.ts'
import type { NodeRooms } from '../assembly/node-rooms.ts'
import type { NodeTelemetry } from '../assembly/node-telemetry.ts'
import type { SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { ServerConfig } from '../config/config.ts'
import { originsOf } from '../config/telemetry.ts'
import type { Traffic } from '../http/requests.ts'
import type { Lookups } from '../lib/coherent-cache.ts'
import { type Log, namedLog } from '../lib/log.ts'
import type { Reach } from '../lib/outbound.ts'
import { realWorld, type World } from '../lib/world.ts'
import { add, CELL, type CellRow, HISTOGRAM, observe, rowOf } from '../telemetry/cells.ts'
import { threadName } from '../telemetry/reading.ts'
import { SpanExporter } from '../telemetry/span-exporter.ts'
import { type AllInFlight, Telemetry } from '../telemetry/telemetry.ts'
import { sampleThread } from '../telemetry/thread-sampler.ts'
import { newTracer } from '../telemetry/tracer.ts'
import type { PoolMeter } from '../threads/pooled-work.ts'
import { threadLog } from './thread-log.ts'

/** The telemetry of a thread, its log, and the world that its requests to the outside go through. */
export type ThreadTelemetry = NodeTelemetry & {
  readonly log: Log
  readonly world: World
  /** True if requests of this thread may be traced. */
  readonly isTracing: boolean
  /** Sends spans that wait, for at most FLUSH_TIMEOUT_MS. Called before the thread ends. */
  flush(): Promise<void>
}

/** How long a stopping server waits for a collector that does not answer. */
const FLUSH_TIMEOUT_MS = 1_000

/**
 * Makes the telemetry of a thread. Without `askInFlight` there is no other thread to ask. `reaches` are origins that
 * this thread may call besides the collector.
 */
export function threadTelemetry(
  shared: SharedTelemetry,
  row: number,
  config: ServerConfig,
  askInFlight?: () => Promise<AllInFlight>,
  reaches: readonly Reach[] = [],
): ThreadTelemetry {
  const { metrics, levels, limits } = shared
  const world = realWorld([...reaches, ...originsOf(config.telemetry)])
  const log = threadLog(shared, row, config)
  const { traces } = config.telemetry
  const cells = rowOf(metrics, row)
  const exporter =
    traces === undefined
      ? undefined
      : new SpanExporter({
          world,
          endpoint: traces.endpoint,
          service: { 'service.name': 'keywright', 'thread.name': threadName(row), 'process.pid': process.pid },
          log: namedLog(log, 'telemetry'),
          onExported: (spans) => add(cells, CELL.spansExported, spans),
          onDropped: (spans) => add(cells, CELL.spansDropped, spans),
        })
  const tracer = traces === undefined ? undefined : newTracer(world, traces.sampling, (spans) => exporter?.take(spans))
  const telemetry = new Telemetry({
    world,
    memory: metrics,
    row,
    endpoints: ALL_ENDPOINTS,
    levels,
    threads: config.threads,
    tracer,
    askInFlight,
  })
  return {
    telemetry,
    limits,
    log,
    world,
    isTracing: tracer !== undefined,
    flush: async () => {
      if (exporter === undefined) return
      await Promise.race([exporter.flush(), world.timers.sleep(FLUSH_TIMEOUT_MS)])
    },
  }
}

/** Counts what goes through the sockets of a thread. */
export function trafficOf({ telemetry }: NodeTelemetry): Traffic {
  return {
    opened: () => {
      telemetry.count(CELL.connections)
      telemetry.count(CELL.connectionsTaken)
    },
    closed: () => telemetry.count(CELL.connections, -1),
    received: (bytes) => telemetry.count(CELL.receivedBytes, bytes),
    sent: (bytes) => telemetry.count(CELL.sentBytes, bytes),
  }
}

/** Counts the slow work of a thread. */
export function poolMeterOf({ telemetry, world }: Pick<ThreadTelemetry, 'telemetry' | 'world'>): PoolMeter {
  const { row } = telemetry
  return {
    nowMs: () => world.clock.monotonicMs(),
    begun: (waitedMs) => observe(row, HISTOGRAM.slowWait, waitedMs / 1000),
    done: () => add(row, CELL.slowJobs, 1),
    refused: () => add(row, CELL.slowRefused, 1),
    waiting: (takes, jobs) => {
      row[takes === 'short' ? CELL.slowShort : CELL.slowLong] = jobs
    },
  }
}

/** Samples the thread, its caches and its log at intervals. `sample` adds what only the caller knows. */
export function watchThread(
  { telemetry, world }: ThreadTelemetry,
  { tokens, mounts }: Pick<NodeRooms, 'tokens' | 'mounts'>,
  sample: (row: CellRow) => void = () => {},
): { stop(): void } {
  const { row } = telemetry
  const caches = [
    { of: () => tokens.lookups, hits: CELL.tokenHits, misses: CELL.tokenMisses, seen: NO_LOOKUPS },
    { of: () => mounts.lookups, hits: CELL.keyHits, misses: CELL.keyMisses, seen: NO_LOOKUPS },
  ]
  return sampleThread(world, row, () => {
    for (const cache of caches) {
      // The counts of a removed mount are gone, so a sum can be smaller than before.
      const { hits, misses } = cache.of()
      add(row, cache.hits, Math.max(0, hits - cache.seen.hits))
      add(row, cache.misses, Math.max(0, misses - cache.seen.misses))
      cache.seen = { hits, misses }
    }
    row[CELL.logQueued] = process.stderr.writableLength
    sample(row)
  })
}

const NO_LOOKUPS: Lookups = { hits: 0, misses: 0 }
