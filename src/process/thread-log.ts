// The log of one thread. It knows no endpoint, for threads that load none.
import type { SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import { logTo } from '../lib/log-writer.ts'
import { realWorld } from '../lib/world.ts'
import { add, CELL, rowOf } from '../telemetry/cells.ts'
import { threadName } from '../telemetry/reading.ts'

/** Returns the log of a thread, as configured. */
export function threadLog(
  shared: Pick<SharedTelemetry, 'metrics' | 'levels'>,
  row: number,
  { logging }: Pick<ServerConfig, 'logging'>,
): Log {
  const cells = rowOf(shared.metrics, row)
  return logTo(process.stderr, realWorld().clock, {
    thread: threadName(row),
    format: logging.format,
    levels: shared.levels,
    onDropped: (lines) => add(cells, CELL.logDropped, lines),
  })
}
