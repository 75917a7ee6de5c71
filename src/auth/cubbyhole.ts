// What a token keeps for itself: nobody else can reach it, and it goes with the token.
//
//   root/sys/cubbyhole/TOKEN/PATH      TOKEN: the token's name in storage
import { fail } from '../api/errors.ts'
import type { Engine } from '../api/mount.ts'
import type { Page } from '../api/named-things.ts'
import { isJsonObject, type JsonObject, parseStoredJson } from '../lib/json.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { idKey } from './token-keys.ts'

const FOLDER = 'cubbyhole/'
const WIPE_PAGE = 500

export class Cubbyhole implements Engine {
  readonly #view: View

  /** `view` is of root/sys/, as those of all functions here. */
  constructor(view: View) {
    this.#view = view
  }

  async read(tokenId: string, path: string): Promise<JsonObject | undefined> {
    return readWith(this.#view, tokenId, path)
  }

  /** Names below a folder, which is empty or ends in '/'; `limit` 0: all. */
  list(tokenId: string, folder: string, { after, limit }: Page): Promise<string[]> {
    return this.#view.list(keyOf(tokenId, folder), { after, ...(limit > 0 ? { limit } : {}) })
  }

  /** @throws Refusal where the token is gone meanwhile: nobody would ever remove what it leaves now */
  async write(tokenId: string, path: string, value: JsonObject): Promise<void> {
    await this.#view.transaction(async (tx) => {
      if ((await tx.get(idKey(tokenId))) === undefined) throw fail('permission_denied', [])
      putWith(tx, tokenId, path, value)
    })
  }

  async delete(tokenId: string, path: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(keyOf(tokenId, path)))
  }

  changed(): void {}
  reset(): void {}
}

const keyOf = (tokenId: string, path: string): string => `${FOLDER}${tokenId}/${path}`

export async function readWith(
  from: Pick<ViewTransaction, 'get'>,
  tokenId: string,
  path: string,
): Promise<JsonObject | undefined> {
  const bytes = await from.get(keyOf(tokenId, path))
  if (bytes === undefined) return undefined
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value)) throw new Error('An entry of a cubbyhole has an unknown form')
  return value
}

export function putWith(tx: ViewTransaction, tokenId: string, path: string, value: JsonObject): void {
  tx.put(keyOf(tokenId, path), Buffer.from(JSON.stringify(value)))
}

/** Removes what the token kept, or a page of it; whether that was all. */
export async function wipeCubbyhole(tx: ViewTransaction, tokenId: string): Promise<boolean> {
  const keys = await tx.keys(keyOf(tokenId, ''), '', WIPE_PAGE)
  for (const key of keys) tx.delete(key)
  return keys.length < WIPE_PAGE
}
