// RSAES-OAEP (RFC 8017 section 7.1) for a private key that stays in a device, which may know only one hash. Encrypting
// needs only the public half, so it is done here.
import { constants, type KeyObject, publicEncrypt } from 'node:crypto'
import type { DeviceHashName } from './device-signing.ts'

const HASH_BYTES: Readonly<Record<DeviceHashName, number>> = {
  sha1: 20,
  sha224: 28,
  sha256: 32,
  sha384: 48,
  sha512: 64,
}

/** Longest plaintext: k - 2 hLen - 2 (RFC 8017 section 7.1.1). Negative if not even the empty one fits. */
export function maxDeviceOaepBytes(key: KeyObject, hash: DeviceHashName): number {
  return Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8) - 2 * HASH_BYTES[hash] - 2
}

/** Encrypts for a device; `hash` is that of the mask generation too. The plaintext has at most `maxDeviceOaepBytes`. */
export function sealDeviceOaep(key: KeyObject, plaintext: Buffer, hash: DeviceHashName): Buffer {
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash }, plaintext)
}
