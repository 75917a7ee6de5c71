// Signatures with a private key that stays in a device (docs/decisions/0010-pkcs11.md). Hashing and encoding are done
// here, exactly as for other keys, so that a signature does not show where it was made. The device does only the step
// that needs the key.
import { hash } from 'node:crypto'
import { CURVES, scalarBytes } from '../forms/ec-curves.ts'
import { type SignatureOptions, UnusableInput } from '../key-types/key-type.ts'
import { requireEcdsaDigest } from '../signatures/ecdsa-digest.ts'
import { writeEcdsaDer } from '../signatures/ecdsa-signature.ts'
import { maxSaltBytes } from '../signatures/emsa-pss.ts'
import { requireDigest, type SignatureHash, signatureHash } from '../signatures/signature-hashes.ts'

/** Hashes that devices know for RSA, by their names in the runtime. */
export type DeviceHashName = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512'

/** The steps that a device does. Both throw what the device reports. */
export type DeviceSigner = {
  /** For PKCS #1 v1.5 `block` is what follows the padding; for ECDSA it is the digest, and the result is r ‖ s. */
  signBlock(block: Buffer): Promise<Buffer>
  /** Hashes M' and pads itself; the mask generation uses the same hash. */
  signPss(digest: Buffer, hash: DeviceHashName, saltBytes: number): Promise<Buffer>
}

/** What the mechanism of a managed key signs with. */
export type DeviceScheme = 'rsa-pkcs1' | 'rsa-pss' | 'ecdsa'

/** The shortest padding: 00 01, eight times ff or more, 00 (RFC 8017 section 9.2). */
const LEAST_PKCS1_BYTES = 11
const DEVICE_HASHES: readonly string[] = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512']
const isDeviceHash = (name: string): name is DeviceHashName => DEVICE_HASHES.includes(name)

/**
 * Signs with a key in a device. `bits` is the length of the modulus, or of the order of the curve.
 * @throws UnusableInput for a mistake of the caller, and what the device throws
 */
export async function signWithDevice(
  device: DeviceSigner,
  { scheme, bits }: { readonly scheme: DeviceScheme; readonly bits: number },
  input: Buffer,
  options: SignatureOptions,
): Promise<Buffer> {
  if (scheme === 'ecdsa') return signEcdsa(device, bits, input, options)
  const modulusBytes = Math.ceil(bits / 8)
  if (scheme === 'rsa-pkcs1') return device.signBlock(pkcs1Block(modulusBytes, input, options))
  const used = signatureHash(options.hash)
  if (!isDeviceHash(used.algorithm)) {
    throw new UnusableInput(`"hash_algorithm": devices have RSA-PSS with sha1 and sha2 only, not with ${used.name}`)
  }
  return device.signPss(digestOf(used, input, options), used.algorithm, saltBytesOf(modulusBytes, used, options))
}

async function signEcdsa(device: DeviceSigner, bits: number, input: Buffer, options: SignatureOptions) {
  const curve = CURVES.find((each) => Math.ceil(bits / 8) === scalarBytes(each))
  if (curve === undefined) throw new RangeError('No curve has an order of so many bits')
  if (options.prehashed) requireEcdsaDigest(input, options)
  const digest = options.prehashed ? input : digestOf(signatureHash(options.hash), input, options)
  // FIPS 186-5 section 6.4.1: only the first bits of a longer digest count. Not every device cuts it itself.
  const rs = await device.signBlock(digest.subarray(0, scalarBytes(curve)))
  return options.marshaling === 'jws' ? rs : writeEcdsaDer(rs)
}

function pkcs1Block(modulusBytes: number, input: Buffer, options: SignatureOptions): Buffer {
  if (options.hash !== 'none') {
    const used = signatureHash(options.hash)
    return Buffer.concat([used.digestInfo, digestOf(used, input, options)])
  }
  const most = modulusBytes - LEAST_PKCS1_BYTES
  if (input.length > most)
    throw new UnusableInput(`"input": without a hash this key signs at most ${most} bytes, not ${input.length}`)
  return input
}

function digestOf(used: SignatureHash, input: Buffer, { prehashed }: SignatureOptions): Buffer {
  if (!prehashed) return hash(used.algorithm, input, 'buffer')
  requireDigest(used, input)
  return input
}

function saltBytesOf(modulusBytes: number, used: SignatureHash, { saltLength }: SignatureOptions): number {
  const most = maxSaltBytes(modulusBytes, used)
  if (saltLength === 'auto') return most
  const bytes = saltLength === 'hash' ? used.bytes : saltLength
  if (bytes >= 0 && bytes <= most && Number.isInteger(bytes)) return bytes
  throw new UnusableInput(
    `"salt_length": requested salt length ${bytes} is invalid, with ${used.name} this key takes 0 to ${most} bytes`,
  )
}
