// What the endpoints under sys/ work with besides the rooms themselves: settings, histories, counts.
import { CORS_MEMBERS, CORS_OFF } from '../api/cors.ts'
import type { World } from '../lib/world.ts'
import type { ManagedKeyService } from '../managed-keys/managed-key-service.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { storedRecord } from '../storage/stored-record.ts'
import { PasswordPolicies } from './password-policies.ts'
import { RawStorage } from './raw-storage.ts'
import { Reloads } from './reloads.ts'
import { StoredSetting } from './stored-setting.ts'
import { NO_UI_HEADERS, UI_HEADERS_SETTING } from './ui-headers.ts'
import { VersionHistory } from './version-history.ts'

/** What only the assembly knows. */
export type ServerInventory = {
  readonly entityCount: () => Promise<number>
  /** Requests of the whole server, all its threads, since it started. */
  readonly requests: () => { readonly sinceMs: number; readonly taken: number }
  /** The machine (host-info-endpoint.ts has its members). */
  readonly hostInfo: () => object
}

export const CORS_SETTING = storedRecord('The setting cors', CORS_MEMBERS)

/** A new one is a line in `buildServices`; which of them an endpoint takes it says by its own type. */
export type SystemServices = Readonly<ReturnType<typeof buildServices>>

/** Some of them. */
export type WithServices<S extends keyof SystemServices> = { readonly services: Pick<SystemServices, S> }

export function buildServices(
  storage: SealedStorage,
  invalidation: Invalidation,
  parts: {
    readonly world: World
    readonly inventory: ServerInventory
    readonly managedKeys: ManagedKeyService
    /** Makes this thread forget what it keeps of a mount. */
    readonly resetMount: (uuid: string) => void
    /** Whether a mount stays out of replication. */
    readonly isLocalMount: (uuid: string) => boolean
  },
) {
  return {
    ...parts.inventory,
    cors: new StoredSetting(storage, invalidation, { name: 'cors', record: CORS_SETTING, unset: CORS_OFF }),
    uiHeaders: new StoredSetting(storage, invalidation, {
      name: 'ui-headers',
      record: UI_HEADERS_SETTING,
      unset: NO_UI_HEADERS,
    }),
    passwordPolicies: new PasswordPolicies(storage),
    versions: new VersionHistory(storage, parts.world.clock),
    reloads: new Reloads(storage, invalidation, { world: parts.world, reset: parts.resetMount }),
    raw: new RawStorage(storage, parts.isLocalMount),
    managedKeys: parts.managedKeys,
  }
}
