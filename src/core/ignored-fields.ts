// Warnings of what a caller sent and the endpoint did not use.
import type { Endpoint } from '../api/endpoint.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Exchange } from './exchange.ts'

/** Query parameters that belong to the request itself. */
const CONTROL_PARAMETERS: ReadonlySet<string> = new Set(['list', 'help'])

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

/** Of all names together, and at most so many names. */
const MAX_NAMED_CHARACTERS = 1_024
const MAX_NAMED = 50

/**
 * What a caller made up goes back to him and into the audit, in clear: as many names as a mistake has, and how many are
 * left out.
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

/** `hash/sha2-256`: a segment that need not be there is meant to come before the field, and nobody is told. */
const isOptionalIn = (path: string, name: string): boolean => path.includes(`(/:${name})`)

const isControl = (exchange: Exchange, name: string): boolean =>
  exchange.method !== 'update' && CONTROL_PARAMETERS.has(name)
