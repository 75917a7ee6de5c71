// The rows that a person sees of an answer. Names and order are those of the reference's command line: `-field=token`
// and its like mean the same in scripts that were written for it.
import { formatDuration } from '../lib/duration.ts'
import { exactMember, isList, isMembers, type Json, plainText } from './exact-json.ts'

/** One line of a table: the name that `-field` finds it by, and the value as the server gave it. */
export type AnswerRow = readonly [name: string, value: Json]

/**
 * Returns the rows of an answer: lease, login, wrapping, then data. `request_id` tells an envelope from a plain answer,
 * such as that of sys/seal-status, whose own members are the rows.
 */
export function answerRows(body: Json | undefined): AnswerRow[] {
  if (!isMembers(body)) return []
  if (!Object.hasOwn(body, 'request_id')) return memberRows(body)
  return [
    ...leaseRows(body),
    ...authRows(exactMember(body, 'auth')),
    ...wrapRows(exactMember(body, 'wrap_info')),
    ...memberRows(exactMember(body, 'data')),
  ]
}

/** Splits objects, and lists of them, into a row for each value in them: `keys.1`, `batch_results.0.ciphertext`. */
export function flatRows(rows: readonly AnswerRow[]): AnswerRow[] {
  return rows.flatMap(([name, value]): AnswerRow[] => {
    const inner = innerRows(value)
    return inner === undefined ? [[name, value]] : flatRows(inner.map(([member, each]) => [`${name}.${member}`, each]))
  })
}

/** Returns undefined for a value that fits in one row: a scalar, an empty object, a list of scalars. */
function innerRows(value: Json): AnswerRow[] | undefined {
  if (isMembers(value)) return Object.keys(value).length === 0 ? undefined : memberRows(value)
  if (!isList(value) || !value.some((item) => isMembers(item) || isList(item))) return undefined
  return value.map((item, index): AnswerRow => [String(index), item])
}

/** Formats a value for its row. A number becomes a lifetime or a moment if the name of the row says that it is one. */
export function shownValue(name: string, value: Json): string {
  if (value === null || value === '') return NOTHING
  if (typeof value === 'number') return readableNumber(name, value)
  return isList(value) ? `[${value.map(plainText).join(', ')}]` : plainText(value)
}

/** The reference's command line prints this for null and for the empty text. */
const NOTHING = 'n/a'
/** Last words of names whose number is a lifetime in seconds, such as `token_max_ttl`. */
const LIFETIMES = ['ttl', 'period', 'duration', 'interval']
/** Seconds since 1970: smaller numbers count something else. It is September 2001, before any key was made. */
const FIRST_MOMENT = 1_000_000_000

function readableNumber(name: string, value: number): string {
  const words = name.split(/[._]/)
  const last = words.at(-1) ?? ''
  if (LIFETIMES.includes(last)) return duration(value) ?? String(value)
  // A read of a key gives the creation time of each version: `keys.1`.
  const isNamed = ['time', 'at'].includes(last) || (words.at(-2) === 'keys' && isInteger(last))
  // From 1e11 on the number would be milliseconds.
  const isMoment = isNamed && Number.isInteger(value) && value >= FIRST_MOMENT && value < 1e11
  return isMoment ? new Date(value * 1_000).toISOString().replace('.000', '') : String(value)
}

function memberRows(members: Json | undefined): AnswerRow[] {
  return isMembers(members) ? Object.entries(members).sort(([a], [b]) => compareNames(a, b)) : []
}

/** Compares numbers by value, since they name key versions: 10 comes after 9. Everything else goes by its letters. */
function compareNames(a: string, b: string): number {
  if (isInteger(a) && isInteger(b)) return Number(a) - Number(b)
  return a < b ? -1 : 1
}

function isInteger(name: string): boolean {
  return String(Number.parseInt(name, 10)) === name
}

function leaseRows(body: Json): AnswerRow[] {
  const seconds = exactMember(body, 'lease_duration')
  if (typeof seconds !== 'number' || seconds <= 0) return []
  const id = exactMember(body, 'lease_id') ?? ''
  // Without an id nothing can be renewed: the duration only says when to read again.
  if (id === '') return present([['refresh_interval', duration(seconds)]])
  return present([
    ['lease_id', id],
    ['lease_duration', duration(seconds)],
    ['lease_renewable', exactMember(body, 'renewable')],
  ])
}

function authRows(auth: Json | undefined): AnswerRow[] {
  if (!isMembers(auth)) return []
  const seconds = exactMember(auth, 'lease_duration')
  const rows: (readonly [string, Json | undefined])[] = [
    ['token', exactMember(auth, 'client_token')],
    ['token_accessor', exactMember(auth, 'accessor')],
    // 0 is a token without an end, such as the root token.
    ['token_duration', seconds === 0 ? '∞' : duration(seconds)],
    ['token_renewable', exactMember(auth, 'renewable')],
    ['token_policies', exactMember(auth, 'token_policies')],
    ['identity_policies', exactMember(auth, 'identity_policies')],
    ['policies', exactMember(auth, 'policies')],
    ...memberRows(exactMember(auth, 'metadata')).map(([name, value]): AnswerRow => [`token_meta_${name}`, value]),
  ]
  return present(rows)
}

function wrapRows(wrap: Json | undefined): AnswerRow[] {
  if (!isMembers(wrap)) return []
  return present([
    ['wrapping_token', exactMember(wrap, 'token')],
    ['wrapping_accessor', exactMember(wrap, 'accessor')],
    ['wrapping_token_ttl', duration(exactMember(wrap, 'ttl'))],
    ['wrapping_token_creation_time', exactMember(wrap, 'creation_time')],
    ['wrapping_token_creation_path', exactMember(wrap, 'creation_path')],
    ['wrapped_accessor', exactMember(wrap, 'wrapped_accessor')],
  ])
}

function present(rows: readonly (readonly [string, Json | undefined])[]): AnswerRow[] {
  return rows.filter((row): row is AnswerRow => row[1] !== undefined && row[1] !== null)
}

/** Formats seconds as `768h` or `1h30m`, without zeros at the end. Returns undefined unless given a whole number. */
function duration(seconds: Json | undefined): string | undefined {
  if (typeof seconds !== 'number' || !Number.isSafeInteger(seconds)) return undefined
  let text = formatDuration(seconds)
  if (text.endsWith('m0s')) text = text.slice(0, -2)
  return text.endsWith('h0m') ? text.slice(0, -2) : text
}
