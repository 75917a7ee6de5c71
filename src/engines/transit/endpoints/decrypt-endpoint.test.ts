import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  base64,
  flagsOf,
  KEY_KINDS,
  type KeyKind,
  mountTransit,
  plantKey,
} from '../../../../test/fixtures/mounted-transit.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import type { JsonObject } from '../../../lib/json.ts'

const plaintext = base64('the quick brown fox')
const context = base64('my-cool-context')
const associated_data = base64('associated')
/** Those with every option; key pairs have tests of their own. */
const TYPES = [...KEY_TYPES.values()].filter(({ derivation }) => derivation?.convergent).map(({ name }) => name)

// Computed from the ciphers and HKDF-SHA-256 alone, by another implementation, with a nonce of 10 11 .. 1b.
const K = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const KNOWN: readonly { name: string; type: string; kind: KeyKind; body: JsonObject; expected: string }[] = [
  {
    name: 'aes256-gcm96',
    type: 'aes256-gcm96',
    kind: 'plain',
    body: { ciphertext: 'vault:v1:EBESExQVFhcYGRobCZb9Nji8U9ChVWpvYA4Hc7E/Ni51DqgTNbHUv31z+5em9oU=' },
    expected: plaintext,
  },
  {
    name: 'aes256-gcm96 with associated data',
    type: 'aes256-gcm96',
    kind: 'plain',
    body: {
      ciphertext: 'vault:v1:EBESExQVFhcYGRobCZb9Nji8U9ChVWpvYA4Hc7E/NkuD0DphBDfNTnaW7v+e87Y=',
      associated_data,
    },
    expected: plaintext,
  },
  {
    name: 'aes256-gcm96 of nothing',
    type: 'aes256-gcm96',
    kind: 'plain',
    body: { ciphertext: 'vault:v1:EBESExQVFhcYGRobAY9enWbm++wDiW7ksejQMA==' },
    expected: '',
  },
  {
    name: 'aes128-gcm96',
    type: 'aes128-gcm96',
    kind: 'plain',
    body: { ciphertext: 'vault:v1:EBESExQVFhcYGRobsEZmj34634x8/T+HqFCFHlzTDN2n19bXITscHMYYxoR5dx8=' },
    expected: plaintext,
  },
  {
    name: 'chacha20-poly1305',
    type: 'chacha20-poly1305',
    kind: 'plain',
    body: { ciphertext: 'vault:v1:EBESExQVFhcYGRobKqIgJ3dsrwpw5lERttzbVRwJjf6XiFvNRTM298TuiYC2/C8=' },
    expected: plaintext,
  },
  {
    name: 'derived aes256-gcm96',
    type: 'aes256-gcm96',
    kind: 'derived',
    body: { ciphertext: 'vault:v1:EBESExQVFhcYGRobPRaFJ/ogFEMZ4r2XvXOHlgqmqUzk98B7iy7m3QT193u/KHg=', context },
    expected: plaintext,
  },
]
for (const { name, type, kind, body, expected } of KNOWN) {
  test(`decrypt opens the known ciphertext of ${name}`, async () => {
    const { client, view } = mountTransit()
    plantKey(view, 'k', type, type === 'aes128-gcm96' ? K.subarray(0, 16) : K, kind)
    assert.deepEqual((await client.write('decrypt/k', body)).data, { plaintext: expected })
  })
}

for (const type of TYPES) {
  for (const kind of KEY_KINDS) {
    test(`decrypt ${kind} ${type} gives back what was encrypted, and only with the same context and data`, async () => {
      const { client } = mountTransit()
      await client.write('keys/k', { type, ...flagsOf(kind) })
      for (const text of ['', plaintext, base64(randomBytes(1000))]) {
        const options = { context, associated_data }
        const { ciphertext } = (await client.write('encrypt/k', { plaintext: text, ...options })).data
        assert.deepEqual((await client.write('decrypt/k', { ciphertext, ...options })).data, { plaintext: text })
        const wrong = [
          { ...options, associated_data: '' },
          { ...options, associated_data: base64('other') },
          ...(kind === 'plain' ? [] : [{ ...options, context: base64('other') }]),
        ]
        for (const body of wrong) {
          const { status, errors } = await client.write('decrypt/k', { ciphertext, ...body })
          assert.equal(status, 400)
          assert.match(errors[0] ?? '', /^message authentication failed/)
        }
      }
    })
  }
}

const REFUSED: readonly { name: string; body: JsonObject; message: RegExp }[] = [
  { name: 'no ciphertext', body: {}, message: /^missing ciphertext to decrypt$/ },
  { name: 'an empty ciphertext', body: { ciphertext: '' }, message: /^missing ciphertext to decrypt$/ },
  { name: 'no prefix', body: { ciphertext: 'YWJj' }, message: /^invalid ciphertext: no prefix/ },
  { name: 'no base64', body: { ciphertext: 'vault:v1:!' }, message: /^invalid ciphertext: could not decode base64/ },
  { name: 'a short text', body: { ciphertext: 'vault:v1:abcd' }, message: /^invalid ciphertext length/ },
  { name: 'a version to come', body: { ciphertext: 'vault:v9:abcd' }, message: /version is too new/ },
  { name: 'a negative version', body: { ciphertext: 'vault:v-1:abcd' }, message: /disallowed by policy \(too old\)/ },
  {
    name: 'a wrong context',
    body: { ciphertext: 'vault:v1:abcd', context: '!' },
    message: /^"context": illegal base64/,
  },
  { name: 'wrong data', body: { ciphertext: 'vault:v1:abcd', associated_data: '!' }, message: /^"associated_data": / },
  { name: 'an empty batch', body: { batch_input: [] }, message: /missing batch input to process/ },
  { name: 'an item without ciphertext', body: { batch_input: [{}] }, message: /"batch_input\[0\].ciphertext"/ },
  {
    name: 'contexts in some items only',
    body: { batch_input: [{ ciphertext: 'x', context }, { ciphertext: 'x' }] },
    message: /^context should be set either in all/,
  },
]
for (const { name, body, message } of REFUSED) {
  test(`C-08 decrypt refuses ${name}, and goes on with the next request`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k')
    const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
    const { status, errors } = await client.write('decrypt/k', body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
    assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
  })
}

test('decrypt with a missing key is 400 and makes none', async () => {
  const { client, view } = mountTransit()
  for (const path of ['decrypt/k', 'rewrap/k']) {
    const { status, errors } = await client.write(path, { ciphertext: 'vault:v1:abcd' })
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', /encryption key not found/)
  }
  assert.equal(view.entries.size, 0)
})

test('a ciphertext of before versions were counted is of version 1, however its number is written', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  for (const version of ['0', '01', '+1', '-0']) {
    const relabelled = ciphertext.replace('v1:', `v${version}:`)
    assert.equal((await client.write('decrypt/k', { ciphertext: relabelled })).data.plaintext, plaintext)
  }
})

test('decrypt ignores a nonce with a warning: each ciphertext holds its own', async () => {
  const { client } = mountTransit()
  for (const kind of KEY_KINDS) {
    await client.write(`keys/${kind}`, flagsOf(kind))
    const { ciphertext } = (await client.write(`encrypt/${kind}`, { plaintext, context })).data
    const nonce = base64('123456789012')
    const single = await client.write(`decrypt/${kind}`, { ciphertext, context, nonce })
    const many = await client.write(`decrypt/${kind}`, { batch_input: [{ ciphertext, context, nonce }] })
    for (const { status, warnings } of [single, many]) assert.deepEqual([status, warnings.length], [200, 1])
  }
})

test('C-05 a payload of any length from 0 to 80 is refused in decrypt and rewrap', async () => {
  const { client } = mountTransit()
  for (const type of TYPES) {
    const nonceBytes = KEY_TYPES.get(type)?.cipher?.nonceBytes ?? 0
    for (const kind of KEY_KINDS) {
      const name = `${type}-${kind}`
      await client.write(`keys/${name}`, { type, ...flagsOf(kind) })
      const items = Array.from({ length: 81 }, (_, length) => ({
        ciphertext: `vault:v1:${base64(randomBytes(length))}`,
        context,
      }))
      for (const path of [`decrypt/${name}`, `rewrap/${name}`]) {
        const { status, data } = await client.write(path, { batch_input: items })
        assert.equal(status, 400)
        for (const [length, { error }] of data.batch_results.entries()) {
          assert.match(error, length < nonceBytes ? /^invalid ciphertext length/ : /^message authentication failed/)
        }
      }
    }
  }
})

test('C-11 whatever does not open is refused in the same words', async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { derived: true })
  await client.write('keys/k/rotate')
  const encrypted = await client.write('encrypt/k', { plaintext, context, associated_data, key_version: 1 })
  const ciphertext: string = encrypted.data.ciphertext
  const blob = Buffer.from(ciphertext.slice('vault:v1:'.length), 'base64')
  const sent = { ciphertext, context, associated_data }
  const flipped = Array.from(blob.keys(), (at) => {
    const changed = Buffer.from(blob)
    changed[at] = (changed[at] ?? 0) ^ 1
    return { ...sent, ciphertext: `vault:v1:${base64(changed)}` }
  })
  const wrong = [
    ...flipped,
    { ...sent, ciphertext: `vault:v1:${base64(blob.subarray(0, -1))}` },
    { ...sent, ciphertext: `vault:v1:${base64(blob.subarray(0, 12))}` },
    { ...sent, ciphertext: `vault:v1:${base64(Buffer.concat([blob, Buffer.alloc(1)]))}` },
    { ...sent, ciphertext: ciphertext.replace('v1', 'v2') },
    { ...sent, context: base64('other') },
    { ...sent, associated_data: base64('other') },
  ]
  const { data } = await client.write('decrypt/k', { batch_input: wrong })
  const errors = new Set(data.batch_results.map(({ error }: { error: string }) => error))
  assert.equal(data.batch_results.length, wrong.length)
  assert.equal(errors.size, 1)
  assert.match([...errors].join(), /^message authentication failed/)
  assert.equal((await client.write('decrypt/k', sent)).data.plaintext, plaintext)
})

test('C-09 decrypt of a batch gives item by item what single requests give', async (t) => {
  const { client } = mountTransit()
  const ciphertexts: Record<KeyKind, string[]> = { plain: [], derived: [], convergent: [] }
  for (const kind of KEY_KINDS) {
    await client.write(`keys/${kind}`, flagsOf(kind))
    for (const text of ['', plaintext, '']) {
      const { data } = await client.write(`encrypt/${kind}`, { plaintext: text, context, associated_data })
      ciphertexts[kind].push(data.ciphertext)
      await client.write(`keys/${kind}/rotate`)
    }
    await client.write(`keys/${kind}/config`, { min_decryption_version: 2 })
  }
  const item = fc.record({
    which: fc.nat(2),
    edit: fc.constantFrom('none', 'none', 'cut', 'relabel', 'empty', 'junk'),
    context: fc.constantFrom(context, context, base64('other'), '!'),
    associated_data: fc.constantFrom(associated_data, associated_data, '', '%'),
    reference: fc.constantFrom('', 'r', '\u{1f511}'),
  })
  const edited = (text: string, edit: string): string => {
    if (edit === 'cut') return text.slice(0, -4)
    if (edit === 'relabel') return text.replace(/v\d+:/, 'v7:')
    return edit === 'none' ? text : edit === 'empty' ? '' : 'junk'
  }
  const equal = fc.asyncProperty(
    fc.constantFrom(...KEY_KINDS),
    fc.array(item, { minLength: 1 }),
    async (kind, items) => {
      const sent = items.map(({ which, edit, ...rest }) => ({
        ...rest,
        ciphertext: edited(ciphertexts[kind][which] ?? '', edit),
      }))
      const { status, data } = await client.write(`decrypt/${kind}`, {
        batch_input: sent,
        partial_failure_response_code: 207,
      })
      const expected = await Promise.all(
        sent.map(async ({ reference, ...body }) => {
          const single = await client.write(`decrypt/${kind}`, body)
          return single.status === 200
            ? { ...single.data, reference }
            : { plaintext: '', error: single.errors[0], reference }
        }),
      )
      assert.deepEqual(data.batch_results, expected)
      const failures = expected.filter((result) => 'error' in result).length
      assert.equal(status, failures === 0 ? 200 : failures === expected.length ? 400 : 207)
    },
  )
  await fc.assert(equal, { seed: testSeed(t), numRuns: Number(process.env.BATCH_RUNS ?? 60) })
})
