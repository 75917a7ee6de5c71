// sys/plugins: the catalogue of engines, all of them built in, and the reload of their mounts. Nothing can be
// registered: no code is loaded at run time (docs/differences.md#the-server).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string, strings } from '../../api/fields.ts'
import type { MountEntry, MountKind } from '../../api/mount.ts'
import { LIST_OF_NAMES, orNotFound, PAGE_FIELDS, pageOf } from '../../api/named-things.ts'
import type { DataOwner } from '../../api/node-role.ts'
import type { Answer, RequestInfo } from '../../api/request.ts'
import { flag, group, listOf, mapOf, type Shapes, text } from '../../api/shape.ts'
import { own } from '../../lib/own.ts'
import { builtinVersion } from '../mount-view.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'cluster' | 'facts' | 'mounts'> & WithServices<'reloads'>

/** Types of plugins on the wire. There are no databases; clients ask for them all the same. */
const KINDS: Readonly<Record<string, MountKind | undefined>> = { auth: 'auth', secret: 'secret', database: undefined }

const PLUGIN: Shapes = {
  name: text('Name, which is the type to mount'),
  type: text('Kind: auth or secret'),
  version: text('Version of the engine'),
  builtin: flag('Built into the server'),
  deprecation_status: text('supported'),
}

const pluginOf = (system: System, type: string, name: string): object => ({
  name,
  type,
  version: builtinVersion(system),
  builtin: true,
  deprecation_status: 'supported',
})

/** Names of all engines of a type, in order. @throws Refusal for an unknown type */
function namesOf(system: System, type: string): readonly string[] {
  if (!Object.hasOwn(KINDS, type))
    throw fail('choice_unknown', ['type', `must be one of ${Object.keys(KINDS).join(', ')}`])
  const kind = own(KINDS, type)
  return kind === undefined ? [] : [...system.mounts.typesOf(kind)].sort()
}

const catalog = endpoint({
  id: 'plugins-catalog',
  operation: 'read',
  path: 'plugins/catalog',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows the engines and login methods that can be mounted',
  fields: {},
  response: {
    auth: listOf(text('Name'), 'Login methods'),
    secret: listOf(text('Name'), 'Engines'),
    database: listOf(text('Name'), 'Always empty: there are no database plugins'),
    detailed: listOf(group(PLUGIN, 'Plugin'), 'All plugins, with details'),
  },
  handler: (system: System) => {
    const lists = Object.keys(KINDS).map((type) => [type, namesOf(system, type)] as const)
    const detailed = lists.flatMap(([type, names]) => names.map((name) => pluginOf(system, type, name)))
    return { data: { ...Object.fromEntries(lists), detailed } }
  },
})

const typeField = { type: string('Kind: auth, secret or database', { required: true }) }

const list = endpoint({
  ...LIST_OF_NAMES,
  id: 'plugins-catalog-list',
  path: 'plugins/catalog/:type',
  sudo: true,
  summary: 'Lists the plugins of one kind',
  fields: { ...typeField, ...PAGE_FIELDS },
  handler: (system: System, { type, ...page }) => ({ data: { keys: pageOf(namesOf(system, type), page) } }),
})

const read = endpoint({
  id: 'plugins-catalog-read',
  operation: 'read',
  path: 'plugins/catalog/:type/:name',
  capability: 'read',
  sudo: true,
  runsOn: 'any-node',
  summary: 'Shows an engine or login method',
  fields: { ...typeField, name: string('Name, such as transit', { required: true }) },
  response: {
    ...PLUGIN,
    args: listOf(text('Argument'), 'Always empty'),
    command: text('Always empty: built into the server'),
    sha256: text('Always empty: built into the server'),
  },
  handler: (system: System, { type, name }) => {
    if (!namesOf(system, type).includes(name)) throw fail('not_found', [])
    return { data: { ...pluginOf(system, type, name), args: [], command: '', sha256: '' } }
  },
})

const SCOPE = string('global reloads on every node of every cluster; empty reloads on this cluster only', {
  oneOf: ['', 'global'],
  default: '',
})
const RELOADED = { reload_id: text('ID of the reload') }

/** A global reload is written down for all clusters, any other for this node alone. */
const ownerOfReload = (_system: System, { scope }: { readonly scope: string }): DataOwner =>
  scope === 'global' ? 'set' : 'node'

/** Reloads mounts. A global reload is answered with 202, as by other servers, though it is done here by then. */
async function reloadAll(system: System, entries: readonly MountEntry[], scope: string): Promise<Answer> {
  const isGlobal = scope === 'global'
  const uuids = entries.map(({ uuid }) => uuid)
  const id = await system.services.reloads.reload(uuids, isGlobal ? 'global' : 'here')
  return { ...(isGlobal ? { status: 202 } : {}), data: { reload_id: id } }
}

const reload = endpoint({
  id: 'plugins-reload',
  operation: 'update',
  path: 'plugins/reload/backend',
  capability: 'update',
  // A policy that denies the reload of one plugin at its own path denies it here too (threats T-09).
  alsoNames: [
    { field: 'plugin', operation: 'update', at: (name) => `plugins/reload/secret/${name}` },
    { field: 'plugin', operation: 'update', at: (name) => `plugins/reload/auth/${name}` },
  ],
  runsOn: 'writer',
  writes: ownerOfReload,
  namedMounts: (system: System, { mounts = [] }, namespace) =>
    mounts.map((path) => foundAt(system, { namespace, sight: 'shared' }, path)),
  summary: 'Reloads mounts: every thread discards what it caches of them and reads it again',
  describe: 'Send either plugin, to reload all its mounts, or mounts. Stored data does not change.',
  fields: {
    plugin: string('Name of the engine or login method, such as transit', { default: '' }),
    mounts: strings('Paths of the mounts, such as transit or auth/userpass'),
    scope: SCOPE,
  },
  response: RELOADED,
  handler: async (system: System, { plugin, mounts = [], scope }, seen) => {
    // Wire text.
    if (plugin !== '' && mounts.length > 0)
      throw fail('fields_conflict', ['plugin and mounts cannot be set at the same time'])
    if (plugin === '' && mounts.length === 0)
      throw fail('field_missing', ['plugin', 'plugin or mounts must be provided'])
    const named = () => mounts.map((path) => mountAt(system, seen, path))
    const entries = plugin === '' ? named() : mountsOf(system, seen, plugin)
    return reloadAll(system, entries, scope)
  },
})

const reloadOne = endpoint({
  id: 'plugins-reload-one',
  operation: 'update',
  path: 'plugins/reload/:type/:name',
  capability: 'update',
  runsOn: 'writer',
  writes: ownerOfReload,
  summary: 'Reloads all mounts of one engine or login method',
  fields: { ...typeField, name: string('Name, such as transit', { required: true }), scope: SCOPE },
  response: RELOADED,
  handler: async (system: System, { type, name, scope }, seen) => {
    if (!namesOf(system, type).includes(name)) throw fail('not_found', [])
    return reloadAll(system, mountsOf(system, seen, name), scope)
  },
})

/** Where a request looks for mounts, and which it sees there. */
type Seen = Pick<RequestInfo, 'namespace' | 'sight'>

function foundAt(system: System, { namespace, sight }: Seen, given: string): MountEntry | undefined {
  // Clients give the path under which login methods are managed as well.
  const trimmed = given.startsWith('sys/auth/') ? given.slice('sys/'.length) : given
  return system.mounts.find(namespace, trimmed.endsWith('/') ? trimmed : `${trimmed}/`, sight)
}

/** The mount at a path of the field `mounts`. @throws Refusal if there is none, or it is built in */
function mountAt(system: System, seen: Seen, given: string): MountEntry {
  const entry = foundAt(system, seen, given)
  if (entry === undefined) throw fail('field_invalid', ['mounts', 'names a path where nothing is mounted'])
  if (!typesOfAll(system).includes(entry.type))
    throw fail('field_invalid', ['mounts', `names ${entry.path}, which is part of the server and not reloaded`])
  return entry
}

/** Engines and login methods that can be mounted; the built-in mounts have others. */
const typesOfAll = ({ mounts }: System): readonly string[] => [...mounts.typesOf('secret'), ...mounts.typesOf('auth')]

/** All mounts of an engine in a namespace, perhaps none. @throws Refusal for an unknown engine */
function mountsOf(system: System, { namespace, sight }: Seen, plugin: string): readonly MountEntry[] {
  const types = typesOfAll(system)
  if (!types.includes(plugin)) throw fail('choice_unknown', ['plugin', `must be one of ${types.join(', ')}`])
  return system.mounts.list(namespace, sight).filter(({ type }) => type === plugin)
}

const status = endpoint({
  id: 'plugins-reload-status',
  operation: 'read',
  path: 'plugins/reload/backend/status',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows the status of a reload',
  fields: { reload_id: string('ID from the response of the reload', { required: true }) },
  response: {
    reload_id: text('ID of the reload'),
    results: mapOf(
      group(
        { timestamp: text('Time of the reload'), success: flag('The reload was done'), message: text('Always empty') },
        'Result',
      ),
      'Results, by the ID of the cluster',
    ),
  },
  handler: async (system: System, { reload_id: id }) => {
    const atMs = orNotFound(await system.services.reloads.findTime(id))
    const result = { timestamp: new Date(atMs).toISOString(), success: true, message: '' }
    return { data: { reload_id: id, results: { [system.cluster?.id ?? '']: result } } }
  },
})

/** Catalogue, reloads and their status. */
export const PLUGIN_ENDPOINTS: readonly Endpoint<System>[] = [catalog, list, read, reload, reloadOne, status]
