// The rules of key versions (Interface 3.4), as functions of numbers alone.
import { fail } from '../../../api/errors.ts'

/** The numbers of a ring that decide which versions may be used. */
export type VersionBounds = {
  /** The first version of a key is 1. It only grows. */
  readonly latestVersion: number
  /** From 1 to the latest. Older versions stay stored, and nothing uses them. */
  readonly minDecryptionVersion: number
  /** 0: no bound is set. Else from the lowest version that decrypts to the latest (Interface 7.8). */
  readonly minEncryptionVersion: number
  /** Versions below it were deleted for good; 0 while none was. It only grows. */
  readonly minAvailableVersion: number
}

/** The bounds of a new key, which has one version. */
export const FIRST_BOUNDS: VersionBounds = {
  latestVersion: 1,
  minDecryptionVersion: 1,
  minEncryptionVersion: 0,
  minAvailableVersion: 0,
}

/** The use of a version, as refusals name it. */
export type VersionUse = 'encryption' | 'signing' | 'HMAC' | 'CMAC'

/**
 * Returns the version that encrypts, signs or makes a MAC; 0 asks for the latest (Interface 4.3).
 * @throws Refusal for a version that does not exist, or is below a minimum (Interface 7.9)
 */
export function encryptionVersion(bounds: VersionBounds, requested: number, use: VersionUse = 'encryption'): number {
  if (requested === 0) return bounds.latestVersion
  if (requested < 0) throw fail('version_unknown', [`requested version for ${use} is negative, give 0 for the latest`])
  if (requested > bounds.latestVersion) {
    throw fail('version_unknown', [
      `requested version for ${use} is higher than the latest key version, which is ${bounds.latestVersion}`,
    ])
  }
  if (requested < bounds.minEncryptionVersion) {
    const tooOld = use === 'HMAC' || use === 'CMAC' ? `cannot generate ${use}: version is too old: ` : ''
    throw fail('version_retired', [
      `${tooOld}requested version for ${use} is less than the minimum encryption key version, ` +
        `which is ${bounds.minEncryptionVersion}`,
    ])
  }
  if (requested < bounds.minDecryptionVersion) {
    throw fail('version_retired', [
      `no such key version: versions below ${bounds.minDecryptionVersion} are disallowed by policy`,
    ])
  }
  return requested
}

/**
 * Returns the version that decrypts a ciphertext with the number `written`. Ciphertexts from before versions were
 * numbered have 0, which means 1.
 * @throws Refusal for a version that does not exist or may not decrypt
 */
export function decryptionVersion(bounds: VersionBounds, written: number): number {
  const version = written === 0 ? 1 : written
  if (version > bounds.latestVersion) throw fail('version_unknown', ['invalid ciphertext: version is too new'])
  if (version < bounds.minDecryptionVersion) {
    throw fail('version_retired', ['ciphertext or signature version is disallowed by policy (too old)'])
  }
  return version
}

/** The thing that is verified, as refusals name it. */
export type VerifiedThing = 'signature' | 'HMAC' | 'CMAC'

/**
 * Returns the version that verifies a text with the number `written`. Unlike ciphertexts, such texts always had one.
 * @throws Refusal for a version that does not exist or may not verify
 */
export function verificationVersion(bounds: VersionBounds, written: number, what: VerifiedThing): number {
  if (written > bounds.latestVersion) throw fail('version_unknown', [`invalid ${what}: version is too new`])
  if (written < bounds.minDecryptionVersion) {
    throw fail('version_retired', [
      what === 'signature'
        ? 'ciphertext or signature version is disallowed by policy (too old)'
        : `cannot verify ${what}: version is too old (disallowed by policy)`,
    ])
  }
  return written
}

/** The minimums that a request asks for; undefined leaves one as it is. */
export type WantedMinimums = {
  readonly minDecryptionVersion: number | undefined
  readonly minEncryptionVersion: number | undefined
}

/**
 * Returns the changed bounds. Both minimums are judged together, so that one request can raise or lower them past each
 * other. A decryption minimum of 0 means 1, where versions begin.
 * @throws Refusal
 */
export function changeMinimums(bounds: VersionBounds, wanted: WantedMinimums): VersionBounds {
  const minDecryptionVersion =
    wanted.minDecryptionVersion === 0 ? 1 : (wanted.minDecryptionVersion ?? bounds.minDecryptionVersion)
  const minEncryptionVersion = wanted.minEncryptionVersion ?? bounds.minEncryptionVersion
  requireExisting('decryption', minDecryptionVersion, bounds)
  requireExisting('encryption', minEncryptionVersion, bounds)
  // Interface 7.8: what a version encrypts must be decryptable.
  if (minEncryptionVersion !== 0 && minEncryptionVersion < minDecryptionVersion) {
    throw fail('version_bounds', [
      `cannot set min encryption/decryption values; min encryption version of ${minEncryptionVersion} must be 0 or ` +
        `greater than or equal to min decryption version of ${minDecryptionVersion}`,
    ])
  }
  return { ...bounds, minDecryptionVersion, minEncryptionVersion }
}

function requireExisting(what: 'encryption' | 'decryption', version: number, { latestVersion }: VersionBounds): void {
  if (version < 0) throw fail('version_bounds', [`min ${what} version cannot be negative`])
  if (version > latestVersion) {
    throw fail('version_bounds', [
      `cannot set min ${what} version of ${version}, latest key version is ${latestVersion}`,
    ])
  }
}

/**
 * Checks that both minimums are at or above the oldest version that a trim left.
 * @throws Refusal
 */
export function requireAvailable(bounds: VersionBounds): void {
  const { minAvailableVersion, minDecryptionVersion, minEncryptionVersion } = bounds
  if (minAvailableVersion > minEncryptionVersion || minAvailableVersion > minDecryptionVersion) {
    throw fail('version_bounds', [
      `min encryption and decryption versions cannot be below ${minAvailableVersion}: older versions were trimmed`,
    ])
  }
}

/**
 * Checks a trim of the versions below `lowest`. Both minimums must be at or above it: the operator has to take versions
 * out of use before they are deleted. The same value as before is allowed, and changes nothing.
 * @throws Refusal
 */
export function requireTrimmable(bounds: VersionBounds, lowest: number): void {
  const { minAvailableVersion, minEncryptionVersion, minDecryptionVersion } = bounds
  if (lowest < minAvailableVersion) {
    throw fail('version_bounds', [`minimum available version cannot be decremented, it is ${minAvailableVersion}`])
  }
  if (minEncryptionVersion === 0) {
    throw fail('version_bounds', [
      'minimum available version cannot be set when minimum encryption version is not set, set min_encryption_version',
    ])
  }
  if (lowest > minEncryptionVersion) {
    throw fail('version_bounds', [
      `minimum available version cannot be greater than minimum encryption version, which is ${minEncryptionVersion}`,
    ])
  }
  if (lowest > minDecryptionVersion) {
    throw fail('version_bounds', [
      `minimum available version cannot be greater than minimum decryption version, which is ${minDecryptionVersion}`,
    ])
  }
  if (lowest < 1) throw fail('version_bounds', ['minimum available version should be positive'])
}
