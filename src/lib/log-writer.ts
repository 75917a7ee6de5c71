// The log of the server: one line for each entry, on standard error. A log that cannot be written (closed pipe, full
// disk) must not end the server (threats N-21): lines are dropped and counted.
import type { Writable } from 'node:stream'
import { LOGGERS, type Log, type LogFields, type LoggerName, type LogLevel } from './log.ts'
import { isLevelOn, type LogLevels, newLogLevels } from './log-levels.ts'
import type { Clock } from './world.ts'

/** Lines beyond this wait for the reader of the log no longer, and are dropped. */
const MAX_BUFFERED_BYTES = 1 << 20

/**
 * `standard` is for people. `json` is one object a line, with the names that collectors know from the reference
 * product.
 */
export const LOG_FORMATS = ['standard', 'json'] as const
/** The name of a format. */
export type LogFormat = (typeof LOG_FORMATS)[number]

/** How the log of one thread is written. */
export type LogOptions = {
  /** The name of the thread; '' if there is only one. */
  readonly thread?: string
  readonly format?: LogFormat
  /** Missing: info and above are written. */
  readonly levels?: LogLevels
  /** Called with the number of lines each time some were dropped. */
  readonly onDropped?: (lines: number) => void
}

type Line = {
  readonly atMs: number
  readonly level: LogLevel
  readonly logger: LoggerName
  readonly thread: string
  readonly message: string
  readonly fields: LogFields
}

/** Returns a log that writes to `stream`. The next line after dropped ones says how many there were. */
export function logTo(stream: Writable, clock: Clock, options: LogOptions = {}): Log {
  const { thread = '', levels = newLogLevels('info'), onDropped } = options
  const format = options.format === 'json' ? jsonLine : standardLine
  let dropped = 0
  const drop = (): void => {
    dropped++
    onDropped?.(1)
  }
  stream.on('error', drop)
  const write = (line: Line): void => {
    if (stream.writableLength > MAX_BUFFERED_BYTES || stream.destroyed) {
      drop()
      return
    }
    const fields = dropped === 0 ? line.fields : { ...line.fields, dropped_lines: dropped }
    dropped = 0
    stream.write(`${oneLine(format({ ...line, fields }))}\n`)
  }
  const named = (logger: LoggerName): Log => {
    const index = LOGGERS.indexOf(logger)
    const isOn = (level: LogLevel): boolean => isLevelOn(levels, index, level)
    const log = (level: LogLevel, message: string, fields: LogFields = {}): void => {
      if (isOn(level)) write({ atMs: clock.nowMs(), level, logger, thread, message, fields })
    }
    return Object.assign(log, { named, isOn })
  }
  return named('server')
}

function standardLine({ atMs, level, logger, thread, message, fields }: Line): string {
  const source = thread === '' ? logger : `${thread} ${logger}`
  const tail = Object.entries(fields)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? JSON.stringify(value) : value}`)
    .join('')
  return `${new Date(atMs).toISOString()} ${level.padEnd(5)} ${source}: ${message}${tail}`
}

function jsonLine({ atMs, level, logger, thread, message, fields }: Line): string {
  const head = { '@timestamp': new Date(atMs).toISOString(), '@level': level, '@module': logger, '@message': message }
  return JSON.stringify({ ...head, ...(thread === '' ? {} : { thread }), ...fields })
}

/**
 * Writes control characters as their codes, in a form that JSON has too. They could begin another line, or move the
 * cursor of a terminal.
 */
function oneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
