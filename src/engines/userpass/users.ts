// The users of one mount: one stored entry for each, under the name in lower case.
import { fail } from '../../api/errors.ts'
import { NO_TOKEN_SETTINGS, TOKEN_SETTINGS } from '../../api/login.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { otherwise, text, texts } from '../../lib/member-kinds.ts'
import type { View, ViewTransaction } from '../../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../../storage/stored-record.ts'

/** The stored form of a user: a hash of the password, and the settings of its tokens. */
export const USER = storedRecord(
  'A user',
  {
    /** The salted hash, as crypto/password.ts writes it. */
    password: text,
    settings: otherwise(TOKEN_SETTINGS, NO_TOKEN_SETTINGS),
    /** Older names of settings that a write used; they are read back. */
    oldNames: otherwise(texts, []),
  },
  'dropped',
)
/** A user; its name is only in the key of its entry. */
export type User = RecordOf<typeof USER>

const FOLDER = 'user/'
/** Characters of a user's name; it becomes part of a storage key. */
const MAX_NAME_CHARACTERS = 512

/** The store of users. Nothing is cached: a login reads its user. */
export class Users {
  readonly #storage: View

  constructor(storage: View) {
    this.#storage = storage
  }

  /** Returns the user by its name in any case, or undefined. */
  async find(name: string): Promise<User | undefined> {
    if (name.length > MAX_NAME_CHARACTERS) return undefined
    return decode(await this.#storage.get(keyOf(name)))
  }

  /** Returns all names, in lower case and sorted. */
  list(): Promise<string[]> {
    return this.#storage.list(FOLDER)
  }

  /** Stores what `change` makes of the present user; if it throws, nothing changes. */
  async change(name: string, change: (user: User | undefined) => User): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS)
      throw fail('out_of_range', ['username', `must have at most ${MAX_NAME_CHARACTERS} characters`])
    await this.#storage.transaction(async (tx: ViewTransaction) => {
      const changed = change(decode(await tx.get(keyOf(name))))
      tx.put(keyOf(name), USER.encode(changed))
    })
  }

  /** Deletes the user; tokens that it got live until they end. */
  async delete(name: string): Promise<void> {
    if (name.length > MAX_NAME_CHARACTERS) return
    await this.#storage.transaction(async (tx) => tx.delete(keyOf(name)))
  }
}

/** Case does not count in names: a user is stored and found by the name in lower case. */
export const keptUsername = asciiLowerCase

const keyOf = (name: string): string => FOLDER + keptUsername(name)

function decode(bytes: Buffer | undefined): User | undefined {
  return bytes === undefined ? undefined : USER.decode(bytes)
}
