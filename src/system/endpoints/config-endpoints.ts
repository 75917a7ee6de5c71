// sys/config/state and sys/config/reload: the configuration that the server runs with, and reading parts of it again.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { DONE } from '../../api/request.ts'
import { anything, OTHERS } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'facts' | 'seal'>

const state = endpoint({
  id: 'config-state',
  operation: 'read',
  path: 'config/state/sanitized',
  capability: 'read',
  offeredIn: 'root',
  runsOn: 'any-node',
  summary: 'Shows the configuration in use, without secrets',
  fields: {},
  response: { [OTHERS]: anything('Value of the configuration key of this name') },
  handler: ({ facts }: System) => ({ data: facts.configState ?? {} }),
})

const reload = endpoint({
  id: 'config-reload',
  operation: 'update',
  path: 'config/reload/:subsystem',
  capability: 'update',
  offeredIn: 'root',
  runsOn: 'writer',
  writes: 'node',
  summary: 'Reloads one part of the configuration on every thread; SIGHUP reloads all parts',
  describe:
    'tls reloads the certificates, keys and certificate authorities of all listeners; audit reopens the ' +
    'files of audit devices, as after log rotation; log_level rereads the level from the configuration ' +
    'files, and replication the secondaries that writes wait for. If a part cannot be used, the log says so, and the ' +
    'previous state stays in use.',
  fields: { subsystem: string('Part to reload: tls, audit, log_level or replication', { required: true }) },
  handler: async (system: System, { subsystem }) => {
    const reloads = system.seal.configReloads
    const run = reloads.get(subsystem)
    if (run === undefined) {
      const offered =
        reloads.size === 0 ? 'this server has none' : `offered are ${[...reloads.keys()].sort().join(', ')}`
      throw fail('choice_unknown', [`"${subsystem}" is no part that can be reloaded, ${offered}`])
    }
    // A part that cannot be used leaves the old state in force on that thread, and the log has the reason.
    if (!(await run())) {
      const goesOn = `"${subsystem}" was not read anew everywhere: what there was goes on`
      throw fail('reload_failed', [`${goesOn}, the log of the server says why`])
    }
    return DONE
  },
})

/** A read of the configuration without its secrets, and the reload of one subsystem on every thread. */
export const SYSTEM_CONFIG_ENDPOINTS: readonly Endpoint<System>[] = [state, reload]
