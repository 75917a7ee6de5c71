// How ML-DSA keys are written: PKCS #8 with the seed (RFC 9881 section 6) in imports, and as PEM in exports. Backups
// hold the seed, and the public half as reads show it: no form of other programs is known (docs/differences.md).
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { Base64Error, decodeBase64 } from '../../lib/base64.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import type { MaterialForm } from './material-form.ts'
import { openPkcs8, pkcs8Of } from './pkcs8.ts'
import { publicHalf, spkiDer, spkiPem } from './public-keys.ts'

const SEED_BYTES = 32

/** Name of a parameter set, in the runtime and in reads of a key. */
export type MlDsaName = 'ml-dsa-44' | 'ml-dsa-65' | 'ml-dsa-87'

/** The form of the keys of one parameter set. */
export function mlDsaForm(asymmetricKeyType: MlDsaName): MaterialForm {
  const materialOf = (seed: Buffer): Buffer =>
    pkcs8Of(createPrivateKey({ key: seed, format: 'raw-seed', asymmetricKeyType }))
  return {
    fromImport: (bytes) => {
      const seed = seedOf(asymmetricKeyType, bytes)
      const material = materialOf(seed)
      seed.fill(0)
      return material
    },
    secretText: (key, format) => {
      if (format === 'raw') return undefined
      return format === 'der'
        ? key.export({ type: 'pkcs8', format: 'der' }).toString('base64')
        : key.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd()
    },
    publicText: (key, format) => {
      if (format === 'der') return spkiDer(key).toString('base64')
      return format === 'pem' ? spkiPem(key).trimEnd() : publicBytes(key).toString('base64')
    },
    toBackup: (key) => ({
      publicText: publicBytes(key).toString('base64'),
      ...(key.type === 'public' ? {} : { key: key.export({ format: 'raw-seed' }) }),
    }),
    fromBackup: ({ key, publicText }) => {
      if (key === undefined) return { material: spkiOf(asymmetricKeyType, publicText), isPublic: true }
      if (key.length !== SEED_BYTES)
        throw new InvalidKeyMaterial(`"key" of ${asymmetricKeyType} has 32 bytes, the seed`)
      const material = materialOf(key)
      const pair = openPkcs8(material)
      if (publicText !== '' && publicBytes(pair).toString('base64') !== publicText)
        throw new InvalidKeyMaterial('"public_key" is not the public half of "key"')
      return { material, isPublic: false }
    },
  }
}

const publicBytes = (key: KeyObject): Buffer => publicHalf(key).export({ format: 'raw-public' })

function seedOf(asymmetricKeyType: string, bytes: Buffer): Buffer {
  try {
    const key = openPkcs8(bytes)
    if (key.asymmetricKeyType === asymmetricKeyType) return key.export({ format: 'raw-seed' })
  } catch {
    // The cause could quote the material.
  }
  throw new InvalidKeyMaterial(`It is not ${asymmetricKeyType} in PKCS #8 (DER, not encrypted) with its seed`)
}

function spkiOf(asymmetricKeyType: MlDsaName, publicText: string): Buffer {
  try {
    const key = decodeBase64(publicText)
    return createPublicKey({ key, format: 'raw-public', asymmetricKeyType }).export({ type: 'spki', format: 'der' })
  } catch (cause) {
    const why = cause instanceof Base64Error ? 'is not base64' : 'is no public key of the type, and "key" is missing'
    throw new InvalidKeyMaterial(`"public_key" ${why}`)
  }
}
