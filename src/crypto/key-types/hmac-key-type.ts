// Keys for HMACs alone. The material is the raw key, whose length is chosen when it is made.
import { createSecretKey } from 'node:crypto'
import { SYMMETRIC_FORM } from '../forms/symmetric-form.ts'
import { freshBytes } from '../primitives/random-bytes.ts'
import { InvalidKeyMaterial, type ListedKeyType } from './key-type.ts'

/** Lengths in bytes (Interface 8). The usual one is that of the output of SHA-256 (RFC 2104 section 3). */
const SIZES = { usual: 32, min: 32, max: 512 } as const

/** The only type with two numbers in backups: the original and its fork number it differently. */
export const hmac: ListedKeyType = {
  name: 'hmac',
  backupId: 10,
  originalBackupId: 11,
  form: SYMMETRIC_FORM,
  sizes: SIZES,
  generate: (random, _slow, keyBytes) => freshBytes(random, keyBytes || SIZES.usual),
  load: (material) => {
    if (material.length < SIZES.min || material.length > SIZES.max)
      throw new InvalidKeyMaterial(`A key of type hmac has ${SIZES.min} to ${SIZES.max} bytes`)
    return createSecretKey(material)
  },
  isHmacKey: true,
}
