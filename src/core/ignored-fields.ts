// Warnings about fields that a caller sent and the endpoint did not use.
import type { Endpoint } from '../api/endpoint.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Exchange } from './exchange.ts'

/** Query parameters that concern the request itself and are no fields. */
const CONTROL_PARAMETERS: ReadonlySet<string> = new Set(['list', 'scan', 'help'])

/**
 * Adds a warning about unknown fields, and one about fields that the path overrides. Their texts are those of the
 * reference product: clients show them.
 */
export function noteIgnored(exchange: Exchange, { fields, path }: Endpoint, input: JsonObject): void {
  const unknown: string[] = []
  const replaced: string[] = []
  for (const name of Object.keys(input)) {
    if (Object.hasOwn(exchange.pathParameters, name)) {
      if (!isOptionalIn(path, name)) replaced.push(name)
    } else if (!Object.hasOwn(fields, name) && !isControl(exchange, name)) unknown.push(name)
  }
  if (unknown.length > 0) exchange.warnings.push(`Endpoint ignored these unrecognized parameters: ${named(unknown)}`)
  if (replaced.length > 0) {
    const why = "with the values captured from the endpoint's path"
    exchange.warnings.push(`Endpoint replaced the value of these parameters ${why}: ${named(replaced)}`)
  }
}

/** Bounds the length of all names together. */
const MAX_NAMED_CHARACTERS = 1_024
const MAX_NAMED = 50

/**
 * The names come from the caller and go back to it and into the audit log in clear. Their number and length are
 * bounded; the rest is given as a count.
 */
function named(names: string[]): string {
  const shown: string[] = []
  let characters = 0
  for (const name of names.sort()) {
    characters += name.length
    if (shown.length === MAX_NAMED || characters > MAX_NAMED_CHARACTERS) break
    shown.push(name)
  }
  const left = names.length - shown.length
  return left === 0 ? `[${shown.join(' ')}]` : `[${shown.join(' ')}] and ${left} more`
}

/**
 * True for an optional segment, such as in `hash/sha2-256`. It is meant to override the field, so there is no warning.
 */
const isOptionalIn = (path: string, name: string): boolean => path.includes(`(/:${name})`)

const isControl = (exchange: Exchange, name: string): boolean =>
  exchange.method !== 'update' && CONTROL_PARAMETERS.has(name)
