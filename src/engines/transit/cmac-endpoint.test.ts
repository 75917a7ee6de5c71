import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit, plantKey } from '../../../test/fixtures/mounted-transit.ts'
import type { JsonObject } from '../../lib/json.ts'

/** RFC 4493 section 4. */
const KEY = Buffer.from('2b7e151628aed2a6abf7158809cf4f3c', 'hex')
const input = base64(Buffer.from('6bc1bee22e409f96e93d7e117393172a', 'hex'))
const TAG = Buffer.from('070a16b46b4d4144f79bdd9dd04a287c', 'hex')

function mounted() {
  const { client, view } = mountTransit()
  plantKey(view, 'k', 'aes128-cmac', KEY, 'plain')
  return client
}
const made = (bytes: number): string => `vault:v1:${base64(TAG.subarray(0, bytes))}`

test('RFC 4493: the CMAC of 16 bytes, whole and as short as is asked for, in the path or in the body', async () => {
  const client = mounted()
  assert.equal((await client.write('cmac/k', { input })).data.cmac, made(16))
  for (let bytes = 1; bytes <= 16; bytes += 1) {
    assert.equal((await client.write(`cmac/k/${bytes}`, { input })).data.cmac, made(bytes))
    assert.equal((await client.write('cmac/k', { input, mac_length: String(bytes) })).data.cmac, made(bytes))
    const given = { input, cmac: made(bytes) }
    assert.equal((await client.write(`verify/k/${bytes}`, given)).data.valid, true)
    assert.equal((await client.write('verify/k', { ...given, mac_length: bytes })).data.valid, true)
    // A CMAC that was shortened is not one of full length.
    assert.equal((await client.write('verify/k', given)).data.valid, bytes === 16)
    assert.equal((await client.write('verify/k', { ...given, mac_length: 0 })).data.valid, bytes === 16)
  }
})

test('a batch, with lengths of its items', async () => {
  const client = mounted()
  const batch_input = [
    { input, reference: 'a' },
    { input, mac_length: 8 },
    { input: '' },
    {},
    { input, mac_length: 17 },
  ]
  const { status, data } = await client.write('cmac/k', { batch_input, mac_length: 4 })
  assert.equal(status, 200)
  const [first, second, ...failed] = data.batch_results
  assert.deepEqual(
    [first, second],
    [
      { cmac: made(4), reference: 'a' },
      { cmac: made(8), reference: '' },
    ],
  )
  assert.deepEqual(
    failed.map(({ error }: { error: string }) => error),
    ['missing input for CMAC', 'missing input for CMAC', '"mac_length": must be from 0 to 16, 0 for all of it'],
  )
  const items = [
    { input, cmac: made(4), reference: 'b' },
    { input, cmac: made(8), mac_length: 8 },
    { input, cmac: made(8) },
    { input: base64('other'), cmac: made(4) },
  ]
  const verified = await client.write('verify/k/4', { batch_input: items })
  assert.deepEqual(verified.data.batch_results, [
    { valid: true, reference: 'b' },
    { valid: true, reference: '' },
    { valid: false, reference: '' },
    { valid: false, reference: '' },
  ])
})

test('all three types make what they verify, and nothing else does', async () => {
  const { client } = mountTransit()
  for (const type of ['aes128-cmac', 'aes192-cmac', 'aes256-cmac']) {
    await client.write(`keys/${type}`, { type })
    const { cmac } = (await client.write(`cmac/${type}`, { input })).data
    assert.equal((await client.write(`verify/${type}`, { input, cmac })).data.valid, true)
    assert.equal((await client.write(`verify/${type}`, { input: base64('x'), cmac })).data.valid, false)
    await client.write(`keys/${type}/rotate`)
    const { cmac: second } = (await client.write(`cmac/${type}`, { input })).data
    assert.match(second, /^vault:v2:/)
    assert.equal((await client.write(`cmac/${type}`, { input, key_version: 1 })).data.cmac, cmac)
    assert.equal((await client.write(`verify/${type}`, { input, cmac })).data.valid, true)
    // HMACs have a secret of their own.
    assert.equal((await client.write(`hmac/${type}`, { input })).status, 200)
  }
})

const REFUSED: readonly { readonly name: string; readonly path?: string; readonly body: JsonObject }[] = [
  { name: 'no input', body: {} },
  { name: 'an empty input', body: { input: '' } },
  { name: 'input that is no base64', body: { input: '!' } },
  { name: 'a length above 16', body: { input, mac_length: 17 } },
  { name: 'a negative length', body: { input, mac_length: -1 } },
  { name: 'a length that is none', path: 'cmac/k/x', body: { input } },
  { name: 'a version that is not there', body: { input, key_version: 2 } },
  { name: 'a key that makes none', path: 'cmac/aes', body: { input } },
  { name: 'a key that makes none, to verify', path: 'verify/aes', body: { input, cmac: made(16) } },
  { name: 'a length above 16, to verify', path: 'verify/k/17', body: { input, cmac: made(16) } },
  { name: 'a key that is not there', path: 'cmac/missing', body: { input } },
  { name: 'a CMAC that is none', path: 'verify/k', body: { input, cmac: 'x' } },
]
for (const { name, path = 'cmac/k', body } of REFUSED) {
  test(`cmac refuses ${name}`, async () => {
    const client = mounted()
    await client.write('keys/aes')
    assert.equal((await client.write(path, body)).status, 400)
  })
}
