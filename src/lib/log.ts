// The log of the server. Fields are names and numbers. They hold no bodies, tokens or keys of callers, and no error
// object of a parser, which quotes its input (threats N-08, U-05).

/** From the least to the most severe. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const
/** The severity of a line. */
export type LogLevel = (typeof LOG_LEVELS)[number]
/** Facts of a line, by name. */
export type LogFields = Readonly<Record<string, string | number | boolean>>

/** The parts of the server whose levels can be changed separately (sys/loggers). */
export const LOGGERS = [
  'server',
  'core',
  'auth',
  'identity',
  'seal',
  'storage',
  'telemetry',
  'audit',
  'replication',
] as const
/** The part of the server that logs a line. */
export type LoggerName = (typeof LOGGERS)[number]

/**
 * Writes a line. What varies belongs in the fields; a message takes up only names and sentences of the program and its
 * configuration.
 */
export type Log = ((level: LogLevel, message: string, fields?: LogFields) => void) & {
  /** Returns the log for another part of the server; missing if parts are not distinguished. */
  readonly named?: (name: LoggerName) => Log
  /** True if a line of this level would be written, to spare the making of its fields. Missing: it would. */
  readonly isOn?: (level: LogLevel) => boolean
}

/** Returns the log for the part `name`. */
export const namedLog = (log: Log, name: LoggerName): Log => log.named?.(name) ?? log

/** True for the name of a level. */
export const isLogLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text)
/** True for the name of a logger. */
export const isLoggerName = (text: string): text is LoggerName => (LOGGERS as readonly string[]).includes(text)

/** Returns the level that an operator means, also by a name of the reference product; undefined for any other text. */
export function logLevelOf(text: string): LogLevel | undefined {
  const level = text.trim().toLowerCase()
  if (level === 'warning' || level === 'notice') return level === 'notice' ? 'info' : 'warn'
  if (level === 'err') return 'error'
  return isLogLevel(level) ? level : undefined
}
