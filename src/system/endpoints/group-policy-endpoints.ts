// sys/config/group-policy-application: which groups of other namespaces grant something to a token.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { string } from '../../api/fields.ts'
import { DONE } from '../../api/request.ts'
import { text } from '../../api/shape.ts'
import { GROUP_POLICY_MODES, type GroupPolicyMode } from '../../auth/rights.ts'
import type { WithServices } from '../services.ts'

/** The parts of the system that these endpoints use. */
type System = WithServices<'groupPolicies'>

const shared = { path: 'config/group-policy-application', offeredIn: 'root' } as const
const MODES = 'within_namespace_hierarchy: of the namespace of the token and of those below it; any: of all namespaces'

const read = endpoint({
  id: 'group-policy-application-read',
  ...shared,
  operation: 'read',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows which groups apply their policies to a token',
  fields: {},
  response: { group_policy_application_mode: text(`Groups that apply. ${MODES}`) },
  handler: async (system: System) => {
    const { mode } = await system.services.groupPolicies.current()
    return { data: { group_policy_application_mode: mode } }
  },
})

const write = endpoint({
  id: 'group-policy-application-write',
  ...shared,
  operation: 'update',
  capability: 'update',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Sets which groups apply their policies to a token',
  describe: 'The policies of a group are always those of its own namespace, and only about paths in it and below it.',
  fields: {
    group_policy_application_mode: string(`Groups that apply. ${MODES}`, { required: true, oneOf: GROUP_POLICY_MODES }),
  },
  handler: async (system: System, args) => {
    const mode = args.group_policy_application_mode as GroupPolicyMode
    await system.services.groupPolicies.change(() => ({ mode }))
    return DONE
  },
})

/** Read and write. */
export const GROUP_POLICY_ENDPOINTS: readonly Endpoint<System>[] = [read, write]
