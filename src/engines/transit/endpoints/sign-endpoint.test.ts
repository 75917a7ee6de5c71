import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestInfo } from '../../../../test/fixtures/engine-client.ts'
import { base64, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { plantEd25519, signers } from '../../../../test/fixtures/transit-signers.ts'
import { decodeFields } from '../../../api/fields.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { signEndpoint } from './sign-endpoint.ts'

const input = base64('the quick brown fox')
const context = base64('my-cool-context')

/** Computed once, outside this program, with the seed 00 to 1f. */
const ED25519 = {
  publicKey: 'A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=',
  signature: 'vault:v1:OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA==',
}
/** Computed once, with a key that is derived from the same seed for the context. */
const DERIVED = {
  publicKey: 'YVIOd52Da7nBed1vxZ2XAYoCeGNbTWYt3W8LlO17hXk=',
  signature: 'vault:v1:jcA+ipB1NfHPWhc3GfVIWnPKt1cStd0+p4NJ4l/I5DMtAhJZafqMn3K+RaHqvaen9ojJN8GXiX/XUgpelhkUCg==',
}

test('a known signature of Ed25519, whatever is said of the hash', async () => {
  const { client, view } = mountTransit()
  plantEd25519(view, 'k', 'plain')
  for (const body of [{}, { prehashed: true }, { hash_algorithm: 'sha2-512' }, { signature_algorithm: 'pkcs1v15' }]) {
    const { data } = await client.write('sign/k', { input, ...body })
    assert.deepEqual(data, { signature: ED25519.signature, key_version: 1 })
  }
  const jws = await client.write('sign/k/sha1', { input, marshaling_algorithm: 'jws' })
  const text = ED25519.signature.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  assert.equal(jws.data.signature, text)
  const { keys } = (await client.read('keys/k', { context })).data
  assert.equal(keys[1].public_key, ED25519.publicKey)
})

test('a known signature with derivation, and the public key of the context in all that shows one', async () => {
  const { client, view } = mountTransit()
  plantEd25519(view, 'k', 'derived')
  const single = await client.write('sign/k', { input, context })
  assert.deepEqual(single.data, { signature: DERIVED.signature, key_version: 1, public_key: DERIVED.publicKey })
  const batch = await client.write('sign/k', { batch_input: [{ input, context, reference: 'r' }, { input }] })
  assert.deepEqual(batch.data.batch_results[0], {
    signature: DERIVED.signature,
    key_version: 1,
    publickey: DERIVED.publicKey,
    reference: 'r',
  })
  assert.match(batch.data.batch_results[1].error, /^missing 'context' for key derivation/)
  assert.equal((await client.read('keys/k', { context })).data.keys[1].public_key, DERIVED.publicKey)
  assert.equal((await client.read('keys/k')).data.keys[1].public_key, '')
  assert.equal((await client.read('keys/k', { context: '!' })).status, 400)
  assert.match((await client.write('sign/k', { input })).errors[0] ?? '', /^missing 'context'/)
  const check = (given: JsonObject) => client.write('verify/k', { input, signature: DERIVED.signature, ...given })
  assert.equal((await check({ context })).data.valid, true)
  assert.equal((await check({ context: base64('another') })).data.valid, false)
  assert.match((await check({})).errors[0] ?? '', /^missing 'context'/)
})

const REFUSED: readonly { readonly name: string; readonly body: JsonObject; readonly message: RegExp }[] = [
  { name: 'an unknown hash', body: { input, hash_algorithm: 'md5' }, message: /invalid hash algorithm/ },
  { name: 'a hash in capitals', body: { input, hash_algorithm: 'SHA2-256' }, message: /invalid hash algorithm/ },
  { name: 'an unknown older field', body: { input, hash_algorithm: '', algorithm: 'x' }, message: /invalid hash/ },
  { name: 'an unknown marshaling', body: { input, marshaling_algorithm: 'asn2' }, message: /invalid marshaling type/ },
  { name: 'an empty marshaling', body: { input, marshaling_algorithm: '' }, message: /invalid marshaling type/ },
  { name: 'an unknown padding', body: { input, signature_algorithm: 'nope' }, message: /signature algorithm/ },
  { name: 'a salt that is none', body: { input, salt_length: 'bar' }, message: /salt length neither/ },
  { name: 'an empty salt', body: { input, salt_length: '' }, message: /salt length neither/ },
  { name: 'a salt of -2', body: { input, salt_length: '-2' }, message: /requested salt length -2 is invalid/ },
  { name: 'a salt with a fraction', body: { input, salt_length: 1.5 }, message: /salt length neither/ },
  { name: '"none" alone', body: { input, hash_algorithm: 'none' }, message: /^hash_algorithm=none requires both/ },
  {
    name: '"none" with PSS',
    body: { input, hash_algorithm: 'none', prehashed: true },
    message: /^hash_algorithm=none requires both/,
  },
  {
    name: '"none" of a message',
    body: { input, hash_algorithm: 'none', signature_algorithm: 'pkcs1v15' },
    message: /^hash_algorithm=none requires both/,
  },
  { name: 'input that is no base64', body: { input: '!' }, message: /^"input": illegal base64 data at input byte 0$/ },
  { name: 'a context that is none', body: { input, context: '!' }, message: /^"context": illegal base64/ },
  { name: 'a version above the latest', body: { input, key_version: 2 }, message: /signing is higher than the latest/ },
  { name: 'a negative version', body: { input, key_version: -1 }, message: /signing is negative/ },
  { name: 'no items', body: { batch_input: [] }, message: /missing batch input to process/ },
  { name: 'a batch that is none', body: { batch_input: 'x' }, message: /"batch_input"/ },
]
for (const { name, body, message } of REFUSED) {
  test(`C-08 sign refuses ${name}, and goes on with the next request`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type: 'ed25519' })
    const { status, errors } = await client.write('sign/k', body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
    assert.equal((await client.write('sign/k', { input })).status, 200)
  })
}

test('sign refuses keys that are not there, and types that do not sign', async () => {
  const { client } = mountTransit()
  assert.match((await client.write('sign/k', { input })).errors[0] ?? '', /^signing key not found/)
  const signature = 'vault:v1:AAAA'
  assert.match((await client.write('verify/k', { signature })).errors[0] ?? '', /^signature verification key not found/)
  for (const type of ['aes256-gcm96', 'chacha20-poly1305', 'hmac', 'aes256-cmac']) {
    await client.write(`keys/${type}`, { type })
    const signed = await client.write(`sign/${type}`, { input })
    assert.equal(signed.errors[0], `key type ${type} does not support signing`)
    const verified = await client.write(`verify/${type}`, { input, signature })
    assert.equal(verified.errors[0], `key type ${type} does not support verification`)
  }
})

test('minimums of versions: encryption for signing, decryption for verifying', async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { type: 'ecdsa-p256' })
  for (let version = 2; version <= 4; version += 1) await client.write('keys/k/rotate')
  await client.write('keys/k/config', { min_encryption_version: 3 })
  for (const [key_version, expected] of [
    [0, 4],
    [4, 4],
    ['3', 3],
  ] as const) {
    const { data } = await client.write('sign/k', { input, key_version })
    assert.equal(data.key_version, expected)
    assert.ok(data.signature.startsWith(`vault:v${expected}:`))
    assert.equal((await client.write('verify/k', { input, signature: data.signature })).data.valid, true)
  }
  assert.match((await client.write('sign/k', { input, key_version: 2 })).errors[0] ?? '', /less than the minimum/)
  const { signature } = (await client.write('sign/k', { input, key_version: 3 })).data
  await client.write('keys/k/config', { min_encryption_version: 4, min_decryption_version: 4 })
  for (const [text, message] of [
    [signature, /disallowed by policy \(too old\)/],
    [signature.replace('v3', 'v0'), /disallowed by policy \(too old\)/],
    [signature.replace('v3', 'v5'), /^invalid signature: version is too new/],
  ]) {
    const { status, errors } = await client.write('verify/k', { input, signature: text })
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
  }
})

test('a missing input is an empty one, but in a batch it is a mistake of its item', async () => {
  const { client, view } = mountTransit()
  plantEd25519(view, 'k', 'plain')
  const { signature } = (await client.write('sign/k')).data
  assert.equal((await client.write('sign/k', { input: '' })).data.signature, signature)
  const { data } = await client.write('sign/k', { batch_input: [{ reference: 'a' }, { input: '' }, null] })
  assert.deepEqual(data.batch_results, [
    { key_version: 0, error: 'missing input', reference: 'a' },
    { signature, key_version: 1, reference: '' },
    { key_version: 0, error: 'missing input', reference: '' },
  ])
})

test('a single answer with a cached key of a quick type is no promise', async () => {
  const { transit, client } = mountTransit()
  await client.write('keys/k', { type: 'ecdsa-p256' })
  await transit.keys.find('k')
  const handler = signEndpoint.handler as unknown as (...args: unknown[]) => unknown
  const answer = handler(transit, decodeFields(signEndpoint.fields, { name: 'k', input }), requestInfo('update'))
  assert.ok(!(answer instanceof Promise))
})

for (const { type, plant } of signers()) {
  test(`${type}: what is slow is done by the pool, in a batch too, and stays in order`, async () => {
    const { client, view } = mountTransit()
    await plant(view, 'k')
    const batch_input = Array.from({ length: 40 }, (_, index) => ({
      input: index === 3 ? '!' : base64(`message ${index}`),
      reference: String(index),
    }))
    const { data } = await client.write('sign/k', { batch_input })
    const items = data.batch_results.map(({ signature }: { signature?: string }, index: number) => ({
      ...batch_input[index],
      input: index === 3 ? '' : batch_input[index]?.input,
      signature: signature ?? 'x',
    }))
    const verified = await client.write('verify/k', { batch_input: items })
    verified.data.batch_results.forEach((result: JsonObject, index: number) => {
      assert.deepEqual([result.valid, result.reference], [index !== 3, String(index)], JSON.stringify(result))
    })
  })
}

for (const type of ['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87']) {
  test(`part 4: prehashed is refused for ${type}, which signs whole messages, and not passed over`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type })
    const { signature } = (await client.write('sign/k', { input })).data
    const says = new RegExp(`^"prehashed": .* of type ${type}`)
    const asked: readonly (readonly [string, JsonObject])[] = [
      ['sign/k', { input }],
      ['sign/k', { batch_input: [{ input }] }],
      ['verify/k', { input, signature }],
      ['verify/k', { batch_input: [{ input, signature }] }],
    ]
    for (const [path, body] of asked) {
      const { status, errors } = await client.write(path, { ...body, prehashed: true })
      assert.equal(status, 400, path)
      assert.match(errors[0] ?? '', says)
      assert.equal((await client.write(path, { ...body, prehashed: false })).status, 200, path)
    }
  })
}

const DIGESTS: readonly { readonly named?: string; readonly bytes: number; readonly says?: RegExp }[] = [
  // Without a named hash the digest may be of any kind; a recorded exchange has one of 19 bytes.
  { bytes: 0, says: /at least 16 bytes, not 0/ },
  { bytes: 5, says: /at least 16 bytes, not 5/ },
  { bytes: 15, says: /at least 16 bytes, not 15/ },
  { bytes: 16 },
  { bytes: 19 },
  { bytes: 48 },
  { named: 'sha2-256', bytes: 5, says: /32 bytes of sha2-256, not 5/ },
  { named: 'sha2-256', bytes: 31, says: /32 bytes of sha2-256, not 31/ },
  { named: 'sha2-256', bytes: 32 },
  { named: 'sha2-256', bytes: 33, says: /32 bytes of sha2-256, not 33/ },
  { named: 'sha1', bytes: 20 },
  { named: 'sha1', bytes: 32, says: /20 bytes of sha1, not 32/ },
  { named: 'sha3-512', bytes: 64 },
  { named: 'sha3-512', bytes: 32, says: /64 bytes of sha3-512, not 32/ },
]
for (const type of ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521', 'ecdsa-secp256k1']) {
  test(`part 4: what ${type} signs and verifies as a digest has the length of its hash`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type })
    const { signature: other } = (await client.write('sign/k', { input })).data
    for (const { named, bytes, says } of DIGESTS) {
      const digest = base64(Buffer.alloc(bytes, 0xa5))
      const forms = named === undefined ? [{}] : [{ hash_algorithm: named }, { hash_algorithm: '', algorithm: named }]
      const asked = [...forms.map((body) => ['', body] as const), ...(named ? [[`/${named}`, {}] as const] : [])]
      for (const [end, body] of asked) {
        const whole = { ...body, prehashed: true, input: digest }
        const made = await client.write(`sign/k${end}`, whole)
        const signature = made.data?.signature ?? other
        const verified = await client.write(`verify/k${end}`, { ...whole, signature })
        const { data } = await client.write(`sign/k${end}`, {
          ...body,
          prehashed: true,
          batch_input: [{ input: digest }],
        })
        if (says === undefined) {
          assert.deepEqual([made.status, verified.data?.valid], [200, true], `${named} ${bytes}`)
          continue
        }
        for (const { status, errors } of [made, verified]) {
          assert.equal(status, 400, `${named} ${bytes}`)
          assert.match(errors[0] ?? '', /^"input": input must be hashed message/)
          assert.match(errors[0] ?? '', says)
        }
        assert.match(data.batch_results[0].error, says)
      }
      // Without `prehashed` the input is the message itself.
      assert.equal((await client.write('sign/k', { input: digest })).status, 200)
    }
  })
}
