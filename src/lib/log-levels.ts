// The level of each logger, in memory that all threads share: a change takes effect everywhere with the next line.
import { LOG_LEVELS, LOGGERS, type LoggerName, type LogLevel } from './log.ts'

/** By the index in LOGGERS, the index in LOG_LEVELS. The last number is the level of the configuration. */
export type LogLevels = Int32Array<SharedArrayBuffer>

/** Makes the memory with one level for all loggers. */
export function newLogLevels(configured: LogLevel): LogLevels {
  const levels = new Int32Array(new SharedArrayBuffer((LOGGERS.length + 1) * Int32Array.BYTES_PER_ELEMENT))
  return levels.fill(LOG_LEVELS.indexOf(configured))
}

/** Returns the level of a logger. */
export const levelOf = (levels: LogLevels, name: LoggerName): LogLevel =>
  LOG_LEVELS[Atomics.load(levels, LOGGERS.indexOf(name))] as LogLevel

/** Changes the level of a logger on all threads. */
export function setLevel(levels: LogLevels, name: LoggerName, level: LogLevel): void {
  Atomics.store(levels, LOGGERS.indexOf(name), LOG_LEVELS.indexOf(level))
}

/**
 * Sets all loggers to the level of the configuration, if that has changed. Otherwise levels set by sys/loggers stay.
 */
export function configureLevel(levels: LogLevels, level: LogLevel): void {
  const configured = LOG_LEVELS.indexOf(level)
  if (Atomics.load(levels, LOGGERS.length) !== configured) levels.fill(configured)
}

/** Returns the level that the configuration had when it was last read. */
export const configuredLevel = (levels: LogLevels): LogLevel =>
  LOG_LEVELS[Atomics.load(levels, LOGGERS.length)] as LogLevel

/** True if a line of this level is written. */
export const isLevelOn = (levels: LogLevels, logger: number, level: LogLevel): boolean =>
  LOG_LEVELS.indexOf(level) >= Atomics.load(levels, logger)
