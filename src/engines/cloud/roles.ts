// The roles of one mount: a stored entry for each, under the name in lower case.
import { fail } from '../../api/errors.ts'
import type { TokenSettings } from '../../api/login.ts'
import { storedSettings } from '../../api/token-settings.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { isJsonObject, parseStoredJson } from '../../lib/json.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { namesAnybody } from './names.ts'

/** Each list narrows whom the role admits; an empty one does not. */
export type Bounds = {
  readonly principals: readonly string[]
  readonly groups: readonly string[]
  readonly subscriptions: readonly string[]
  readonly resourceGroups: readonly string[]
  readonly locations: readonly string[]
  readonly scaleSets: readonly string[]
}

export type Role = {
  readonly bounds: Bounds
  readonly settings: TokenSettings
  /** Older names of settings that were used, and are read back. */
  readonly oldNames: readonly string[]
}

export const NO_BOUNDS: Bounds = {
  principals: [],
  groups: [],
  subscriptions: [],
  resourceGroups: [],
  locations: [],
  scaleSets: [],
}

/** The machine or other resource of the caller is then asked about in the cloud. */
export const bindsResource = ({ subscriptions, resourceGroups, locations, scaleSets }: Bounds): boolean =>
  subscriptions.length + resourceGroups.length + locations.length + scaleSets.length > 0

/** Whether the role admits fewer than all identities of the directory: `*` narrows nothing. */
export const narrows = (bounds: Bounds): boolean =>
  bindsResource(bounds) || !namesAnybody(bounds.principals) || !namesAnybody(bounds.groups)

const FOLDER = 'role/'
export const MAX_ROLE_NAME_CHARACTERS = 256

export class Roles {
  readonly #storage: View

  constructor(storage: View) {
    this.#storage = storage
  }

  async find(name: string): Promise<Role | undefined> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS || name.includes('/') || !name.isWellFormed()) return undefined
    return decode(await this.#storage.get(keyOf(name)))
  }

  /** Names in lower case, sorted. */
  list(): Promise<string[]> {
    return this.#storage.list(FOLDER)
  }

  /** `change` gets the role as it is; what it throws leaves everything as it was. */
  async change(name: string, change: (role: Role | undefined) => Role): Promise<Role> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS)
      throw fail('out_of_range', ['name', `must have at most ${MAX_ROLE_NAME_CHARACTERS} characters`])
    return this.#storage.transaction(async (tx: ViewTransaction) => {
      const changed = change(decode(await tx.get(keyOf(name))))
      tx.put(keyOf(name), Buffer.from(JSON.stringify({ format: 1, ...changed })))
      return changed
    })
  }

  async delete(name: string): Promise<void> {
    if (name.length > MAX_ROLE_NAME_CHARACTERS) return
    await this.#storage.transaction(async (tx) => tx.delete(keyOf(name)))
  }
}

/** The one spelling of a role's name. */
export const keptRoleName = asciiLowerCase

const keyOf = (name: string): string => FOLDER + keptRoleName(name)

function decode(bytes: Buffer | undefined): Role | undefined {
  if (bytes === undefined) return undefined
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('A role has an unknown format')
  const { bounds, oldNames } = value as unknown as Role
  return { bounds: { ...NO_BOUNDS, ...bounds }, settings: storedSettings(value.settings), oldNames }
}
