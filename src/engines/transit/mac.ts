// HMACs and CMACs with the versions of a key: made, and verified in constant time (Interface 4.3).
import { fail } from '../../api/errors.ts'
import type { KeyType } from '../../crypto/key-types/key-type.ts'
import { CMAC_BYTES } from '../../crypto/primitives/cmac.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { HMAC_HASH_NAMES, namedHmac } from '../../crypto/primitives/named-hmac.ts'
import { Base64Error, decodeBase64, encodeBase64 } from '../../lib/base64.ts'
import { decodeField } from './crypt.ts'
import { parseCiphertext } from './ring/ciphertext.ts'
import type { LoadedRing, LoadedVersion } from './ring/loaded-ring.ts'
import { verificationVersion } from './ring/versions.ts'

const NOTHING = Buffer.alloc(0)

/** Computes the MAC of an input under one version. */
export type ComputeMac = (version: LoadedVersion, input: Buffer) => Buffer

/** Returns the computation of HMACs with this hash. @throws Refusal for an unknown hash; `field` had its name */
export function hmacWith(algorithm: string, field: string): ComputeMac {
  if (!HMAC_HASH_NAMES.includes(algorithm)) {
    throw fail('choice_unknown', [`"${field}": unsupported algorithm, an HMAC takes ${HMAC_HASH_NAMES.join(', ')}`])
  }
  return ({ hmacKey }, input) => {
    const mac = namedHmac(algorithm, hmacKey, input)
    if (mac === undefined) throw new Error(`The hash ${algorithm} is listed and cannot be used`)
    return mac
  }
}

/**
 * Returns the computation of CMACs, cut to the first `bytes`; 0 is all of them.
 * @throws Refusal for key types that make no CMAC, and for a length that is out of range
 */
export function cmacOf({ cmac, name }: KeyType, bytes: number): ComputeMac {
  if (cmac === undefined)
    throw fail('key_cannot', [`key type ${name} does not support CMAC: take a key of type aes256-cmac`])
  if (bytes < 0 || bytes > CMAC_BYTES)
    throw fail('out_of_range', [`"mac_length": must be from 0 to ${CMAC_BYTES}, 0 for all of it`])
  return ({ key }, input) => cmac(key, input).subarray(0, bytes === 0 ? CMAC_BYTES : bytes)
}

/**
 * The shortest CMAC that verify accepts, unless the key says otherwise. SP 800-38B appendix A.2: 64 bits are enough for
 * most uses; a shorter one needs a bound on the number of attempts.
 */
export const USUAL_LEAST_MAC_BYTES = CMAC_BYTES / 2

/**
 * Returns the computation for verify, which refuses short CMACs. The caller of verify chooses the length, and a CMAC of
 * one byte is guessed in 256 attempts.
 * @throws Refusal as `cmacOf` does, and for a length below that of the key
 */
export function checkingCmacOf({ type, header }: LoadedRing, bytes: number): ComputeMac {
  const compute = cmacOf(type, bytes)
  const { minMacBytes: least = USUAL_LEAST_MAC_BYTES } = header
  if (bytes !== 0 && bytes < least) {
    const isShort = `"mac_length": a CMAC of ${bytes} bytes is guessed too easily`
    throw fail('out_of_range', [
      `${isShort}, this key verifies those of at least ${least}: min_mac_length of keys/NAME/config says so`,
    ])
  }
  return compute
}

/** Returns the MAC as text: the version's prefix, and base64. @throws Refusal for input that is not base64 */
export function makeMac(compute: ComputeMac, version: LoadedVersion, input: string): string {
  return version.prefix + encodeBase64(compute(version, decodeInput(input)))
}

/** True if `mac` is the MAC of the input. @throws Refusal for a text that is no MAC of a version that can be used */
export function isMacOf(
  compute: ComputeMac,
  ring: LoadedRing,
  input: string,
  mac: string,
  what: 'HMAC' | 'CMAC',
): boolean {
  const { version: written, payload } = parseCiphertext(mac, `${what} to verify`)
  const version = ring.version(verificationVersion(ring.header, written, what))
  return constantTimeEqual(compute(version, decodeInput(input)), decodeMac(payload, what))
}

/** Decodes the input of a MAC or a signature; an empty one is the empty message. @throws Refusal */
export function decodeInput(input: string): Buffer {
  return decodeField('input', input) ?? NOTHING
}

function decodeMac(payload: string, what: 'HMAC' | 'CMAC'): Buffer {
  try {
    return decodeBase64(payload)
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw fail('signature_malformed', [`invalid ${what} to verify: could not decode base64, ${cause.message}`], cause)
  }
}
