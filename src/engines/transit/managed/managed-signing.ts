// Signing with a key that is in a device. Verifying needs only the public half, which is stored here (managed-type.ts).
import { fail } from '../../../api/errors.ts'
import { signWithDevice } from '../../../crypto/devices/device-signing.ts'
import { managedPublicType } from '../../../crypto/devices/managed-public-type.ts'
import { type SignatureOptions, UnusableInput } from '../../../crypto/key-types/key-type.ts'
import type { SlowWork } from '../../../lib/slow-work.ts'
import { decodeInput } from '../mac.ts'
import { type LoadedRing, type LoadedVersion, requireUsable } from '../ring/loaded-ring.ts'
import { isManaged, schemeOf } from '../ring/managed-type.ts'
import type { DeviceKeys } from '../ring/managed-version.ts'
import { encryptionVersion } from '../ring/versions.ts'
import { encodeSignature, type Signed, type SignInput, sign } from '../signing.ts'
import { managedKeyOf } from './managed-crypt.ts'

/** The parts of a mount that sign messages. */
export type Signer = DeviceKeys & { readonly slow: SlowWork }

/** Signs one message with whichever key it is: here (signing.ts), or in its device. @throws Refusal */
export function signAnywhere(
  signer: Signer,
  ring: LoadedRing,
  input: SignInput,
  requested: number,
  options: SignatureOptions,
): Signed | Promise<Signed> {
  if (!isManaged(ring)) return sign(ring, signer.slow, input, requested, options)
  return signInDevice(signer, ring, input, requested, options)
}

async function signInDevice(
  devices: DeviceKeys,
  ring: LoadedRing,
  { input: text }: SignInput,
  requested: number,
  options: SignatureOptions,
): Promise<Signed> {
  requireUsable(ring)
  const input = decodeInput(text)
  const version = ring.version(encryptionVersion(ring.header, requested, 'signing'))
  const bytes = await signBytesInDevice(devices, version, input, options)
  return {
    signature: version.prefix + encodeSignature(bytes, options),
    version: version.number,
    publicKey: undefined,
  }
}

/** Returns the bytes of a signature by the device; `version` is one of a managed key. @throws Refusal */
export async function signBytesInDevice(
  devices: DeviceKeys,
  version: LoadedVersion,
  input: Buffer,
  options: SignatureOptions,
): Promise<Buffer> {
  const key = await managedKeyOf(devices, version, 'sign')
  const { scheme } = key
  if (scheme === 'aes-gcm' || scheme === 'rsa-oaep') throw new Error('A managed key that signs has a signing mechanism')
  const { bits } = managedPublicType(version.key).signing.device
  try {
    return await signWithDevice(key, { scheme, bits }, input, options)
  } catch (cause) {
    throw cause instanceof UnusableInput ? fail('input_unusable', [cause.message], cause) : cause
  }
}

/**
 * Returns the options with the padding of the key's mechanism, which has only one; other keys keep theirs. `named` is
 * what the caller sent.
 * @throws Refusal if the caller names the other padding
 */
export function withPaddingOf({ header }: LoadedRing, options: SignatureOptions, named: string): SignatureOptions {
  const scheme = schemeOf(header)
  if (scheme !== 'rsa-pkcs1' && scheme !== 'rsa-pss') return options
  const padding = scheme === 'rsa-pss' ? 'pss' : 'pkcs1v15'
  if (named !== '' && named !== padding) {
    throw fail('field_not_applicable', [
      `"signature_algorithm": the mechanism of this managed key is for ${padding} alone`,
    ])
  }
  return { ...options, padding }
}
