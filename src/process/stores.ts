// The one place where threads of this process open their stores.
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import type { ReadStore, Store } from '../storage/contract.ts'
import { durableLocation, type StorageConfig } from '../storage/drivers.ts'
import { ReplaceableStore } from '../storage/replaceable-store.ts'

type Commits = {
  /** Called before changes up to the index are written. */
  readonly onCommitting: (index: number) => void
  /** Called for each group of commits that became durable: its number of changes, and how long the write took. */
  readonly onCommitted: (transactions: number, ms: number) => void
  /** Called with the last index of a group that is durable and told to all listeners. */
  readonly onPublished: (index: number) => void
}

/** The parts that the store of the writing thread needs. */
export type WritingStoreParts = Commits & {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  /** Called if a write could not be made durable, or the store cannot be opened any more; the log says which. */
  readonly onFatal: () => void
}

/** The store of the writing thread. */
export type WritingStore = {
  readonly store: ReplaceableStore
  /** Opens what took its place. Calls `onFatal` if it cannot. */
  readonly reopen: () => Promise<Store>
  /** The space that the store takes on the disk now. */
  bytes(): { readonly database: number; readonly journal: number }
}

/** Opens the store on the writing thread. @throws StorageError */
export async function openWritingStore(parts: WritingStoreParts): Promise<WritingStore> {
  const { world, log, onFatal, onCommitting, onCommitted, onPublished } = parts
  const { storage } = parts.config
  const location = durableLocation(storage)
  const open = (): Promise<Store> =>
    location.open({
      random: world.random,
      clock: world.clock,
      ticks: world.ticks,
      timers: world.timers,
      onCommitting,
      onCommitted,
      onPublished,
      onFatal: (cause) => {
        log('error', 'A write could not be made durable: the server stops', { cause: cause.message })
        onFatal()
      },
    })
  const reopen = async (): Promise<Store> => {
    try {
      return await open()
    } catch (cause) {
      log('error', 'The store could not be opened after another took its place: the server stops', {
        cause: String(cause),
      })
      onFatal()
      throw cause
    }
  }
  const store = new ReplaceableStore(await open())
  return { store, reopen, bytes: () => location.bytes() }
}

/** Opens what is there now, on a serving thread. @throws StorageError */
export function openReadingStore(storage: StorageConfig): Promise<ReadStore> {
  return durableLocation(storage).openReader()
}
