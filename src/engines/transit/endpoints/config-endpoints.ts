// config/keys and cache-config: the settings of a mount (Interface 2.4).
import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { bool, int } from '../../../api/fields.ts'
import { flag, integer } from '../../../api/shape.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import { cacheSize, LEAST_CACHE_SIZE, storeCacheSize } from '../ring/cache-setting.ts'
import { storeUpsertDisabled, upsertDisabled } from '../upsert-setting.ts'

/** The parts of the mount that these endpoints use. */
type Parts = { readonly storage: View }

const response = { disable_upsert: flag('Whether encrypt is prevented from creating keys') }

const readConfig = endpoint({
  id: 'transit-keys-config-read',
  operation: 'read',
  path: 'config/keys',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Returns the settings that apply to all keys of the mount',
  fields: {},
  response,
  handler: async (transit: Parts) => ({ data: { disable_upsert: await upsertDisabled(transit.storage) } }),
})

const writeConfig = endpoint({
  id: 'transit-keys-config-write',
  operation: 'update',
  path: 'config/keys',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Updates the settings that apply to all keys of the mount',
  fields: { disable_upsert: bool('Prevents encrypt from creating keys', { default: false }) },
  response,
  handler: async (transit: Parts, { disable_upsert }) => {
    await transit.storage.transaction(async (tx) => storeUpsertDisabled(tx, disable_upsert))
    return { data: { disable_upsert } }
  },
})

const SIZE = 'Number of keys that each thread caches, at least 10; 0 is the default of 10000'
const cacheResponse = { size: integer(SIZE) }

const readCache = endpoint({
  id: 'transit-cache-config-read',
  operation: 'read',
  path: 'cache-config',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Returns the size of the key cache',
  fields: {},
  response: cacheResponse,
  handler: async (transit: Parts) => ({ data: { size: await cacheSize(transit.storage) } }),
})

const writeCache = endpoint({
  id: 'transit-cache-config-write',
  operation: 'update',
  path: 'cache-config',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Sets the size of the key cache',
  describe: 'The new size takes effect when the mount is reloaded (sys/plugins/reload/backend) or the server restarts.',
  fields: { size: int(SIZE, { default: 0 }) },
  response: cacheResponse,
  handler: async (transit: Parts, { size }) => {
    // Interface 7.11: a cache that is bounded holds ten keys or more.
    if (size !== 0 && size < LEAST_CACHE_SIZE)
      throw fail('out_of_range', [`"size": size must be 0 or a value greater or equal to ${LEAST_CACHE_SIZE}`])
    await transit.storage.transaction(async (tx) => storeCacheSize(tx, size))
    return { data: { size } }
  },
})

/** Reads run on any node; writes answer with the setting as it is then. */
export const TRANSIT_CONFIG_ENDPOINTS: readonly Endpoint<Parts>[] = [readConfig, writeConfig, readCache, writeCache]
