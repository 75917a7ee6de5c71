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
  offeredIn: 'root',
  sudo: true,
  runsOn: 'any-node',
  summary: 'Shows the hardening checks of machine, files, network and configuration',
  describe:
    'Each check has an ID from the security model, a finding and, if there is a problem, a remedy. Most ' +
    'checks run anew for each request; checks of cryptography, clock and disk ran at startup.',
  fields: {},
  response: {
    strict: flag('Warnings prevent the server from starting (strict_hardening)'),
    ok: integer('Number of checks that passed'),
    warnings: integer('Number of checks with a warning'),
    refusals: integer('Number of checks with a finding that prevents the server from starting'),
    unknown: integer('Number of checks without a result'),
    server: group(
      {
        started_at: text('When this process started, RFC 3339'),
        threads: integer('Number of serving threads'),
        stored_bytes: integer('Size of the store, in bytes'),
        audit_devices: listOf(text('Path'), 'Paths of the enabled audit devices'),
        listeners: listOf(
          group({ address: text('host:port'), tls: flag('The listener uses TLS') }, 'Listener'),
          'Listeners, as configured',
        ),
      },
      'Facts about the server that was checked',
    ),
    checks: listOf(
      group(
        {
          id: text('ID in the security model, such as B-01'),
          title: text('What the check requires'),
          group: text('process, runtime, files, network, storage, secrets or accountability'),
          verdict: text('ok, warn, refuse or unknown'),
          message: text('Finding, and what to do'),
        },
        'Check',
      ),
      'Checks, by group',
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
