// Writes help for people from the endpoint table.
import type { Endpoint } from './endpoint.ts'
import type { Fields, Member } from './fields.ts'
import type { Router } from './router.ts'

const OPERATIONS = ['read', 'list', 'scan', 'update', 'patch', 'delete'] as const
/** Method for each operation; a write may also be PUT. */
export const METHODS = {
  read: 'GET',
  list: 'LIST',
  scan: 'SCAN',
  update: 'POST',
  patch: 'PATCH',
  delete: 'DELETE',
} as const

/**
 * Describes what can be done at `path`, or returns undefined if nothing can. The empty path describes the whole engine.
 */
export function describeEndpoint(router: Router, path: string): string | undefined {
  if (path === '') return overview(router.endpoints)
  const found = OPERATIONS.flatMap((operation) => {
    const route = router.find(operation, path)
    return route.kind === 'found' ? [route.endpoint] : []
  })
  return found.length === 0 ? undefined : [...new Set(found)].map(endpointHelp).join('\n\n')
}

/** Column in which summaries begin, unless a path is longer. */
const PATH_WIDTH = 32

const headline = ({ operation, path, summary }: Endpoint, width = PATH_WIDTH): string =>
  `${METHODS[operation].padEnd(7)}${path.padEnd(width - 1)} ${summary}`

/** One line for each endpoint, with the summaries in one column. */
function overview(endpoints: readonly Endpoint[]): string {
  const width = endpoints.reduce((widest, { path }) => Math.max(widest, path.length + 1), PATH_WIDTH)
  return endpoints.map((each) => headline(each, width)).join('\n')
}

/** Help for one endpoint: headline, description, fields. */
export function endpointHelp(endpoint: Endpoint): string {
  const lines = [headline(endpoint)]
  if (endpoint.describe !== undefined) lines.push('', endpoint.describe)
  const fields = flatFields(endpoint.fields)
  if (fields.length > 0) lines.push('', ...fields.map(([name, field]) => fieldLine(name, field)))
  return lines.join('\n')
}

/** Lists all fields; nested ones by their full names: `config.max_lease_ttl`, `batch_input[].plaintext`. */
export function flatFields(fields: Fields): (readonly [string, Member])[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const prefix = field.kind === 'batch' ? `${name}[].` : `${name}.`
    const inside = Object.entries(field.members ?? {}).map(([member, one]) => [prefix + member, one] as const)
    return [[name, field] as const, ...inside]
  })
}

/** Describes the values that a field takes: `one of a, b`, `1 to 255`. Undefined if it takes all of its kind. */
export function rangeOf({ schema }: Member): string | undefined {
  const { enum: values, minimum, maximum } = schema
  if (Array.isArray(values)) return `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  if (minimum !== undefined) return `at least ${minimum}`
  return maximum === undefined ? undefined : `at most ${maximum}`
}

/** The default value as text; undefined if there is none. */
export function defaultOf(field: Member): string | undefined {
  const { default: value } = field
  return value === undefined ? undefined : JSON.stringify(Buffer.isBuffer(value) ? value.toString('base64') : value)
}

function fieldLine(name: string, field: Member): string {
  const [range, fallback] = [rangeOf(field), defaultOf(field)]
  const notes = [
    field.kind,
    ...(field.required ? ['required'] : []),
    ...(range === undefined ? [] : [range]),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
  ]
  return `  ${name} (${notes.join(', ')})\n      ${field.description}`
}
