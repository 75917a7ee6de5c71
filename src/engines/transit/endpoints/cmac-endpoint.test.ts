import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import type { JsonObject } from '../../../lib/json.ts'

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
    if (bytes < 8) continue
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
  const { status, data } = await client.write('cmac/k', { batch_input, mac_length: 10 })
  assert.equal(status, 200)
  const [first, second, ...failed] = data.batch_results
  assert.deepEqual(
    [first, second],
    [
      { cmac: made(10), reference: 'a' },
      { cmac: made(8), reference: '' },
    ],
  )
  assert.deepEqual(
    failed.map(({ error }: { error: string }) => error),
    ['missing input for CMAC', 'missing input for CMAC', '"mac_length": must be from 0 to 16, 0 for all of it'],
  )
  const items = [
    { input, cmac: made(10), reference: 'b' },
    { input, cmac: made(8), mac_length: 8 },
    { input, cmac: made(8) },
    { input: base64('other'), cmac: made(10) },
  ]
  const verified = await client.write('verify/k/10', { batch_input: items })
  assert.deepEqual(verified.data.batch_results, [
    { valid: true, reference: 'b' },
    { valid: true, reference: '' },
    { valid: false, reference: '' },
    { valid: false, reference: '' },
  ])
})

test('part 4: a CMAC of less than half of its tag is not verified, unless the key says so', async () => {
  const client = mounted()
  const says = /^"mac_length": a CMAC of \d+ bytes?.* at least (\d+).*min_mac_length/
  const verify = async (bytes: number) => {
    const given = { input, cmac: made(bytes) }
    const answers = [
      await client.write(`verify/k/${bytes}`, given),
      await client.write('verify/k', { ...given, mac_length: bytes }),
    ]
    const batch = await client.write('verify/k', { batch_input: [{ ...given, mac_length: bytes }, { ...given }] })
    const [own] = batch.data.batch_results
    for (const { status, data, errors } of answers) {
      assert.deepEqual([status === 200, data?.valid ?? false], [own.valid, own.valid])
      if (status !== 200) assert.deepEqual([status, errors], [400, [own.error]])
    }
    return own.valid ? 'valid' : says.exec(own.error)?.[1]
  }
  for (let bytes = 1; bytes < 8; bytes += 1) assert.equal(await verify(bytes), '8', `${bytes}`)
  assert.equal(await verify(8), 'valid')
  // The minimum is for verify alone: CMACs of any length are made, as they may be verified elsewhere.
  assert.equal((await client.write('cmac/k/1', { input })).data.cmac, made(1))
  assert.equal((await client.read('keys/k')).data.min_mac_length, 8)

  assert.equal((await client.write('keys/k/config', { min_mac_length: 4 })).data.min_mac_length, 4)
  assert.deepEqual([await verify(3), await verify(4), await verify(16)], ['4', 'valid', 'valid'])
  await client.write('keys/k/config', { min_mac_length: 16 })
  assert.deepEqual([await verify(4), await verify(15), await verify(16)], ['16', '16', 'valid'])
  // A write that does not name the setting leaves it.
  await client.write('keys/k/config', { deletion_allowed: true })
  await client.write('keys/k/rotate')
  assert.equal((await client.read('keys/k')).data.min_mac_length, 16)
})

test('part 4: min_mac_length is 1 to 16, and of keys that make CMACs', async () => {
  const client = mounted()
  for (const min_mac_length of [0, -1, 17, 'x'])
    assert.match((await client.write('keys/k/config', { min_mac_length })).errors[0] ?? '', /"min_mac_length"/)
  await client.write('keys/aes')
  const { status, errors } = await client.write('keys/aes/config', { min_mac_length: 8, deletion_allowed: true })
  assert.equal(status, 400)
  assert.match(errors[0] ?? '', /^"min_mac_length": only for keys that make CMACs, this one is of type aes256-gcm96/)
  const { data } = await client.read('keys/aes')
  assert.deepEqual([data.deletion_allowed, data.min_mac_length], [false, undefined])
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
