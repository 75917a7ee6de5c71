// What the operating system says of this process. Where it cannot be asked (no descriptor is free: threats F-09), the
// figure is missing and nothing fails.
import { readdirSync } from 'node:fs'

export type ProcessFigures = {
  readonly process_cpu_seconds_total: number | undefined
  readonly process_resident_memory_bytes: number | undefined
  readonly process_open_fds: number | undefined
  readonly process_start_time_seconds: number | undefined
}

/** `nowMs`: by the wall clock. */
export function processFigures(nowMs: number): ProcessFigures {
  return {
    process_cpu_seconds_total: ifKnown(() => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
    process_resident_memory_bytes: ifKnown(() => process.memoryUsage.rss()),
    // The one that reads the directory is among them, and closed when this returns.
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
