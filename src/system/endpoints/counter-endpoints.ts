// sys/internal/counters: requests since the start, and entities and service tokens now. Nothing is counted by month or
// client: no one is billed by it (docs/differences.md#the-server).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { group, integer, listOf, text } from '../../api/shape.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'tokens'> & WithServices<'requests' | 'entityCount'>

const shared = { operation: 'read', capability: 'read', runsOn: 'any-node', fields: {} } as const
const total = { total: integer('Total count') }

const requests = endpoint({
  id: 'counters-requests',
  ...shared,
  path: 'internal/counters/requests',
  offeredIn: 'root',
  summary: 'Counts the requests that this server has received since it started',
  response: {
    counters: listOf(
      group({ start_time: text('Start of the count, when this server started'), ...total }, 'Counter'),
      'Always one counter: no counts of earlier runs are kept',
    ),
  },
  handler: ({ services }: System) => {
    const { sinceMs, taken } = services.requests()
    return { data: { counters: [{ start_time: new Date(sinceMs).toISOString(), total: taken }] } }
  },
})

const entities = endpoint({
  id: 'counters-entities',
  ...shared,
  path: 'internal/counters/entities',
  summary: 'Counts the entities that the namespace currently has',
  response: { counters: group({ entities: group(total, 'Entities') }, 'Counters') },
  handler: async ({ services }: System, _args, { namespace }) => ({
    data: { counters: { entities: { total: await services.entityCount(namespace.id) } } },
  }),
})

const tokens = endpoint({
  id: 'counters-tokens',
  ...shared,
  path: 'internal/counters/tokens',
  summary: 'Counts the service tokens of the namespace that are stored, in the root those of all; batch tokens are not',
  response: { counters: group({ service_tokens: group(total, 'Service tokens') }, 'Counters') },
  handler: async ({ tokens: store }: System, _args, { namespace }) => ({
    data: { counters: { service_tokens: { total: await store.count(namespace.id) } } },
  }),
})

/** The three counts. Those of entities and tokens read the store, so they take longer the more there are. */
export const COUNTER_ENDPOINTS: readonly Endpoint<System>[] = [requests, entities, tokens]
