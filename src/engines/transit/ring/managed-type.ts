// The type `managed_key` (Interface 2.3): a version is a key in a device. Of a pair the public half is here, and does
// what it can do: verify signatures, and encrypt with RSA. What needs the secret is the device's.
import { createSecretKey, type KeyObject } from 'node:crypto'
import type { ManagedScheme } from '../../../api/managed-keys.ts'
import { managedPublicType } from '../../../crypto/devices/managed-public-type.ts'
import { loadSpki, spkiPem } from '../../../crypto/forms/public-keys.ts'
import type { KeyType, PublicPart, Signing } from '../../../crypto/key-types/key-type.ts'
import { RSA_PSS_X509 } from '../../../crypto/signatures/x509-signatures.ts'
import type { RingHeader } from './ring-header.ts'

export const MANAGED_KEY = 'managed_key'

/** Of AES-GCM: they are drawn here, and a version seals only so many messages. */
export const DEVICE_NONCE_BYTES = 12

export const isManaged = ({ header }: { readonly header: RingHeader }): boolean => header.type === MANAGED_KEY

/** Of its latest version; all versions of a key have the same one. Undefined for keys that are here. */
export const schemeOf = ({ versions }: RingHeader): ManagedScheme | undefined => versions.at(-1)?.managedKey?.scheme

/** What stands for the secret of a device: nothing can be done with it. */
const NO_SECRET = createSecretKey(Buffer.alloc(0))

const publicPart: PublicPart = { name: MANAGED_KEY, text: spkiPem, load: (spki) => loadSpki(MANAGED_KEY, spki) }

/** Verifies; `sign` is never called, since no version has a private half here. */
const signing: Signing = {
  sign: () => {
    throw new Error('A managed key signs in its device')
  },
  verify: (key, input, signature, options) => managedPublicType(key).signing.verify(key, input, signature, options),
  x509: (key) => managedPublicType(key).signing.x509(key),
}
/** A mechanism has one padding. */
const pssSigning: Signing = { ...signing, x509: () => RSA_PSS_X509 }

/** Before it is known which managed key it is. */
export const NEW_MANAGED_KEY: KeyType = {
  name: MANAGED_KEY,
  generate: () => {
    throw new Error('A version of a managed key is made with the key that it stands for')
  },
  load: (material) => (material.length === 0 ? NO_SECRET : publicPart.load(material)),
  form: undefined,
  originalBackupId: 10,
}

const TYPES: Readonly<Record<ManagedScheme, KeyType>> = {
  'aes-gcm': { ...NEW_MANAGED_KEY, deviceNonceBytes: DEVICE_NONCE_BYTES },
  'rsa-oaep': { ...NEW_MANAGED_KEY, publicPart },
  'rsa-pkcs1': { ...NEW_MANAGED_KEY, publicPart, signing },
  'rsa-pss': { ...NEW_MANAGED_KEY, publicPart, signing: pssSigning },
  ecdsa: { ...NEW_MANAGED_KEY, publicPart, signing },
}

/** Where no version says anything, the type that can do nothing. Undefined for a header of another type. */
export function managedTypeOf(header: RingHeader): KeyType | undefined {
  if (header.type !== MANAGED_KEY) return undefined
  const scheme = schemeOf(header)
  return scheme === undefined ? NEW_MANAGED_KEY : TYPES[scheme]
}

/** The type that a ring's own stands for: where a public half is all that there is, whose it is tells the key. */
export const verifyingType = (type: KeyType, key: KeyObject): KeyType =>
  type.name === MANAGED_KEY ? managedPublicType(key) : type
