import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { requestInfo } from '../../../../test/fixtures/engine-client.ts'
import { base64, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { decodeFields } from '../../../api/fields.ts'
import { HMAC_HASH_NAMES } from '../../../crypto/primitives/named-hmac.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { hmacEndpoint } from './hmac-endpoint.ts'

const input = base64('the quick brown fox')

/** Computed once, outside this program, under the key 01234567890123456789012345678901 in ASCII. */
const KNOWN: readonly { readonly hash: string; readonly hmac: string; readonly input?: string }[] = [
  { hash: 'sha1', hmac: 'FuC2wR0oEs8Q2taEueKCq59KyXY=' },
  { hash: 'sha2-224', hmac: '3p+ZWVquYDvu2dSTCa65Y3fgoMfIAc6fNaBbtg==' },
  { hash: 'sha2-256', hmac: 'UcBvm5VskkukzZHlPgm3p5P/Yr/PV6xpuOGZISya3A4=' },
  { hash: 'sha2-384', hmac: 'jDB9YXdPjpmr29b1JCIEJO93IydlKVfD9mA2EO9OmJtJQg3QAV5tcRRRb7IQGW9p' },
  {
    hash: 'sha2-512',
    hmac: 'PSXLXvkvKF4CpU65e2bK1tGBZQpcpCEM32fq2iUoiTyQQCfBcGJJItQ+60tMwWXAPQrC290AzTrNJucGrr4GFA==',
  },
  { hash: 'sha3-224', hmac: 'TGipmKH8LR/BkMolYpDYy0BJCIhTtGPDhV2VkQ==' },
  { hash: 'sha3-256', hmac: '+px9V/7QYLfdK808zPESC2T/L33uFf4Blzsn9Jy838o=' },
  { hash: 'sha3-384', hmac: 'YGoRwN4UdTRYZeOER86jsQOB8piWenzLDzJ2wJQK/Jq59rAsY8lh7SCdqqCyFg70' },
  {
    hash: 'sha3-512',
    hmac: 'GrNA8sU88naMPEQ7UZGj9EJl7YJhl03AFHfxcEURFrtvnobdea9ZlZHePpxAx/oCaC7R2HkrAO+Tu3uXPIl3lg==',
  },
  { hash: 'sha2-256', hmac: 'BCfVv6rlnRsIKpjCZCxWvh5iYwSSabRXpX9XJniuNgc=', input: '' },
]

for (const { hash, hmac, input: message = input } of KNOWN) {
  test(`a known HMAC with ${hash} of ${message.length} characters: made, and verified`, async () => {
    const { client, view } = mountTransit()
    plantKey(view, 'k', 'hmac', Buffer.from('01234567890123456789012345678901'), 'plain')
    const wanted = `vault:v1:${hmac}`
    assert.equal((await client.write(`hmac/k/${hash}`, { input: message })).data.hmac, wanted)
    assert.equal((await client.write('hmac/k', { input: message, algorithm: hash })).data.hmac, wanted)
    for (const [path, body] of [
      [`verify/k/${hash}`, {}],
      ['verify/k', { hash_algorithm: hash }],
      ['verify/k', { hash_algorithm: '', algorithm: hash }],
    ] as const) {
      const verify = (hmacGiven: string) => client.write(path, { input: message, hmac: hmacGiven, ...body })
      assert.equal((await verify(wanted)).data.valid, true)
      const changed = `${wanted.slice(0, 9)}${wanted[9] === 'A' ? 'B' : 'A'}${wanted.slice(10)}`
      assert.equal((await verify(changed)).data.valid, false)
      assert.equal((await verify('vault:v1:')).data.valid, false)
      assert.equal((await verify('vault:v1:AAAA')).data.valid, false)
    }
  })
}

test('every hash has a known HMAC', () => {
  assert.deepEqual([...new Set(KNOWN.map(({ hash }) => hash))], HMAC_HASH_NAMES)
})

const REFUSED: readonly { readonly name: string; readonly body: JsonObject; readonly message: RegExp }[] = [
  { name: 'no input', body: {}, message: /^missing input for HMAC$/ },
  { name: 'input that is no base64', body: { input: '!' }, message: /^"input": illegal base64 data at input byte 0$/ },
  { name: 'an unknown hash', body: { input, algorithm: 'md5' }, message: /^"algorithm": unsupported algorithm/ },
  { name: 'the hash "none"', body: { input, algorithm: 'none' }, message: /^"algorithm": unsupported algorithm/ },
  { name: 'an empty hash', body: { input, algorithm: '' }, message: /^"algorithm": unsupported algorithm/ },
  { name: 'a version that is not there', body: { input, key_version: 2 }, message: /HMAC is higher than the latest/ },
  { name: 'a negative version', body: { input, key_version: -1 }, message: /HMAC is negative/ },
  { name: 'no items', body: { batch_input: [] }, message: /missing batch input to process/ },
  { name: 'an item that is none', body: { batch_input: [1] }, message: /"batch_input\[0\]"/ },
]
for (const { name, body, message } of REFUSED) {
  test(`hmac refuses ${name}`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k')
    const { status, errors } = await client.write('hmac/k', body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
  })
}

test('minimums of versions: encryption for making, decryption for verifying, and 0 is no version', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const { hmac } = (await client.write('hmac/k', { input })).data
  await client.write('keys/k/rotate')
  assert.match((await client.write('hmac/k', { input })).data.hmac, /^vault:v2:/)
  assert.equal((await client.write('hmac/k', { input, key_version: '1' })).data.hmac, hmac)
  await client.write('keys/k/config', { min_encryption_version: 2 })
  const old = await client.write('hmac/k', { input, key_version: 1 })
  assert.match(old.errors[0] ?? '', /^cannot generate HMAC: version is too old/)
  assert.equal((await client.write('verify/k', { input, hmac })).data.valid, true)
  await client.write('keys/k/config', { min_decryption_version: 2 })
  for (const [text, message] of [
    [hmac, /^cannot verify HMAC: version is too old/],
    [hmac.replace('v1', 'v0'), /version is too old/],
    [hmac.replace('v1', 'v-1'), /version is too old/],
    [hmac.replace('v1', 'v3'), /^invalid HMAC: version is too new/],
    [hmac.slice(9), /^invalid HMAC to verify: no prefix/],
    ['vault:v2:%', /could not decode base64/],
    ['', /no prefix/],
  ] as const) {
    const { status, errors } = await client.write('verify/k', { input, hmac: text })
    assert.equal(status, 400, text)
    assert.match(errors[0] ?? '', message)
  }
})

test('C-09 a batch gives the same as single requests, in order, and 200 with what failed items lack', async (t) => {
  const { client } = mountTransit()
  await client.write('keys/k', { type: 'hmac' })
  const item = fc.record(
    {
      input: fc.oneof(fc.base64String({ maxLength: 40 }), fc.constantFrom('!', 'YQ', 'YQ==\n')),
      reference: fc.string(),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 10 }), async (items) => {
      const { status, data } = await client.write('hmac/k', { batch_input: items })
      assert.equal(status, 200)
      const singles = await Promise.all(
        items.map(async ({ input: text, reference = '' }) => {
          const single = await client.write('hmac/k', text === undefined ? {} : { input: text })
          return single.status === 200 ? { ...single.data, reference } : { error: single.errors[0], reference }
        }),
      )
      assert.deepEqual(data.batch_results, singles)
    }),
    { seed: testSeed(t), numRuns: 50 },
  )
})

test('null in a batch is an item without fields, and a null input is an empty one', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const { data } = await client.write('hmac/k', { batch_input: [null, { input: null }, { input: '' }] })
  assert.equal(data.batch_results[0].error, 'missing input for HMAC')
  assert.equal(data.batch_results[1].hmac, data.batch_results[2].hmac)
})

test('an answer with a cached key is no promise, and a small batch is none', async () => {
  const { transit, client } = mountTransit()
  await client.write('keys/k')
  await transit.keys.find('k')
  const handler = hmacEndpoint.handler as unknown as (...args: unknown[]) => unknown
  for (const body of [{ input }, { batch_input: [{ input }, {}] }]) {
    const answer = handler(transit, decodeFields(hmacEndpoint.fields, { name: 'k', ...body }), requestInfo('update'))
    assert.ok(!(answer instanceof Promise))
  }
})

test('N-22 an HMAC of any other length is not valid, and no error', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  for (let length = 0; length <= 70; length += 1) {
    const hmac = `vault:v1:${Buffer.alloc(length, 1).toString('base64')}`
    assert.equal((await client.write('verify/k', { input, hmac })).data.valid, false)
  }
})

test('a key that is not there is a 400', async () => {
  const { status, errors } = await mountTransit().client.write('hmac/missing', { input })
  assert.equal(status, 400)
  assert.match(errors[0] ?? '', /^encryption key not found/)
})
