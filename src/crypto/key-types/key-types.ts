import { aes128Gcm96, aes256Gcm96, chacha20Poly1305, xchacha20Poly1305 } from './aead-key-types.ts'
import { aes128Cmac, aes192Cmac, aes256Cmac } from './cmac-key-type.ts'
import { ecdsaP256, ecdsaP384, ecdsaP521, ecdsaSecp256k1 } from './ecdsa-key-types.ts'
import { ed25519 } from './ed25519.ts'
import { hmac } from './hmac-key-type.ts'
import type { ListedKeyType } from './key-type.ts'
import { mlDsa44, mlDsa65, mlDsa87 } from './ml-dsa.ts'
import { rsa2048, rsa3072, rsa4096 } from './rsa-key-types.ts'

/** Every key type by its name. A new one takes a file, a line here, and official vectors in `test/vectors`. */
export const KEY_TYPES: ReadonlyMap<string, ListedKeyType> = keyTypeTable([
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

/** The types by their names. Throws at start if two have one name, or one number in backups. */
export function keyTypeTable(types: readonly ListedKeyType[]): ReadonlyMap<string, ListedKeyType> {
  const table = new Map<string, ListedKeyType>()
  const backupIds = new Set<number>()
  for (const type of types) {
    if (table.has(type.name)) throw new Error(`Two key types are named "${type.name}"`)
    if (backupIds.has(type.backupId)) throw new Error(`Two key types have the number ${type.backupId} in backups`)
    table.set(type.name, type)
    backupIds.add(type.backupId)
  }
  return table
}
