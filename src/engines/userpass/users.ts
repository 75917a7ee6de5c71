// The users of one mount: a stored entry for each, under the name in lower case.
import { fail } from '../../api/errors.ts'
import type { TokenSettings } from '../../api/login.ts'
import { storedSettings } from '../../api/token-settings.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { isJsonObject, parseStoredJson } from '../../lib/json.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'

export type User = {
  /** crypto/password.ts */
  readonly password: string
  readonly settings: TokenSettings
  /** Older names of settings that were used, and are read back. */
  readonly oldNames: readonly string[]
}

const FOLDER = 'user/'
const MAX_NAME_CHARACTERS = 512

export class Users {
  readonly #storage: View

  constructor(storage: View) {
    this.#storage = storage
  }

  async find(name: string): Promise<User | undefined> {
    if (name.length > MAX_NAME_CHARACTERS) return undefined
    return decode(await this.#storage.get(keyOf(name)))
  }

  /** Names, sorted. */
  list(): Promise<string[]> {
    return this.#storage.list(FOLDER)
  }

  /** `change` gets the user as it is; what it throws leaves everything as it was. */
  async change(name: string, change: (user: User | undefined) => User): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS)
      throw fail('out_of_range', ['username', `must have at most ${MAX_NAME_CHARACTERS} characters`])
    await this.#storage.transaction(async (tx: ViewTransaction) => {
      const changed = change(decode(await tx.get(keyOf(name))))
      tx.put(keyOf(name), Buffer.from(JSON.stringify({ format: 1, ...changed })))
    })
  }

  async delete(name: string): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS) return
    await this.#storage.transaction(async (tx) => tx.delete(keyOf(name)))
  }
}

/** The one spelling of a user's name. */
export const keptUsername = asciiLowerCase

const keyOf = (name: string): string => FOLDER + keptUsername(name)

function decode(bytes: Buffer | undefined): User | undefined {
  if (bytes === undefined) return undefined
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1 || typeof value.password !== 'string')
    throw new Error('A user has an unknown format')
  const oldNames = Array.isArray(value.oldNames) ? (value.oldNames as string[]) : []
  return { password: value.password, settings: storedSettings(value.settings), oldNames }
}
