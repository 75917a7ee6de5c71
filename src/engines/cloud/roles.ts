// The roles of one mount: a stored entry for each, under the name in lower case.
import { fail } from '../../api/errors.ts'
import { NO_TOKEN_SETTINGS, TOKEN_SETTINGS } from '../../api/login.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { group, otherwise, texts, type ValueOf } from '../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { namesAnybody } from './names.ts'

const NONE = otherwise(texts, [])
/** Each list narrows whom the role admits; an empty one does not. */
const BOUNDS = group({
  principals: NONE,
  groups: NONE,
  subscriptions: NONE,
  resourceGroups: NONE,
  locations: NONE,
  scaleSets: NONE,
})
export type Bounds = ValueOf<typeof BOUNDS>
export const NO_BOUNDS: Bounds = BOUNDS.read({})

export const CLOUD_ROLE = storedRecord(
  'A role of a cloud',
  {
    bounds: otherwise(BOUNDS, NO_BOUNDS),
    settings: otherwise(TOKEN_SETTINGS, NO_TOKEN_SETTINGS),
    /** Older names of settings that were used, and are read back. */
    oldNames: otherwise(texts, []),
  },
  'dropped',
)
export type CloudRole = RecordOf<typeof CLOUD_ROLE>

/** The machine or other resource of the caller is then asked about in the cloud. */
export const bindsResource = ({ subscriptions, resourceGroups, locations, scaleSets }: Bounds): boolean =>
  subscriptions.length + resourceGroups.length + locations.length + scaleSets.length > 0

/** Whether the role admits fewer than all identities of the directory: `*` narrows nothing. */
export const narrows = (bounds: Bounds): boolean =>
  bindsResource(bounds) || !namesAnybody(bounds.principals) || !namesAnybody(bounds.groups)

const FOLDER = 'role/'
export const MAX_ROLE_NAME_CHARACTERS = 256

export class CloudRoles {
  readonly #storage: View

  constructor(storage: View) {
    this.#storage = storage
  }

  async find(name: string): Promise<CloudRole | undefined> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS || name.includes('/') || !name.isWellFormed()) return undefined
    return decode(await this.#storage.get(keyOf(name)))
  }

  /** Names in lower case, sorted. */
  list(): Promise<string[]> {
    return this.#storage.list(FOLDER)
  }

  /** `change` gets the role as it is; what it throws leaves everything as it was. */
  async change(name: string, change: (role: CloudRole | undefined) => CloudRole): Promise<CloudRole> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS)
      throw fail('out_of_range', ['name', `must have at most ${MAX_ROLE_NAME_CHARACTERS} characters`])
    return this.#storage.transaction(async (tx: ViewTransaction) => {
      const changed = change(decode(await tx.get(keyOf(name))))
      tx.put(keyOf(name), CLOUD_ROLE.encode(changed))
      return changed
    })
  }

  async delete(name: string): Promise<void> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS) return
    await this.#storage.transaction(async (tx) => tx.delete(keyOf(name)))
  }
}

/** The one spelling of a role's name. */
export const keptCloudRoleName = asciiLowerCase

const keyOf = (name: string): string => FOLDER + keptCloudRoleName(name)

function decode(bytes: Buffer | undefined): CloudRole | undefined {
  return bytes === undefined ? undefined : CLOUD_ROLE.decode(bytes)
}
