import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { InvalidKeyMaterial } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { realWorld } from '../../../lib/world.ts'
import { MADE_HERE } from '../ring/ring-header.ts'
import { FIRST_BOUNDS } from '../ring/versions.ts'
import { BackupMembers } from './backup-members.ts'
import { readBackupVersion } from './backup-version.ts'

const KEY = Buffer.alloc(32, 7)
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

/** A version of this key, read by a type whose `load` may throw first, and what its key was decoded to. */
function read(load: (material: Buffer) => void) {
  const type = KEY_TYPES.get('aes256-gcm96') ?? assert.fail()
  const decoded: Buffer[] = []
  const fromBackup: typeof type.form.fromBackup = (parts) => {
    const found = type.form.fromBackup(parts)
    decoded.push(found.material)
    return found
  }
  const loading = (material: Buffer) => {
    load(material)
    return type.load(material)
  }
  const shared = {
    header,
    type: { ...type, load: loading, form: { ...type.form, fromBackup } },
    convergentVersion: -1,
    world: realWorld(),
  }
  const members = { key: KEY.toString('base64'), hmac_key: KEY.toString('base64'), creation_time: 1 }
  return { decoded, version: () => readBackupVersion(new BackupMembers(members, 'version 1'), shared) }
}

test('N-10 what the key of a backup was decoded to is wiped, whether it can be loaded or not', () => {
  const good = read(() => {})
  assert.deepEqual(good.version().material.reveal(), KEY)
  const bad = read(() => {
    throw new InvalidKeyMaterial('no key')
  })
  assert.throws(bad.version, /is no key of type aes256-gcm96/)
  for (const { decoded } of [good, bad]) assert.deepEqual(decoded, [Buffer.alloc(32)])
})
