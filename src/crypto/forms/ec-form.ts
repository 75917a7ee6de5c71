// How keys on a curve are written: PKCS #8 in imports, SEC 1 in exports unless another format is asked for, numbers in
// backups.
import type { KeyObject } from 'node:crypto'
import { PemError, readPem } from '../encoding/pem.ts'
import { InvalidKeyMaterial } from '../key-types/key-type.ts'
import type { Curve } from './ec-curves.ts'
import { ecParts, ecPkcs8, ecPkcs8OfParts, ecSpki } from './ec-parts.ts'
import type { EcParts, MaterialForm } from './material-form.ts'
import { readPrivateKeyInfo } from './private-key-info.ts'
import { loadSpki, spkiDer, spkiPem } from './public-keys.ts'

/** The form of keys on one curve. */
export function ecForm(curve: Curve): MaterialForm {
  return {
    fromImport: (bytes) => {
      const info = readPrivateKeyInfo(bytes)
      if (info.kind !== 'ec') throw new InvalidKeyMaterial(`It is a private key of another kind than ${curve.name}`)
      if (info.curve.name !== curve.name)
        throw new InvalidKeyMaterial(`It is a private key on the curve ${info.curve.name}, not on ${curve.name}`)
      return ecPkcs8(curve, info.scalar, info.point)
    },
    // Wire texts: without the final newline.
    secretText: (key, format) => {
      if (format === 'usual') return key.export({ type: 'sec1', format: 'pem' }).toString().trimEnd()
      if (format === 'pem') return key.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd()
      return format === 'der' ? key.export({ type: 'pkcs8', format: 'der' }).toString('base64') : undefined
    },
    publicText: (key, format) => {
      if (format === 'raw') return undefined
      return format === 'der' ? spkiDer(key).toString('base64') : spkiPem(key).trimEnd()
    },
    toBackup: (key) => ({ ec: ecParts(key), publicText: spkiPem(key) }),
    fromBackup: ({ ec, publicText }) => {
      const spki = publicText === '' ? undefined : spkiOf(curve, publicText)
      if (ec === undefined) {
        if (spki === undefined) throw new InvalidKeyMaterial('"ec_d", "ec_x" and "ec_y" are missing')
        return { material: spki, isPublic: true }
      }
      if (spki !== undefined && !spki.equals(ecSpki(curve, ec)))
        throw new InvalidKeyMaterial('"public_key" is not the point of "ec_x" and "ec_y"')
      const { x, y, d } = ec
      return d === undefined
        ? { material: ecSpki(curve, ec), isPublic: true }
        : { material: ecPkcs8OfParts(curve, { x, y, d }), isPublic: false }
    },
  }
}

function spkiOf(curve: Curve, pem: string): Buffer {
  let der: Buffer
  try {
    der = readPem(pem)
  } catch (cause) {
    if (!(cause instanceof PemError)) throw cause
    throw new InvalidKeyMaterial('"public_key" is no public key in PEM')
  }
  const key = loadSpki(curve.name, der)
  const { x, y } = ecPartsOrRefuse(key, curve)
  return ecSpki(curve, { x, y })
}

function ecPartsOrRefuse(key: KeyObject, curve: Curve): EcParts {
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== curve.opensslName)
    throw new InvalidKeyMaterial(`"public_key" is no key on the curve ${curve.name}`)
  return ecParts(key)
}
