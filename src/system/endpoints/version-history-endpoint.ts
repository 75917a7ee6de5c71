// sys/version-history: the versions that have opened this store. Differs: docs/differences.md#the-server.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { int, string } from '../../api/fields.ts'
import { group, listOf, mapOf, nullable, text } from '../../api/shape.ts'
import type { WithServices } from '../services.ts'

/** The parts of the system that this endpoint uses. */
type System = WithServices<'versions'>

/** Lists them in the order of their first start, not by name as other lists do. */
export const versionHistory: Endpoint<System> = endpoint({
  id: 'version-history',
  operation: 'list',
  path: 'version-history',
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Lists the versions of this program that have opened the store, oldest first',
  describe: 'These are versions of Keywright itself, not the reported_version that clients check for compatibility.',
  fields: {
    after: string('Returns only versions that came after this one', { default: '' }),
    limit: int('Maximum number of versions to return; 0: all', { default: 0 }),
  },
  response: {
    keys: listOf(text('Version'), 'Versions, oldest first'),
    key_info: mapOf(
      group(
        {
          previous_version: nullable(text('Previous version; null for the first')),
          timestamp_installed: text('Time when this version first opened the store'),
          build_date: text('Always empty: not recorded'),
        },
        'Version',
      ),
      'Details, by version',
    ),
  },
  handler: async (system: System, { after, limit }) => {
    const all = await system.services.versions.list()
    // An unknown version gives -1, so the list starts at the first.
    const from = all.findIndex(({ version }) => version === after) + 1
    const versions = all.slice(from, limit > 0 ? from + limit : undefined)
    if (versions.length === 0) throw fail('not_found', [])
    const info = versions.map(({ version, installedAtMs, previous }) => [
      version,
      {
        previous_version: previous === '' ? null : previous,
        timestamp_installed: new Date(installedAtMs).toISOString(),
        build_date: '',
      },
    ])
    return { data: { keys: versions.map(({ version }) => version), key_info: Object.fromEntries(info) } }
  },
})
