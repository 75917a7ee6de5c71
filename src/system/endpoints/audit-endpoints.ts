// sys/audit, sys/audit-hash, sys/audit-streams and sys/config/auditing: where requests are recorded, which headers are
// recorded with them, and how the record is checked. Formats: docs/audit-format.md.
import type { ShownDevice } from '../../api/audit.ts'
import { isCredentialHeader } from '../../api/credential-headers.ts'
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, map, string } from '../../api/fields.ts'
import type { DataOwner, Sight } from '../../api/node-role.ts'
import { DONE } from '../../api/request.ts'
import { anything, flag, group, integer, listOf, mapOf, OTHERS, text } from '../../api/shape.ts'
import { OPTIONS_TEXT, TYPES_TEXT } from '../../audit/device-options.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'audit'>

const LOCAL = 'Local device: a secondary for performance does not get it, one for disaster recovery does'

/** A device as answers show it. */
const DEVICE = {
  type: text(TYPES_TEXT),
  description: text('Description for operators'),
  options: mapOf(text('Value'), 'Options of the device, as given'),
  local: flag(LOCAL),
  path: text('Path of the device'),
}

const shown = ({ type, description, options, local, path }: ShownDevice) => ({
  type,
  description,
  options,
  local,
  path,
})

const list = endpoint({
  id: 'audit-list',
  operation: 'read',
  path: 'audit',
  capability: 'read',
  offeredIn: 'root',
  sudo: true,
  body: 'both',
  runsOn: 'any-node',
  summary: 'Lists all audit devices by path',
  fields: {},
  response: { [OTHERS]: group(DEVICE, 'Audit device') },
  handler: (system: System) => ({
    data: Object.fromEntries(system.audit.list().map((device) => [device.path, shown(device)])),
  }),
})

const MOST_DESCRIPTION_CHARACTERS = 4_096
const pathField = { path: string('Path of the device', { required: true }) }

const enable = endpoint({
  id: 'audit-enable',
  operation: 'update',
  path: 'audit/:path...',
  capability: 'update',
  offeredIn: 'root',
  sudo: true,
  runsOn: 'writer',
  writes: (_system: System, { local }) => (local ? 'cluster' : 'set'),
  summary: 'Enables an audit device, which records every request from then on',
  describe: `Options ${OPTIONS_TEXT}. An existing file must be an audit log of this server.`,
  fields: {
    ...pathField,
    type: string(TYPES_TEXT, { default: '' }),
    description: string('Description for operators', { default: '', max: MOST_DESCRIPTION_CHARACTERS }),
    options: map('Options of the device, as key-value pairs'),
    local: bool(LOCAL, { default: false }),
  },
  handler: async (system: System, args) => {
    const { type, description, options = {}, local } = args
    if (type === '') throw fail('field_missing', ['type'])
    // Resolves when the device has stored its first line, so one that cannot write is refused here and not used.
    // Differs: docs/differences.md#audit.
    await system.audit.enable({ path: devicePath(args.path), type, description, options: { ...options }, local })
    return DONE
  },
})

/** A path without a device counts as shared: the primary may have one. */
const ownerOfDevice = ({ audit }: System, path: string, sight: Sight): DataOwner =>
  sight === 'all' && audit.list().find((device) => device.path === path)?.local === true ? 'cluster' : 'set'

const disable = endpoint({
  id: 'audit-disable',
  operation: 'delete',
  path: 'audit/:path...',
  capability: 'delete',
  offeredIn: 'root',
  sudo: true,
  runsOn: 'writer',
  writes: (system: System, { path }, _namespace, sight) => ownerOfDevice(system, folder(path), sight),
  summary: 'Disables an audit device; its recorded entries stay, and an unknown device is not an error',
  fields: pathField,
  handler: async (system: System, { path }, { sight }) => {
    await system.audit.disable(folder(path), sight)
    return DONE
  },
})

// A caller who may use this can confirm a guess about a recorded value; policies should grant it sparingly.
const hash = endpoint({
  id: 'audit-hash',
  operation: 'update',
  path: 'audit-hash/:path...',
  capability: 'update',
  offeredIn: 'root',
  body: 'both',
  runsOn: 'any-node',
  summary: 'Returns the HMAC of a text as an audit device records it, to search its entries for the text',
  fields: { ...pathField, input: string('Text to hash', { secret: true }) },
  response: { hash: text('hmac-sha256: followed by hexadecimal digits') },
  handler: (system: System, { path, input }) => {
    if (input === undefined) throw fail('field_missing', ['input'])
    return { data: { hash: system.audit.hash(folder(path), input) } }
  },
})

// A log alone cannot show that its end was cut off; compared with the heads of its chains it can
// (docs/audit-format.md).
const streams = endpoint({
  id: 'audit-streams',
  operation: 'read',
  path: 'audit-streams',
  capability: 'read',
  offeredIn: 'root',
  sudo: true,
  runsOn: 'any-node',
  summary: 'Shows the current heads of the audit hash chains and the key that signs them, to verify a log against',
  describe:
    'Covers the chains of this process: one for each device, thread and opening of the device. Chains are ' +
    'described in docs/audit-format.md.',
  fields: {},
  response: {
    public_key: text('Ed25519 public key, 32 bytes in base64; empty until the first device is enabled'),
    streams: listOf(
      group(
        {
          stream: text('Name of the chain'),
          device: text('Path of the device'),
          seq: integer('Sequence number of the last line'),
          hash: text('SHA-256 hash of the last line, base64url-encoded'),
          ended: flag('The chain has ended'),
        },
        'Hash chain',
      ),
      'Chains in use, and the chains that ended most recently',
    ),
  },
  handler: (system: System) => ({
    data: { public_key: system.audit.publicKey(), streams: system.audit.streams() },
  }),
})

const HEADERS = 'config/auditing/request-headers'
const SETTING = { hmac: flag('The value is recorded as an HMAC') }
/** One spelling per header: names of headers have no case (RFC 9110 section 5.1). */
const keptHeader = asciiLowerCase
const headerField = {
  header: string('Name of the request header; case-insensitive', { required: true, canonical: keptHeader }),
}

const listHeaders = endpoint({
  id: 'audit-headers-list',
  operation: 'read',
  path: HEADERS,
  capability: 'read',
  offeredIn: 'root',
  sudo: true,
  body: 'both',
  runsOn: 'any-node',
  summary: 'Shows which request headers are recorded in the audit log',
  fields: {},
  response: { headers: mapOf(group(SETTING, 'Setting'), 'Settings, by header name in lower case') },
  handler: (system: System) => ({
    data: { headers: Object.fromEntries([...system.audit.headers()].map(([name, { hmac }]) => [name, { hmac }])) },
  }),
})

const readHeader = endpoint({
  id: 'audit-headers-read',
  operation: 'read',
  path: `${HEADERS}/:header`,
  capability: 'read',
  offeredIn: 'root',
  sudo: true,
  body: 'both',
  runsOn: 'any-node',
  summary: 'Shows how a request header is recorded',
  fields: headerField,
  response: { [OTHERS]: anything('Settings, by header name') },
  handler: (system: System, { header }) => {
    const name = keptHeader(header)
    const setting = system.audit.headers().get(name)
    if (setting === undefined) throw fail('no_such_entry', ['Could not find header in config']) // Wire text.
    return { data: { [name]: { hmac: setting.hmac } } }
  },
})

const writeHeader = endpoint({
  id: 'audit-headers-write',
  operation: 'update',
  path: `${HEADERS}/:header`,
  capability: 'update',
  offeredIn: 'root',
  sudo: true,
  runsOn: 'writer',
  writes: 'set',
  summary: 'Starts recording a request header in the audit log',
  fields: { ...headerField, hmac: bool('Record the value as an HMAC', { default: false }) },
  handler: async (system: System, { header, hmac }) => {
    await system.audit.setHeader(headerName(header), { hmac })
    return DONE
  },
})

const deleteHeader = endpoint({
  id: 'audit-headers-delete',
  operation: 'delete',
  path: `${HEADERS}/:header`,
  capability: 'delete',
  offeredIn: 'root',
  sudo: true,
  runsOn: 'writer',
  writes: 'set',
  summary: 'Stops recording a request header in the audit log',
  fields: headerField,
  handler: async (system: System, { header }) => {
    await system.audit.setHeader(keptHeader(header), undefined)
    return DONE
  },
})

const folder = (path: string): string => (path.endsWith('/') ? path : `${path}/`)

/** The path is part of a stored key (docs/storage-format.md). */
const MOST_PATH_CHARACTERS = 100

/** Returns the path of a new device, with its last '/'. @throws Refusal for a name that no device may have */
function devicePath(path: string): string {
  const named = folder(path)
  const isNamed = named
    .slice(0, -1)
    .split('/')
    .every((segment) => /^[\w.-]+$/.test(segment))
  if (!isNamed || named.length > MOST_PATH_CHARACTERS)
    throw fail('field_invalid', ['path', 'must be letters, digits, "_", "-" and ".", at most 100 characters'])
  return named
}

const MOST_HEADER_CHARACTERS = 100

/** Returns the kept spelling of a header to record. @throws Refusal for no name of a header, and for credentials */
function headerName(header: string): string {
  const name = keptHeader(header)
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || name.length > MOST_HEADER_CHARACTERS)
    throw fail('field_invalid', ['header', 'is not the name of a header'])
  // Differs: docs/differences.md#audit. Tokens are recorded as `client_token`, other credentials not at all.
  if (isCredentialHeader(name))
    throw fail('field_invalid', ['header', 'holds what gives access, which is not recorded as a header'])
  return name
}

/** Devices and recorded headers. All but the hash need sudo: a caller who can end the record can hide. */
export const AUDIT_ENDPOINTS: readonly Endpoint<System>[] = [
  list,
  enable,
  disable,
  hash,
  streams,
  listHeaders,
  readHeader,
  writeHeader,
  deleteHeader,
]
