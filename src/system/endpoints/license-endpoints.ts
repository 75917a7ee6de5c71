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
  license_id: text('Edition of the server'),
  customer_id: text('Always empty: there is no customer'),
  features: listOf(text('Feature'), 'Features that the edition enables'),
  start_time: text('Always 1970-01-01: no start date'),
  expiration_time: text('Always in the year 9999: never expires'),
  termination_time: text('Always in the year 9999: never terminates'),
  performance_standby_count: integer('Always 0: no limit'),
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

const shared = { operation: 'read', capability: 'read', offeredIn: 'root', runsOn: 'any-node', fields: {} } as const

const status = endpoint({
  id: 'license-status',
  ...shared,
  path: 'license/status',
  summary: 'Shows the features that the configured edition enables',
  response: {
    autoloading_used: flag('Always true: the edition comes from the configuration at startup'),
    autoloaded: group(LICENSE, 'Features and limits of the edition'),
    persisted_autoload: nullable(group(LICENSE, 'Always null: no licence is stored')),
  },
  handler: (system: System) => ({
    data: { autoloading_used: true, autoloaded: licenseOf(system), persisted_autoload: null },
  }),
})

const license = endpoint({
  id: 'license-read',
  ...shared,
  path: 'license',
  summary: 'Shows the features that the configured edition enables, for old clients',
  response: LICENSE,
  handler: (system: System) => ({ data: licenseOf(system) }),
})

/** The newer path with its parts, and the older one that clients still read. */
export const LICENSE_ENDPOINTS: readonly Endpoint<System>[] = [license, status]
