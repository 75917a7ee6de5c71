// The versions that an export is for: `latest`, a number, or `v` and a number. Without any, all that can be used.
import { fail } from '../../../api/errors.ts'
import { string } from '../../../api/fields.ts'
import type { LoadedRing, LoadedVersion } from './loaded-ring.ts'

const NUMBER = /^v?(\d{1,9})$/

/** The version in a path of an export; without it all usable versions are meant. */
export const chosenVersionField = {
  version: string('Key version, or latest; if unset, all usable versions', {
    default: '',
    canonical: keptVersion,
  }),
}

/** Returns the one form by which policies judge: `v3` and `03` are `3`. */
function keptVersion(text: string): string {
  const digits = NUMBER.exec(text)?.[1]
  return digits === undefined ? text : String(Number(digits))
}

/** Returns the versions that `text` chooses. @throws Refusal if it is no version, or none that can be used */
export function chosenVersions({ header, versions }: LoadedRing, text: string): readonly LoadedVersion[] {
  if (text === '') return versions
  if (text === 'latest') return versions.slice(-1)
  const digits = NUMBER.exec(text)?.[1]
  if (digits === undefined) throw fail('choice_unknown', ['invalid key version: it is a number, or latest'])
  const number = Number(digits)
  if (number < header.minDecryptionVersion) {
    throw fail('version_retired', [
      `version for export is below minimum decryption version, which is ${header.minDecryptionVersion} for this key`,
    ])
  }
  const version = versions[number - header.minDecryptionVersion]
  if (version === undefined)
    throw fail('version_unknown', [
      `version does not exist or cannot be found: the latest one is ${header.latestVersion}`,
    ])
  return [version]
}
