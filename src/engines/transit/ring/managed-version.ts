// New keys and versions of the type `managed_key`. Each version is one managed key, named or given by its UUID, and has
// done once what it is for.
import { createPublicKey, type KeyObject } from 'node:crypto'
import { fail } from '../../../api/errors.ts'
import { type Args, string } from '../../../api/fields.ts'
import type { ManagedKey, ManagedKeys } from '../../../api/managed-keys.ts'
import { maxDeviceOaepBytes, sealDeviceOaep } from '../../../crypto/devices/device-oaep.ts'
import { signWithDevice } from '../../../crypto/devices/device-signing.ts'
import { managedPublicType } from '../../../crypto/devices/managed-public-type.ts'
import { PROOF_OPTIONS, type SignatureOptions, UnusableInput } from '../../../crypto/key-types/key-type.ts'
import { freshBytes } from '../../../crypto/primitives/random-bytes.ts'
import { Secret } from '../../../crypto/primitives/secret.ts'
import { verifyWith } from '../../../crypto/signing-jobs.ts'
import { HMAC_SECRET_BYTES } from './key-ring.ts'
import { DEVICE_NONCE_BYTES, MANAGED_KEY, schemeOf } from './managed-type.ts'
import type { KeyMaker, NewVersion } from './new-key.ts'
import type { RingHeader } from './ring-header.ts'

/** The reference to a managed key, in requests that make a key or a version. */
export const managedKeyFields = {
  managed_key_name: string('Name of the managed key; only for keys of type managed_key', { default: '' }),
  managed_key_id: string('UUID of the managed key; only for keys of type managed_key', { default: '' }),
}

/** The managed keys of a mount; undefined if the server has none. */
export type DeviceKeys = { readonly managedKeys: ManagedKeys | undefined }

type DeviceProver = Pick<KeyMaker, 'world' | 'slow'>

/**
 * Returns the managed key that a request refers to; undefined if the key is of another type.
 * @throws Refusal for a reference with another type, and for a managed key that is unknown or not for this mount
 */
export async function requestedKey(
  { managedKeys }: DeviceKeys,
  typeName: string,
  { managed_key_name: name, managed_key_id: id }: Args<typeof managedKeyFields>,
): Promise<ManagedKey | undefined> {
  if (typeName === MANAGED_KEY) return requireOffered(managedKeys).find({ name, id })
  for (const [field, value] of Object.entries({ managed_key_name: name, managed_key_id: id })) {
    if (value !== '')
      throw fail('field_not_applicable', [
        `"${field}" is only for keys of type managed_key, this one is of type ${typeName}`,
      ])
  }
  return undefined
}

/** Returns the managed keys of the mount. @throws Refusal if the server has none */
export function requireOffered(keys: ManagedKeys | undefined): ManagedKeys {
  if (keys === undefined) throw fail('not_offered', ['there are no managed keys here'])
  return keys
}

/** Refuses settings that a key in a device cannot keep. @throws Refusal */
export function requireManagedSettings(wanted: {
  readonly exportable: boolean
  readonly allowPlaintextBackup: boolean
  readonly autoRotatePeriodSeconds: number
}): void {
  if (wanted.exportable) throw fail('field_not_applicable', ['"exportable": a managed key never leaves its device'])
  if (wanted.allowPlaintextBackup)
    throw fail('field_not_applicable', ['"allow_plaintext_backup": a managed key never leaves its device'])
  if (wanted.autoRotatePeriodSeconds > 0) {
    throw fail('field_not_applicable', [
      '"auto_rotate_period": a rotation has to say which managed key the new version is',
    ])
  }
}

/**
 * Checks that the managed key can follow the versions before it: all versions of a key can do the same.
 * @throws Refusal
 */
export function requireSuccessor(header: RingHeader, key: ManagedKey): void {
  const scheme = schemeOf(header)
  if (scheme !== key.scheme) {
    throw fail('managed_key_unusable', [
      `the managed key has another mechanism (${key.scheme}) than the versions before it (${scheme})`,
    ])
  }
  if (header.versions.at(-1)?.managedKey?.id === key.id) {
    throw fail('managed_key_unusable', [
      'the latest version is this managed key already: name another one, which is new to the key',
    ])
  }
}

/**
 * Returns a version for the managed key, with a fresh HMAC secret; the caller wipes it. The device uses the key once.
 * @throws Refusal if the device does not do what the key is for
 */
export async function newManagedVersion(key: ManagedKey, maker: DeviceProver): Promise<NewVersion> {
  const { bits, publicKey } = await key.facts()
  await prove(key, bits, publicKey, maker)
  const hmac = freshBytes(maker.world.random.bytes, HMAC_SECRET_BYTES)
  try {
    return {
      material: new Secret(publicKey ?? NOTHING),
      hmac: new Secret(hmac),
      managedKey: { id: key.id, scheme: key.scheme },
    }
  } finally {
    hmac.fill(0)
  }
}

const NOTHING = Buffer.alloc(0)
const PROOF = Buffer.from('done once before the key is used')

/** Has the device do once what the key is for, as far as its usages allow (threats P-15). @throws Refusal */
async function prove(key: ManagedKey, bits: number, publicKey: Buffer | undefined, maker: DeviceProver): Promise<void> {
  if (key.scheme === 'aes-gcm') {
    if (!key.can('encrypt') || !key.can('decrypt')) return
    const nonce = freshBytes(maker.world.random.bytes, DEVICE_NONCE_BYTES)
    const opened = await key.open(nonce, await key.seal(nonce, PROOF, NOTHING), NOTHING)
    if (opened?.equals(PROOF) !== true) throw unproven('open what it sealed')
    return
  }
  const half = loadPublic(publicKey)
  if (key.scheme === 'rsa-oaep') {
    if (maxDeviceOaepBytes(half, key.oaepHash) < PROOF.length)
      throw fail('managed_key_unusable', ['the key is too short for its hash'])
    if (!key.can('decrypt')) return
    const opened = await key.openOaep(sealDeviceOaep(half, PROOF, key.oaepHash))
    if (opened?.equals(PROOF) !== true) throw unproven('open what was encrypted for it')
  } else if (key.can('sign')) {
    const { scheme } = key
    const options: SignatureOptions = { ...PROOF_OPTIONS, padding: scheme === 'rsa-pkcs1' ? 'pkcs1v15' : 'pss' }
    const signature = await signWithDevice(key, { scheme, bits }, PROOF, options)
    const isProven = await verifyWith(managedPublicType(half), maker.slow, half, PROOF, signature, options)
    if (!isProven) throw unproven('verify what it signed')
  }
}

function loadPublic(spki: Buffer | undefined): KeyObject {
  if (spki === undefined) throw fail('managed_key_unusable', ['the device does not show the public half of the key'])
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    managedPublicType(key)
    return key
  } catch (cause) {
    if (!(cause instanceof UnusableInput)) throw cause
    throw fail('managed_key_unusable', [cause.message], cause)
  }
}

const unproven = (what: string) => fail('device_failed', ['the managed key', `it does not ${what}`])
