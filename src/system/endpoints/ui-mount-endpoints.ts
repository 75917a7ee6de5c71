// sys/internal/ui: which mounts a caller can reach, and other questions of user interfaces. Clients ask it before they
// write to a mount, to learn its engine and version.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import type { MountEntry } from '../../api/mount.ts'
import { pathWithin } from '../../api/namespace.ts'
import type { Caller } from '../../api/request.ts'
import { group, listOf, mapOf, optional, type Shapes, text } from '../../api/shape.ts'
import type { Acl } from '../../auth/acl.ts'
import { bodies, bodyOf, MOUNT } from '../mount-view.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'facts' | 'mounts' | 'namespaces' | 'policies' | 'rightsOf'>

/** The caller's policies in compiled form. */
async function aclOf(system: System, caller: Caller): Promise<Acl> {
  const { policies, subject } = await system.rightsOf(caller.entry)
  return system.policies.acl(policies, subject)
}

const pathField = { path: string('Path of a mount, or any path within one', { required: true }) }

/** Members of a mount that a caller without rights on it is shown, if it is listed to everyone: how to use it. */
const LISTED = ['type', 'description', 'options']
/** Shape of a mount here: all but those members are optional. */
const SHOWN_MOUNT: Shapes = Object.fromEntries(
  Object.entries(MOUNT).map(([name, shape]) => [name, LISTED.includes(name) ? shape : optional(shape)]),
)
const listedBody = ({ type, description, options }: MountEntry): object => ({ type, description, options })

const listForUi = endpoint({
  id: 'ui-mounts-list',
  operation: 'read',
  path: 'internal/ui/mounts',
  capability: 'none',
  runsOn: 'any-node',
  summary: 'Lists the mounts that the caller can access, and those that are visible without a token',
  describe: 'For a mount that the caller cannot access, only its type, description and options are shown.',
  fields: {},
  response: {
    secret: mapOf(group(SHOWN_MOUNT, 'Mount'), 'Engines by path'),
    auth: mapOf(group(SHOWN_MOUNT, 'Mount'), 'Login methods by path'),
  },
  handler: async (system: System, _args, request) => {
    const { caller, namespace } = request
    const acl = caller === undefined ? undefined : await aclOf(system, caller)
    const isReached = ({ path }: MountEntry): boolean => acl?.reaches(namespace.path + path) ?? false
    const isShown = (entry: MountEntry): boolean => entry.config.listingVisibility === 'unauth' || isReached(entry)
    const body = (entry: MountEntry): object => (isReached(entry) ? bodyOf(system, entry) : listedBody(entry))
    const [secret, auth] = (['secret', 'auth'] as const).map((kind) => bodies(system, namespace, kind, isShown, body))
    return { data: { secret, auth } }
  },
})

// Differs: docs/differences.md#tokens-and-policies. The answer to a caller without rights is the same for every path.
const readForUi = endpoint({
  id: 'ui-mounts-read',
  operation: 'read',
  path: 'internal/ui/mounts/:path...',
  capability: 'none',
  runsOn: 'any-node',
  summary: 'Shows the mount that serves a path, to callers that can access the mount',
  fields: pathField,
  response: { ...MOUNT, path: text('Path of the mount') },
  handler: async (system: System, { path }, { caller, namespace }) => {
    const entry = caller === undefined ? undefined : system.mounts.serving(namespace.path + path)
    const acl = caller === undefined ? undefined : await aclOf(system, caller)
    const full = entry === undefined ? '' : system.mounts.fullPathOf(entry)
    if (entry === undefined || acl === undefined || !acl.reaches(full)) throw fail('permission_denied', [])
    return { data: { ...bodyOf(system, entry), path: pathWithin(namespace, full) } }
  },
})

const namespaces = endpoint({
  id: 'ui-namespaces',
  operation: 'read',
  path: 'internal/ui/namespaces',
  capability: 'none',
  runsOn: 'any-node',
  summary: 'Lists the namespaces below the namespace of the request in which the caller can access something',
  fields: {},
  response: {
    keys: optional(listOf(text('Path'), 'Paths within the namespace of the request, of all levels; absent: none')),
  },
  handler: async (system: System, _args, { caller, namespace }) => {
    if (caller === undefined) throw fail('permission_denied', [])
    const acl = await aclOf(system, caller)
    const reached = system.namespaces.below(namespace).filter(({ path, isGoing }) => !isGoing && acl.reaches(path))
    return { data: reached.length === 0 ? {} : { keys: reached.map(({ path }) => pathWithin(namespace, path)) } }
  },
})

const version = endpoint({
  id: 'ui-version',
  operation: 'read',
  path: 'internal/ui/version',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows the version that clients check for compatibility',
  fields: {},
  response: { version: text('Version') },
  handler: ({ facts }: System) => ({ data: { version: facts.reportedVersion } }),
})

/** Mounts, namespaces and version. None confirms to a caller without rights that a hidden mount exists. */
export const UI_MOUNT_ENDPOINTS: readonly Endpoint<System>[] = [listForUi, readForUi, namespaces, version]
