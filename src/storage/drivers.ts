// The kinds of storage, one row each. They are named here and in the files of the rows, and nowhere else. The
// configuration, and how stores are opened, checked, restored and described, follow from this table.
import { strict as assert } from 'node:assert'
import type { DurableLocation, StorageDriver, StoreLocation } from './driver.ts'
import { MEMORY_DRIVER } from './memory-driver.ts'
import { SQLITE_DRIVER } from './sqlite/sqlite-driver.ts'

const ROWS = [SQLITE_DRIVER, MEMORY_DRIVER] as const

/** Which storage a server uses: plain data, which is sent to other threads. */
export type StorageConfig = ReturnType<(typeof ROWS)[number]['configure']>

/** All drivers, in the order of docs/configuration.md. Each takes configurations of its own type only. */
export const STORAGE_DRIVERS: readonly StorageDriver<StorageConfig>[] = ROWS

/** The location that the driver of this type makes of the configuration. */
export function storeLocation(config: StorageConfig): StoreLocation {
  const driver = STORAGE_DRIVERS.find(({ type }) => type === config.type)
  return (driver ?? assert.fail(`no driver is called ${config.type}`)).locate(config)
}

/** The location for threads that share a store. An assertion refuses a storage that lives in one thread. */
export function durableLocation(config: StorageConfig): DurableLocation {
  return storeLocation(config).durable ?? assert.fail(`${config.type} is nothing that threads could share`)
}

/** The configuration that a directory stands for, as in `-data=DIR`. Other settings come from `given`, if it fits. */
export function storageIn(directory: string, given?: StorageConfig): StorageConfig {
  const { type } = SQLITE_DRIVER
  return { ...(given?.type === type ? given : {}), type, directory }
}

/** The location in a directory, for commands that look into it without a server. */
export function locationIn(directory: string): DurableLocation {
  return durableLocation(storageIn(directory))
}

/** Used when the configuration has no `storage` stanza. */
export const DEFAULT_STORAGE: StorageConfig = storageIn('./data')
