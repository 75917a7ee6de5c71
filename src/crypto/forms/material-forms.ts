import { P256, P384, P521, SECP256K1 } from './ec-curves.ts'
import { ecForm } from './ec-form.ts'
import { ED25519_FORM } from './ed25519-form.ts'
import type { MaterialForm } from './material-form.ts'
import { mlDsaForm } from './ml-dsa-form.ts'
import { rsaForm } from './rsa-form.ts'
import { SYMMETRIC_FORM } from './symmetric-form.ts'

/** How the keys of each type are written elsewhere. A type that is missing here stays where it was made. */
export const MATERIAL_FORMS: ReadonlyMap<string, MaterialForm> = new Map([
  ['aes128-gcm96', SYMMETRIC_FORM],
  ['aes256-gcm96', SYMMETRIC_FORM],
  ['chacha20-poly1305', SYMMETRIC_FORM],
  ['xchacha20-poly1305', SYMMETRIC_FORM],
  ['hmac', SYMMETRIC_FORM],
  ['aes128-cmac', SYMMETRIC_FORM],
  ['aes192-cmac', SYMMETRIC_FORM],
  ['aes256-cmac', SYMMETRIC_FORM],
  ['ed25519', ED25519_FORM],
  ['ecdsa-p256', ecForm(P256)],
  ['ecdsa-p384', ecForm(P384)],
  ['ecdsa-p521', ecForm(P521)],
  ['ecdsa-secp256k1', ecForm(SECP256K1)],
  ['ml-dsa-44', mlDsaForm('44')],
  ['ml-dsa-65', mlDsaForm('65')],
  ['ml-dsa-87', mlDsaForm('87')],
  ['rsa-2048', rsaForm(2048)],
  ['rsa-3072', rsaForm(3072)],
  ['rsa-4096', rsaForm(4096)],
])
