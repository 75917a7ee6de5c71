// sys/hardening: what the checks of machine, files, network and configuration find, for the operator. Needs sudo: the
// findings tell an attacker where the server is weak.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { flag, group, integer, listOf, text } from '../../api/shape.ts'
import { countRootTokens } from '../../auth/root-tokens.ts'
import { realMachine } from '../../hardening/machine.ts'
import { refreshed, storeFileBytes, summaryOf } from '../../hardening/report.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'audit' | 'facts' | 'tokens' | 'world'>

const hardening = endpoint({
  id: 'hardening',
  operation: 'read',
  path: 'hardening',
  capability: 'read',
  sudo: true,
  runsOn: 'any-node',
  summary: 'How the server is protected by what is around it: machine, files, network, configuration',
  describe:
    'Each check has an id of the security model, what it found and, where it is not well, what to do. Most are made ' +
    'anew for each request; those of cryptography, clock and disk are of the start.',
  fields: {},
  response: {
    strict: flag('What would be a warning keeps the server from starting (strict_hardening)'),
    ok: integer('Checks that found nothing'),
    warnings: integer('Checks that found something'),
    refusals: integer('Checks that found what would keep the server from starting'),
    unknown: integer('Checks that could not tell'),
    server: group(
      {
        started_at: text('When this process started, RFC 3339'),
        threads: integer('Threads that serve'),
        stored_bytes: integer('Size of the store'),
        audit_devices: listOf(text('Path'), 'Audit devices that are on'),
        listeners: listOf(
          group({ address: text('host:port'), tls: flag('Speaks TLS') }, 'One address'),
          'Where it listens, as the configuration says it',
        ),
      },
      'What the checks are about',
    ),
    checks: listOf(
      group(
        {
          id: text('As in the security model: B-01'),
          title: text('What should be'),
          group: text('process, runtime, files, network, storage, secrets or accountability'),
          verdict: text('ok, warn, refuse or unknown'),
          message: text('What was found, and what to do'),
        },
        'One check',
      ),
      'By group',
    ),
  },
  handler: async (system: System) => {
    const found = system.facts.hardening
    if (found === undefined) throw fail('not_offered', ['The checks were not made when this server started'])
    // Root tokens and audit devices change while the server runs; the other facts are those of its start.
    const rootTokens = await countRootTokens(system.tokens, system.world)
    const auditDevices = system.audit.list().map(({ path }) => path)
    const setting = { ...found.setting, rootTokens, auditDevices }
    const machine = realMachine(system.world)
    const results = await refreshed(found.results, machine, setting)
    const { ok, warn, refuse, unknown } = summaryOf(results)
    const checks = results.map(({ sentence, ...result }) => ({ ...result, message: sentence }))
    const server = {
      started_at: new Date(found.startedAtMs).toISOString(),
      threads: setting.threads,
      stored_bytes: storeFileBytes(setting),
      audit_devices: setting.auditDevices ?? [],
      listeners: setting.listeners.map(({ address, certFile, isTlsDisabled }) => ({
        address,
        tls: certFile !== undefined && !isTlsDisabled,
      })),
    }
    return { data: { strict: setting.isStrict, ok, warnings: warn, refusals: refuse, unknown, server, checks } }
  },
})

/** The one endpoint, as a list like those of other files. */
export const HARDENING_ENDPOINTS: readonly Endpoint<System>[] = [hardening]
