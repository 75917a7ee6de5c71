// The roles of one mount: one stored entry for each, under the name in lower case.
import { fail } from '../../api/errors.ts'
import { NO_TOKEN_SETTINGS, TOKEN_SETTINGS } from '../../api/login.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { group, otherwise, texts, type ValueOf } from '../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'
import { namesAnybody } from './names.ts'

const NONE = otherwise(texts, [])
/** The lists that narrow whom the role admits; an empty list does not narrow. */
const BOUNDS = group({
  principals: NONE,
  groups: NONE,
  subscriptions: NONE,
  resourceGroups: NONE,
  locations: NONE,
  scaleSets: NONE,
})
/** The decoded lists. */
export type Bounds = ValueOf<typeof BOUNDS>
/** Bounds that narrow nothing; a role with them cannot be written. */
export const NO_BOUNDS: Bounds = BOUNDS.read({})

/** A stored role. */
export const CLOUD_ROLE = storedRecord(
  'A role of a cloud',
  {
    bounds: otherwise(BOUNDS, NO_BOUNDS),
    settings: otherwise(TOKEN_SETTINGS, NO_TOKEN_SETTINGS),
    /** Older names of settings that a write used; they are read back. */
    oldNames: otherwise(texts, []),
  },
  'dropped',
)
/** A role of the cloud login: whom it admits, and the settings of its tokens. */
export type CloudRole = RecordOf<typeof CLOUD_ROLE>

/** True if the role is bound to resources: then the cloud is asked about the caller's machine or other resource. */
export const bindsResource = ({ subscriptions, resourceGroups, locations, scaleSets }: Bounds): boolean =>
  subscriptions.length + resourceGroups.length + locations.length + scaleSets.length > 0

/** True if the role admits fewer than all identities of the directory; `*` narrows nothing. */
export const narrows = (bounds: Bounds): boolean =>
  bindsResource(bounds) || !namesAnybody(bounds.principals) || !namesAnybody(bounds.groups)

const FOLDER = 'role/'
/** Characters of a role's name; it becomes part of storage keys. */
export const MAX_ROLE_NAME_CHARACTERS = 256

/** The store of roles. Nothing is cached: a login reads its role. */
export class CloudRoles {
  readonly #storage: View

  constructor(storage: View) {
    this.#storage = storage
  }

  /** Returns the role by its name in any case; undefined if there is none, or the text can be no name. */
  async find(name: string): Promise<CloudRole | undefined> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS || name.includes('/') || !name.isWellFormed()) return undefined
    return decode(await this.#storage.get(keyOf(name)))
  }

  /** Returns the names in lower case, sorted. */
  list(): Promise<string[]> {
    return this.#storage.list(FOLDER)
  }

  /** Stores what `change` makes of the present role; if it throws, nothing changes. */
  async change(name: string, change: (role: CloudRole | undefined) => CloudRole): Promise<CloudRole> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS)
      throw fail('out_of_range', ['name', `must have at most ${MAX_ROLE_NAME_CHARACTERS} characters`])
    return this.#storage.transaction(async (tx: ViewTransaction) => {
      const changed = change(decode(await tx.get(keyOf(name))))
      tx.put(keyOf(name), CLOUD_ROLE.encode(changed))
      return changed
    })
  }

  /** Deletes the role; tokens that it gave cannot be renewed. */
  async delete(name: string): Promise<void> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS) return
    await this.#storage.transaction(async (tx) => tx.delete(keyOf(name)))
  }
}

/** Case does not count in names: a role is stored and found by the name in lower case. */
export const keptCloudRoleName = asciiLowerCase

const keyOf = (name: string): string => FOLDER + keptCloudRoleName(name)

function decode(bytes: Buffer | undefined): CloudRole | undefined {
  return bytes === undefined ? undefined : CLOUD_ROLE.decode(bytes)
}
