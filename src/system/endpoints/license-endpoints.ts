// sys/license: which features are on. There is no licence that could end; the setting `edition` selects the features.
import { featuresOf } from '../../api/edition.ts'
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { flag, group, integer, listOf, nullable, type Shapes, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'edition'>

// Clients parse these times, so they cannot be empty.
const BEGIN = '1970-01-01T00:00:00Z'
const NEVER = '9999-12-31T23:59:59Z'

const LICENSE: Shapes = {
  license_id: text('The edition'),
  customer_id: text('Empty: nobody is asked'),
  features: listOf(text('Feature'), 'Those that are on'),
  start_time: text('Since ever'),
  expiration_time: text('Never'),
  termination_time: text('Never'),
  performance_standby_count: integer('0: no bound'),
}

const licenseOf = ({ edition }: System): object => ({
  license_id: edition,
  customer_id: '',
  features: featuresOf(edition),
  start_time: BEGIN,
  expiration_time: NEVER,
  termination_time: NEVER,
  performance_standby_count: 0,
})

const shared = { operation: 'read', capability: 'read', runsOn: 'any-node', fields: {} } as const

const status = endpoint({
  id: 'license-status',
  ...shared,
  path: 'license/status',
  summary: 'Which features are on, as the edition in the configuration has it',
  response: {
    autoloading_used: flag('A licence was loaded at start: the edition of the configuration'),
    autoloaded: group(LICENSE, 'What the edition gives'),
    persisted_autoload: nullable(group(LICENSE, 'null: nothing is stored')),
  },
  handler: (system: System) => ({
    data: { autoloading_used: true, autoloaded: licenseOf(system), persisted_autoload: null },
  }),
})

const license = endpoint({
  id: 'license-read',
  ...shared,
  path: 'license',
  summary: 'The same for old clients',
  response: LICENSE,
  handler: (system: System) => ({ data: licenseOf(system) }),
})

/** The newer path with its parts, and the older one that clients still read. */
export const LICENSE_ENDPOINTS: readonly Endpoint<System>[] = [license, status]
