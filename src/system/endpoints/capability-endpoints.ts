// sys/capabilities, for any token, an accessor's token or the caller's: what it may do on paths. Also the OpenAPI
// document of the whole API.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string, strings } from '../../api/fields.ts'
import type { Namespace } from '../../api/namespace.ts'
import type { Answer } from '../../api/request.ts'
import { anything, listOf, OTHERS, optional, type Shapes, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'mounts' | 'openApi' | 'policies' | 'rightsOf' | 'tokens'>

const pathFields = {
  paths: strings('Paths to check'),
  path: strings('Deprecated: use paths', { aliasOf: 'paths' }),
}

const words = (about: string) => listOf(text('Capability'), about)
/** Shape of `capabilities`: a member for each path, besides the one for a single path. */
const CAPABILITIES: Shapes = {
  capabilities: optional(words('Capabilities on the path, if only one path was sent')),
  [OTHERS]: words('Capabilities by path, sorted; root: everything, deny: nothing'),
}

/**
 * Answers by path, in the order that was asked. With a single path the list stands under `capabilities` too, where old
 * clients read it. Each path is one within the namespace that is asked, and is folded as a request's would be, so the
 * answer is that of the pipeline.
 */
async function capabilities(
  system: System,
  namespace: Namespace,
  entry: object,
  args: { readonly paths: readonly string[] | undefined; readonly path: readonly string[] | undefined },
): Promise<Answer> {
  const paths = args.paths ?? args.path ?? []
  if (paths.length === 0) throw fail('field_missing', ['paths'])
  const { policies, subject } = await system.rightsOf(entry)
  const acl = await system.policies.acl(policies, subject)
  // Paths are keys from the caller: without a prototype, "__proto__" is one like any other.
  const data: Record<string, readonly string[]> = Object.create(null)
  const [first] = paths
  for (const path of paths) {
    const kept = system.mounts.spelled(namespace.path + (path.startsWith('/') ? path.slice(1) : path))
    data[path] = acl.capabilities(kept.path, kept.spelling)
  }
  if (paths.length === 1 && first !== undefined && data[first] !== undefined) data.capabilities = data[first]
  return { data }
}

const ofToken = endpoint({
  id: 'capabilities',
  operation: 'update',
  path: 'capabilities',
  capability: 'update',
  body: 'both',
  runsOn: 'any-node',
  summary: 'Shows the capabilities that a token has on paths',
  fields: { token: string('The token', { required: true, secret: true }), ...pathFields },
  response: CAPABILITIES,
  handler: async (system: System, { token, ...args }, { namespace }) => {
    const found = await system.tokens.find(token)
    if (found === undefined) throw fail('no_such_token', ['invalid token'])
    return capabilities(system, namespace, found.entry, args)
  },
})

const ofAccessor = endpoint({
  id: 'capabilities-accessor',
  operation: 'update',
  path: 'capabilities-accessor',
  capability: 'update',
  body: 'both',
  runsOn: 'any-node',
  summary: 'Shows the capabilities that a token, given by its accessor, has on paths',
  fields: { accessor: string('Accessor of the token', { required: true }), ...pathFields },
  response: CAPABILITIES,
  handler: async (system: System, { accessor, ...args }, { namespace }) => {
    const found = await system.tokens.findByAccessor(accessor)
    if (found?.entry.namespace !== namespace.id) throw fail('no_such_token', ['invalid accessor'])
    return capabilities(system, namespace, found.entry, args)
  },
})

const ofSelf = endpoint({
  id: 'capabilities-self',
  operation: 'update',
  path: 'capabilities-self',
  capability: 'update',
  body: 'both',
  runsOn: 'any-node',
  summary: 'Shows the capabilities that the calling token has on paths',
  fields: { token: string('Ignored: the calling token is always used', { default: '', secret: true }), ...pathFields },
  response: CAPABILITIES,
  handler: async (system: System, args, { caller, namespace }) => {
    if (caller === undefined) throw fail('permission_denied', [])
    return capabilities(system, namespace, caller.entry, args)
  },
})

const openApi = endpoint({
  id: 'openapi',
  operation: 'read',
  path: 'internal/specs/openapi',
  capability: 'none',
  body: 'plain',
  runsOn: 'any-node',
  summary: 'Returns all endpoints of the namespace as an OpenAPI document',
  fields: {},
  response: {
    openapi: text('OpenAPI version of the document'),
    info: anything('Title, description, version and licence'),
    servers: listOf(anything('Server'), 'Base URL of the paths'),
    paths: anything('Operations, by path and method'),
    components: anything('Shared schemas, responses and security schemes'),
  },
  handler: (system: System, _args, { namespace }) => ({ data: system.openApi(namespace) }),
})

/** The three ways to name a token, and the OpenAPI document. That one needs no token: it describes the API alone. */
export const CAPABILITY_ENDPOINTS: readonly Endpoint<System>[] = [ofToken, ofAccessor, ofSelf, openApi]
