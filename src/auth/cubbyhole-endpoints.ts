// The endpoints under `cubbyhole/`. Paths are relative to the calling token: no request can name another token's data.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { string } from '../api/fields.ts'
import { namesAnswer, orNotFound, PAGE_FIELDS, type Page } from '../api/named-things.ts'
import type { Namespace } from '../api/namespace.ts'
import { callerOf, DONE, type RequestInfo } from '../api/request.ts'
import { anything, listOf, OTHERS, text } from '../api/shape.ts'
import type { Cubbyhole } from './cubbyhole.ts'
import type { CubbyholeOf } from './kept-values.ts'
import type { TokenEntry } from './token-entry.ts'

/**
 * Returns the cubbyhole that is meant.
 * @throws Refusal for a batch token, which is not stored and so keeps nothing.
 */
function ownerOf(request: RequestInfo): CubbyholeOf {
  const { tokenId, namespaceId, entry } = callerOf(request)
  if ((entry as TokenEntry).type === 'batch')
    throw fail('token_cannot', ['cubbyhole operations are only supported by service tokens'])
  return cubbyholeOf(tokenId, namespaceId, request.namespace)
}

const cubbyholeOf = (tokenId: string, ofToken: string, { id }: Namespace): CubbyholeOf => ({
  tokenId,
  abroad: id === ofToken ? undefined : id,
})

/** Limits the caller's part of the storage key, which begins with a folder and the token's id. */
const MAX_PATH_BYTES = 768
const isTooLong = (path: string): boolean => Buffer.byteLength(path) > MAX_PATH_BYTES

const pathField = { path: string('Path within the cubbyhole of the calling token', { required: true }) }

const read = endpoint({
  id: 'cubbyhole-read',
  operation: 'read',
  path: ':path...',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows the value that the calling token stores at a path',
  fields: pathField,
  response: { [OTHERS]: anything('Member of the stored object, as written') },
  handler: async (cubbyhole: Cubbyhole, { path }, request) => {
    const data = orNotFound(await cubbyhole.read(ownerOf(request), path))
    const { numUses } = callerOf(request).entry as TokenEntry
    // A negative count marks the last use: the token and its cubbyhole go with this answer.
    return numUses < 0 ? { data, isOnlyCopy: true } : { data }
  },
})

const write = endpoint({
  id: 'cubbyhole-write',
  operation: 'update',
  path: ':path...',
  capability: 'create-or-update',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Stores an object for the calling token alone, as long as the token lives; replaces an existing object',
  fields: pathField,
  takesAnyFields: true,
  exists: (cubbyhole: Cubbyhole, { path = '' }, { id, entry }, namespace) =>
    cubbyhole.has(cubbyholeOf(id, entry.namespace, namespace), path),
  handler: async (cubbyhole: Cubbyhole, { path }, request) => {
    const owner = ownerOf(request)
    const { input } = request
    if (input === undefined || Object.keys(input).length === 0)
      throw fail('field_missing', ['data', 'missing data fields'])
    if (isTooLong(path)) throw fail('out_of_range', ['path', `must have at most ${MAX_PATH_BYTES} bytes`])
    await cubbyhole.write(owner, path, input)
    return DONE
  },
})

const remove = endpoint({
  id: 'cubbyhole-delete',
  operation: 'delete',
  path: ':path...',
  capability: 'delete',
  runsOn: 'writer',
  writes: 'cluster',
  summary: 'Deletes what the calling token stores at a path; a path without a value is not an error',
  fields: pathField,
  handler: async (cubbyhole: Cubbyhole, { path }, request) => {
    const owner = ownerOf(request)
    if (!isTooLong(path)) await cubbyhole.delete(owner, path)
    return DONE
  },
})

const list = (id: string, path: string) =>
  endpoint({
    id,
    operation: 'list',
    path,
    capability: 'list',
    runsOn: 'any-node',
    summary: 'Lists the names that the calling token stores below a path',
    fields: path === '' ? PAGE_FIELDS : { path: string('Path of the folder to list'), ...PAGE_FIELDS },
    response: { keys: listOf(text('Name; a folder ends in /'), 'Names, sorted') },
    handler: async (cubbyhole: Cubbyhole, args: Page & { readonly path?: string | undefined }, request) => {
      const folder = args.path === undefined || args.path === '' ? '' : `${args.path}/`
      return namesAnswer(await cubbyhole.list(ownerOf(request), folder, args))
    },
  })

/** All endpoints below the mount `cubbyhole/`, which every server has. */
export const CUBBYHOLE_ENDPOINTS: readonly Endpoint[] = [
  read,
  write,
  remove,
  list('cubbyhole-list', ''),
  list('cubbyhole-list-folder', ':path...'),
]
