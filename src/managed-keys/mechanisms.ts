// The mechanisms of PKCS #11 that a managed key can have. Each is for one purpose: a key in a device that both encrypts
// and signs is two managed keys.
import type { ManagedScheme, ManagedUse } from '../api/managed-keys.ts'
import { CKM_AES_GCM, CKM_ECDSA, CKM_RSA_PKCS, CKM_RSA_PKCS_OAEP, CKM_RSA_PKCS_PSS } from './cryptoki.ts'
import type { KeyFamily } from './orders.ts'

/** A mechanism, with the kind of its keys and their uses. */
export type ManagedMechanism = {
  /** The name in PKCS #11, which is also the stored one. */
  readonly name: string
  readonly number: number
  readonly scheme: ManagedScheme
  readonly family: KeyFamily
  readonly uses: readonly ManagedUse[]
}

const CRYPTS: readonly ManagedUse[] = ['encrypt', 'decrypt']
const SIGNS: readonly ManagedUse[] = ['sign', 'verify']

/** All mechanisms that are offered. */
export const MECHANISMS: readonly ManagedMechanism[] = [
  { name: 'CKM_RSA_PKCS', number: CKM_RSA_PKCS, scheme: 'rsa-pkcs1', family: 'rsa', uses: SIGNS },
  { name: 'CKM_RSA_PKCS_OAEP', number: CKM_RSA_PKCS_OAEP, scheme: 'rsa-oaep', family: 'rsa', uses: CRYPTS },
  { name: 'CKM_RSA_PKCS_PSS', number: CKM_RSA_PKCS_PSS, scheme: 'rsa-pss', family: 'rsa', uses: SIGNS },
  { name: 'CKM_ECDSA', number: CKM_ECDSA, scheme: 'ecdsa', family: 'ec', uses: SIGNS },
  { name: 'CKM_AES_GCM', number: CKM_AES_GCM, scheme: 'aes-gcm', family: 'aes', uses: CRYPTS },
]

/**
 * Finds a mechanism by its number, hexadecimal with 0x or decimal, or by name. Returns undefined if it is not offered.
 */
export function findMechanism(text: string): ManagedMechanism | undefined {
  const number = /^(?:0x[0-9a-f]{1,8}|\d{1,9})$/i.test(text) ? Number(text) : undefined
  return MECHANISMS.find(({ name, number: own }) => own === number || name === text.toUpperCase())
}

/** Returns the mechanism of a stored record, whose name was checked when it was read. */
export function mechanismOf(name: string): ManagedMechanism {
  const mechanism = findMechanism(name)
  if (mechanism === undefined) throw new Error('A managed key has an unknown mechanism')
  return mechanism
}

/** Returns the number of a mechanism, as reads show it. */
export const mechanismText = ({ number }: ManagedMechanism): string => `0x${number.toString(16).padStart(4, '0')}`
