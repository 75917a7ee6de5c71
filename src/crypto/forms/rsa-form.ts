// How RSA keys are written: PKCS #8 in imports, PKCS #1 in exports unless another format is asked for, numbers in
// backups.
import { DerError } from '../encoding/der.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import type { MaterialForm } from './material-form.ts'
import { openPkcs8 } from './pkcs8.ts'
import { readPrivateKeyInfo } from './private-key-info.ts'
import { spkiDer, spkiPem } from './public-keys.ts'
import { readPkcs1, requireModulus, rsaPkcs8, rsaPrivateParts, rsaPublicParts, rsaSpki } from './rsa-parts.ts'

/** The form of keys with a modulus of so many bits. */
export function rsaForm(modulusBits: number): MaterialForm {
  return {
    fromImport: (bytes) => {
      const info = readPrivateKeyInfo(bytes)
      if (info.kind !== 'rsa') throw new InvalidKeyMaterial('It is a private key of another kind than RSA')
      try {
        return rsaPkcs8(readPkcs1(info.pkcs1, modulusBits))
      } catch (cause) {
        if (!(cause instanceof DerError)) throw cause
        throw new InvalidKeyMaterial(`Inside PKCS #8 there is no RSA key in PKCS #1 (DER): ${cause.message}`)
      }
    },
    primesOf: (material) => {
      const { p, q } = rsaPrivateParts(openPkcs8(material))
      return [p, q]
    },
    // Wire texts: both PEM forms end in a newline, those of other families do not.
    secretText: (key, format) => {
      if (format === 'usual') return key.export({ type: 'pkcs1', format: 'pem' }).toString()
      if (format === 'pem') return key.export({ type: 'pkcs8', format: 'pem' }).toString()
      return format === 'der' ? key.export({ type: 'pkcs8', format: 'der' }).toString('base64') : undefined
    },
    publicText: (key, format) => {
      if (format === 'raw') return undefined
      return format === 'der' ? spkiDer(key).toString('base64') : spkiPem(key)
    },
    toBackup: (key) => ({
      publicText: '',
      ...(key.type === 'public' ? { rsaPublic: rsaPublicParts(key) } : { rsa: rsaPrivateParts(key) }),
    }),
    fromBackup: ({ rsa, rsaPublic }) => {
      const n = (rsa ?? rsaPublic)?.n
      if (n !== undefined) requireModulus(n, modulusBits)
      if (rsa !== undefined) return { material: rsaPkcs8(rsa), isPublic: false }
      if (rsaPublic === undefined) throw new InvalidKeyMaterial('"rsa_key" is missing')
      return { material: rsaSpki(rsaPublic), isPublic: true }
    },
  }
}
