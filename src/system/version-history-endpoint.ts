// sys/version-history: which versions have had this store.
import { type Endpoint, endpoint } from '../api/endpoint.ts'
import { group, LISTED, mapOf, nullable, text } from '../api/shape.ts'
import type { System } from './system.ts'

export const versionHistory: Endpoint = endpoint({
  id: 'version-history',
  operation: 'list',
  path: 'version-history',
  capability: 'list',
  runsOn: 'any-node',
  summary: 'Versions of this program that opened the store, the oldest first',
  describe: 'These are versions of Keywright itself, not the reported_version that clients gate on.',
  fields: {},
  response: {
    ...LISTED,
    key_info: mapOf(
      group(
        {
          previous_version: nullable(text('The one before; null for the first')),
          timestamp_installed: text('When it first opened the store'),
          build_date: text('Empty: not recorded'),
        },
        'Version',
      ),
      'By version',
    ),
  },
  handler: async (system: System) => {
    const versions = await system.services.versions.list()
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
