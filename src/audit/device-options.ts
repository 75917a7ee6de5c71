// Reads the options of an audit device, named as in the reference. An option that is not offered is refused by name: a
// log that is not written as requested is worse than none.
import { DurationError, parseDurationSeconds } from '../lib/duration.ts'
import { nearest } from '../lib/nearest.ts'
import { own } from '../lib/own.ts'
import type { DeviceSettings } from './device.ts'
import { type Options, refusal } from './device-types/device-type.ts'
import { DEVICE_TYPES } from './device-types/device-types.ts'

/** Options of every type. */
const COMMON = ['log_raw', 'hmac_accessor', 'elide_list_responses']
/** Options of every type that no text offers: one has a single value, the other belongs in the configuration file. */
const COMMON_UNSAID = ['format', 'prefix']

const DEFAULT_DEADLINE_SECONDS = 5
const MOST_DEADLINE_SECONDS = 60
const MOST_PREFIX_CHARACTERS = 256

const TYPE_NAMES = DEVICE_TYPES.map(({ name }) => name)

/** Names of the types for sentences: "file, socket or syslog". */
export const TYPES_TEXT = `${TYPE_NAMES.slice(0, -1).join(', ')} or ${TYPE_NAMES.at(-1)}`

/** Options for sentences: "for a file: file_path, mode; …; for all types: …". */
export const OPTIONS_TEXT = [
  ...DEVICE_TYPES.map(({ oneOf, options, oldOptions }) => ({
    whose: oneOf,
    names: options.filter((option) => !oldOptions.includes(option)),
  })),
  { whose: 'all types', names: COMMON },
]
  .map(({ whose, names }) => `for ${whose}: ${names.join(', ')}`)
  .join('; ')

/** Reads the options. Those of the configuration file (`isDeclared`) may set more. @throws Refusal naming the option */
export function deviceSettings(type: string, options: Options, isDeclared: boolean): DeviceSettings {
  const row = DEVICE_TYPES.find(({ name }) => name === type)
  if (row === undefined) throw refusal(`unknown backend type: offered are ${TYPE_NAMES.join(', ')}`) // Wire text.
  const known = [...COMMON, ...COMMON_UNSAID, ...row.options]
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const near = nearest(name, known)
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`
    throw refusal(`an option is not offered for a device of this type, ${hint}`)
  }
  const format = options.format ?? 'json'
  if (format !== 'json') throw refusal('the option format must be json: jsonx is not offered')
  return {
    target: row.target(options),
    format: {
      raw: flag(options, 'log_raw', false),
      hmacAccessor: flag(options, 'hmac_accessor', true),
      elideLists: flag(options, 'elide_list_responses', false),
    },
    prefix: prefixOf(options, isDeclared),
    deadlineMs: deadlineOf(options),
  }
}

function flag(options: Options, name: string, fallback: boolean): boolean {
  const value = own(options, name)
  if (value === undefined || value === '') return fallback
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  throw refusal(`the option ${name} must be true or false`)
}

function prefixOf({ prefix = '' }: Options, isDeclared: boolean): string {
  if (prefix === '') return ''
  if (!isDeclared) throw refusal('the option prefix can be set in the configuration file only')
  if (!/^[ -~]*$/.test(prefix) || prefix.includes('{') || prefix.length > MOST_PREFIX_CHARACTERS)
    throw refusal(`the option prefix must be printable ASCII without "{", at most ${MOST_PREFIX_CHARACTERS} characters`)
  return prefix
}

function deadlineOf({ write_timeout: text }: Options): number {
  if (text === undefined || text === '') return DEFAULT_DEADLINE_SECONDS * 1000
  try {
    const seconds = parseDurationSeconds(text)
    if (seconds >= 1 && seconds <= MOST_DEADLINE_SECONDS) return seconds * 1000
  } catch (cause) {
    if (!(cause instanceof DurationError)) throw cause
  }
  throw refusal(`the option write_timeout must be 1 to ${MOST_DEADLINE_SECONDS} seconds`)
}
