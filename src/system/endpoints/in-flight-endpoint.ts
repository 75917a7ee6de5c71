// sys/in-flight-req: the requests under way, for an operator who looks for one that does not end.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { group, OTHERS, text } from '../../api/shape.ts'
import { MAX_SHOWN } from '../../telemetry/in-flight-requests.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'telemetry'>

const IN_FLIGHT = {
  start_time: text('Start time, RFC 3339'),
  client_remote_address: text('Address of the client'),
  request_path: text('Request path, with secret parts replaced by their field names; empty until the path is known'),
  request_method: text('HTTP method'),
}

/** Asks every thread by way of the watching thread. Open without a token only if the listener says so. */
export const inFlight: Endpoint<System> = endpoint({
  id: 'in-flight-requests',
  operation: 'read',
  path: 'in-flight-req',
  capability: 'read',
  offeredIn: 'root',
  runsOn: 'any-node',
  body: 'both',
  isOpen: ({ unauthenticatedInFlight }) => unauthenticatedInFlight,
  summary: `Shows the requests in flight on all threads, by ID; at most the ${MAX_SHOWN} oldest`,
  describe: 'Threads that do not respond within 250 ms are left out, with a warning.',
  fields: {},
  response: { [OTHERS]: group(IN_FLIGHT, 'Request in flight, by its ID') },
  handler: async (system: System) => {
    const { requests, silent } = await system.telemetry.allInFlight()
    // A request that hangs is among the oldest. Differs: docs/differences.md#telemetry-and-quotas.
    const oldest = [...requests].sort((a, b) => (a.start_time < b.start_time ? -1 : 1)).slice(0, MAX_SHOWN)
    const warnings = silent === 0 ? {} : { warnings: [`${silent} threads are too busy to say what they do`] }
    return { data: Object.fromEntries(oldest.map(({ id, ...shown }) => [id, shown])), ...warnings }
  },
})
