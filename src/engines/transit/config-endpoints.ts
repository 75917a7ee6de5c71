// config/keys: settings of the whole mount (Interface 2.4).
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { bool } from '../../api/fields.ts'
import { flag } from '../../api/shape.ts'
import type { Transit } from './transit.ts'
import { storeUpsertDisabled, upsertDisabled } from './upsert-setting.ts'

const response = { disable_upsert: flag('Whether encrypt makes no keys') }

const readConfig = endpoint({
  id: 'transit-keys-config-read',
  operation: 'read',
  path: 'config/keys',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows the settings for all keys',
  fields: {},
  response,
  handler: async (transit: Transit) => ({ data: { disable_upsert: await upsertDisabled(transit.storage) } }),
})

const writeConfig = endpoint({
  id: 'transit-keys-config-write',
  operation: 'update',
  path: 'config/keys',
  capability: 'update',
  runsOn: 'writer',
  summary: 'Changes the settings for all keys',
  fields: { disable_upsert: bool('Whether encrypt makes no keys', { default: false }) },
  response,
  handler: async (transit: Transit, { disable_upsert }) => {
    await transit.storage.transaction(async (tx) => storeUpsertDisabled(tx, disable_upsert))
    return { data: { disable_upsert } }
  },
})

export const CONFIG_ENDPOINTS: readonly Endpoint[] = [readConfig, writeConfig]
