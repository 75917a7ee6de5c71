// What a token keeps for itself: nobody else can reach it, and it goes with the token.
//
//   root/sys/cubbyhole/TOKEN/PATH      TOKEN: the token's name in storage
import { fail } from '../api/errors.ts'
import type { Engine } from '../api/mount.ts'
import type { Page } from '../api/named-things.ts'
import { isJsonObject, type JsonObject, parseStoredJson } from '../lib/json.ts'
import type { View, ViewTransaction } from '../storage/sealed-storage.ts'
import { DEFAULT_KEPT_LIMITS, type KeptLimits, type KeptValues } from './kept-values.ts'
import { idKey } from './token-keys.ts'

const FOLDER = 'cubbyhole/'
const WIPE_PAGE = 500

export class Cubbyhole implements Engine {
  readonly limits: KeptLimits
  readonly #view: View
  readonly #elsewhere: Pick<KeptValues, 'keep'> | undefined

  /**
   * `view` is of root/sys/, as those of all functions here; `elsewhere` is given where this thread writes nothing.
   */
  constructor(view: View, limits: KeptLimits = DEFAULT_KEPT_LIMITS, elsewhere?: Pick<KeptValues, 'keep'>) {
    this.#view = view
    this.limits = limits
    this.#elsewhere = elsewhere
  }

  /** Whether there is something; does not look into it. */
  async has(tokenId: string, path: string): Promise<boolean> {
    return (await this.#view.get(keyOf(tokenId, path))) !== undefined
  }

  async read(tokenId: string, path: string): Promise<JsonObject | undefined> {
    return readWith(this.#view, tokenId, path)
  }

  /** Names below a folder, which is empty or ends in '/'; `limit` 0: all. */
  list(tokenId: string, folder: string, { after, limit }: Page): Promise<string[]> {
    return this.#view.list(keyOf(tokenId, folder), { after, ...(limit > 0 ? { limit } : {}) })
  }

  /** @throws Refusal where it is too much, or the token is gone meanwhile */
  async write(tokenId: string, path: string, value: JsonObject): Promise<void> {
    const bytes = encode(value)
    if (bytes.length > this.limits.entryBytes) throw fail('value_too_large', [this.limits.entryBytes])
    if (this.#elsewhere === undefined) await this.keep(tokenId, path, bytes)
    else await this.#elsewhere.keep(tokenId, path, bytes)
  }

  /** @throws Refusal where the token is gone meanwhile: nobody would ever remove what it leaves now */
  async keep(tokenId: string, path: string, value: Uint8Array): Promise<void> {
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

/** In memory of its own, so that no other thread gets what lies beside it. */
export function encode(value: JsonObject): Buffer {
  const text = JSON.stringify(value)
  const bytes = Buffer.alloc(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

export function putWith(tx: ViewTransaction, tokenId: string, path: string, value: Uint8Array): void {
  tx.put(keyOf(tokenId, path), Buffer.from(value.buffer, value.byteOffset, value.byteLength))
}

/** Removes what the token kept, or a page of it; whether that was all. */
export async function wipeCubbyhole(tx: ViewTransaction, tokenId: string): Promise<boolean> {
  const keys = await tx.keys(keyOf(tokenId, ''), '', WIPE_PAGE)
  for (const key of keys) tx.delete(key)
  return keys.length < WIPE_PAGE
}
