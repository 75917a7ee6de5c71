// The keys `log_level` and `log_format`, and their variables.

import type { HclObject } from '../lib/hcl-tree.ts'
import { LOG_LEVELS, type LogLevel, logLevelOf } from '../lib/log.ts'
import { LOG_FORMATS, type LogFormat } from '../lib/log-writer.ts'
import { ConfigError, textIn } from './values.ts'

/** Settings of the log at the start; `sys/loggers` changes levels while the server runs. */
export type LogConfig = { readonly level: LogLevel; readonly format: LogFormat }
/** Settings that hold without keys and variables. */
export const DEFAULT_LOG: LogConfig = { level: 'info', format: 'standard' }

/** Reads the keys that are given. @throws ConfigError */
export function logOf(body: HclObject): { readonly logging?: Partial<LogConfig> } {
  const [level, format] = [textIn(body, 'log_level'), textIn(body, 'log_format')]
  if (level === undefined && format === undefined) return {}
  return {
    logging: {
      ...(level === undefined ? {} : { level: levelIn(level, 'log_level') }),
      ...(format === undefined ? {} : { format: formatIn(format, 'log_format') }),
    },
  }
}

/** Applies variables, which win over the file as with the reference. `read` takes a name without its prefix. */
export function logFromEnvironment(configured: LogConfig, read: (name: string) => string | undefined): LogConfig {
  const [level, format] = [read('LOG_LEVEL'), read('LOG_FORMAT')]
  return {
    level: level === undefined ? configured.level : levelIn(level, 'the variable LOG_LEVEL'),
    format: format === undefined ? configured.format : formatIn(format, 'the variable LOG_FORMAT'),
  }
}

function levelIn(text: string, where: string): LogLevel {
  const level = logLevelOf(text)
  if (level === undefined) throw new ConfigError(`${where} must be one of ${LOG_LEVELS.join(', ')}`)
  return level
}

function formatIn(text: string, where: string): LogFormat {
  const format = LOG_FORMATS.find((one) => one === text)
  if (format === undefined) throw new ConfigError(`${where} must be one of ${LOG_FORMATS.join(', ')}`)
  return format
}
