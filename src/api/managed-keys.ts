// Keys that stay in a device, as an engine sees them: each mount gets those that it may use, and nothing of where they
// are. What the device does is one step of a cryptographic operation; hashing and encoding are the engine's.

/** What a managed key can be told to do; its mechanism and its `usages` decide. */
export type ManagedUse = 'encrypt' | 'decrypt' | 'sign' | 'verify'

/** What a managed key is, as its mechanism says. */
export const MANAGED_SCHEMES = ['aes-gcm', 'rsa-oaep', 'rsa-pkcs1', 'rsa-pss', 'ecdsa'] as const
export type ManagedScheme = (typeof MANAGED_SCHEMES)[number]

/** Hashes that devices have for RSA-OAEP and RSA-PSS. */
export const DEVICE_HASHES = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const
export type DeviceHash = (typeof DEVICE_HASHES)[number]

/** What a device says of a key. */
export type ManagedKeyFacts = {
  /** Of the key of AES, of the modulus, of the order of the curve. */
  readonly bits: number
  /** SubjectPublicKeyInfo (RFC 5280) in DER, of a pair. */
  readonly publicKey: Buffer | undefined
}

export interface ManagedKey {
  readonly id: string
  readonly name: string
  readonly scheme: ManagedScheme
  /** Of RSA-OAEP, for hash and mask generation. */
  readonly oaepHash: DeviceHash
  can(use: ManagedUse): boolean
  /** Asks the device, which makes the key where there is none and its configuration allows it. @throws Refusal */
  facts(): Promise<ManagedKeyFacts>
  /** AES-GCM: gives ciphertext ‖ tag. @throws Refusal */
  seal(nonce: Buffer, plaintext: Buffer, associatedData: Buffer): Promise<Buffer>
  /** Undefined where it does not open. @throws Refusal */
  open(nonce: Buffer, sealed: Buffer, associatedData: Buffer): Promise<Buffer | undefined>
  /** RSA-OAEP; undefined where it does not open. @throws Refusal */
  openOaep(sealed: Buffer): Promise<Buffer | undefined>
  /** Of PKCS #1 v1.5 what stands behind the padding, of ECDSA the hash; ECDSA gives r ‖ s. @throws Refusal */
  signBlock(block: Buffer): Promise<Buffer>
  /** RSA-PSS around a hash. @throws Refusal */
  signPss(digest: Buffer, hash: DeviceHash, saltBytes: number): Promise<Buffer>
}

/** The managed keys that one mount may use. */
export interface ManagedKeys {
  /** By name or by UUID, where one is not empty. @throws Refusal that names the field: none, unknown, not allowed */
  find(reference: { readonly name: string; readonly id: string }): Promise<ManagedKey>
  /** By its UUID, for what was made with it. @throws Refusal where it is gone, or the mount may not use it */
  get(id: string): Promise<ManagedKey>
}

/** A generator besides that of this machine. */
export interface DeviceRandom {
  /** Undefined where no device is configured. @throws Refusal where there is one and it does not answer */
  bytes(count: number): Promise<Buffer | undefined>
}
