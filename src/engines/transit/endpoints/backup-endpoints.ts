// backup/:name and restore(/:name) (Interface 4.2): a whole key in clear, with all its versions and settings.
import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { bool, string } from '../../../api/fields.ts'
import { DONE } from '../../../api/request.ts'
import { text } from '../../../api/shape.ts'
import { InvalidKeyMaterial } from '../../../crypto/key-types/key-type.ts'
import type { World } from '../../../lib/world.ts'
import { maxRestoredVersions, readBackup } from '../backup/backup-reading.ts'
import { writeBackup } from '../backup/backup-writing.ts'
import { keyNameField } from '../crypt-fields.ts'
import { proveOrRefuse } from '../imported-material.ts'
import { type StoredRing, wipeRing } from '../ring/key-ring.ts'
import type { WithKeys } from '../ring/keys.ts'
import { keyTypeOf, requireUsable } from '../ring/loaded-ring.ts'
import type { Prover } from '../ring/new-key.ts'
import type { RingHeader } from '../ring/ring-header.ts'
import { TimeSlice } from '../time-slice.ts'

/** The parts of the mount that these endpoints use. */
type Parts = WithKeys<'update' | 'place'> & Prover & { readonly world: World }

const backupKey = endpoint({
  id: 'transit-backup',
  operation: 'read',
  path: 'backup/:name',
  capability: 'read',
  // A backup is noted in the key, so this read writes.
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Returns a plaintext backup of a key, with all its versions and settings, for restore',
  describe:
    'The key must have exportable and allow_plaintext_backup set. Keep the backup as safe as the key itself. A ' +
    'warning says if the key has more versions than restore accepts.',
  fields: keyNameField,
  response: { backup: text('Backup, as restore accepts it') },
  handler: async (transit: Parts, { name }) => {
    let backup = ''
    const found = await transit.keys.update(name, (ring) => {
      requireBackup(ring)
      const note = { atMs: transit.world.clock.nowMs(), version: ring.header.latestVersion }
      const noted: StoredRing = { ...ring, header: { ...ring.header, backup: note } }
      backup = writeBackup(name, noted)
      return noted
    })
    if (found === undefined) throw fail('no_such_key', [name])
    return { data: { backup }, warnings: warningsOf(name, found.header) }
  },
})

/** Warns of a backup with too many versions to be restored: the operator must know while the key is still there. */
function warningsOf(name: string, header: RingHeader): readonly string[] {
  const count = header.versions.length
  const max = maxRestoredVersions(keyTypeOf(header))
  if (count <= max) return []
  const what = `this backup holds ${count} versions, and restore takes at most ${max} of a key of type ${header.type}`
  return [`${what}: trim the key first (keys/${name}/trim), then back it up again`]
}

function requireBackup(ring: { readonly header: RingHeader }): void {
  requireUsable(ring)
  const { exportable, allowPlaintextBackup } = ring.header
  if (!exportable)
    throw fail('key_not_exportable', ['exporting is disallowed on the policy: the key was made without exportable'])
  if (!allowPlaintextBackup)
    throw fail('key_not_exportable', [
      'plaintext backup is disallowed on the policy: the key was made without allow_plaintext_backup',
    ])
}

const restoreKey = endpoint({
  id: 'transit-restore',
  operation: 'update',
  path: 'restore(/:name...)',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Restores a key from a backup, with all its versions and settings',
  describe: 'Backups made by other servers with this API are accepted too. All flags are restored as they were.',
  fields: {
    name: string('Name of the restored key; if unset, the name in the backup', { default: '' }),
    backup: string('Backup, as returned by backup', { default: '', secret: true }),
    force: bool('Replaces an existing key of that name', { default: false }),
  },
  handler: async (transit: Parts, args, { caller }) => {
    if (args.backup === '') throw fail('field_missing', ['backup', "'backup' must be supplied"])
    const { name: itsName, ring } = await readBackup(args.backup, transit.world)
    try {
      const name = requireName(args.name, itsName)
      // A policy that forbids this path must also hold if the name is not in the path.
      if (caller?.isRefusedAt(`restore/${name}`) === true) throw fail('permission_denied', [])
      await proveVersions(transit, ring)
      const restore = { atMs: transit.world.clock.nowMs(), version: ring.header.latestVersion }
      await transit.keys.place(name, { ...ring, header: { ...ring.header, restore } }, args.force)
      return DONE
    } finally {
      wipeRing(ring)
    }
  },
})

/** Names of restored keys. Unlike names in paths they may begin or end with '-' and '.', as the reference accepts. */
const RESTORED_NAME = /^[\w.-]+$/

/** Returns the name of the restored key: one segment, never a path (threats C-06). @throws Refusal */
function requireName(asked: string, inBackup: string): string {
  const name = asked === '' ? inBackup : asked
  if (RESTORED_NAME.test(name) && name !== '.' && name !== '..') return name
  const which = asked === '' ? 'policy.name of the backup' : '"name"'
  const what = 'letters, digits, _, - and .'
  throw fail('name_invalid', [`${which} is no name of a key: key names cannot be paths, they are of ${what}`])
}

/** Tries each version that has a private half (threats P-15), and lets other requests in between. @throws Refusal */
async function proveVersions(transit: Parts, { header, secrets }: StoredRing): Promise<void> {
  const type = keyTypeOf(header)
  const timeSlice = new TimeSlice(transit.world)
  for (const [index, { material }] of secrets.entries()) {
    if (header.versions[index]?.isPublic === true) continue
    try {
      await proveOrRefuse(transit, type, material.reveal())
      await timeSlice.pause()
    } catch (cause) {
      if (!(cause instanceof InvalidKeyMaterial)) throw cause
      throw fail('backup_invalid', [`a version is no key of type ${type.name}. ${cause.message}`], cause)
    }
  }
}

/** Both endpoints run on the thread that writes. */
export const BACKUP_ENDPOINTS: readonly Endpoint<Parts>[] = [backupKey, restoreKey]
