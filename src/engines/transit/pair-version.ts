// The version of a key pair that a certificate is for, or that agrees on a key with another party.
import { fail } from '../../api/errors.ts'
import type { LoadedRing, LoadedVersion } from './ring/loaded-ring.ts'

/**
 * Returns the version; 0 asks for the latest. min_encryption_version does not apply: it is a rule for messages.
 * @throws Refusal for keys that no certificate can be for, and for a version that cannot be used
 */
export function pairVersion(ring: LoadedRing, requested: number, field = 'version'): LoadedVersion {
  const { type, header, versions } = ring
  if (type.signing === undefined || type.publicPart === undefined)
    throw fail('key_cannot', [`key type ${type.name} does not support signing, so there are no certificates for it`])
  if (header.derived)
    throw fail('key_cannot', [
      'the key was created with derivation: it signs with another key for each context, not with this one',
    ])
  const number = requested === 0 ? header.latestVersion : requested
  const version = versions[number - header.minDecryptionVersion]
  if (version !== undefined) return version
  const range = `${header.minDecryptionVersion} to ${header.latestVersion}`
  throw fail('version_unknown', [`"${field}": no such key version, those that can be used are ${range}`])
}
