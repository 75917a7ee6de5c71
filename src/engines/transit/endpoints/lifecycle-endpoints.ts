// The end of a key, in steps: trim deletes its oldest versions for good, soft-delete takes the key out of use, and
// soft-delete-restore brings it back. The whole key is deleted in keys-endpoints.ts.
import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { int } from '../../../api/fields.ts'
import { keyNameField } from '../crypt-fields.ts'
import { describedKey, KEY_DESCRIPTION } from '../key-description.ts'
import type { StoredRing } from '../ring/key-ring.ts'
import type { WithKeys } from '../ring/keys.ts'
import type { RingHeader } from '../ring/ring-header.ts'
import { requireTrimmable } from '../ring/versions.ts'

/** The parts of the mount that these endpoints use. */
type Parts = WithKeys<'update'>

const trimKey = endpoint({
  id: 'transit-key-trim',
  operation: 'update',
  path: 'keys/:name/trim',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Permanently deletes the versions of a key below min_available_version',
  describe:
    'min_decryption_version and min_encryption_version must be set first, both to at least min_available_version. ' +
    'Data encrypted with the deleted versions can no longer be decrypted.',
  fields: { ...keyNameField, min_available_version: int('Lowest version to keep') },
  response: KEY_DESCRIPTION,
  handler: async (transit: Parts, { name, min_available_version: lowest }) => {
    const trimmed = await transit.keys.update(name, (ring) => trim(ring, lowest))
    if (trimmed === undefined) throw fail('key_not_found', [`invalid key name: no key has the name "${name}"`])
    return describedKey(name, trimmed)
  },
})

/** Returns the ring without versions below `lowest`; the very same ring if nothing changes. @throws Refusal */
function trim(ring: StoredRing, lowest: number | undefined): StoredRing {
  const { header, secrets } = ring
  if (lowest === undefined) throw fail('field_missing', ['min_available_version', 'missing min_available_version'])
  requireTrimmable(header, lowest)
  if (lowest === header.minAvailableVersion) return ring
  const kept = header.latestVersion - lowest + 1
  return {
    header: { ...header, minAvailableVersion: lowest, versions: header.versions.slice(-kept) },
    secrets: secrets.slice(-kept),
  }
}

const softDelete = endpoint({
  id: 'transit-key-soft-delete',
  operation: 'delete',
  path: 'keys/:name/soft-delete',
  capability: 'delete',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Soft-deletes a key: takes it out of use until it is restored, without deleting anything',
  describe: 'A soft-deleted key can be read, listed, configured, trimmed and deleted, but not used.',
  fields: keyNameField,
  response: KEY_DESCRIPTION,
  handler: (transit: Parts, { name }) => mark(transit, name, true, 'key was already marked as soft deleted'),
})

const softDeleteRestore = endpoint({
  id: 'transit-key-soft-delete-restore',
  operation: 'update',
  path: 'keys/:name/soft-delete-restore',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Restores a soft-deleted key',
  fields: keyNameField,
  response: KEY_DESCRIPTION,
  handler: (transit: Parts, { name }) => mark(transit, name, false, 'key was already restored'),
})

/** Sets or clears the mark; a mark that is already so is no error, and answers with the warning `already`. */
async function mark(transit: Parts, name: string, softDeleted: boolean, already: string) {
  let isChanged = false
  const ring = await transit.keys.update(name, (stored) => {
    isChanged = stored.header.softDeleted !== softDeleted
    return isChanged ? { ...stored, header: { ...stored.header, softDeleted } satisfies RingHeader } : stored
  })
  // Differs: docs/differences.md#transit. For a key that is not there, an answer without a body would claim success.
  if (ring === undefined) throw fail('key_not_found', [`key not found: no key has the name "${name}"`])
  const answer = describedKey(name, ring)
  return isChanged ? answer : { ...answer, warnings: [already] }
}

/** All endpoints run on the thread that writes. */
export const LIFECYCLE_ENDPOINTS: readonly Endpoint<Parts>[] = [trimKey, softDelete, softDeleteRestore]
