// What a token keeps for itself: nobody else can reach it, and it goes with the token.
//
//   root/sys/cubbyhole/TOKEN/PATH      TOKEN: the token's name in storage
import type { Engine } from '../api/mount.ts'
import { isJsonObject, type JsonObject, parseStoredJson } from '../lib/json.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'

export const CUBBYHOLE_FOLDER = `${ROOT_NAMESPACE}/sys/cubbyhole/`
const WIPE_PAGE = 500

export class Cubbyhole implements Engine {
  readonly #view: View

  constructor(storage: SealedStorage) {
    this.#view = storage.view(systemScope, CUBBYHOLE_FOLDER)
  }

  async read(tokenId: string, path: string): Promise<JsonObject | undefined> {
    const bytes = await this.#view.get(`${tokenId}/${path}`)
    if (bytes === undefined) return undefined
    const value = parseStoredJson(bytes)
    if (!isJsonObject(value)) throw new Error('An entry of a cubbyhole has an unknown form')
    return value
  }

  /** Names below a folder, which is empty or ends in '/'. */
  list(tokenId: string, folder: string): Promise<string[]> {
    return this.#view.list(`${tokenId}/${folder}`)
  }

  async write(tokenId: string, path: string, value: JsonObject): Promise<void> {
    await this.#view.transaction(async (tx) => putWith(tx, tokenId, path, value))
  }

  async delete(tokenId: string, path: string): Promise<void> {
    await this.#view.transaction(async (tx) => tx.delete(`${tokenId}/${path}`))
  }

  changed(): void {}
  reset(): void {}
}

/** `tx` is of CUBBYHOLE_FOLDER. */
export function putWith(tx: ViewTransaction, tokenId: string, path: string, value: JsonObject): void {
  tx.put(`${tokenId}/${path}`, Buffer.from(JSON.stringify(value)))
}

/** Removes a page of what the token kept; whether there may be more. `tx` is of CUBBYHOLE_FOLDER. */
export async function wipePage(tx: ViewTransaction, tokenId: string): Promise<boolean> {
  const keys = await tx.keys(`${tokenId}/`, '', WIPE_PAGE)
  for (const key of keys) tx.delete(key)
  return keys.length === WIPE_PAGE
}
