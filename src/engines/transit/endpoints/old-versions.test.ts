// Old keys: convergent versions 1 and 2, which only restored keys have (Interface 9;
// docs/security-model.md#convergent-keys), and derivation in counter mode. The constants were computed once, outside
// this program, under a key of the bytes 00 to 1f.
import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
import { test } from 'node:test'
import { base64, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { inlineWork } from '../../../lib/slow-work.ts'
import { realWorld } from '../../../lib/world.ts'
import type { RingHeader } from '../ring/ring-header.ts'

const MATERIAL = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const plaintext = base64('the quick brown fox')
const context = base64('my-cool-context')
const nonce = base64(Buffer.from('101112131415161718191a1b', 'hex'))
const VERSION_1 = 'vault:v1:PRaFJ/ogFEMZ4r2XvXOHlgqmqUzk98B7iy7m3QT193u/KHg='
const VERSION_2 = 'vault:v1:5mE5nEYTz3Kyd/elyoySLJho25MvyWOX4+KHirAV0Lb4oU+gbVoQ76aCZGtXnIE='
const COUNTER_KEY = '9439954f35d2461de9bbdc9c6c5a8f7be62eb0de017a0f70db99885048a14dd6'

const convergent = (convergentVersion: number): Partial<RingHeader> => ({
  versions: [{ createdAtMs: 0, convergentVersion }],
})

function planted(more: Partial<RingHeader>, kind: 'convergent' | 'derived' = 'convergent') {
  const mounted = mountTransit()
  plantKey(mounted.view, 'k', 'aes256-gcm96', MATERIAL, kind, more)
  return mounted
}

test('convergent version 1 takes the nonce of its caller and stores none', async () => {
  const { client } = planted(convergent(1))
  const encrypted = await client.write('encrypt/k', { plaintext, context, nonce })
  assert.deepEqual([encrypted.data.ciphertext, encrypted.warnings], [VERSION_1, []])
  const decrypted = await client.write('decrypt/k', { ciphertext: VERSION_1, context, nonce })
  assert.deepEqual([decrypted.data.plaintext, decrypted.warnings], [plaintext, []])
  assert.equal((await client.write('rewrap/k', { ciphertext: VERSION_1, context, nonce })).data.ciphertext, VERSION_1)
  const { data } = await client.write('datakey/plaintext/k', { context, nonce })
  const opened = await client.write('decrypt/k', { ciphertext: data.ciphertext, context, nonce })
  assert.equal(opened.data.plaintext, data.plaintext)
})

test('convergent version 1 without its nonce, or with one of another length, is refused', async () => {
  const { client } = planted(convergent(1))
  for (const wrong of [undefined, '', 'c2hvcnQ=', base64(Buffer.alloc(13)), '?']) {
    const body = wrong === undefined ? {} : { nonce: wrong }
    for (const path of ['encrypt/k', 'decrypt/k', 'rewrap/k', 'datakey/plaintext/k']) {
      const single = await client.write(path, { plaintext, ciphertext: VERSION_1, context, ...body })
      assert.equal(single.status, 400, path)
      assert.match(single.errors[0] ?? '', /^"nonce"/)
      if (path.startsWith('datakey')) continue
      const item = { plaintext, ciphertext: VERSION_1, context, ...body }
      const { status, data } = await client.write(path, { batch_input: [item] })
      assert.deepEqual([status, data.batch_results[0].error], [400, single.errors[0]])
    }
  }
})

test('convergent version 2 makes its nonce from context and plaintext', async () => {
  const { client } = planted(convergent(2))
  assert.equal((await client.write('encrypt/k', { plaintext, context })).data.ciphertext, VERSION_2)
  assert.equal((await client.write('decrypt/k', { ciphertext: VERSION_2, context })).data.plaintext, plaintext)
  assert.equal((await client.write('rewrap/k', { ciphertext: VERSION_2, context })).data.ciphertext, VERSION_2)
  const given = await client.write('encrypt/k', { plaintext, context, nonce })
  assert.equal(given.data.ciphertext, VERSION_2)
  assert.match(given.warnings[0] ?? '', /nonce was not used/)
  assert.equal((await client.write('encrypt/k', { plaintext, context, nonce: 'c2hvcnQ=' })).status, 400)
})

for (const [version, ciphertext] of [
  [1, VERSION_1],
  [2, VERSION_2],
] as const) {
  test(`C-02 a key of convergent version ${version} rotates to 3, and is rewrapped to it`, async () => {
    const { client } = planted(convergent(version))
    assert.equal((await client.read('keys/k')).data.convergent_encryption_version, -1)
    await client.write('keys/k/rotate')
    const options = { context, ...(version === 1 ? { nonce } : {}) }
    const { data, warnings } = await client.write('rewrap/k', { ciphertext, ...options })
    assert.deepEqual([data.key_version, warnings], [2, []])
    const again = await client.write('encrypt/k', { plaintext, context })
    assert.equal(again.data.ciphertext, data.ciphertext)
    assert.equal((await client.write('decrypt/k', { ciphertext: data.ciphertext, context })).data.plaintext, plaintext)
    const old = await client.write('encrypt/k', { plaintext, key_version: 1, ...options })
    assert.equal(old.data.ciphertext, ciphertext)
  })

  test(`large batches of convergent version ${version} are the same elsewhere as here`, async () => {
    const inline = inlineWork(realWorld())
    const mounted = mountTransit(undefined, undefined, { ...inline, split: () => ({ parts: () => 3, end: () => {} }) })
    plantKey(mounted.view, 'k', 'aes256-gcm96', MATERIAL, 'convergent', convergent(version))
    const options = { context, ...(version === 1 ? { nonce } : {}) }
    const items = Array.from({ length: 600 }, () => ({ plaintext, ciphertext, ...options }))
    const { data: encrypted } = await mounted.client.write('encrypt/k', { batch_input: items })
    const { data: decrypted } = await mounted.client.write('decrypt/k', { batch_input: items })
    assert.equal(encrypted.batch_results.length, 600)
    for (const result of encrypted.batch_results) assert.equal(result.ciphertext, ciphertext)
    for (const result of decrypted.batch_results) assert.equal(result.plaintext, plaintext)
  })
}

test('a key whose kdf is the counter derives with it, in every version', async () => {
  const { client } = planted({ kdf: 'counter' }, 'derived')
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(COUNTER_KEY, 'hex'), Buffer.from(nonce, 'base64'))
  const sealed = [
    Buffer.from(nonce, 'base64'),
    cipher.update('the quick brown fox'),
    cipher.final(),
    cipher.getAuthTag(),
  ]
  const ciphertext = `vault:v1:${Buffer.concat(sealed).toString('base64')}`
  assert.equal((await client.write('decrypt/k', { ciphertext, context })).data.plaintext, plaintext)
  await client.write('keys/k/rotate')
  const { data } = await client.write('rewrap/k', { ciphertext, context })
  assert.equal(data.key_version, 2)
  assert.equal((await client.write('decrypt/k', { ciphertext: data.ciphertext, context })).data.plaintext, plaintext)
  const read = (await client.read('keys/k')).data
  assert.deepEqual([read.kdf, read.kdf_mode], ['hmac-sha256-counter', 'hmac-sha256-counter'])
  assert.equal((await client.write('encrypt/k', { plaintext, context, nonce })).status, 400)
})
