// The state of a server at a glance, above the table of `keywright status` on a terminal. It shows as much as the
// server tells this caller.
import { countIn, itemsIn, lineIn } from './answer-members.ts'
import type { Client } from './client.ts'
import { exactMember, type Json, plainText } from './exact-json.ts'
import { bar, type Style, toned } from './picture.ts'
import { printableLine } from './terminal-text.ts'

/** The glance is only an extra: it must not hold up the status. */
const TIMEOUT_MS = 1_500

/** Reads `sys/hardening`. Returns undefined if the caller may not read it, or the answer takes too long. */
export async function readPicture(client: Client): Promise<Json | undefined> {
  if (client.token === undefined) return undefined
  const request = { doing: 'reading the checks', method: 'GET', path: 'sys/hardening' } as const
  try {
    const { body } = await client.with({ timeoutMs: TIMEOUT_MS, retries: 0 }).send(request)
    return exactMember(body, 'data')
  } catch {
    return undefined
  }
}

/** The parts of the picture. */
export type Glance = {
  readonly address: string
  /** The answer of sys/seal-status. */
  readonly status: Json
  /** The data of sys/hardening, if they could be read. */
  readonly surroundings: Json | undefined
  readonly nowMs: number
}

/** Formats the picture: the state, then what is to be done next or how the server is. */
export function formatGlance(glance: Glance, style: Style): string {
  const { status, surroundings } = glance
  const lines = [headLine(glance, style)]
  if (exactMember(status, 'initialized') !== true) {
    lines.push(`${toned(style, 'strong', 'keywright operator init')} initialises it and generates its keys`)
  } else if (exactMember(status, 'sealed') === true) lines.push(progressLine(status, style))
  if (surroundings !== undefined) lines.push(serverLine(glance, surroundings, style), checksLine(surroundings, style))
  return `${lines.map((line, at) => (at === 0 ? line : `  ${line}`)).join('\n')}\n\n`
}

const dot = (style: Style): string => (style.isUnicode ? '●' : '*')
const between = (style: Style): string => (style.isUnicode ? ' · ' : ', ')

function headLine({ address, status }: Glance, style: Style): string {
  const isOpen = exactMember(status, 'sealed') !== true
  const isNew = exactMember(status, 'initialized') !== true
  const state = isNew ? 'not initialised' : isOpen ? 'open' : 'sealed'
  const name = lineIn(status, 'cluster_name')
  const inClear = address.startsWith('http:') ? ' in clear' : ''
  const parts = [
    toned(style, isOpen ? 'good' : 'caution', `${dot(style)} ${state}`),
    ...(name === '' ? [] : [toned(style, 'strong', name)]),
    `${printableLine(address)}${toned(style, 'faint', inClear)}`,
  ]
  return parts.join('  ')
}

const BAR_CELLS = 24

/** A server that opens by itself and is sealed has a fault that no key mends. */
function progressLine(status: Json, style: Style): string {
  const [given, needed] = [countIn(status, 'progress') ?? 0, countIn(status, 't') ?? 0]
  if (exactMember(status, 'recovery_seal') === true)
    return 'It should have unsealed itself at the start, and did not: its log says why'
  // Every key gets the same number of cells, so that the bar has steps.
  const cells = needed === 0 ? BAR_CELLS : Math.max(1, Math.floor(BAR_CELLS / needed)) * Math.min(needed, BAR_CELLS)
  const left = needed - given
  const what = `${left} more ${left === 1 ? 'key' : 'keys'}: ${toned(style, 'strong', 'keywright operator unseal')}`
  return `${bar(style, given, needed, cells)}  ${given} of ${needed}, ${what}`
}

function serverLine({ nowMs }: Glance, surroundings: Json, style: Style): string {
  const server = exactMember(surroundings, 'server')
  const startedMs = Date.parse(lineIn(server, 'started_at'))
  const threads = countIn(server, 'threads') ?? 0
  const listeners = itemsIn(server, 'listeners')
  const open = listeners.filter((each) => exactMember(each, 'tls') !== true).length
  const devices = itemsIn(server, 'audit_devices').map((each) => printableLine(plainText(each)))
  const parts = [
    `${threads} ${threads === 1 ? 'thread' : 'threads'}`,
    ...(Number.isNaN(startedMs) ? [] : [`up ${spanOf(nowMs - startedMs)}`]),
    `${readableSize(countIn(server, 'stored_bytes') ?? 0)} stored`,
    devices.length === 0 ? toned(style, 'caution', 'no audit') : `audit to ${devices.join(', ')}`,
    open === 0 ? 'TLS' : `${open} of ${listeners.length} addresses in clear`,
  ]
  return parts.join(between(style))
}

function checksLine(surroundings: Json, style: Style): string {
  const [well, warnings, refusals] = ['ok', 'warnings', 'refusals'].map((name) => countIn(surroundings, name) ?? 0)
  if (warnings === 0 && refusals === 0) return toned(style, 'good', `${well} hardening checks passed, no warnings`)
  const bad = refusals === 0 ? '' : `${toned(style, 'bad', `${refusals} would prevent a start`)}, `
  const worth = `${bad}${toned(style, 'caution', `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`)}`
  return `Hardening checks: ${worth}: ${toned(style, 'strong', 'keywright operator diagnose -server')}`
}

/** Milliseconds. */
const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** Formats a time in the largest unit that fits and the one below it: `3 d 4 h`. */
export function spanOf(ms: number): string {
  const first = UNITS.findIndex(([size]) => ms >= size)
  if (first === -1) return '0 s'
  let left = ms
  const parts = UNITS.slice(first, first + 2).map(([size, name]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? '' : `${count} ${name}`
  })
  return parts.filter((part) => part !== '').join(' ')
}

const SIZES: readonly (readonly [number, string])[] = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
]

/** Formats bytes in the largest unit that fits, with one decimal. */
export function readableSize(bytes: number): string {
  const found = SIZES.find(([size]) => bytes >= size)
  return found === undefined ? `${bytes} B` : `${(bytes / found[0]).toFixed(1)} ${found[1]}`
}
