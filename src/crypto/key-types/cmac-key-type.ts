// Keys for AES-CMAC: the material is the raw key.
import { createSecretKey } from 'node:crypto'
import { SYMMETRIC_FORM } from '../forms/symmetric-form.ts'
import { aesCmac } from '../primitives/cmac.ts'
import { freshBytes } from '../primitives/random-bytes.ts'
import { InvalidKeyMaterial, type ListedKeyType } from './key-type.ts'

/** A type that makes MACs alone. Other lengths of material are refused when it is loaded. */
export function cmacKeyType(keyBits: 128 | 192 | 256, backupId: number): ListedKeyType {
  const name = `aes${keyBits}-cmac`
  const keyBytes = keyBits / 8
  return {
    name,
    backupId,
    form: SYMMETRIC_FORM,
    generate: (random) => freshBytes(random, keyBytes),
    load: (material) => {
      if (material.length !== keyBytes) throw new InvalidKeyMaterial(`A key of type ${name} has ${keyBytes} bytes`)
      return createSecretKey(material)
    },
    cmac: aesCmac,
  }
}

/** AES-CMAC with a key of 16 bytes. */
export const aes128Cmac = cmacKeyType(128, 12)
/** AES-CMAC with a key of 24 bytes. */
export const aes192Cmac = cmacKeyType(192, 16)
/** AES-CMAC with a key of 32 bytes. */
export const aes256Cmac = cmacKeyType(256, 13)
