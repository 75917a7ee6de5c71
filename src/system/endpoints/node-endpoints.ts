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
  offeredIn: 'all',
  body: 'both',
  runsOn: 'any-node',
  summary: 'Lists the nodes that share the storage, which is only this one',
  fields: {},
  response: {
    nodes: listOf(
      group(
        {
          hostname: text('Host name of the machine'),
          api_address: text('API address: api_addr in the configuration'),
          cluster_address: text('Always empty: there is no traffic between nodes'),
          active_node: flag('Always true: this is the active node'),
          last_echo: nullable(text('Always null: this is the answering node')),
          version: text('Version that clients check for compatibility'),
          upgrade_version: text('Always empty: there are no upgrades to track'),
          redundancy_zone: text('Always empty'),
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
  offeredIn: 'root',
  sudo: true,
  runsOn: 'any-node',
  summary: 'Steps down as the active node (always refused)',
  describe: 'A node does not share its storage, so there is no other node that could take over.',
  fields: {},
  handler: (): never => {
    throw fail('not_offered', ['There is no other node that could take over: the storage is not shared'])
  },
})

/** The status of the one node, and the handing over that it always refuses. */
export const NODE_ENDPOINTS: readonly Endpoint<System>[] = [haStatus, stepDown]
