// sys/key-status and sys/rotate: the data keys of the barrier, and when a new one is made (threats P-11).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { bool, duration, int } from '../../api/fields.ts'
import { DONE } from '../../api/request.ts'
import { flag, integer, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'seal'>

const keyStatus = endpoint({
  id: 'key-status',
  operation: 'read',
  path: 'key-status',
  capability: 'read',
  offeredIn: 'root-keys',
  body: 'both',
  // Only the writing thread encrypts for storage, so only it has the count.
  runsOn: 'writer',
  writes: 'node',
  summary: 'Shows the current data key of the barrier',
  describe: 'After a restart, the count of encryptions can be too high by about a million, but never too low.',
  fields: {},
  response: {
    term: integer('Term (number) of the key'),
    install_time: text('Time when the key came into use'),
    encryptions: integer('Number of encryptions under the key'),
  },
  handler: (system: System) => {
    const { term, installedAtMs, encryptions } = system.seal.rotation.status()
    return { data: { term, install_time: new Date(installedAtMs).toISOString(), encryptions } }
  },
})

/** One rotation at an old and a new path. Nothing is encrypted again: older terms still open what they sealed. */
const rotateAt = (id: string, path: string) =>
  endpoint({
    id,
    operation: 'update',
    path,
    capability: 'update',
    offeredIn: 'root-keys',
    sudo: true,
    runsOn: 'writer',
    writes: 'set',
    summary: 'Creates a new data key for all further encryption; data encrypted under older keys stays readable',
    fields: {},
    handler: async (system: System) => {
      await system.seal.rotation.rotate()
      return DONE
    },
  })

const readConfig = endpoint({
  id: 'rotate-config-read',
  operation: 'read',
  path: 'rotate/config',
  capability: 'read',
  offeredIn: 'root-keys',
  body: 'both',
  runsOn: 'writer',
  writes: 'node',
  summary: 'Shows when the data key is rotated automatically',
  fields: {},
  response: {
    enabled: flag('Automatic rotation is enabled'),
    max_operations: integer('Number of encryptions after which the key is rotated'),
    interval: integer('Time after which the key is rotated, in seconds; 0: no limit'),
  },
  handler: async (system: System) => {
    const { enabled, maxOperations, intervalSeconds } = await system.seal.rotation.config.read()
    return { data: { enabled, max_operations: maxOperations, interval: intervalSeconds } }
  },
})

// The limits come from NIST SP 800-38D section 8.3, see src/storage/keyring-limits.ts.
const writeConfig = endpoint({
  id: 'rotate-config',
  operation: 'update',
  path: 'rotate/config',
  capability: 'update',
  offeredIn: 'root-keys',
  runsOn: 'writer',
  writes: 'set',
  summary: 'Sets when the data key is rotated automatically',
  describe: 'At 0.9 × 2^32 encryptions the key is always rotated: more are not safe under one key.',
  fields: {
    enabled: bool('Enables automatic rotation'),
    max_operations: int('Number of encryptions after which the key is rotated, 1000000 to 3865470566'),
    interval: duration('Time after which the key is rotated, in seconds; 0: no limit, otherwise at least 24 hours'),
  },
  handler: async (system: System, args) => {
    await system.seal.rotation.config.change((before) => ({
      enabled: args.enabled ?? before.enabled,
      maxOperations: args.max_operations ?? before.maxOperations,
      intervalSeconds: args.interval ?? before.intervalSeconds,
    }))
    return DONE
  },
})

/** Status, rotation under its old and its new path, and its limits. */
export const KEYRING_ENDPOINTS: readonly Endpoint<System>[] = [
  keyStatus,
  rotateAt('rotate', 'rotate'),
  rotateAt('rotate-keyring', 'rotate/keyring'),
  readConfig,
  writeConfig,
]
