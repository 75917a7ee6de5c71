// What the server says of itself. Fields are names and numbers, never values that a caller sent and never an error
// object of a parser, which quotes its input (threats N-08, U-05).
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogFields = Readonly<Record<string, string | number | boolean>>

/** Parts of the server whose level can be changed one by one (sys/loggers). */
export const LOGGERS = ['server', 'core', 'auth', 'identity', 'seal', 'storage', 'telemetry', 'audit'] as const
export type LoggerName = (typeof LOGGERS)[number]

export type Log = ((level: LogLevel, message: string, fields?: LogFields) => void) & {
  /** The same log, for what another part says; missing where no part is told from another. */
  readonly named?: (name: LoggerName) => Log
  /** Whether such a line would be written: spares making its fields. Missing: yes. */
  readonly isOn?: (level: LogLevel) => boolean
}

/** What `name` says into `log`. */
export const namedLog = (log: Log, name: LoggerName): Log => log.named?.(name) ?? log

export const isLogLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text)
export const isLoggerName = (text: string): text is LoggerName => (LOGGERS as readonly string[]).includes(text)

/** What operators write for the levels, those of the reference included; undefined for any other text. */
export function logLevelOf(text: string): LogLevel | undefined {
  const level = text.trim().toLowerCase()
  if (level === 'warning' || level === 'notice') return level === 'notice' ? 'info' : 'warn'
  if (level === 'err') return 'error'
  return isLogLevel(level) ? level : undefined
}
