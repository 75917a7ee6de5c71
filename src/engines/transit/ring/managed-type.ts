// The type `managed_key` (Interface 2.3): each version is a key in a device. The public half of a pair is stored here,
// and verifies signatures or encrypts with RSA. The device does all that needs the secret.
import { createSecretKey, type KeyObject } from 'node:crypto'
import type { ManagedScheme } from '../../../api/managed-keys.ts'
import { managedPublicType } from '../../../crypto/devices/managed-public-type.ts'
import { loadSpki, spkiPem } from '../../../crypto/forms/public-keys.ts'
import type { KeyType, PublicPart, Signing } from '../../../crypto/key-types/key-type.ts'
import { RSA_PSS_X509 } from '../../../crypto/signatures/x509-signatures.ts'
import type { RingHeader } from './ring-header.ts'

/** The name of the type, on the wire and in storage. */
export const MANAGED_KEY = 'managed_key'

/** Nonces of AES-GCM. They are drawn here, so the messages of a version are counted (threats C-13). */
export const DEVICE_NONCE_BYTES = 12

/** True for a key whose versions are in a device. */
export const isManaged = ({ header }: { readonly header: RingHeader }): boolean => header.type === MANAGED_KEY

/** Returns the scheme of a managed key, which all its versions share; undefined for keys that are here. */
export const schemeOf = ({ versions }: RingHeader): ManagedScheme | undefined => versions.at(-1)?.managedKey?.scheme

/** Stands for a secret key in a device: an empty key, with which nothing can be done. */
const NO_SECRET = createSecretKey(Buffer.alloc(0))

const publicPart: PublicPart = { name: MANAGED_KEY, text: spkiPem, load: (spki) => loadSpki(MANAGED_KEY, spki) }

/** Verifies only: `sign` is never called, since no version has a private half here. */
const signing: Signing = {
  sign: () => {
    throw new Error('A managed key signs in its device')
  },
  verify: (key, input, signature, options) => managedPublicType(key).signing.verify(key, input, signature, options),
  x509: (key) => managedPublicType(key).signing.x509(key),
}
/** The mechanism has one padding, so certificate requests use PSS too. */
const pssSigning: Signing = { ...signing, x509: () => RSA_PSS_X509 }

/** The type before it is known which managed key it stands for. */
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

/** Returns the type for a header, by the scheme of its versions; undefined for a header of another type. */
export function managedTypeOf(header: RingHeader): KeyType | undefined {
  if (header.type !== MANAGED_KEY) return undefined
  const scheme = schemeOf(header)
  return scheme === undefined ? NEW_MANAGED_KEY : TYPES[scheme]
}

/** Returns the type that verifies: for a managed key that of its public half, else the ring's own. */
export const verifyingType = (type: KeyType, key: KeyObject): KeyType =>
  type.name === MANAGED_KEY ? managedPublicType(key) : type
