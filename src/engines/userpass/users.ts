// The users of one mount: a stored entry for each, under the name in lower case.
import { fail } from '../../api/errors.ts'
import { NO_TOKEN_SETTINGS, TOKEN_SETTINGS } from '../../api/login.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { otherwise, text, texts } from '../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

export const USER = storedRecord(
  'A user',
  {
    /** crypto/password.ts */
    password: text,
    settings: otherwise(TOKEN_SETTINGS, NO_TOKEN_SETTINGS),
    /** Older names of settings that were used, and are read back. */
    oldNames: otherwise(texts, []),
  },
  'dropped',
)
export type User = RecordOf<typeof USER>

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
      tx.put(keyOf(name), USER.encode(changed))
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
  return bytes === undefined ? undefined : USER.decode(bytes)
}
