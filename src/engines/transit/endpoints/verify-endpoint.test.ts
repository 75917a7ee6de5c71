import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { base64, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { signers } from '../../../../test/fixtures/transit-signers.ts'
import { SIGNATURE_HASHES } from '../../../crypto/signatures/signature-hashes.ts'
import type { JsonObject } from '../../../lib/json.ts'

const input = base64('the quick brown fox')

const SHAPES: readonly { readonly name: string; readonly body: JsonObject; readonly message: RegExp }[] = [
  { name: 'nothing to verify', body: { input }, message: /^neither a 'signature' nor an 'hmac' were given to verify/ },
  { name: 'no items', body: { batch_input: [] }, message: /^missing batch input to process/ },
  { name: 'items without any', body: { batch_input: [{ input }] }, message: /^no batch_input elements have/ },
  {
    name: 'an item without one',
    body: { batch_input: [{ input, signature: 'x' }, { input }] },
    message: /^some elements of batch_input are missing/,
  },
  {
    name: 'items of two kinds',
    body: {
      batch_input: [
        { input, signature: 'x' },
        { input, hmac: 'x' },
      ],
    },
    message: /^elements of batch_input must all provide 'signature'/,
  },
  { name: 'a signature of null', body: { input, signature: null }, message: /^invalid signature: no prefix/ },
  { name: 'an empty HMAC', body: { input, hmac: '' }, message: /^invalid HMAC to verify: no prefix/ },
  { name: 'a signature without a number', body: { input, signature: 'vault:vx:AA' }, message: /could not be decoded/ },
  {
    name: 'a signature without base64',
    body: { input, signature: 'vault:v1:!' },
    message: /^invalid base64 signature/,
  },
  {
    name: 'an HMAC with "none"',
    body: { input, hmac: 'vault:v1:AA==', hash_algorithm: 'none' },
    message: /unsupported/,
  },
  { name: 'a signature that is no DER', body: { input, signature: 'vault:v1:AAAA' }, message: /signature is invalid/ },
]
for (const { name, body, message } of SHAPES) {
  test(`verify refuses ${name}`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type: 'ecdsa-p256' })
    const { status, errors } = await client.write('verify/k', body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
  })
}

test('where an item has both, the signature is what is verified', async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { type: 'ed25519' })
  const { signature } = (await client.write('sign/k', { input })).data
  const { hmac } = (await client.write('hmac/k', { input })).data
  assert.equal((await client.write('verify/k', { input, signature, hmac: 'x' })).data.valid, true)
  assert.equal((await client.write('verify/k', { input, signature: hmac, hmac })).data.valid, false)
  const { data } = await client.write('verify/k', {
    input: '!',
    signature: 'x',
    batch_input: [{ input, signature, hmac: 'x' }, { input, signature: 'x' }, { signature }],
  })
  assert.deepEqual(data.batch_results, [
    { valid: true, reference: '' },
    { valid: false, error: 'invalid signature: no prefix, it begins with vault:vN:', reference: '' },
    { valid: false, error: 'missing input', reference: '' },
  ])
})

/** Texts that are base64, and texts that are not, for every field that is sent in base64. */
const BASE64: readonly (readonly [text: string, bytes: string | undefined])[] = [
  ['foobar', undefined],
  ['simple_plaintext', undefined],
  [':;.?', undefined],
  ['not-encoded', undefined],
  ['abc', undefined],
  ['vault', undefined],
  ['ab=', undefined],
  ['a===', undefined],
  ['abcd=', undefined],
  ['YWJj ', undefined],
  ['=', undefined],
  ['YWJjZA', undefined],
  ['YQ==YQ==', undefined],
  ['ab\ncd', '69b71d'],
  ['YQ==\n', '61'],
  ['YQ=\n=', '61'],
  ['adba32==', '69d6dadf'],
  ['YR==', '61'],
  ['', ''],
]
for (const [path, named] of [
  ['sign/k/sha2-256/x', 'hash_algorithm'],
  ['sign/k/-', 'hash_algorithm'],
  ['hmac/k/sha2-256/x', 'algorithm'],
  ['hash/sha2-256/x', 'algorithm'],
  ['cmac/c/8/x', 'mac_length'],
  ['cmac/c/-1', 'mac_length'],
] as const) {
  test(`${path}: what can only be ${named} is refused by that name`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type: 'ed25519' })
    await client.write('keys/c', { type: 'aes256-cmac' })
    const { status, errors } = await client.write(path, { input })
    assert.equal(status, 400)
    assert.ok(String(errors).includes(`"${named}"`), String(errors))
  })
}

test('what stands in the place of the hash is a hash, whatever is verified, or the length of a CMAC', async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { type: 'ed25519' })
  await client.write('keys/c', { type: 'aes256-cmac' })
  const { signature } = (await client.write('sign/k', { input })).data
  const { hmac } = (await client.write('hmac/k', { input })).data
  const { cmac } = (await client.write('cmac/c/8', { input })).data
  for (const [path, body] of [
    ['verify/k', { input, signature }],
    ['verify/k', { input, hmac }],
    ['verify/c/8', { input, cmac }],
  ] as const) {
    assert.equal((await client.write(path, body)).data.valid, true, path)
    for (const more of ['/sha2-256/x', '/-1']) {
      const { status, errors } = await client.write(`${path.slice(0, 8)}${more}`, body)
      assert.equal(status, 400, path + more)
      assert.match(String(errors), /"hash_algorithm"/)
    }
  }
})

test('the length of a CMAC is the same number in the paths of cmac and verify', async () => {
  const { client } = mountTransit()
  await client.write('keys/c', { type: 'aes256-cmac' })
  await client.write('keys/c/config', { min_mac_length: 4 })
  for (const length of ['8', '08', '010', '+4', '0', '16']) {
    const { cmac } = (await client.write(`cmac/c/${length}`, { input })).data
    assert.equal(Buffer.from(cmac.slice(9), 'base64').length, Number(length) || 16, length)
    assert.equal((await client.write(`verify/c/${length}`, { input, cmac })).data.valid, true, length)
  }
  for (const length of ['0x8', '1_6', '17', '-4', 'sha2', 'x'])
    for (const [path, body] of [
      ['cmac/c', { input }],
      ['verify/c', { input, cmac: 'vault:v1:AAAA' }],
    ] as const)
      assert.equal((await client.write(`${path}/${length}`, body)).status, 400, path + length)
})

for (const path of ['sign/k', 'hmac/k', 'hash', 'cmac/c', 'verify/k']) {
  test(`${path} takes the base64 that it should, and no other`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type: 'ed25519' })
    await client.write('keys/c', { type: 'aes256-cmac' })
    const { hmac } = (await client.write('hmac/k', { input })).data
    for (const [text, bytes] of BASE64) {
      if (path.startsWith('cmac') && text === '') continue
      const body = path.startsWith('verify') ? { hmac } : {}
      const sent = await client.write(path, { ...body, input: text })
      assert.equal(sent.status, bytes === undefined ? 400 : 200, JSON.stringify(text))
      if (bytes === undefined) continue
      const plain = await client.write(path, { ...body, input: Buffer.from(bytes, 'hex').toString('base64') })
      assert.deepEqual(sent.data, plain.data, JSON.stringify(text))
    }
  })
}

const digest = (hash: string, message: Buffer): string =>
  createHash(hash.replace('sha2-', 'sha')).update(message).digest('base64')

for (const { type, plant } of signers()) {
  test(`${type}: what it signs verifies, and nothing else does, by all hashes and marshalings`, async (t) => {
    const { client, view } = mountTransit()
    await plant(view, 'k')
    const isHashed = type.startsWith('rsa-') || type.startsWith('ecdsa-')
    const options = fc.record({
      hash_algorithm: fc.constantFrom(...SIGNATURE_HASHES),
      marshaling_algorithm: fc.constantFrom('asn1', 'jws'),
      signature_algorithm: fc.constantFrom('pss', 'pkcs1v15', ''),
      salt_length: fc.constantFrom('auto', 'hash', '0', '-1', '1', 'AUTO'),
      prehashed: type.startsWith('ml-dsa-') ? fc.constant(false) : fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 60 }),
        fc.uint8Array({ maxLength: 60 }),
        options,
        async (a, b, given) => {
          const [message, other] = [Buffer.from(a), Buffer.from(b)].map((bytes) =>
            given.prehashed && isHashed ? digest(given.hash_algorithm, bytes) : bytes.toString('base64'),
          )
          const { status, data, errors } = await client.write('sign/k', { input: message ?? '', ...given })
          assert.equal(status, 200, errors.join())
          const { signature } = data
          const verified = await client.write('verify/k', { input: message ?? '', signature, ...given })
          assert.deepEqual([verified.data, verified.warnings], [{ valid: true }, []])
          const { data: batch } = await client.write(`verify/k/${given.hash_algorithm}`, {
            ...given,
            batch_input: [
              { input: message ?? '', signature, reference: 'r' },
              { input: other ?? '', signature },
            ],
          })
          const { data: single } = await client.write('verify/k', { input: other ?? '', signature, ...given })
          assert.deepEqual(single, { valid: message === other })
          assert.deepEqual(batch.batch_results, [
            { valid: true, reference: 'r' },
            { ...single, reference: '' },
          ])
        },
      ),
      { seed: testSeed(t), numRuns: type.startsWith('rsa-') || type.includes('521') ? 12 : 25 },
    )
  })
}

test('P-43 a signature that was cut, bent or made of nothing is refused or not valid', async (t) => {
  const { client } = mountTransit()
  for (const type of ['ed25519', 'ecdsa-p256']) {
    await client.write(`keys/${type}`, { type })
    for (const marshaling_algorithm of ['asn1', 'jws']) {
      const { signature } = (await client.write(`sign/${type}`, { input, marshaling_algorithm })).data
      await fc.assert(
        fc.asyncProperty(fc.nat(signature.length), fc.string({ maxLength: 3 }), async (at, text) => {
          const bent = signature.slice(0, at) + text
          const { status, data } = await client.write(`verify/${type}`, {
            input,
            signature: bent,
            marshaling_algorithm,
          })
          assert.ok(status === 400 || data.valid === false || bent === signature, bent)
        }),
        { seed: testSeed(t), numRuns: 60 },
      )
    }
  }
})

test('RSA: the matrix of salts, as they are signed and as they are verified', async () => {
  const { client, view } = mountTransit()
  const rsa = signers().find(({ type }) => type === 'rsa-2048') ?? assert.fail()
  await rsa.plant(view, 'k')
  const salts = ['auto', '0', 'hash', '-1', '1', 1, 32, '222']
  /** Bytes of the salt with SHA-256 and 2,048 bits; undefined verifies any. */
  const bytesOf = (salt: string | number) => ({ auto: 222, '0': 222, hash: 32, '-1': 32 })[salt] ?? Number(salt)
  for (const made of salts) {
    const { signature } = (await client.write('sign/k', { input, salt_length: made })).data
    for (const asked of salts) {
      const { data } = await client.write('verify/k', { input, signature, salt_length: asked })
      const takesAny = asked === 'auto' || asked === '0'
      assert.equal(data.valid, takesAny || bytesOf(made) === bytesOf(asked), `${made} as ${asked}`)
    }
    for (const tooLong of ['223', '1000']) {
      assert.equal((await client.write('sign/k', { input, salt_length: tooLong })).status, 400)
      assert.equal((await client.write('verify/k', { input, signature, salt_length: tooLong })).status, 400)
    }
  }
})

test('RSA: "none" signs what is given, up to 11 bytes less than the modulus', async () => {
  const { client, view } = mountTransit()
  const rsa = signers().find(({ type }) => type === 'rsa-2048') ?? assert.fail()
  await rsa.plant(view, 'k')
  const how = { prehashed: true, signature_algorithm: 'pkcs1v15' }
  for (const bytes of [0, 1, 245]) {
    const message = base64(Buffer.alloc(bytes, 1))
    const { signature } = (await client.write('sign/k/none', { input: message, ...how })).data
    assert.equal((await client.write('verify/k/none', { input: message, signature, ...how })).data.valid, true)
    const other = await client.write('verify/k/none', { input: base64('x'), signature, ...how })
    assert.deepEqual([other.data, other.warnings], [{ valid: false }, []])
  }
  assert.equal((await client.write('sign/k/none', { input: base64(Buffer.alloc(246)), ...how })).status, 400)
  assert.equal((await client.write('sign/k', { input, prehashed: true })).status, 400)
})
