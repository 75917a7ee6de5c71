import { aes128Gcm96, aes256Gcm96, chacha20Poly1305, xchacha20Poly1305 } from './aead-key-types.ts'
import { aes128Cmac, aes192Cmac, aes256Cmac } from './cmac-key-type.ts'
import { ecdsaP256, ecdsaP384, ecdsaP521, ecdsaSecp256k1 } from './ecdsa-key-types.ts'
import { ed25519 } from './ed25519.ts'
import { hmac } from './hmac-key-type.ts'
import type { KeyType } from './key-type.ts'
import { mlDsa44, mlDsa65, mlDsa87 } from './ml-dsa.ts'
import { rsa2048, rsa3072, rsa4096 } from './rsa-key-types.ts'

/** Every key type by its name. A new one is its file, a line here, and official vectors in `test/vectors`. */
export const KEY_TYPES: ReadonlyMap<string, KeyType> = keyTypeTable([
  aes128Gcm96,
  aes256Gcm96,
  chacha20Poly1305,
  xchacha20Poly1305,
  ed25519,
  ecdsaP256,
  ecdsaP384,
  ecdsaP521,
  ecdsaSecp256k1,
  rsa2048,
  rsa3072,
  rsa4096,
  hmac,
  aes128Cmac,
  aes192Cmac,
  aes256Cmac,
  mlDsa44,
  mlDsa65,
  mlDsa87,
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
