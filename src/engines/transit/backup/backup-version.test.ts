import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { realWorld } from '../../../lib/world.ts'
import { MADE_HERE } from '../ring/ring-header.ts'
import { FIRST_BOUNDS } from '../ring/versions.ts'
import { BackupMembers } from './backup-members.ts'
import { readBackupVersion } from './backup-version.ts'

const header = {
  ...FIRST_BOUNDS,
  ...MADE_HERE,
  keySizeBytes: 0,
  type: 'aes256-gcm96',
  derived: false,
  convergent: false,
  exportable: true,
  allowPlaintextBackup: true,
  deletionAllowed: false,
  autoRotatePeriodSeconds: 0,
  versions: [],
} as const

test('P-15 what the material of a backup was decoded to is wiped, whether it is a key or not', () => {
  const type = KEY_TYPES.get('aes256-gcm96') ?? assert.fail()
  const decoded: Buffer[] = []
  const fromBackup: typeof type.form.fromBackup = (parts) => {
    const found = type.form.fromBackup(parts)
    decoded.push(found.material)
    return found
  }
  const shared = {
    header,
    type: { ...type, form: { ...type.form, fromBackup } },
    convergentVersion: -1,
    world: realWorld(),
  }
  const key = Buffer.alloc(32, 7)
  const members = { key: key.toString('base64'), hmac_key: key.toString('base64'), creation_time: 1 }
  const { material } = readBackupVersion(new BackupMembers(members, 'version 1'), shared)
  assert.deepEqual(material.reveal(), key)
  assert.deepEqual(decoded, [Buffer.alloc(32)])
})
