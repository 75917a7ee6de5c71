// sys/namespaces: the namespaces below the one that is asked, and the lock that keeps requests out of one.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { metadata, metadataPatch, string } from '../../api/fields.ts'
import { PAGE_FIELDS, type Page, pageOf } from '../../api/named-things.ts'
import { type Namespace, pathWithin, ROOT } from '../../api/namespace.ts'
import type { Answer } from '../../api/request.ts'
import { flag, group, listOf, mapOf, type Shapes, text } from '../../api/shape.ts'
import { namespaceName } from '../../namespaces/names.ts'
import { folder, systemMountOf } from '../mount-view.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'mounts' | 'namespaces' | 'namespaceStore' | 'namespaceDeletion'>

const SHOWN: Shapes = {
  id: text('ID, which ends what the namespace hands out: tokens, accessors, IDs of leases and identities'),
  uuid: text('UUID'),
  path: text('Path from the root on'),
  custom_metadata: mapOf(text('Value'), 'Metadata, as key-value pairs'),
  locked: flag('An administrator keeps requests out of it'),
  tainted: flag('It is being deleted'),
}

const shown = ({ id, uuid, path, customMetadata, isLocked, isGoing }: Namespace): object => ({
  id,
  uuid,
  path,
  custom_metadata: customMetadata,
  locked: isLocked,
  tainted: isGoing,
})

const NAMED = { path: string('Name of the namespace, within the one that is asked', { required: true }) }
const METADATA = 'Metadata, as key-value pairs'

/** The namespace of this name; undefined if there is none. @throws Refusal for what is no name */
function childOf({ namespaces }: System, within: Namespace, given: string): Namespace | undefined {
  return namespaces.byPath(`${within.path}${namespaceName(given)}/`)
}

/** Marks of what changes a namespace below, which a filter may keep from the secondary that asks. */
const CHANGE = {
  runsOn: 'writer',
  writes: 'set',
  namedMounts: ({ mounts, namespaces }: System, { path }: { readonly path: string }, within: Namespace) => [
    systemMountOf(mounts, namespaces.byPath(within.path + (path === '' ? '' : folder(path)))),
  ],
} as const

const LISTED: Shapes = {
  keys: listOf(text('Path'), 'Paths within the namespace that is asked'),
  key_info: mapOf(group(SHOWN, 'Namespace'), 'The namespaces by these paths'),
}

function listed(within: Namespace, all: readonly Namespace[], page: Page): Answer {
  const named = new Map(all.map((one) => [pathWithin(within, one.path), one]))
  const keys = pageOf([...named.keys()].sort(), page)
  return { data: { keys, key_info: Object.fromEntries(keys.map((path) => [path, shown(named.get(path) ?? within)])) } }
}

const list = endpoint({
  id: 'namespaces-list',
  operation: 'list',
  path: 'namespaces',
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Lists the namespaces directly below',
  fields: PAGE_FIELDS,
  response: LISTED,
  handler: ({ namespaces }: System, page, { namespace }) => listed(namespace, namespaces.children(namespace), page),
})

const scan = endpoint({
  id: 'namespaces-scan',
  operation: 'scan',
  path: 'namespaces',
  capability: 'scan',
  runsOn: 'any-node',
  summary: 'Lists all namespaces below, at any depth',
  fields: PAGE_FIELDS,
  response: LISTED,
  handler: ({ namespaces }: System, page, { namespace }) => listed(namespace, namespaces.below(namespace), page),
})

const read = endpoint({
  id: 'namespaces-read',
  operation: 'read',
  path: 'namespaces/:path...',
  alsoAsFolder: true,
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows a namespace',
  fields: NAMED,
  response: SHOWN,
  handler: (system: System, { path }, { namespace }) => {
    const found = childOf(system, namespace, path)
    if (found === undefined) throw fail('not_found', [])
    return { data: shown(found) }
  },
})

const write = endpoint({
  id: 'namespaces-write',
  operation: 'update',
  path: 'namespaces/:path...',
  capability: 'update',
  ...CHANGE,
  summary: 'Makes a namespace, or replaces the metadata of the one that is there',
  describe: 'Without custom_metadata, all metadata go. PATCH changes some of them.',
  fields: { ...NAMED, custom_metadata: metadata(METADATA, { default: {} }) },
  response: SHOWN,
  handler: async ({ namespaceStore }: System, { path, custom_metadata: given }, { namespace }) => ({
    data: shown(await namespaceStore.write(namespace, namespaceName(path), given)),
  }),
})

const patch = endpoint({
  id: 'namespaces-patch',
  operation: 'patch',
  path: 'namespaces/:path...',
  capability: 'patch',
  ...CHANGE,
  summary: 'Changes some of the metadata of a namespace',
  describe: 'A JSON merge patch (RFC 7396): null removes a name, and custom_metadata null all of them.',
  fields: { ...NAMED, custom_metadata: metadataPatch(METADATA) },
  response: SHOWN,
  handler: async ({ namespaceStore }: System, { path, custom_metadata: given }, { namespace }) => ({
    data: shown(
      await namespaceStore.patch(namespace, namespaceName(path), given === undefined ? undefined : given.all),
    ),
  }),
})

const remove = endpoint({
  id: 'namespaces-delete',
  operation: 'delete',
  path: 'namespaces/:path...',
  alsoAsFolder: true,
  capability: 'delete',
  ...CHANGE,
  summary: 'Deletes a namespace with everything in it; one that contains others is refused',
  describe: 'From the answer on it takes no requests. What is in it is removed in the background.',
  fields: NAMED,
  response: { status: text('in-progress') },
  mayBeEmpty: true,
  handler: async ({ namespaceStore, namespaceDeletion }: System, { path }, { namespace }) => {
    const going = await namespaceStore.beginDeletion(namespace, namespaceName(path))
    if (going === undefined) return { warnings: ['requested namespace does not exist'] } // Wire text.
    await namespaceDeletion.begun()
    return { data: { status: 'in-progress' } }
  },
})

const AT = { path: string('Path of the namespace, within the one that is asked; empty: that one', { default: '' }) }

/** The namespace at the path. @throws Refusal if there is none, and for the root */
function lockable({ namespaces }: System, within: Namespace, given: string): Namespace {
  const path = given === '' || given.endsWith('/') ? given : `${given}/`
  const found = namespaces.byPath(within.path + path)
  // Wire text, both.
  if (found === undefined || found.isGoing) throw fail('namespace_lock', ['requested namespace does not exist'])
  if (found.id === ROOT.id) throw fail('namespace_lock', ['root namespace cannot be locked/unlocked'])
  return found
}

const lock = endpoint({
  id: 'namespaces-lock',
  operation: 'update',
  path: 'namespaces/api-lock/lock(/:path...)',
  capability: 'update',
  ...CHANGE,
  summary: 'Locks a namespace: it and all below it refuse requests with 503',
  fields: AT,
  response: { unlock_key: text('The key that unlocks it, shown once') },
  handler: async (system: System, { path }, { namespace }) => ({
    data: { unlock_key: await system.namespaceStore.lock(lockable(system, namespace, path)) },
    isOnlyCopy: true,
  }),
})

const unlock = endpoint({
  id: 'namespaces-unlock',
  operation: 'update',
  path: 'namespaces/api-lock/unlock(/:path...)',
  capability: 'update',
  ...CHANGE,
  summary: 'Unlocks a namespace, with the key of its lock, or with sudo on the path',
  fields: { ...AT, unlock_key: string('The key that the lock answered', { default: '', secret: true }) },
  handler: async (system: System, { path, unlock_key: key }, { namespace, caller }) => {
    const locked = lockable(system, namespace, path)
    if (key !== '') {
      await system.namespaceStore.unlock(locked, key)
      return {}
    }
    if (caller?.hasSudo() !== true) throw fail('field_missing', ['unlock_key', 'unlock_key, or sudo on the path'])
    await system.namespaceStore.unlock(locked, undefined)
    return { warnings: ['The namespace was unlocked without its key'] }
  },
})

/** Endpoints of the tree of namespaces. */
export const NAMESPACE_ENDPOINTS: readonly Endpoint<System>[] = [list, scan, read, write, patch, remove, lock, unlock]
