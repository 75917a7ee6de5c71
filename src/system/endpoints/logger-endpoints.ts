// sys/loggers: the level of each logger. The levels lie in memory that all threads share, so a change holds from the
// next line on. Nothing is stored: a restart brings back the configuration.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { optional, type Shapes, text } from '../../api/shape.ts'
import { isLoggerName, LOG_LEVELS, LOGGERS, type LoggerName, logLevelOf } from '../../lib/log.ts'
import { configuredLevel, levelOf, setLevel } from '../../lib/log-levels.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'telemetry'>

const level = {
  level: string(`Log level: one of ${LOG_LEVELS.join(', ')}`, { required: true }),
}
const name = { name: string(`Name of the logger: one of ${LOGGERS.join(', ')}`, { required: true }) }
/** Each logger as a member; a read of one logger has that one only. */
const LEVELS: Shapes = Object.fromEntries(LOGGERS.map((logger) => [logger, optional(text('Level of the logger'))]))
const common = { runsOn: 'any-node', offeredIn: 'root' } as const
/** The levels are in the memory of this node. */
const changing = { ...common, writes: 'node' } as const

/** @throws Refusal if there is no such logger */
function loggerNamed(asked: string): LoggerName {
  if (isLoggerName(asked)) return asked
  throw fail('choice_unknown', [`logger not found; there are ${LOGGERS.join(', ')}`])
}

/** Sets the level on all threads. @throws Refusal for an unknown level */
function set({ telemetry }: System, loggers: readonly LoggerName[], asked: string): void {
  const wanted = logLevelOf(asked)
  if (wanted === undefined) throw fail('choice_unknown', ['level', `must be one of ${LOG_LEVELS.join(', ')}`])
  for (const logger of loggers) setLevel(telemetry.levels, logger, wanted)
}

const shown = ({ telemetry }: System, loggers: readonly LoggerName[]): Record<string, string> =>
  Object.fromEntries(loggers.map((logger) => [logger, levelOf(telemetry.levels, logger)]))

/** Endpoints of log levels. They change the running server alone: a restart takes those of the configuration. */
export const LOGGER_ENDPOINTS: readonly Endpoint<System>[] = [
  endpoint({
    ...common,
    id: 'loggers-read',
    operation: 'read',
    path: 'loggers',
    capability: 'read',
    summary: 'Shows the level of each logger',
    fields: {},
    response: LEVELS,
    handler: (system: System) => ({ data: shown(system, LOGGERS) }),
  }),
  endpoint({
    ...changing,
    id: 'loggers-write',
    operation: 'update',
    path: 'loggers',
    capability: 'update',
    summary: 'Sets the level of all loggers',
    fields: level,
    handler: (system: System, args) => {
      set(system, LOGGERS, args.level)
      return {}
    },
  }),
  endpoint({
    ...changing,
    id: 'loggers-reset',
    operation: 'delete',
    path: 'loggers',
    capability: 'delete',
    summary: 'Resets all loggers to their configured levels',
    fields: {},
    handler: (system: System) => {
      set(system, LOGGERS, configuredLevel(system.telemetry.levels))
      return {}
    },
  }),
  endpoint({
    ...common,
    id: 'logger-read',
    operation: 'read',
    path: 'loggers/:name',
    capability: 'read',
    summary: 'Shows the level of a logger',
    fields: name,
    response: LEVELS,
    handler: (system: System, args) => ({ data: shown(system, [loggerNamed(args.name)]) }),
  }),
  endpoint({
    ...changing,
    id: 'logger-write',
    operation: 'update',
    path: 'loggers/:name',
    capability: 'update',
    summary: 'Sets the level of a logger',
    fields: { ...name, ...level },
    handler: (system: System, args) => {
      set(system, [loggerNamed(args.name)], args.level)
      return {}
    },
  }),
  endpoint({
    ...changing,
    id: 'logger-reset',
    operation: 'delete',
    path: 'loggers/:name',
    capability: 'delete',
    summary: 'Resets a logger to its configured level',
    fields: name,
    handler: (system: System, args) => {
      set(system, [loggerNamed(args.name)], configuredLevel(system.telemetry.levels))
      return {}
    },
  }),
]
