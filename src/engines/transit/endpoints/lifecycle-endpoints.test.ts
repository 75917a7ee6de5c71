import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, type MountedTransit, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { decodeRing } from '../ring/key-ring.ts'

const plaintext = base64('the quick brown fox')

async function rotated(mounted: MountedTransit, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) await mounted.client.write('keys/k/rotate')
}

const secretsOf = (bytes: Buffer): string[] =>
  decodeRing(bytes).secrets.flatMap(({ material, hmac }) => [
    material.reveal().toString('hex'),
    hmac.reveal().toString('hex'),
  ])

test('P-20 scenario 11: trim keeps its order of checks, deletes for good, bounds the minimums', async () => {
  const mounted = mountTransit()
  const { client, view } = mounted
  await client.write('keys/k')
  await rotated(mounted, 4)
  const trim = async (min_available_version?: number | null) =>
    client.write('keys/k/trim', min_available_version === undefined ? {} : { min_available_version })
  assert.match((await trim(1)).errors[0] ?? '', /minimum encryption version is not set/)
  const { ciphertext } = (await client.write('encrypt/k', { plaintext, key_version: 2 })).data
  await client.write('keys/k/config', { min_encryption_version: 4, min_decryption_version: 3 })
  const REFUSED: readonly [number | undefined, RegExp][] = [
    [undefined, /missing min_available_version/],
    [5, /greater than minimum encryption version/],
    [4, /greater than minimum decryption version/],
    [-1, /cannot be decremented/],
    [0, /should be positive/],
  ]
  for (const [version, sentence] of REFUSED) {
    const { status, errors } = await trim(version)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', sentence)
  }
  const before = secretsOf(view.entries.get('key/k') ?? Buffer.alloc(0))
  const trimmed = await trim(3)
  assert.equal(trimmed.status, 200)
  assert.deepEqual(Object.keys(trimmed.data.keys), ['3', '4', '5'])
  assert.equal(trimmed.data.min_available_version, 3)
  assert.deepEqual(secretsOf(view.entries.get('key/k') ?? Buffer.alloc(0)), before.slice(4))
  assert.match((await client.write('decrypt/k', { ciphertext })).errors[0] ?? '', /too old/)
  const bounded: JsonObject[] = [
    { min_decryption_version: 1 },
    { min_encryption_version: 2 },
    { min_encryption_version: 0 },
    { min_encryption_version: 2, min_decryption_version: 2 },
  ]
  for (const body of bounded) assert.equal((await client.write('keys/k/config', body)).status, 400)
  assert.equal((await trim(2)).status, 400)
  assert.equal((await trim(3)).status, 200)
  await rotated(mounted, 5)
  await client.write('keys/k/config', { min_encryption_version: 7, min_decryption_version: 7 })
  assert.deepEqual(Object.keys((await trim(7)).data.keys), ['7', '8', '9', '10'])
  for (const version of [8, 10, 7]) {
    const minimums = { min_encryption_version: version, min_decryption_version: version }
    const { data } = await client.write('keys/k/config', minimums)
    assert.deepEqual(Object.keys(data.keys)[0], String(version))
  }
  assert.equal((await client.write('keys/missing/trim', { min_available_version: 1 })).status, 400)
})

test('a trim that changes nothing writes nothing', async () => {
  const { client, view } = mountTransit()
  await client.write('keys/k')
  await client.write('keys/k/config', { min_encryption_version: 1 })
  assert.equal((await client.write('keys/k/trim', { min_available_version: 1 })).data.min_available_version, 1)
  view.beforeCommit = () => assert.fail('nothing is to be written')
  assert.equal((await client.write('keys/k/trim', { min_available_version: 1 })).status, 200)
})

test('scenario 38: a softly deleted key is read, configured, trimmed, deleted, and does nothing else', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  await client.write('keys/other')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  const deleted = await client.delete('keys/k/soft-delete')
  assert.deepEqual([deleted.status, deleted.data.soft_deleted, deleted.warnings], [200, true, []])
  assert.deepEqual((await client.delete('keys/k/soft-delete')).warnings, ['key was already marked as soft deleted'])
  const uses: readonly [string, JsonObject][] = [
    ['encrypt/k', { plaintext }],
    ['encrypt/k', { batch_input: [{ plaintext }] }],
    ['decrypt/k', { ciphertext }],
    ['rewrap/k', { ciphertext }],
    ['datakey/wrapped/k', {}],
    ['keys/k/rotate', {}],
  ]
  for (const [path, body] of uses) {
    const { status, errors, data } = await client.write(path, body)
    assert.equal(status, 400, path)
    assert.match(errors[0] ?? data.batch_results[0].error, /soft-deleted key/)
  }
  assert.equal((await client.read('keys/k')).data.soft_deleted, true)
  assert.deepEqual((await client.list('keys')).data.keys, ['k', 'other'])
  assert.equal((await client.write('keys/k/config', { min_encryption_version: 1 })).status, 200)
  assert.equal((await client.write('keys/k/trim', { min_available_version: 1 })).status, 200)
  const restored = await client.write('keys/k/soft-delete-restore')
  assert.deepEqual([restored.status, restored.data.soft_deleted, restored.warnings], [200, false, []])
  assert.deepEqual((await client.write('keys/k/soft-delete-restore')).warnings, ['key was already restored'])
  assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
  await client.delete('keys/k/soft-delete')
  await client.write('keys/k/config', { deletion_allowed: true })
  assert.equal((await client.delete('keys/k')).status, 204)
  for (const reply of [await client.delete('keys/k/soft-delete'), await client.write('keys/k/soft-delete-restore')])
    assert.deepEqual([reply.status, /key not found/.test(reply.errors[0] ?? '')], [400, true])
})

test('a list goes on after a name, which need not be there, and stops at its limit', async () => {
  const { client } = mountTransit()
  for (const name of ['a', 'b', 'c', 'd']) await client.write(`keys/${name}`)
  const pages: readonly [string, string[]][] = [
    ['', ['a', 'b', 'c', 'd']],
    ['?after=b', ['c', 'd']],
    ['?after=bb&limit=1', ['c']],
    ['?limit=2', ['a', 'b']],
    ['?limit=0', ['a', 'b', 'c', 'd']],
    ['?limit=-1', ['a', 'b', 'c', 'd']],
  ]
  for (const [query, names] of pages) {
    const input = Object.fromEntries(new URLSearchParams(query))
    assert.deepEqual((await client.call('list', 'keys', input)).data.keys, names, query)
  }
  assert.equal((await client.call('list', 'keys', { after: 'd' })).status, 404)
})
