// Long restores: other requests go on meanwhile, and a restore that would take too long is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compositeRsa } from '../../../../test/fixtures/composite-rsa.ts'
import { materialOf } from '../../../../test/fixtures/known-material.ts'
import { base64, hurriedWorld, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { readBackup } from '../backup/backup-reading.ts'
import { wipeRing } from '../ring/key-ring.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests change whatever a backup holds
type Backup = any

async function backupOf(type: string, change: (policy: Backup) => void): Promise<string> {
  const { client } = mountTransit()
  await client.write('keys/k', { type, exportable: true, allow_plaintext_backup: true })
  const { backup } = (await client.read('backup/k')).data
  const all = JSON.parse(Buffer.from(backup, 'base64').toString())
  change(all.policy)
  return base64(JSON.stringify(all))
}

test('P-42 other work goes on while a backup of many versions is read', async () => {
  const versions = 300
  const { client } = mountTransit()
  await client.write('keys/k', { type: 'ecdsa-p384', exportable: true, allow_plaintext_backup: true })
  const json = Buffer.from((await client.read('backup/k')).data.backup, 'base64').toString()
  const [, one] = /"keys":\{"1":(\{[^}]*\})\}/.exec(json) ?? assert.fail(json)
  const keys = Array.from({ length: versions }, (_, index) => `"${index + 1}":${one}`).join()
  const whole = json.replace(/"keys":\{"1":\{[^}]*\}\}/, `"keys":{${keys}}`)
  const backup = base64(whole.replace('"latest_version":1', `"latest_version":${versions}`))
  const { world, sleeps } = hurriedWorld()
  const { ring } = await readBackup(backup, world)
  assert.equal(ring.secrets.length, versions)
  wipeRing(ring)
  // The clock moves on by 1 ms each time it is read, so a slice of 5 ms ends after some five versions.
  assert.ok(sleeps() >= versions / 6, `${sleeps()} turns`)
})

for (const { type, max } of [
  { type: 'aes256-gcm96', max: 25_000 },
  { type: 'ed25519', max: 5_000 },
  { type: 'rsa-2048', max: 1_000 },
]) {
  test(`P-42 a backup of more than ${max} versions of type ${type} is refused, naming the bound`, async () => {
    const { client } = mountTransit()
    for (const { first, last, says } of [
      { first: 0, last: max, says: /policy.keys.2 is missing/ },
      { first: 0, last: max + 1, says: new RegExp(`policy.latest_version .*at most ${max} are restored`) },
      { first: 901, last: 901 + max, says: new RegExp(`at most ${max} are restored`) },
      { first: 0, last: 2 ** 31 - 1, says: /latest_version is no whole number from 1 to 1000000/ },
    ]) {
      const backup = await backupOf(type, (policy) => {
        policy.latest_version = last
        Object.assign(policy, { min_available_version: first, min_decryption_version: first || 1 })
      })
      const { status, errors } = await client.write('restore/new', { backup })
      assert.equal(status, 400)
      assert.match(errors.join(), says)
    }
  })
}

test('a backup of more versions than are restored warns that the key has to be trimmed first', async () => {
  const { client, view } = mountTransit()
  // The lowest limit; those of other types come from the same table.
  const type = KEY_TYPES.get('rsa-2048') as KeyType
  plantKey(view, 'k', type.name, await materialOf(type), 'plain', {
    versions: Array(1_001).fill({ createdAtMs: 0, convergentVersion: 0 }),
    latestVersion: 1_001,
    exportable: true,
    allowPlaintextBackup: true,
  })
  const { status, data, warnings } = await client.read('backup/k')
  assert.equal(status, 200)
  assert.notEqual(data.backup, '')
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /holds 1001 versions, and restore takes at most 1000 .* trim the key first/)
  await client.write('keys/k/config', { min_decryption_version: 2, min_encryption_version: 2 })
  assert.equal((await client.write('keys/k/trim', { min_available_version: 2 })).status, 200)
  const trimmed = await client.read('backup/k')
  assert.deepEqual([trimmed.status, trimmed.warnings], [200, []])
})

test('P-15 a restored RSA key has primes that are primes, in every version', async () => {
  const { n, e, d, p, q } = compositeRsa()
  const rsa = `{"N":${n},"E":${e},"D":${d},"Primes":[${p},${q}],"Precomputed":null}`
  const { client } = mountTransit()
  await client.write('keys/k', { type: 'rsa-2048', exportable: true, allow_plaintext_backup: true })
  const good = Buffer.from((await client.read('backup/k')).data.backup, 'base64').toString()
  const wrong = good.replace(/"rsa_key":\{.*?\}\}?(?=,"|\})/, `"rsa_key":${rsa}`)
  assert.notEqual(wrong, good)
  assert.equal((await client.write('restore/good', { backup: base64(good) })).status, 204)
  const { status, errors } = await client.write('restore/wrong', { backup: base64(wrong) })
  assert.equal(status, 400)
  assert.match(errors.join(), /The primes of the RSA key are no primes/)
  assert.equal((await client.read('keys/wrong')).status, 404)
})
