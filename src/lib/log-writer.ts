// The log of the server: one line an entry, on standard error. A log that cannot be written (closed pipe, full disk)
// must not end the server (threats N-21): lines are dropped and counted.
import type { Writable } from 'node:stream'
import { LOGGERS, type Log, type LogFields, type LoggerName, type LogLevel } from './log.ts'
import { isLevelOn, type LogLevels, newLogLevels } from './log-levels.ts'
import type { Clock } from './world.ts'

const MAX_BUFFERED_BYTES = 1 << 20

/** `standard`: for people. `json`: one object a line, with the names that collectors know of the reference. */
export const LOG_FORMATS = ['standard', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

export type LogOptions = {
  /** Of the thread that writes; '' where there is only one. */
  readonly thread?: string
  readonly format?: LogFormat
  /** Missing: info and above. */
  readonly levels?: LogLevels
  /** Hears how many lines were dropped, each time some were. */
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
    const place = LOGGERS.indexOf(logger)
    const isOn = (level: LogLevel): boolean => isLevelOn(levels, place, level)
    const log = (level: LogLevel, message: string, fields: LogFields = {}): void => {
      if (isOn(level)) write({ atMs: clock.nowMs(), level, logger, thread, message, fields })
    }
    return Object.assign(log, { named, isOn })
  }
  return named('server')
}

function standardLine({ atMs, level, logger, thread, message, fields }: Line): string {
  const place = thread === '' ? logger : `${thread} ${logger}`
  const tail = Object.entries(fields)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? JSON.stringify(value) : value}`)
    .join('')
  return `${new Date(atMs).toISOString()} ${level.padEnd(5)} ${place}: ${message}${tail}`
}

function jsonLine({ atMs, level, logger, thread, message, fields }: Line): string {
  const head = { '@timestamp': new Date(atMs).toISOString(), '@level': level, '@module': logger, '@message': message }
  return JSON.stringify({ ...head, ...(thread === '' ? {} : { thread }), ...fields })
}

/** What would begin another line, or move the cursor of whoever reads it, stands as its code, which JSON has too. */
function oneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
