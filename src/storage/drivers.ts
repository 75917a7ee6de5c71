// The kinds of storage, one row each: here, and in the files of the rows, they are named, and nowhere else. What the
// configuration offers, how stores are opened, checked, restored and described follows from this table.
import { strict as assert } from 'node:assert'
import type { DurableLocation, StorageDriver, StoreLocation } from './driver.ts'
import { MEMORY_DRIVER } from './memory-driver.ts'
import { SQLITE_DRIVER } from './sqlite/sqlite-driver.ts'

const ROWS = [SQLITE_DRIVER, MEMORY_DRIVER] as const

/** Where the data of a server are: plain data, which goes to other threads. */
export type StorageConfig = ReturnType<(typeof ROWS)[number]['configure']>

/** In the order in which an operator is told of them. Each takes its own configurations alone. */
export const STORAGE_DRIVERS: readonly StorageDriver<StorageConfig>[] = ROWS

export function storeLocation(config: StorageConfig): StoreLocation {
  const driver = STORAGE_DRIVERS.find(({ type }) => type === config.type)
  return (driver ?? assert.fail(`no driver is called ${config.type}`)).locate(config)
}

/** For threads that share a store with others, which is one that outlives them. */
export function durableLocation(config: StorageConfig): DurableLocation {
  return storeLocation(config).durable ?? assert.fail(`${config.type} is nothing that threads could share`)
}

/** What a directory alone stands for, as in `-data=DIR`; where `given` is of that kind too, the rest is as it says. */
export function storageIn(directory: string, given?: StorageConfig): StorageConfig {
  const { type } = SQLITE_DRIVER
  return { ...(given?.type === type ? given : {}), type, directory }
}

/** The same, for commands that look into a directory without a server. */
export function locationIn(directory: string): DurableLocation {
  return durableLocation(storageIn(directory))
}

/** Where the configuration names none. */
export const DEFAULT_STORAGE: StorageConfig = storageIn('./data')
