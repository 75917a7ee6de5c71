// Orders to the process of the devices, and their outcomes: plain data, which crosses threads and processes.
import type { DeviceHash } from '../api/managed-keys.ts'

/** The kind of a key in a device; with the mechanism it decides which objects are looked for. */
export type KeyFamily = 'aes' | 'rsa' | 'ec'

/** Says where a key is, with the PIN of its token. */
export type DeviceKeySelector = {
  /** Name of a `kms_library` of the configuration. An order never names a file, so that no request can load code. */
  readonly library: string
  /** Number of the slot in decimal; '' if the label alone says which token it is. */
  readonly slot: string
  readonly tokenLabel: string
  /** PIN of the token's user; '': without log-in. */
  readonly pin: string
  readonly family: KeyFamily
  /** CKA_LABEL. At least one of `label` and `id` is not empty. */
  readonly label: string
  /** CKA_ID in hexadecimal. */
  readonly id: string
}

/** How to make a key that is not there: bits for AES and RSA, or the name of a curve. */
export type NewDeviceKey = { readonly bits: number; readonly curve: string; readonly uses: readonly string[] }

/** The mechanism of one operation, with its parameters. */
export type Parameter =
  | { readonly kind: 'aes-gcm'; readonly nonce: Uint8Array; readonly associatedData: Uint8Array }
  | { readonly kind: 'rsa-oaep'; readonly hash: DeviceHash }
  | { readonly kind: 'rsa-pkcs1' }
  | { readonly kind: 'rsa-pss'; readonly hash: DeviceHash; readonly saltBytes: number }
  | { readonly kind: 'ecdsa' }

/** One order. Describing a key may make it; `random` needs no key. */
export type DeviceOrder =
  | { readonly do: 'describe'; readonly key: DeviceKeySelector; readonly create: NewDeviceKey | undefined }
  | {
      readonly do: 'encrypt' | 'decrypt' | 'sign'
      readonly key: DeviceKeySelector
      readonly with: Parameter
      readonly data: Uint8Array
    }
  | { readonly do: 'random'; readonly library: string; readonly count: number }

/** A key in a device. `publicKey`: SubjectPublicKeyInfo in DER; undefined for a secret key. */
export type KeyFound = { readonly bits: number; readonly publicKey: Uint8Array | undefined }

/** The kind of a fault. 'unopened': the key did not encrypt this ciphertext. The others name what is in the way. */
export type FaultKind =
  | 'not-installed'
  | 'no-library'
  | 'no-token'
  | 'pin'
  | 'no-key'
  | 'several-keys'
  | 'unfit'
  | 'unopened'
  | 'failed'

/** A fault as plain data. `detail` is a sentence for an operator, which never holds a PIN or data. */
export type OrderFault = { readonly fault: FaultKind; readonly detail: string }

/** The outcome of an order: bytes of an operation, the description of a key, or a fault. */
export type OrderOutcome = { readonly bytes: Uint8Array } | { readonly found: KeyFound } | OrderFault

/** Messages to the process of the devices; 'begin' is the first, and comes once. */
export type ToDevices =
  | {
      readonly kind: 'begin'
      readonly libraries: Readonly<Record<string, string>>
      readonly refusedPins: readonly string[]
      readonly pinSalt: string
    }
  | { readonly kind: 'order'; readonly id: number; readonly order: DeviceOrder }
  /** Lets PINs that were refused be tried once more. */
  | { readonly kind: 'forgive' }

/** Messages from the process of the devices. */
export type FromDevices =
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: OrderOutcome }
  /** A token refused a PIN. The tag names both, so that no later process tries the two together again. */
  | { readonly kind: 'pin-refused'; readonly tag: string }
