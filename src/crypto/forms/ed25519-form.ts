// How Ed25519 keys are written: PKCS #8 in imports, seed ‖ public half in backups, and in exports unless another format
// is asked for.

import { Base64Error, decodeBase64 } from '../../lib/base64.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { ED25519_BYTES, ed25519Pkcs8, ed25519PublicBytes, ed25519SeedAndPublic, ed25519Spki } from './ed25519-parts.ts'
import type { MaterialForm } from './material-form.ts'
import { readPrivateKeyInfo } from './private-key-info.ts'
import { spkiDer, spkiPem } from './public-keys.ts'

/** The form of Ed25519 keys. */
export const ED25519_FORM: MaterialForm = {
  fromImport: (bytes) => {
    const info = readPrivateKeyInfo(bytes)
    if (info.kind !== 'ed25519') throw new InvalidKeyMaterial('It is a private key of another kind than ed25519')
    return ed25519Pkcs8(info.seed, info.publicKey)
  },
  // Wire texts: PEM without the final newline.
  secretText: (key, format) => {
    if (format === 'der') return key.export({ type: 'pkcs8', format: 'der' }).toString('base64')
    if (format === 'pem') return key.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd()
    const both = ed25519SeedAndPublic(key)
    const text = both.toString('base64')
    both.fill(0)
    return text
  },
  publicText: (key, format) => {
    if (format === 'der') return spkiDer(key).toString('base64')
    return format === 'pem' ? spkiPem(key).trimEnd() : ed25519PublicBytes(key).toString('base64')
  },
  toBackup: (key) => ({
    publicText: ed25519PublicBytes(key).toString('base64'),
    ...(key.type === 'public' ? {} : { key: ed25519SeedAndPublic(key) }),
  }),
  fromBackup: ({ key, publicText }) => {
    const publicKey = publicText === '' ? undefined : publicBytes(publicText)
    if (key === undefined) {
      if (publicKey === undefined) throw new InvalidKeyMaterial('"key" is missing')
      return { material: ed25519Spki(publicKey), isPublic: true }
    }
    if (key.length !== 2 * ED25519_BYTES)
      throw new InvalidKeyMaterial('"key" of ed25519 has 64 bytes, seed and public half')
    const half = key.subarray(ED25519_BYTES)
    if (publicKey !== undefined && !publicKey.equals(half))
      throw new InvalidKeyMaterial('"public_key" is not the public half of "key"')
    return { material: ed25519Pkcs8(key.subarray(0, ED25519_BYTES), half), isPublic: false }
  },
}

function publicBytes(base64: string): Buffer {
  try {
    return decodeBase64(base64)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw new InvalidKeyMaterial('"public_key" of ed25519 is 32 bytes in base64')
  }
}
