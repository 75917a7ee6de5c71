// Encryption and decryption with any key, for encrypt, decrypt, rewrap and datakey. Keys of this server are used by
// crypt.ts, keys in a device here: the device does the cipher, this thread all the rest.
import { fail } from '../../../api/errors.ts'
import type { ManagedKey, ManagedUse } from '../../../api/managed-keys.ts'
import { maxDeviceOaepBytes, sealDeviceOaep } from '../../../crypto/devices/device-oaep.ts'
import type { NoncePool } from '../../../crypto/primitives/nonce-pool.ts'
import type { SlowWork } from '../../../lib/slow-work.ts'
import {
  asEncrypted,
  type CryptOptions,
  decodeField,
  decodePayload,
  decrypt,
  decryptsSlowly,
  type Encrypted,
  type EncryptOptions,
  encrypt,
  unopened,
} from '../crypt.ts'
import { parseCiphertext } from '../ring/ciphertext.ts'
import { type LoadedRing, type LoadedVersion, requireUsable } from '../ring/loaded-ring.ts'
import { DEVICE_NONCE_BYTES, isManaged } from '../ring/managed-type.ts'
import { type DeviceKeys, requireOffered } from '../ring/managed-version.ts'
import { decryptionVersion, encryptionVersion } from '../ring/versions.ts'

const NOTHING = Buffer.alloc(0)
/** Limit for one message. Devices take a message as a whole, and one after the other, so a long one delays others. */
export const MOST_DEVICE_BYTES = 1_048_576

/** The parts of a mount that encrypt messages. */
export type Sealer = DeviceKeys & { readonly nonces: NoncePool }
/** The parts of a mount that decrypt messages. */
export type Opener = DeviceKeys & { readonly slow: SlowWork }

/** Encrypts one message; returns a promise only for a key in a device. @throws Refusal, BudgetSpent */
export function encryptWithRing(
  sealer: Sealer,
  ring: LoadedRing,
  plaintext: Buffer,
  options: EncryptOptions,
): Encrypted | Promise<Encrypted> {
  if (!isManaged(ring)) return encrypt(ring, sealer.nonces, plaintext, options)
  return encryptInDevice(sealer, ring, plaintext, options)
}

/** Decrypts one ciphertext, here or in the key's device; the plaintext is the caller's to wipe. @throws Refusal */
export function decryptAnywhere(
  opener: Opener,
  ring: LoadedRing,
  ciphertext: string | undefined,
  options: CryptOptions,
): Buffer | Promise<Buffer> {
  if (!isManaged(ring)) return decrypt(ring, opener.slow, ciphertext, options)
  return decryptInDevice(opener, ring, ciphertext, options)
}

/** True if `decryptAnywhere` returns promises for this key. */
export const opensElsewhere = (ring: LoadedRing): boolean => isManaged(ring) || decryptsSlowly(ring)

/** Returns the managed key of a version. @throws Refusal if it is gone, not for this mount, or not for this use */
export async function managedKeyOf(
  { managedKeys }: DeviceKeys,
  version: LoadedVersion,
  use: ManagedUse,
): Promise<ManagedKey> {
  const keys = requireOffered(managedKeys)
  const id = version.header.managedKey?.id
  if (id === undefined) throw new Error('A version of a managed key does not say which')
  const key = await keys.get(id)
  if (!key.can(use))
    throw fail('key_cannot', [`the managed key "${key.name}" does not ${use}: see its mechanism and its usages`])
  return key
}

async function encryptInDevice(
  sealer: Sealer,
  ring: LoadedRing,
  plaintext: Buffer,
  options: EncryptOptions,
): Promise<Encrypted> {
  requireUsable(ring)
  const associatedData = readOptions(options)
  const version = ring.version(encryptionVersion(ring.header, options.key_version ?? 0))
  const key = await managedKeyOf(sealer, version, 'encrypt')
  requireFitting(key, associatedData, options)
  if (key.scheme === 'rsa-oaep') {
    requireLength(plaintext, maxDeviceOaepBytes(version.key, key.oaepHash))
    return asEncrypted(version, sealDeviceOaep(version.key, plaintext, key.oaepHash))
  }
  requireLength(plaintext, MOST_DEVICE_BYTES)
  // NIST SP 800-38D section 8.3: the nonce is random, so messages are counted here too, though the key is elsewhere.
  version.budget?.take((options.key_version ?? 0) !== 0)
  const nonce = sealer.nonces.take(DEVICE_NONCE_BYTES)
  const sealed = await key.seal(nonce, plaintext, associatedData ?? NOTHING)
  return asEncrypted(version, Buffer.concat([nonce, sealed]))
}

async function decryptInDevice(
  devices: DeviceKeys,
  ring: LoadedRing,
  ciphertext: string | undefined,
  options: CryptOptions,
): Promise<Buffer> {
  requireUsable(ring)
  if (ciphertext === undefined || ciphertext === '')
    throw fail('field_missing', ['ciphertext', 'missing ciphertext to decrypt'])
  const associatedData = readOptions(options)
  const { version: written, payload } = parseCiphertext(ciphertext)
  const version = ring.version(decryptionVersion(ring.header, written))
  const key = await managedKeyOf(devices, version, 'decrypt')
  requireFitting(key, associatedData, options)
  const message = decodePayload(payload)
  const opened = await openIn(key, message, associatedData ?? NOTHING)
  if (opened === undefined) throw unopened()
  return opened
}

async function openIn(key: ManagedKey, message: Buffer, associatedData: Buffer): Promise<Buffer | undefined> {
  if (message.length > MOST_DEVICE_BYTES + 2 * DEVICE_NONCE_BYTES + 4) return undefined
  if (key.scheme === 'rsa-oaep') return message.length === 0 ? undefined : key.openOaep(message)
  if (message.length < DEVICE_NONCE_BYTES)
    throw fail('ciphertext_malformed', ['invalid ciphertext length, it is too short to hold a nonce'])
  return key.open(message.subarray(0, DEVICE_NONCE_BYTES), message.subarray(DEVICE_NONCE_BYTES), associatedData)
}

/** Returns the associated data; a context is ignored if it is well-formed, and a nonce is refused. @throws Refusal */
function readOptions({ context, nonce, associated_data }: CryptOptions): Buffer | undefined {
  decodeField('context', context)
  if (decodeField('nonce', nonce) !== undefined) {
    throw fail('nonce_refused', ['"nonce": provided nonce not allowed for this key, which draws its own'])
  }
  return decodeField('associated_data', associated_data)
}

function requireFitting({ scheme }: ManagedKey, associatedData: Buffer | undefined, { padding_scheme }: CryptOptions) {
  if (scheme === 'rsa-oaep' && associatedData !== undefined) {
    throw fail('field_not_applicable', [
      '"associated_data": provided for non-AEAD cipher suite, RSA-OAEP of a managed key',
    ])
  }
  const isOaep = scheme === 'rsa-oaep' && padding_scheme === 'oaep'
  if (padding_scheme !== undefined && padding_scheme !== '' && !isOaep) {
    throw fail('field_not_applicable', ['"padding_scheme": the mechanism of a managed key has its own'])
  }
}

function requireLength({ length }: Buffer, most: number): void {
  if (length > most)
    throw fail('plaintext_too_long', [`"plaintext": it has ${length} bytes, this managed key encrypts at most ${most}`])
}
