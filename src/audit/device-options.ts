// The options of an audit device, as the reference names them. What is not offered is refused by name: a log that is
// not written as asked for is worse than none.
import { fail, type Refusal } from '../api/errors.ts'
import { DurationError, parseDurationSeconds } from '../lib/duration.ts'
import { nearest } from '../lib/nearest.ts'
import { own } from '../lib/own.ts'
import type { FormatOptions } from './entry-text.ts'

export type Target =
  | { readonly kind: 'discard' }
  | { readonly kind: 'stdout' }
  | { readonly kind: 'file'; readonly file: string; readonly mode: number }
  | { readonly kind: 'socket'; readonly socket: SocketAddress }
  | { readonly kind: 'syslog'; readonly socket: SocketAddress; readonly header: string }

export type SocketAddress =
  | { readonly type: 'tcp' | 'udp'; readonly host: string; readonly port: number }
  | { readonly type: 'unix'; readonly file: string }

export type DeviceSettings = {
  readonly target: Target
  readonly format: FormatOptions
  readonly prefix: string
  /** After so long without an answer a device counts as failed (threats P-39). */
  readonly deadlineMs: number
}

export type Options = Readonly<Record<string, string>>

const COMMON = ['log_raw', 'hmac_accessor', 'elide_list_responses', 'format', 'prefix']
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  file: [...COMMON, 'file_path', 'path', 'mode'],
  socket: [...COMMON, 'address', 'socket_type', 'write_timeout'],
  syslog: [...COMMON, 'facility', 'tag', 'address', 'write_timeout'],
}
export const DEVICE_TYPES: readonly string[] = Object.keys(KNOWN)

const DEFAULT_DEADLINE_SECONDS = 5
const MOST_DEADLINE_SECONDS = 60
const DEFAULT_MODE = 0o600
const WIDEST_MODE = 0o660
const MOST_PREFIX_CHARACTERS = 256

const refusal = (why: string): Refusal => fail('audit_option_invalid', [why])

/** `isDeclared`: they come from the configuration file, which may set more. @throws Refusal naming the option */
export function deviceSettings(type: string, options: Options, isDeclared: boolean): DeviceSettings {
  const known = own(KNOWN, type)
  if (known === undefined) throw refusal(`unknown backend type: offered are ${DEVICE_TYPES.join(', ')}`) // Wire text.
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const near = nearest(name, known)
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`
    throw refusal(`an option is not offered for a device of this type, ${hint}`)
  }
  const format = options.format ?? 'json'
  if (format !== 'json') throw refusal('the option format must be json: jsonx is not offered')
  return {
    target: targetOf(type, options),
    format: {
      raw: flag(options, 'log_raw', false),
      hmacAccessor: flag(options, 'hmac_accessor', true),
      elideLists: flag(options, 'elide_list_responses', false),
    },
    prefix: prefixOf(options, isDeclared),
    deadlineMs: deadlineOf(options),
  }
}

function targetOf(type: string, options: Options): Target {
  if (type === 'file') return fileTarget(options)
  if (type === 'socket') return { kind: 'socket', socket: socketAddress(options) }
  return { kind: 'syslog', socket: syslogAddress(options.address), header: syslogHeader(options) }
}

function fileTarget(options: Options): Target {
  const { file_path: named, path: old } = options
  if (named !== undefined && old !== undefined) throw refusal('the options file_path and path name the same: give one')
  const file = named ?? old
  if (file === undefined || file === '') throw refusal('file_path is required') // Wire text.
  if (file === 'stdout') return { kind: 'stdout' }
  if (file === 'discard' || file === '/dev/null') return { kind: 'discard' }
  if (!file.startsWith('/') || file.includes('\0'))
    throw refusal('the option file_path must be an absolute path, stdout or discard')
  return { kind: 'file', file, mode: modeOf(options.mode) }
}

/** Read and write for owner and group at most: nobody runs a log, and not everybody reads one (threats U-07). */
function modeOf(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_MODE
  const mode = /^[0-7]{3,4}$/.test(text) ? Number.parseInt(text, 8) : Number.NaN
  if (Number.isNaN(mode) || (mode & ~WIDEST_MODE) !== 0 || (mode & DEFAULT_MODE) !== DEFAULT_MODE)
    throw refusal('the option mode must be octal, with 0600 and at most 0660')
  return mode
}

function socketAddress(options: Options): SocketAddress {
  const { address, socket_type: type = 'tcp' } = options
  if (address === undefined || address === '') throw refusal('address is required') // Wire text.
  if (type === 'unix') return unixAddress(address)
  if (type !== 'tcp' && type !== 'udp') throw refusal('the option socket_type must be tcp, udp or unix')
  return { type, ...hostAndPort(address) }
}

const SYSLOG_SOCKET = '/dev/log'

function syslogAddress(text: string | undefined): SocketAddress {
  if (text === undefined || text === '') return { type: 'unix', file: SYSLOG_SOCKET }
  const colon = text.indexOf(':')
  const [type, rest] = [text.slice(0, Math.max(colon, 0)), text.slice(colon + 1)]
  if (type === 'unix') return unixAddress(rest)
  if (type === 'tcp' || type === 'udp') return { type, ...hostAndPort(rest) }
  throw refusal('the option address must be like udp:127.0.0.1:514, tcp:127.0.0.1:601 or unix:/dev/log')
}

function unixAddress(file: string): SocketAddress {
  if (!file.startsWith('/') || file.includes('\0')) throw refusal('the option address must be an absolute path')
  return { type: 'unix', file }
}

const MOST_PORT = 65_535

function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':')
  const named = text.slice(0, Math.max(colon, 0))
  const host = named.startsWith('[') && named.endsWith(']') ? named.slice(1, -1) : named
  const port = /^\d{1,5}$/.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : 0
  if (host === '' || port < 1 || port > MOST_PORT) throw refusal('the option address must be like 127.0.0.1:9090')
  return { host, port }
}

/** RFC 5424 section 6.2.1. */
const FACILITIES = [
  'KERN,USER,MAIL,DAEMON,AUTH,SYSLOG,LPR,NEWS,UUCP,CRON,AUTHPRIV,FTP,NTP,SECURITY,CONSOLE,SOLARIS-CRON',
  'LOCAL0,LOCAL1,LOCAL2,LOCAL3,LOCAL4,LOCAL5,LOCAL6,LOCAL7',
].flatMap((names) => names.split(','))
const INFORMATIONAL = 6
const MOST_TAG_CHARACTERS = 48

/** RFC 5424 section 6: version 1; time, host, process and message id are left to who takes it. */
function syslogHeader(options: Options): string {
  const facility = FACILITIES.indexOf((options.facility ?? 'AUTH').toUpperCase())
  if (facility === -1) throw refusal(`the option facility must be one of ${FACILITIES.join(', ')}`)
  const tag = options.tag ?? 'keywright'
  if (!/^[!-~]+$/.test(tag) || tag.length > MOST_TAG_CHARACTERS)
    throw refusal(`the option tag must have 1 to ${MOST_TAG_CHARACTERS} printable characters without blanks`)
  return `<${facility * 8 + INFORMATIONAL}>1 - - ${tag} - - - `
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
