import { aes128Gcm96, aes256Gcm96, chacha20Poly1305, xchacha20Poly1305 } from './aead-key-types.ts'
import type { KeyType } from './key-type.ts'
import { rsa2048, rsa3072, rsa4096 } from './rsa-key-types.ts'

/** Every key type by its name. A new one is its file, a line here, and official vectors in `test/vectors`. */
export const KEY_TYPES: ReadonlyMap<string, KeyType> = keyTypeTable([
  aes128Gcm96,
  aes256Gcm96,
  chacha20Poly1305,
  xchacha20Poly1305,
  rsa2048,
  rsa3072,
  rsa4096,
])

/** Refuses two types of one name at start-up. */
export function keyTypeTable(types: readonly KeyType[]): ReadonlyMap<string, KeyType> {
  const table = new Map<string, KeyType>()
  for (const type of types) {
    if (table.has(type.name)) throw new Error(`Two key types are named "${type.name}"`)
    table.set(type.name, type)
  }
  return table
}
