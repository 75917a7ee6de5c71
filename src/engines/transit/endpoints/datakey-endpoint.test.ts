import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, flagsOf, KEY_KINDS, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import type { JsonObject, JsonValue } from '../../../lib/json.ts'

const options = { context: base64('my-cool-context'), associated_data: base64('associated') }

const SIZES: readonly [JsonObject, number][] = [
  [{}, 32],
  [{ bits: 128 }, 16],
  [{ bits: '256' }, 32],
  [{ bits: 512 }, 64],
]
for (const kind of KEY_KINDS) {
  test(`datakey ${kind}: the ciphertext holds the key, which only type plaintext shows`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', flagsOf(kind))
    await client.write('keys/k/rotate')
    for (const [body, bytes] of SIZES) {
      const { data } = await client.write('datakey/plaintext/k', { ...body, ...options })
      assert.equal(data.key_version, 2)
      assert.equal(Buffer.from(data.plaintext, 'base64').length, bytes)
      const opened = await client.write('decrypt/k', { ciphertext: data.ciphertext, ...options })
      assert.equal(opened.data.plaintext, data.plaintext)
      const { data: wrapped } = await client.write('datakey/wrapped/k', { ...body, ...options, key_version: 1 })
      assert.deepEqual(Object.keys(wrapped).sort(), ['ciphertext', 'key_version'])
      assert.equal(wrapped.key_version, 1)
    }
  })
}

const REFUSED: readonly { path: string; body: Record<string, JsonValue>; message: RegExp }[] = [
  { path: 'datakey/other/k', body: {}, message: /^Invalid path, must be 'plaintext' or 'wrapped'$/ },
  { path: 'datakey/other/missing', body: {}, message: /^Invalid path/ },
  { path: 'datakey/wrapped/k', body: { bits: 100 }, message: /^invalid bit length/ },
  { path: 'datakey/wrapped/k', body: { bits: 0 }, message: /^invalid bit length/ },
  { path: 'datakey/wrapped/missing', body: {}, message: /^encryption key not found/ },
  { path: 'datakey/wrapped/k', body: { nonce: base64('123456789012') }, message: /nonce not allowed/ },
  { path: 'datakey/wrapped/k', body: { key_version: 2 }, message: /higher than the latest/ },
  { path: 'datakey/wrapped/k', body: { associated_data: '!' }, message: /^"associated_data": illegal base64/ },
  { path: 'datakey/wrapped/d', body: {}, message: /^missing 'context' for key derivation/ },
]
for (const { path, body, message } of REFUSED) {
  test(`datakey refuses ${path} ${JSON.stringify(body)}`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k')
    await client.write('keys/d', { derived: true })
    const { status, errors } = await client.write(path, body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
  })
}
