// sys/raw: the store entry by entry, if `raw_storage_endpoint = true` allows it. Otherwise the path answers like one
// that does not exist.
import { isUtf8 } from 'node:buffer'
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { int, string } from '../../api/fields.ts'
import { LIST_OF_NAMES, namesAnswer, orNotFound } from '../../api/named-things.ts'
import { DONE } from '../../api/request.ts'
import { text } from '../../api/shape.ts'
import { Base64Error, decodeBase64 } from '../../lib/base64.ts'
import type { RawStorage } from '../raw-storage.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'facts'> & WithServices<'raw'>

/** @throws Refusal if the configuration does not allow it */
function rawOf(system: System): RawStorage {
  if (system.facts.rawStorage !== true) throw fail('unsupported_path', [])
  return system.services.raw
}

const ENCODINGS = ['', 'base64']
const pathField = { path: string('Storage path of the entry, without its namespace', { required: true }) }
const encodingField = {
  encoding: string('Encoding of value: base64; empty: text', { oneOf: ENCODINGS, default: '' }),
}
const common = { sudo: true, offeredIn: 'root' } as const
const one = { ...common, path: 'raw/:path...' } as const
const about = 'Bypasses all checks of the server. Use it only for repairs, and only with a backup.'

const list = endpoint({
  ...LIST_OF_NAMES,
  id: 'raw-list',
  path: 'raw(/:path...)',
  ...common,
  summary: 'Lists the names of stored entries',
  describe: about,
  fields: {
    path: string('Path of the folder to list; unset: the root', { default: '' }),
    after: string('Returns only names that sort after this one', { default: '' }),
    limit: int('Maximum number of names to return; 0: all', { default: 0 }),
  },
  handler: async (system: System, { path, after, limit }) =>
    namesAnswer(await rawOf(system).list(path, { after, ...(limit > 0 ? { limit } : {}) })),
})

const read = endpoint({
  id: 'raw-read',
  ...one,
  operation: 'read',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows a stored entry, decrypted',
  describe: about,
  fields: { ...pathField, ...encodingField },
  response: { value: text('Value of the entry, as text or base64') },
  handler: async (system: System, { path, encoding }) => {
    const bytes = orNotFound(await rawOf(system).get(path))
    if (encoding === 'base64') return { data: { value: bytes.toString('base64') } }
    // JSON would replace bytes that are not UTF-8, and a caller who wrote them back would damage the entry.
    if (!isUtf8(bytes)) throw fail('field_invalid', ['encoding', 'must be base64: the entry is not text'])
    return { data: { value: bytes.toString() } }
  },
})

const write = endpoint({
  id: 'raw-write',
  ...one,
  operation: 'update',
  capability: 'update',
  runsOn: 'writer',
  writes: (system: System, { path }) => rawOf(system).ownerOf(path),
  onlyOnPrimary: true,
  summary: 'Replaces a stored entry',
  describe: about,
  fields: { ...pathField, value: string('New value of the entry', { required: true, secret: true }), ...encodingField },
  handler: async (system: System, { path, value, encoding }) => {
    await rawOf(system).put(path, encoding === 'base64' ? decoded(value) : Buffer.from(value))
    return DONE
  },
})

function decoded(value: string): Buffer {
  try {
    return decodeBase64(value)
  } catch (cause) {
    if (cause instanceof Base64Error) throw fail('base64_invalid', ['value', cause.message], cause)
    throw cause
  }
}

const remove = endpoint({
  id: 'raw-delete',
  ...one,
  operation: 'delete',
  capability: 'delete',
  runsOn: 'writer',
  writes: (system: System, { path }) => rawOf(system).ownerOf(path),
  onlyOnPrimary: true,
  summary: 'Deletes a stored entry',
  describe: about,
  fields: pathField,
  handler: async (system: System, { path }) => {
    await rawOf(system).delete(path)
    return DONE
  },
})

/** List, read, write and delete, all with sudo. */
export const RAW_ENDPOINTS: readonly Endpoint<System>[] = [list, read, write, remove]
