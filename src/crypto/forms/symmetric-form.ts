// How secret keys are written: as raw bytes everywhere.
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import { copySecret } from '../primitives/secret-bytes.ts'
import type { MaterialForm } from './material-form.ts'

/** The form of AES, ChaCha20, HMAC and CMAC keys. Their lengths are checked when the type loads them. */
export const SYMMETRIC_FORM: MaterialForm = {
  fromImport: copySecret,
  secretText: (key, format) => {
    if (format !== 'usual' && format !== 'raw') return undefined
    const bytes = key.export()
    const text = bytes.toString('base64')
    bytes.fill(0)
    return text
  },
  toBackup: (key) => ({ key: key.export(), publicText: '' }),
  fromBackup: ({ key }) => {
    if (key === undefined) throw new InvalidKeyMaterial('"key" is missing')
    return { material: copySecret(key), isPublic: false }
  },
}
