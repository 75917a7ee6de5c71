// Keys that stay in a device, as an engine sees them. Each mount gets the keys that it may use, and nothing about where
// they are. The device does one step of a cryptographic operation; hashing and encoding are the engine's.

/** Uses of a managed key; its mechanism and its `usages` decide which it has. */
export type ManagedUse = 'encrypt' | 'decrypt' | 'sign' | 'verify'

/** Kinds of managed keys, which follow from the mechanism. */
export const MANAGED_SCHEMES = ['aes-gcm', 'rsa-oaep', 'rsa-pkcs1', 'rsa-pss', 'ecdsa'] as const
/** The kind of a managed key, as its mechanism decides it. */
export type ManagedScheme = (typeof MANAGED_SCHEMES)[number]

/** Hashes that devices offer for RSA-OAEP and RSA-PSS. */
export const DEVICE_HASHES = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const
/** A hash by its name at devices, without the `sha2-` of transit. */
export type DeviceHash = (typeof DEVICE_HASHES)[number]

/** Facts about a key, as its device reports them. */
export type ManagedKeyFacts = {
  /** Size of the AES key, of the modulus, or of the order of the curve. */
  readonly bits: number
  /** SubjectPublicKeyInfo (RFC 5280) in DER; undefined for AES. */
  readonly publicKey: Buffer | undefined
}

/** One managed key. Calls go to another process and take as long as the device does. */
export interface ManagedKey {
  readonly id: string
  readonly name: string
  readonly scheme: ManagedScheme
  /** Hash of RSA-OAEP, also used for mask generation. */
  readonly oaepHash: DeviceHash
  /** True if mechanism and `usages` allow the use. It does not ask the device. */
  can(use: ManagedUse): boolean
  /**
   * Asks the device for facts. The device makes the key if there is none and its configuration allows it.
   * @throws Refusal
   */
  facts(): Promise<ManagedKeyFacts>
  /** Seals with AES-GCM; returns ciphertext ‖ tag. @throws Refusal */
  seal(nonce: Buffer, plaintext: Buffer, associatedData: Buffer): Promise<Buffer>
  /** Opens with AES-GCM; returns undefined if the message is not authentic. @throws Refusal */
  open(nonce: Buffer, sealed: Buffer, associatedData: Buffer): Promise<Buffer | undefined>
  /** Opens with RSA-OAEP; returns undefined if the message does not open. @throws Refusal */
  openOaep(sealed: Buffer): Promise<Buffer | undefined>
  /**
   * Signs a block: for PKCS #1 v1.5 the content behind the padding, for ECDSA the hash. ECDSA returns r ‖ s.
   * @throws Refusal
   */
  signBlock(block: Buffer): Promise<Buffer>
  /** Signs a hash with RSA-PSS. @throws Refusal */
  signPss(digest: Buffer, hash: DeviceHash, saltBytes: number): Promise<Buffer>
}

/** The managed keys that one mount may use. */
export interface ManagedKeys {
  /**
   * Finds a key by the reference that is not empty.
   * @throws Refusal that names the field: none given, unknown, not allowed
   */
  find(reference: { readonly name: string; readonly id: string }): Promise<ManagedKey>
  /**
   * Returns a key by UUID, for data that was made with it.
   * @throws Refusal if it is gone, or the mount may not use it
   */
  get(id: string): Promise<ManagedKey>
}

/** A random generator in a device, besides the one of this machine. */
export interface DeviceRandom {
  /** Returns random bytes; undefined if no device is configured. @throws Refusal if the device does not answer */
  bytes(count: number): Promise<Buffer | undefined>
}
