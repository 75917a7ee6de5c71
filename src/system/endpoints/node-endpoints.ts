// sys/ha-status and sys/step-down: the nodes that share this storage. There is always one, this one.
import { hostname } from 'node:os'
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { flag, group, listOf, nullable, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'facts'>

const haStatus = endpoint({
  id: 'ha-status',
  operation: 'read',
  path: 'ha-status',
  capability: 'read',
  body: 'both',
  runsOn: 'any-node',
  summary: 'The nodes that share the storage: this one',
  fields: {},
  response: {
    nodes: listOf(
      group(
        {
          hostname: text('Name of its machine'),
          api_address: text('api_addr of its configuration'),
          cluster_address: text('Empty: nodes do not talk to each other'),
          active_node: flag('It writes'),
          last_echo: nullable(text('null: it is this one')),
          version: text('Version that clients gate on'),
          upgrade_version: text('Empty: no upgrade is under way'),
          redundancy_zone: text('Empty'),
        },
        'Node',
      ),
      'Nodes',
    ),
  },
  handler: ({ facts }: System) => ({
    data: {
      nodes: [
        {
          hostname: hostname(),
          api_address: facts.apiAddress,
          cluster_address: '',
          active_node: true,
          last_echo: null,
          version: facts.reportedVersion,
          upgrade_version: '',
          redundancy_zone: '',
        },
      ],
    },
  }),
})

// Differs: docs/differences.md#the-server. A success would say that another node writes now.
const stepDown = endpoint({
  id: 'step-down',
  operation: 'update',
  path: 'step-down',
  capability: 'update',
  sudo: true,
  runsOn: 'any-node',
  summary: 'Hands the active role to another node',
  describe: 'Refused where there is no other: one node has its storage for itself.',
  fields: {},
  handler: (): never => {
    throw fail('not_offered', ['There is no other node that could take over: the storage is not shared'])
  },
})

/** The status of the one node, and the handing over that it always refuses. */
export const NODE_ENDPOINTS: readonly Endpoint<System>[] = [haStatus, stepDown]
