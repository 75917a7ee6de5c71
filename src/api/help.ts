// Help in words, from the endpoint table.
import type { Endpoint } from './endpoint.ts'
import type { Field } from './fields.ts'
import type { Router } from './router.ts'

const OPERATIONS = ['read', 'list', 'update', 'delete'] as const
const METHODS = { read: 'GET', list: 'LIST', update: 'POST', delete: 'DELETE' } as const

/** What can be done at `path`; undefined where nothing can. The empty path describes the whole engine. */
export function describeEndpoint(router: Router, path: string): string | undefined {
  if (path === '') return router.endpoints.map(headline).join('\n')
  const found = OPERATIONS.flatMap((operation) => {
    const route = router.find(operation, path)
    return route.kind === 'found' ? [route.endpoint] : []
  })
  return found.length === 0 ? undefined : [...new Set(found)].map(helpText).join('\n\n')
}

const headline = (endpoint: Endpoint): string =>
  `${METHODS[endpoint.operation].padEnd(7)}${endpoint.path.padEnd(32)}${endpoint.summary}`

export function helpText(endpoint: Endpoint): string {
  const lines = [headline(endpoint)]
  if (endpoint.describe !== undefined) lines.push('', endpoint.describe)
  const fields = Object.entries(endpoint.fields)
  if (fields.length > 0) lines.push('', ...fields.map(([name, field]) => fieldLine(name, field)))
  return lines.join('\n')
}

function fieldLine(name: string, field: Field): string {
  const notes = [field.kind]
  if (field.required) notes.push('required')
  if (field.default !== undefined && !Buffer.isBuffer(field.default))
    notes.push(`default ${JSON.stringify(field.default)}`)
  return `  ${name} (${notes.join(', ')})\n      ${field.description}`
}
