// sys/config/ui/headers: headers that are added to all answers outside /v1/ (docs/differences.md#the-server).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, string, strings } from '../../api/fields.ts'
import { LIST_OF_NAMES, orNotFound, pageOf } from '../../api/named-things.ts'
import { DONE } from '../../api/request.ts'
import { listOf, optional, text } from '../../api/shape.ts'
import type { WithServices } from '../services.ts'

/** The parts of the system that these endpoints use. */
type System = WithServices<'uiHeaders'>

/** The one spelling under which a header is kept: `X-Frame-Options` for `x-frame-OPTIONS`. */
const keptHeader = (header: string): string =>
  header
    .split('-')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase())
    .join('-')

const nameField = { header: string('Name of the header', { required: true, canonical: keptHeader }) }
const common = { sudo: true, offeredIn: 'root' } as const
const one = { ...common, path: 'config/ui/headers/:header', fields: nameField } as const
/** Every answer outside /v1/ carries them all. */
const MAX_HEADERS = 64
const MAX_VALUE_CHARACTERS = 4_096
/** All values of one header together; many clients take no longer header. */
const MAX_VALUES_CHARACTERS = 8_192
/** Headers by which an answer is read: with another value clients would misread it. */
const OWN = ['content-type', 'content-length', 'transfer-encoding', 'connection', 'date', 'cache-control']

const list = endpoint({
  ...LIST_OF_NAMES,
  id: 'ui-headers-list',
  path: 'config/ui/headers',
  ...common,
  summary: 'Lists the custom response headers',
  handler: async (system: System, page) => {
    const { headers } = await system.services.uiHeaders.current()
    return { data: { keys: pageOf(Object.keys(headers).sort(), page) } }
  },
})

const read = endpoint({
  id: 'ui-headers-read',
  ...one,
  operation: 'read',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows a custom response header',
  fields: { ...nameField, multivalue: bool('Returns all values, in the member values', { default: false }) },
  response: {
    value: optional(text('First value; present without multivalue')),
    values: optional(listOf(text('Value'), 'All values; present with multivalue')),
  },
  handler: async (system: System, { header, multivalue }) => {
    const { headers } = await system.services.uiHeaders.current()
    const name = headerName(header)
    const values = orNotFound(Object.hasOwn(headers, name) ? headers[name] : undefined)
    return { data: multivalue ? { values } : { value: values[0] } }
  },
})

const write = endpoint({
  id: 'ui-headers-write',
  ...one,
  operation: 'update',
  capability: 'update',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Sets a custom header on all responses outside /v1/',
  fields: { ...nameField, values: strings('Values of the header', { required: true, max: MAX_VALUES_CHARACTERS }) },
  handler: async (system: System, { header, values }) => {
    const name = headerName(header)
    if (name.startsWith('X-Vault-') || OWN.includes(name.toLowerCase()))
      throw fail('part_of_server', [`The header ${name} belongs to the API and cannot be set`])
    // The header has no other value; any other would switch it off, and browsers would guess types again.
    if (name === 'X-Content-Type-Options' && values.some((value) => value !== 'nosniff'))
      throw fail('field_invalid', ['values', `must be "nosniff" for ${name}`])
    if (values.length === 0 || values.some((value) => !isHeaderValue(value)))
      throw fail('field_invalid', ['values', 'must be one or more texts of visible ASCII characters and spaces'])
    await system.services.uiHeaders.change(({ headers }) => {
      const after = { ...headers, [name]: values }
      if (Object.keys(after).length > MAX_HEADERS)
        throw fail('limit_reached', [`At most ${MAX_HEADERS} headers are set`])
      return { headers: after }
    })
    return DONE
  },
})

const remove = endpoint({
  id: 'ui-headers-delete',
  ...one,
  operation: 'delete',
  capability: 'delete',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Removes a custom response header',
  handler: async (system: System, { header }) => {
    const name = headerName(header)
    await system.services.uiHeaders.change(({ headers }) => ({
      headers: Object.fromEntries(Object.entries(headers).filter(([known]) => known !== name)),
    }))
    return DONE
  },
})

/** The kept spelling of a header. @throws Refusal if it is no name of a header */
function headerName(header: string): string {
  if (!/^[A-Za-z0-9-]{1,128}$/.test(header))
    throw fail('name_invalid', ['The name of a header has letters, digits and "-" only'])
  return keptHeader(header)
}

/** Visible ASCII and spaces: no line break, which would start another header (RFC 9110 section 5.5). */
function isHeaderValue(value: string): boolean {
  return value !== '' && value.length <= MAX_VALUE_CHARACTERS && /^[\x20-\x7e]*$/.test(value)
}

/** List, read, write and delete, all with sudo. */
export const UI_HEADER_ENDPOINTS: readonly Endpoint<System>[] = [list, read, write, remove]
