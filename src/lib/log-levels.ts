// The level of each logger, in memory that all threads share: who changes one changes it everywhere with the next line.
import { LOG_LEVELS, LOGGERS, type LoggerName, type LogLevel } from './log.ts'

/** By the place in LOGGERS, the place in LOG_LEVELS; the last one is what the configuration says. */
export type LogLevels = Int32Array<SharedArrayBuffer>

export function newLogLevels(configured: LogLevel): LogLevels {
  const levels = new Int32Array(new SharedArrayBuffer((LOGGERS.length + 1) * Int32Array.BYTES_PER_ELEMENT))
  return levels.fill(LOG_LEVELS.indexOf(configured))
}

export const levelOf = (levels: LogLevels, name: LoggerName): LogLevel =>
  LOG_LEVELS[Atomics.load(levels, LOGGERS.indexOf(name))] as LogLevel

export function setLevel(levels: LogLevels, name: LoggerName, level: LogLevel): void {
  Atomics.store(levels, LOGGERS.indexOf(name), LOG_LEVELS.indexOf(level))
}

/** What the configuration says now: all loggers follow where it said something else before. */
export function configureLevel(levels: LogLevels, level: LogLevel): void {
  const configured = LOG_LEVELS.indexOf(level)
  if (Atomics.load(levels, LOGGERS.length) !== configured) levels.fill(configured)
}

/** What the configuration said when it was read last. */
export const configuredLevel = (levels: LogLevels): LogLevel =>
  LOG_LEVELS[Atomics.load(levels, LOGGERS.length)] as LogLevel

/** Whether a line of this level is written. */
export const isLevelOn = (levels: LogLevels, logger: number, level: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= Atomics.load(levels, logger)
