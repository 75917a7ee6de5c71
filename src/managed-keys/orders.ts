// What the process of the devices is asked, and what it answers: plain data, which crosses threads and processes.
import type { DeviceHash } from '../api/managed-keys.ts'

export type KeyFamily = 'aes' | 'rsa' | 'ec'

/** Where a key is, and what opens the way to it. */
export type DeviceKeySelector = {
  /** Name of a `kms_library` of the configuration: no order names a file. */
  readonly library: string
  /** In decimal; '' where the label says which token it is. */
  readonly slot: string
  readonly tokenLabel: string
  /** '': nobody logs in. */
  readonly pin: string
  readonly family: KeyFamily
  /** At least one of the two is not empty. */
  readonly label: string
  /** CKA_ID in hexadecimal. */
  readonly id: string
}

/** What is made where there is no key: bits of AES and RSA, or a curve. */
export type NewDeviceKey = { readonly bits: number; readonly curve: string; readonly uses: readonly string[] }

export type Parameter =
  | { readonly kind: 'aes-gcm'; readonly nonce: Uint8Array; readonly associatedData: Uint8Array }
  | { readonly kind: 'rsa-oaep'; readonly hash: DeviceHash }
  | { readonly kind: 'rsa-pkcs1' }
  | { readonly kind: 'rsa-pss'; readonly hash: DeviceHash; readonly saltBytes: number }
  | { readonly kind: 'ecdsa' }

export type DeviceOrder =
  | { readonly do: 'describe'; readonly key: DeviceKeySelector; readonly create: NewDeviceKey | undefined }
  | {
      readonly do: 'encrypt' | 'decrypt' | 'sign'
      readonly key: DeviceKeySelector
      readonly with: Parameter
      readonly data: Uint8Array
    }
  | { readonly do: 'random'; readonly library: string; readonly count: number }

export type KeyFound = { readonly bits: number; readonly publicKey: Uint8Array | undefined }

/** 'unopened': what was to be decrypted is not what the key encrypted. The others say what stands in the way. */
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

/** `detail`: a sentence for an operator; never a PIN, nor data. */
export type OrderFault = { readonly fault: FaultKind; readonly detail: string }

export type OrderOutcome = { readonly bytes: Uint8Array } | { readonly found: KeyFound } | OrderFault

/** To the process. */
export type ToDevices =
  | {
      readonly kind: 'begin'
      readonly libraries: Readonly<Record<string, string>>
      readonly refusedPins: readonly string[]
      readonly pinSalt: string
    }
  | { readonly kind: 'order'; readonly id: number; readonly order: DeviceOrder }
  /** PINs that were refused may be tried once more. */
  | { readonly kind: 'forgive' }

/** From it. */
export type FromDevices =
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: OrderOutcome }
  /** A token refused a PIN: what names the two, so that neither this nor a later process tries them again. */
  | { readonly kind: 'pin-refused'; readonly tag: string }
