// Tests whether a managed key signs: for operators, before anything depends on the key.
import { createPublicKey } from 'node:crypto'
import { fail } from '../api/errors.ts'
import type { ManagedKey } from '../api/managed-keys.ts'
import { signWithDevice } from '../crypto/devices/device-signing.ts'
import { managedPublicType } from '../crypto/devices/managed-public-type.ts'
import { type SignatureOptions, UnusableInput } from '../crypto/key-types/key-type.ts'
import { freshBytes, type RandomBytes } from '../crypto/primitives/random-bytes.ts'
import { verifyWith } from '../crypto/signing-jobs.ts'
import type { SlowWork } from '../lib/slow-work.ts'

/** Bytes of the random input that is signed. */
const INPUT_BYTES = 32

/** Has the key sign once, and verifies the signature. @throws Refusal if it does not sign, or the signature is wrong */
export async function testSign(key: ManagedKey, hash: string, random: RandomBytes, slow: SlowWork): Promise<void> {
  const { scheme } = key
  if (scheme === 'aes-gcm' || scheme === 'rsa-oaep' || !key.can('sign')) {
    throw fail('key_cannot', [`managed key "${key.name}" does not sign: see its mechanism and its usages`])
  }
  const { bits, publicKey } = await key.facts()
  if (publicKey === undefined)
    throw fail('managed_key_unusable', ['the device does not show the public half of the key'])
  const padding = scheme === 'rsa-pkcs1' ? 'pkcs1v15' : 'pss'
  const options: SignatureOptions = { hash, prehashed: false, padding, saltLength: 'hash', marshaling: 'asn1' }
  const input = freshBytes(random, INPUT_BYTES)
  try {
    const signature = await signWithDevice(key, { scheme, bits }, input, options)
    const half = createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
    if (await verifyWith(managedPublicType(half), slow, half, input, signature, options)) return
  } catch (cause) {
    throw cause instanceof UnusableInput ? fail('input_unusable', [cause.message], cause) : cause
  }
  throw fail('device_failed', [`managed key "${key.name}"`, 'what it signed does not verify with its public half'])
}
