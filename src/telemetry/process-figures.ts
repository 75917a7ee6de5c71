// Asks the operating system about this process. A figure that cannot be had now (no descriptor is free: threats F-09)
// is undefined, and nothing fails.
import { readdirSync } from 'node:fs'

/** Values of the `process_…` metrics, by the metric's name. */
export type ProcessFigures = {
  readonly process_cpu_seconds_total: number | undefined
  readonly process_resident_memory_bytes: number | undefined
  readonly process_open_fds: number | undefined
  readonly process_start_time_seconds: number | undefined
}

/** Reads the figures of the whole process, whichever thread asks. `nowMs` is wall clock time. */
export function processFigures(nowMs: number): ProcessFigures {
  return {
    process_cpu_seconds_total: ifKnown(() => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
    process_resident_memory_bytes: ifKnown(() => process.memoryUsage.rss()),
    // The descriptor that reads the directory is among them, and closed when this returns.
    process_open_fds: ifKnown(() => readdirSync('/proc/self/fd').length - 1),
    process_start_time_seconds: ifKnown(() => Math.round(nowMs / 1000 - process.uptime())),
  }
}

function ifKnown(ask: () => number): number | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
