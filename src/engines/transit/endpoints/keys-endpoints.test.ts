import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import type { JsonObject, JsonValue } from '../../../lib/json.ts'

const plaintext = base64('the quick brown fox')

const DESCRIBED = {
  name: 'k',
  type: 'aes256-gcm96',
  derived: false,
  exportable: false,
  allow_plaintext_backup: false,
  deletion_allowed: false,
  imported_key: false,
  soft_deleted: false,
  supports_encryption: true,
  supports_decryption: true,
  supports_signing: false,
  supports_derivation: true,
  latest_version: 1,
  min_available_version: 0,
  min_decryption_version: 1,
  min_encryption_version: 0,
  auto_rotate_period: 0,
  keys: { 1: 1_700_000_000 },
}

test('create describes the key as read does', async () => {
  const { client } = mountTransit()
  const created = await client.write('keys/k')
  assert.equal(created.status, 200)
  assert.deepEqual(created.data, DESCRIBED)
  const { encryption_counts: _, ...read } = (await client.read('keys/k')).data
  assert.deepEqual(read, DESCRIBED)
})

test('create takes every flag, and read shows it', async () => {
  const { client } = mountTransit()
  const body = {
    type: 'aes128-gcm96',
    derived: 'true',
    convergent_encryption: 1,
    exportable: true,
    allow_plaintext_backup: true,
    auto_rotate_period: '1h30m',
  }
  const { data } = await client.write('keys/k', body)
  assert.deepEqual(data, {
    ...DESCRIBED,
    type: 'aes128-gcm96',
    derived: true,
    kdf: 'hkdf_sha256',
    convergent_encryption: true,
    convergent_encryption_version: -1,
    exportable: true,
    allow_plaintext_backup: true,
    auto_rotate_period: 5400,
  })
  const { data: derived } = await client.write('keys/d', { derived: true })
  assert.equal(derived.convergent_encryption, false)
  assert.ok(!('convergent_encryption_version' in derived))
})

test('create on an existing key changes nothing, even with another type', async () => {
  const { client, clock } = mountTransit()
  await client.write('keys/k')
  clock.nowMs += 5000
  const again = await client.write('keys/k', { type: 'chacha20-poly1305', derived: true, exportable: true })
  assert.deepEqual([again.status, again.data, again.warnings], [200, DESCRIBED, []])
})

const REFUSED: readonly { name: string; body: JsonObject; message: RegExp }[] = [
  { name: 'an unknown type', body: { type: 'nope' }, message: /^unknown key type nope, offered are aes128-gcm96, / },
  { name: 'a type not offered', body: { type: 'rsa-1024' }, message: /^unknown key type rsa-1024, offered are / },
  {
    name: 'an RSA key with derivation',
    body: { type: 'rsa-2048', derived: true },
    message: /^key derivation and convergent encryption not supported for keys of type rsa-2048/,
  },
  { name: 'a type in capitals', body: { type: 'AES256-GCM96' }, message: /^unknown key type AES256-GCM96, / },
  { name: 'an empty type', body: { type: '' }, message: /^unknown key type, offered are / },
  { name: 'a type with markup', body: { type: '<b>' }, message: /^unknown key type, offered are / },
  { name: 'a long type', body: { type: 'a'.repeat(1000) }, message: /^unknown key type, offered are / },
  { name: 'a type named as a member of objects', body: { type: '__proto__' }, message: /^unknown key type/ },
  { name: 'P-22: convergent without derived', body: { convergent_encryption: true }, message: /requires derivation/ },
  {
    name: 'a key size',
    body: { key_size: 32 },
    message: /"key_size": key_size is not valid for algorithm aes256-gcm96/,
  },
  {
    name: 'a key size below the least',
    body: { type: 'hmac', key_size: 31 },
    message: /"key_size": invalid key_size, a key of type hmac has 32 to 512 bytes/,
  },
  { name: 'a key size above the most', body: { type: 'hmac', key_size: 513 }, message: /hmac has 32 to 512 bytes/ },
  { name: 'a managed key by name', body: { managed_key_name: 'x' }, message: /"managed_key_name" is only for/ },
  { name: 'a managed key by id', body: { managed_key_id: 'x' }, message: /"managed_key_id" is only for/ },
  { name: 'a period under an hour', body: { auto_rotate_period: '59m' }, message: /"auto_rotate_period": auto rotate/ },
  { name: 'a negative period', body: { auto_rotate_period: '-1h' }, message: /"auto_rotate_period"/ },
  { name: 'a period that is none', body: { auto_rotate_period: 'tomorrow' }, message: /"auto_rotate_period"/ },
  { name: 'a flag that is none', body: { exportable: 'maybe' }, message: /"exportable"/ },
]
test('the least and the largest size of a key are taken', async () => {
  const { client } = mountTransit()
  for (const key_size of [32, 512]) {
    assert.equal((await client.write(`keys/k${key_size}`, { type: 'hmac', key_size })).status, 200)
    assert.equal((await client.read(`keys/k${key_size}`)).data.key_size, key_size)
  }
})

for (const { name, body, message } of REFUSED) {
  test(`create refuses ${name}, and makes no key`, async () => {
    const { client, view } = mountTransit()
    const { status, errors } = await client.write('keys/k', body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
    assert.equal(view.entries.size, 0)
  })
}

test('C-04 every combination of create parameters is answered, with a key or a refusal', async () => {
  const { client } = mountTransit()
  const symmetric = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305']
  const signing = ['ecdsa-p256', 'ecdsa-secp256k1', 'ml-dsa-44', 'rsa-2048']
  const types = [...symmetric, 'ed25519', ...signing, 'managed_key', 'nope', '']
  const flags = [false, true]
  let made = 0
  for (const type of types) {
    for (const derived of flags) {
      for (const convergent_encryption of flags) {
        for (const key_size of [0, 31, -1]) {
          for (const auto_rotate_period of [0, 1, 3600]) {
            const body = { type, derived, convergent_encryption, key_size, auto_rotate_period, exportable: derived }
            const { status } = await client.write(`keys/k${made}`, body)
            assert.ok(status === 200 || status === 400, JSON.stringify(body))
            if (status === 200) made += 1
          }
        }
      }
    }
  }
  // With the two periods that can be: all but convergent without derived; ed25519 not convergent; others neither.
  assert.equal(made, 2 * (3 * symmetric.length + 2 + signing.length))
  assert.equal((await client.list('keys')).data.keys.length, made)
})

test('read of a missing key is 404; its context is base64 even where it is not used', async () => {
  const { client } = mountTransit()
  const missing = await client.read('keys/k')
  assert.deepEqual([missing.status, missing.errors], [404, ['']])
  await client.write('keys/k')
  assert.equal((await client.read('keys/k', { context: base64('c') })).status, 200)
  assert.equal((await client.read('keys/k', { context: '!' })).status, 400)
})

test('list gives names in order and in pages, and 404 where there is none', async () => {
  const { client } = mountTransit()
  assert.equal((await client.list('keys')).status, 404)
  for (const name of ['b', 'a', 'd', 'c', 'A']) await client.write(`keys/${name}`)
  await client.write('config/keys', { disable_upsert: true })
  const PAGES: readonly [JsonObject, readonly string[]][] = [
    [{}, ['A', 'a', 'b', 'c', 'd']],
    [{ limit: 2 }, ['A', 'a']],
    [{ after: 'a', limit: 2 }, ['b', 'c']],
    [{ after: 'bb' }, ['c', 'd']],
    [{ limit: '-1' }, ['A', 'a', 'b', 'c', 'd']],
    [{ limit: 100 }, ['A', 'a', 'b', 'c', 'd']],
  ]
  for (const [query, expected] of PAGES) assert.deepEqual((await client.list('keys', query)).data.keys, expected)
  assert.equal((await client.list('keys', { after: 'd' })).status, 404)
})

test('delete is refused until deletion_allowed; then key and ciphertexts are gone and the name is free', async () => {
  const { client } = mountTransit()
  assert.match((await client.delete('keys/k')).errors[0] ?? '', /"k": could not delete key; not found/)
  await client.write('keys/k')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  assert.match((await client.delete('keys/k')).errors[0] ?? '', /deletion is not allowed for this key/)
  await client.write('keys/k/config', { deletion_allowed: true })
  await client.write('keys/k/config', { deletion_allowed: false })
  assert.equal((await client.delete('keys/k')).status, 400)
  await client.write('keys/k/config', { deletion_allowed: true })
  const deleted = await client.delete('keys/k')
  assert.deepEqual([deleted.status, deleted.data], [204, undefined])
  assert.equal((await client.delete('keys/k')).status, 400)
  assert.equal((await client.list('keys')).status, 404)
  assert.match((await client.write('keys/k/rotate')).errors[0] ?? '', /key not found/)
  assert.match((await client.write('keys/k/config')).errors[0] ?? '', /no existing key named k could be found/)
  assert.equal((await client.read('keys/k')).status, 404)
  await client.write('keys/k')
  assert.equal((await client.write('decrypt/k', { ciphertext })).status, 400)
})

test('rotate adds a version that encrypts, keeps the old ones readable and the minimums as they are', async () => {
  const { client, clock } = mountTransit()
  await client.write('keys/k')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  clock.nowMs += 60_000
  const rotated = await client.write('keys/k/rotate')
  assert.deepEqual(rotated.data, { ...DESCRIBED, latest_version: 2, keys: { 1: 1_700_000_000, 2: 1_700_000_060 } })
  assert.equal((await client.write('encrypt/k', { plaintext })).data.key_version, 2)
  assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
  assert.match((await client.write('keys/k/rotate', { managed_key_name: 'x' })).errors[0] ?? '', /"managed_key_name"/)
  assert.equal((await client.read('keys/k')).data.latest_version, 2)
})

test('raising min_decryption_version hides versions and lowering it brings them back', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  for (let count = 1; count < 4; count += 1) await client.write('keys/k/rotate')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext, key_version: 2 })).data
  const versions = async (body: JsonObject) =>
    Object.keys((await client.write('keys/k/config', body)).data.keys).map(Number)
  assert.deepEqual(await versions({ min_decryption_version: 3 }), [3, 4])
  assert.match((await client.write('decrypt/k', { ciphertext })).errors[0] ?? '', /too old/)
  assert.match((await client.write('rewrap/k', { ciphertext })).errors[0] ?? '', /too old/)
  assert.match((await client.write('encrypt/k', { plaintext, key_version: 2 })).errors[0] ?? '', /no such key version/)
  assert.deepEqual(await versions({ min_decryption_version: 2 }), [2, 3, 4])
  assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
  assert.deepEqual(await versions({ min_decryption_version: 0 }), [1, 2, 3, 4])
  assert.equal((await client.write('keys/k/config', { min_decryption_version: 0 })).warnings.length, 1)
  assert.equal((await client.write('keys/k/config', { min_decryption_version: 1 })).warnings.length, 0)
})

test('min_encryption_version bounds the version that a request asks for', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  for (let count = 1; count < 5; count += 1) await client.write('keys/k/rotate')
  await client.write('keys/k/config', { min_decryption_version: 2, min_encryption_version: 3 })
  const EXPECTED: readonly [JsonValue, number | RegExp][] = [
    [0, 5],
    [5, 5],
    [4, 4],
    ['3', 3],
    [2, /less than the minimum encryption key version/],
    [1, /less than the minimum encryption key version/],
    [6, /higher than the latest key version/],
    [-1, /is negative/],
  ]
  for (const [key_version, expected] of EXPECTED) {
    for (const path of ['encrypt/k', 'datakey/wrapped/k']) {
      const { data, errors } = await client.write(path, { plaintext, key_version })
      if (typeof expected === 'number') assert.equal(data.key_version, expected)
      else assert.match(errors[0] ?? '', expected)
    }
  }
})

test('a refused config changes none of what it asked for', async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { auto_rotate_period: '2h' })
  const before = await client.read('keys/k')
  const ALL = { deletion_allowed: true, exportable: true, allow_plaintext_backup: true, auto_rotate_period: '5h' }
  const wrong = [{ min_decryption_version: 2 }, { min_encryption_version: -1 }, { auto_rotate_period: 60 }]
  for (const body of wrong) {
    assert.equal((await client.write('keys/k/config', { ...ALL, ...body })).status, 400)
    assert.deepEqual(await client.read('keys/k'), before)
  }
  const { data } = await client.write('keys/k/config', ALL)
  assert.equal(data.auto_rotate_period, 18_000)
  const unset = { deletion_allowed: false, exportable: false, allow_plaintext_backup: false }
  const { data: after, warnings } = await client.write('keys/k/config', unset)
  assert.deepEqual([after.exportable, after.allow_plaintext_backup, after.deletion_allowed], [true, true, false])
  assert.deepEqual(warnings, [])
  assert.equal((await client.write('keys/k/config', { auto_rotate_period: null })).data.auto_rotate_period, 18_000)
  assert.equal((await client.write('keys/k/config', { auto_rotate_period: 0 })).data.auto_rotate_period, 0)
})

test('config/keys holds one switch, which an empty write switches off', async () => {
  const { client, view } = mountTransit()
  const disabled = async () => (await client.read('config/keys')).data.disable_upsert
  assert.equal(await disabled(), false)
  assert.deepEqual((await client.write('config/keys', { disable_upsert: 'true' })).data, { disable_upsert: true })
  assert.equal(await disabled(), true)
  assert.equal((await client.write('config/keys', { disable_upsert: 'x' })).status, 400)
  assert.equal(await disabled(), true)
  assert.deepEqual((await client.write('config/keys')).data, { disable_upsert: false })
  assert.equal(await disabled(), false)
  view.plant('config/keys', Buffer.from('{"format":2,"disableUpsert":true}'))
  await assert.rejects(client.read('config/keys'), /unknown format/)
})
