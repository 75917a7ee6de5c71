// Which type of key the public half of a key in a device is: it verifies as any key of that type does.
import type { KeyObject } from 'node:crypto'
import { own } from '../../lib/own.ts'
import { type KeyType, UnusableInput } from '../key-types/key-type.ts'
import { KEY_TYPES } from '../key-types/key-types.ts'

/** By the names of the runtime. */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ecdsa-p256',
  secp384r1: 'ecdsa-p384',
  secp521r1: 'ecdsa-p521',
}

/** @throws UnusableInput for a key of a kind that is not offered */
export function managedPublicType({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyType {
  const { modulusLength, namedCurve = '' } = asymmetricKeyDetails ?? {}
  const name = asymmetricKeyType === 'rsa' ? `rsa-${modulusLength}` : (own(CURVES, namedCurve) ?? '')
  const type = KEY_TYPES.get(name)
  if (type?.signing !== undefined) return type
  throw new UnusableInput('a managed key is RSA with 2048, 3072 or 4096 bits, or on P-256, P-384 or P-521')
}
