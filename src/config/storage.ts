// The stanza `storage`: where the data are. The driver that it names says which keys it has (src/storage/drivers.ts),
// so a new driver needs no change here.
import type { HclBlock } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import type { StorageSetting, StorageStanza } from '../storage/driver.ts'
import { STORAGE_DRIVERS, type StorageConfig } from '../storage/drivers.ts'
import { type SettingTable, type Stanza, setting } from './setting.ts'
import { ConfigError, checkKeys, integerIn, only, secondsIn, single } from './values.ts'

const titleOf = (type: string): string => `storage "${type}"`

/** Stanzas for docs/configuration.md, one for each driver. */
export const STORAGE_STANZAS: readonly Stanza[] = STORAGE_DRIVERS.map(({ type, about, settings }) => ({
  title: titleOf(type),
  about,
  settings: tableOf(settings),
}))

/** Reads the stanza; returns nothing for a file without it. @throws ConfigError */
export function storageOf(body: HclObject): { readonly storage?: StorageConfig } {
  const block = only(body, 'storage')
  if (block === undefined) return {}
  const [type = ''] = block.labels
  const driver = STORAGE_DRIVERS.find((each) => each.type === type)
  if (driver === undefined) {
    const offered = STORAGE_DRIVERS.map((each) => each.type).join(', ')
    throw new ConfigError(`line ${block.line}: the storage "${type}" is not offered, use one of ${offered}`)
  }
  checkKeys(block.body, tableOf(driver.settings), titleOf(type))
  return { storage: driver.configure(stanzaOf(block, titleOf(type))) }
}

function tableOf(settings: Readonly<Record<string, StorageSetting>>): SettingTable {
  const rows = Object.entries(settings).map(([key, { type, default: missing, effect }]) => [
    key,
    setting(type, missing, effect),
  ])
  return Object.fromEntries(rows)
}

/** Hands a stanza to its driver, which may not import this room. */
function stanzaOf({ body, line }: HclBlock, title: string): StorageStanza {
  return {
    single: (key) => single(body, key),
    count: (key, what) => {
      const count = integerIn(body, key, what)
      if (count !== undefined && count < 0) throw new ConfigError(`"${key}" must be ${what}`)
      return count
    },
    seconds: (key) => secondsIn(body, key),
    fault: (sentence) => new ConfigError(`line ${line}: ${title} ${sentence}`),
  }
}
