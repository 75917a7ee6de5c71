// sys/in-flight-req: the requests under way, for an operator who looks for one that does not end.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { group, OTHERS, text } from '../../api/shape.ts'
import { MAX_SHOWN } from '../../telemetry/in-flight-requests.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'telemetry'>

const IN_FLIGHT = {
  start_time: text('RFC 3339'),
  client_remote_address: text('Address of the client'),
  request_path: text('Path; what is secret in it stands as its name; empty before it is known'),
  request_method: text('Method of HTTP'),
}

/** Asks every thread by way of the watching thread. Open without a token only if the listener says so. */
export const inFlight: Endpoint<System> = endpoint({
  id: 'in-flight-requests',
  operation: 'read',
  path: 'in-flight-req',
  capability: 'read',
  runsOn: 'any-node',
  body: 'both',
  isOpen: ({ unauthenticatedInFlight }) => unauthenticatedInFlight,
  summary: `Requests that are under way, by their ids, over all threads; the ${MAX_SHOWN} oldest`,
  describe: 'A thread that does not answer within a quarter of a second is left out, and a warning says so.',
  fields: {},
  response: { [OTHERS]: group(IN_FLIGHT, 'A request, by its id') },
  handler: async (system: System) => {
    const { flights, silent } = await system.telemetry.flights()
    // A request that hangs is among the oldest. Differs: docs/differences.md#telemetry-and-quotas.
    const oldest = [...flights].sort((a, b) => (a.start_time < b.start_time ? -1 : 1)).slice(0, MAX_SHOWN)
    const warnings = silent === 0 ? {} : { warnings: [`${silent} threads are too busy to say what they do`] }
    return { data: Object.fromEntries(oldest.map(({ id, ...shown }) => [id, shown])), ...warnings }
  },
})
