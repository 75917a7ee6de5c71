import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { requestInfo } from '../../../../test/fixtures/engine-client.ts'
import { base64, flagsOf, KEY_KINDS, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { testSeed } from '../../../../test/fixtures/seed.ts'
import { decodeFields } from '../../../api/fields.ts'
import { type Answer, DecisionOutdated } from '../../../api/request.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { MANAGED_KEY } from '../ring/managed-type.ts'
import { encryptEndpoint } from './encrypt-endpoint.ts'

const plaintext = base64('the quick brown fox')
const context = base64('my-cool-context')
const nonce = base64('123456789012')
/** Those with every option; key pairs have tests of their own. */
const TYPES = [...KEY_TYPES.values()].filter(({ derivation }) => derivation?.convergent).map(({ name }) => name)

const REFUSED: readonly { name: string; body: JsonObject; message: RegExp }[] = [
  { name: 'no plaintext', body: {}, message: /^missing plaintext to encrypt$/ },
  {
    name: 'a plaintext without padding',
    body: { plaintext: 'YQ' },
    message: /^"plaintext": illegal base64 data at input byte 0$/,
  },
  { name: 'a plaintext in the URL alphabet', body: { plaintext: '_-8=' }, message: /^"plaintext": illegal base64/ },
  { name: 'an array', body: { plaintext: ['a'] }, message: /"plaintext"/ },
  {
    name: 'a wrong context',
    body: { plaintext, context: 'x!' },
    message: /^"context": illegal base64 data at input byte 1$/,
  },
  { name: 'wrong associated data', body: { plaintext, associated_data: '%%' }, message: /^"associated_data": illegal/ },
  { name: 'a nonce', body: { plaintext, nonce }, message: /^"nonce": provided nonce not allowed for this key/ },
  { name: 'a version above the latest', body: { plaintext, key_version: 2 }, message: /higher than the latest/ },
  { name: 'a version that is none', body: { plaintext, key_version: 'x' }, message: /"key_version"/ },
  { name: 'an empty batch', body: { batch_input: [] }, message: /missing batch input to process/ },
  { name: 'a batch that is none', body: { batch_input: 'x' }, message: /"batch_input"/ },
  { name: 'an item that is none', body: { batch_input: [1] }, message: /"batch_input\[0\]"/ },
  {
    name: 'an item without plaintext',
    body: { batch_input: [{ plaintext }, {}] },
    message: /"batch_input\[1\].plaintext"/,
  },
  {
    name: 'a version as text in an item',
    body: { batch_input: [{ plaintext, key_version: '1' }] },
    message: /"batch_input\[0\].key_version"/,
  },
  {
    name: 'contexts in some items only',
    body: { batch_input: [{ plaintext, context }, { plaintext }] },
    message: /^context should be set either in all the request blocks or in none$/,
  },
]
for (const { name, body, message } of REFUSED) {
  test(`C-08 encrypt refuses ${name}, makes no key, and goes on with the next request`, async () => {
    const { client, view } = mountTransit()
    assert.equal((await client.write('encrypt/missing', body)).status, 400)
    assert.equal(view.entries.size, 0)
    await client.write('keys/k')
    const { status, errors } = await client.write('encrypt/k', body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
    assert.equal((await client.write('encrypt/k', { plaintext })).status, 200)
  })
}

test('encrypt takes what existing clients send: null, line breaks, numbers as text, an unused context', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const accepted = [
    { plaintext: null },
    { plaintext: '' },
    { plaintext: 'YQ==\n' },
    { plaintext, key_version: '1' },
    { plaintext, context },
    { plaintext, nonce: '', associated_data: null },
    { plaintext: '!!', batch_input: [{ plaintext }] },
    { plaintext, batch_input: null },
  ]
  for (const body of accepted) assert.equal((await client.write('encrypt/k', body)).status, 200, JSON.stringify(body))
})

test('a single answer with a cached key is no promise', async () => {
  const { transit, client } = mountTransit()
  await client.write('keys/k')
  await client.write('encrypt/k', { plaintext })
  const handler = encryptEndpoint.handler as unknown as (...args: unknown[]) => Answer | Promise<Answer>
  const args = decodeFields(encryptEndpoint.fields, { name: 'k', plaintext })
  const answer = handler(transit, args, requestInfo('update'))
  assert.ok(!(answer instanceof Promise))
  assert.equal(answer.status, undefined)
})

test('equal plaintexts give different ciphertexts, of the same length', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const items = Array.from({ length: 50 }, () => ({ plaintext }))
  const { data } = await client.write('encrypt/k', { batch_input: items })
  const ciphertexts: string[] = data.batch_results.map((result: { ciphertext: string }) => result.ciphertext)
  assert.equal(new Set(ciphertexts).size, 50)
  assert.equal(new Set(ciphertexts.map((text) => text.length)).size, 1)
})

for (const type of TYPES) {
  test(`convergent ${type}: equal input gives equal ciphertext, another context another nonce`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type, ...flagsOf('convergent') })
    const encrypt = async (body: JsonObject) =>
      (await client.write('encrypt/k', { plaintext, context, ...body })).data.ciphertext
    const first: string = await encrypt({})
    assert.equal(await encrypt({}), first)
    const [other, longer] = [await encrypt({ context: base64('other') }), await encrypt({ plaintext: base64('x') })]
    const nonceOf = (text: string) =>
      Buffer.from(text.slice('vault:v1:'.length), 'base64').subarray(0, 12).toString('hex')
    assert.equal(new Set([first, other, longer].map(nonceOf)).size, 3)
    assert.match(
      (await client.write('encrypt/k', { plaintext })).errors[0] ?? '',
      /missing 'context' for key derivation/,
    )
  })
}

// Computed from HKDF-SHA-256, HMAC-SHA-256 and the ciphers alone, by another implementation.
const K = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex')
const CONVERGENT: readonly { type: string; material: Buffer; ciphertext: string }[] = [
  {
    type: 'aes256-gcm96',
    material: K,
    ciphertext: 'vault:v1:UNoewImeSHIwnuqfMkfoehkDX0/zACwaaqEodO3gx1VY9LLZZKJgkP+8oT0Jw94=',
  },
  {
    type: 'aes128-gcm96',
    material: K.subarray(0, 16),
    ciphertext: 'vault:v1:kRUYEctQ87IM1Leu+qwbBnCqdimflCtb8EUr4wp5kkxq57YvlhbEfWIopPlYnjk=',
  },
  {
    type: 'chacha20-poly1305',
    material: K,
    ciphertext: 'vault:v1:UNoewImeSHIwnuqf9xzYi1CeSUCXPYIbkER3FJ8QMGXWAYnk3W3kua2CubSmJNo=',
  },
]
for (const { type, material, ciphertext } of CONVERGENT) {
  test(`C-02 convergent ${type} gives the known ciphertext of version 3`, async () => {
    const { client, view } = mountTransit()
    plantKey(view, 'k', type, material, 'convergent')
    assert.deepEqual((await client.write('encrypt/k', { plaintext, context })).data, { ciphertext, key_version: 1 })
    assert.equal((await client.write('decrypt/k', { ciphertext, context })).data.plaintext, plaintext)
  })
}

test('C-01 no nonce of a caller is used: refused, or on convergent keys ignored with a warning', async () => {
  const { client } = mountTransit()
  for (const type of TYPES) {
    for (const kind of KEY_KINDS) {
      const name = `${type}-${kind}`
      await client.write(`keys/${name}`, { type, ...flagsOf(kind) })
      const { ciphertext } = (await client.write(`encrypt/${name}`, { plaintext, context })).data
      const requests: readonly [string, JsonObject][] = [
        [`encrypt/${name}`, { plaintext, context, nonce }],
        [`encrypt/${name}`, { batch_input: [{ plaintext, context, nonce }] }],
        [`rewrap/${name}`, { ciphertext, context, nonce }],
        [`rewrap/${name}`, { batch_input: [{ ciphertext, context, nonce }] }],
        [`datakey/plaintext/${name}`, { context, nonce }],
        [`datakey/wrapped/${name}`, { context, nonce }],
      ]
      for (const [path, body] of requests) {
        const reply = await client.write(path, body)
        const [result = reply.data] = reply.data?.batch_results ?? []
        if (kind !== 'convergent') {
          assert.equal(reply.status, 400, `${path} ${kind}`)
          assert.match(reply.errors[0] ?? result.error, /nonce not allowed/)
          continue
        }
        assert.deepEqual([reply.status, reply.warnings.length], [200, 1], `${path} ${kind}`)
        const blob = Buffer.from(result.ciphertext.slice('vault:v1:'.length), 'base64')
        assert.notEqual(blob.subarray(0, 12).toString(), '123456789012')
      }
      for (const wrong of [base64('short'), base64('1234567890123'), '!']) {
        assert.equal((await client.write(`encrypt/${name}`, { plaintext, context, nonce: wrong })).status, 400)
      }
    }
  }
})

test('C-01 that a nonce is not used is said unless one version of the key takes nonces of its caller', async () => {
  const { client, view } = mountTransit()
  for (const { algorithms, warns } of [
    { algorithms: [1, 3], warns: 0 },
    { algorithms: [3, 3], warns: 1 },
  ]) {
    const versions = algorithms.map((convergentVersion) => ({ createdAtMs: 0, convergentVersion }))
    const header = { latestVersion: 2, versions }
    plantKey(view, `k${warns}`, 'aes256-gcm96', Buffer.alloc(32, 1), 'convergent', header)
    const { status, warnings } = await client.write(`encrypt/k${warns}`, { plaintext, context, nonce })
    assert.deepEqual([status, warnings.length], [200, warns])
  }
})

test('C-01 a request that makes its key cannot give a nonce either', async () => {
  const { client, view } = mountTransit()
  for (const body of [{}, { context }]) {
    assert.equal((await client.write('encrypt/k', { plaintext, nonce, ...body })).status, 400)
    assert.equal((await client.write('encrypt/k', { batch_input: [{ plaintext, nonce, ...body }] })).status, 400)
  }
  assert.equal(view.entries.size, 0)
  const convergent = await client.write('encrypt/k', { plaintext, nonce, context, convergent_encryption: 'true' })
  assert.deepEqual([convergent.status, convergent.warnings.length], [200, 1])
})

const MADE: readonly { name: string; body: JsonObject; expected: JsonObject }[] = [
  { name: 'by default', body: { plaintext }, expected: { type: 'aes256-gcm96', derived: false } },
  { name: 'of a type', body: { plaintext, type: 'aes128-gcm96' }, expected: { type: 'aes128-gcm96', derived: false } },
  { name: 'with a context', body: { plaintext, context }, expected: { derived: true, convergent_encryption: false } },
  { name: 'with an empty context', body: { plaintext, context: '' }, expected: { derived: false } },
  {
    name: 'convergent',
    body: { plaintext, context, convergent_encryption: true },
    expected: { derived: true, convergent_encryption: true },
  },
  { name: 'by a batch', body: { batch_input: [{ plaintext }] }, expected: { derived: false } },
  { name: 'by a batch with contexts', body: { batch_input: [{ plaintext, context }] }, expected: { derived: true } },
  {
    name: 'by a batch, whatever the top level says',
    body: { context, batch_input: [{ plaintext }] },
    expected: { derived: false },
  },
]
for (const { name, body, expected } of MADE) {
  test(`encrypt makes a missing key ${name}`, async () => {
    const { client } = mountTransit()
    const { status, data } = await client.write('encrypt/k', body)
    assert.equal(status, 200)
    const { data: made } = await client.read('keys/k')
    assert.deepEqual({ ...made, ...expected }, made)
    assert.deepEqual([made.exportable, made.deletion_allowed, made.latest_version], [false, false, 1])
    const ciphertext = data.ciphertext ?? data.batch_results[0].ciphertext
    assert.equal((await client.write('decrypt/k', { ciphertext, context })).data.plaintext, plaintext)
    assert.equal((await client.write('encrypt/k', { ...body, type: 'nope' })).status, 200)
  })
}

const NOT_MADE: readonly { name: string; body: JsonObject; message: RegExp }[] = [
  { name: 'of an unknown type', body: { plaintext, type: 'nope' }, message: /unknown key type nope/ },
  {
    name: 'convergent without a context',
    body: { plaintext, convergent_encryption: true },
    message: /requires derivation/,
  },
  { name: 'with a version', body: { plaintext, key_version: 2 }, message: /higher than the latest/ },
]
for (const { name, body, message } of NOT_MADE) {
  test(`encrypt makes no key ${name}`, async () => {
    const { client, view } = mountTransit()
    const { status, errors } = await client.write('encrypt/k', body)
    assert.equal(status, 400)
    assert.match(errors[0] ?? '', message)
    assert.equal(view.entries.size, 0)
  })
}

for (const type of [...KEY_TYPES.keys(), MANAGED_KEY]) {
  const isMade = TYPES.includes(type)
  test(`C5: encrypt ${isMade ? 'makes' : 'refuses to make'} a missing key of type ${type}`, async () => {
    const { client, view } = mountTransit()
    for (const [index, input] of [{ plaintext }, { batch_input: [{ plaintext }, { plaintext }] }].entries()) {
      const { status, errors } = await client.write(`encrypt/k${index}`, { ...input, type })
      assert.equal(status, isMade ? 200 : 400)
      if (isMade) assert.equal((await client.read(`keys/k${index}`)).data.type, type)
      else assert.match(errors[0] ?? '', new RegExp(`^unknown key type ${type}, .* are ${TYPES.join(', ')}.*keys/NAME`))
    }
    if (!isMade) assert.equal(view.entries.size, 0)
    // For a key that exists, the type is not looked at.
    await client.write('keys/there')
    assert.equal((await client.write('encrypt/there', { plaintext, type })).status, 200)
  })
}

test('C5: encrypt makes keys of the types that it always made', () => {
  const always = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305']
  assert.deepEqual(
    always.filter((type) => !TYPES.includes(type)),
    [],
  )
})

test('a context of nothing but a line break is no context', async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { derived: true })
  for (const path of ['encrypt/k', 'encrypt/missing', 'datakey/wrapped/k']) {
    assert.match((await client.write(path, { plaintext, context: '\n' })).errors[0] ?? '', /missing 'context'/)
  }
  assert.deepEqual((await client.list('keys')).data.keys, ['k'])
})

test('a batch makes the key where one item can be encrypted, and not where none can', async () => {
  const { client, view } = mountTransit()
  const none = await client.write('encrypt/k', { batch_input: [{ plaintext: '!' }, { plaintext: '?' }] })
  assert.equal(none.status, 400)
  assert.equal(none.data.batch_results.length, 2)
  assert.equal(view.entries.size, 0)
  const some = await client.write('encrypt/k', { batch_input: [{ plaintext: '!' }, { plaintext }] })
  assert.equal(some.status, 400)
  const { ciphertext } = some.data.batch_results[1]
  assert.equal((await client.write('decrypt/k', { ciphertext })).data.plaintext, plaintext)
})

test('disable_upsert: a missing key is not made, an existing one works', async () => {
  const { client } = mountTransit()
  await client.write('encrypt/old', { plaintext })
  await client.write('config/keys', { disable_upsert: true })
  const refused = await client.write('encrypt/k', { plaintext })
  assert.equal(refused.status, 400)
  assert.match(refused.errors[0] ?? '', /encryption key not found/)
  assert.equal((await client.write('encrypt/old', { plaintext })).status, 200)
  assert.deepEqual((await client.list('keys')).data.keys, ['old'])
})

test('a key that vanishes between the decision to update and the request is not made anew', async () => {
  const { transit } = mountTransit()
  const handler = encryptEndpoint.handler as unknown as (...args: unknown[]) => Promise<Answer>
  const args = decodeFields(encryptEndpoint.fields, { name: 'k', plaintext })
  await assert.rejects(handler(transit, args, requestInfo('update')), /encryption key not found/)
})

for (const isCached of [true, false]) {
  const how = isCached ? 'cached' : 'stored'
  test(`a key made between the decision to create and the request is not used by it, ${how}`, async () => {
    const { client, transit } = mountTransit()
    await client.write('keys/k')
    if (!isCached) transit.reset()
    const handler = encryptEndpoint.handler as unknown as (...args: unknown[]) => Promise<Answer> | Answer
    for (const input of [{ plaintext }, { batch_input: [{ plaintext }] }]) {
      const args = decodeFields(encryptEndpoint.fields, { name: 'k', ...input })
      await assert.rejects(async () => handler(transit, args, requestInfo('create')), DecisionOutdated)
      if (!isCached) transit.reset()
    }
    // Judged again, the request is an update, which its token may not be allowed.
    const args = decodeFields(encryptEndpoint.fields, { name: 'k', plaintext })
    assert.equal((await handler(transit, args, requestInfo('update'))).status, undefined)
  })
}

test('C-03 where the random source fails, nothing is encrypted and nothing is written', async () => {
  const BROKEN: Record<string, (count: number) => Buffer> = {
    throws: () => {
      throw new Error('entropy pool')
    },
    short: (count) => Buffer.alloc(count - 1, 1),
    zeros: (count) => Buffer.alloc(count),
  }
  for (const [name, bytes] of Object.entries(BROKEN)) {
    const { client, view, random } = mountTransit()
    plantKey(view, 'k', 'aes256-gcm96', K, 'plain')
    const before = [...view.entries]
    random.bytes = bytes
    const work = [
      () => client.write('encrypt/k', { plaintext }),
      () => client.write('encrypt/k', { batch_input: [{ plaintext }] }),
      () => client.write('encrypt/new', { plaintext }),
      () => client.write('datakey/plaintext/k'),
      () => client.write('keys/new'),
      () => client.write('keys/k/rotate'),
    ]
    for (const one of work) await assert.rejects(one, /random|entropy|zeros/i, name)
    assert.deepEqual([...view.entries], before)
    random.bytes = undefined
    assert.equal((await client.write('encrypt/k', { plaintext })).status, 200)
  }
})

test('C-09 an item of a batch is treated as a single request is', async (t) => {
  const { client } = mountTransit()
  for (const kind of KEY_KINDS) {
    await client.write(`keys/${kind}`, flagsOf(kind))
    await client.write(`keys/${kind}/rotate`)
    await client.write(`keys/${kind}/rotate`)
    await client.write(`keys/${kind}/config`, { min_encryption_version: 2 })
  }
  const maybe = (value: fc.Arbitrary<string>) => fc.option(value, { nil: undefined })
  const item = fc.record({
    plaintext: fc.oneof(fc.base64String({ maxLength: 40 }), fc.constantFrom('', '!', 'YQ', 'YQ==\n')),
    context: fc.oneof(fc.constantFrom('YQ==', 'Yg==', '\n'), fc.constant('!')),
    associated_data: maybe(fc.constantFrom('', 'YQ==', '%')),
    nonce: maybe(fc.constantFrom('', nonce, 'YQ==', '?')),
    key_version: fc.option(fc.integer({ min: -1, max: 4 }), { nil: undefined }),
  })
  const withoutUndefined = (value: object): JsonObject => JSON.parse(JSON.stringify(value))
  const equal = fc.asyncProperty(
    fc.constantFrom(...KEY_KINDS),
    fc.boolean(),
    fc.array(item, { minLength: 1 }),
    async (kind, hasContexts, items) => {
      const sent = items.map(({ context: given, ...rest }) =>
        withoutUndefined(hasContexts ? { ...rest, context: given } : rest),
      )
      const { status, data } = await client.write(`encrypt/${kind}`, { batch_input: sent })
      let failures = 0
      for (const [index, result] of data.batch_results.entries()) {
        const body = sent[index] ?? assert.fail()
        const single = await client.write(`encrypt/${kind}`, body)
        if (single.status !== 200) {
          failures += 1
          assert.deepEqual(result, { error: single.errors[0], reference: '' })
          continue
        }
        assert.equal(result.key_version, single.data.key_version)
        const options = { context: body.context ?? '', associated_data: body.associated_data ?? '' }
        for (const { ciphertext } of [result, single.data]) {
          const opened = await client.write(`decrypt/${kind}`, { ciphertext, ...options })
          assert.equal(opened.data.plaintext, Buffer.from(String(body.plaintext), 'base64').toString('base64'))
        }
        if (kind === 'convergent') assert.equal(result.ciphertext, single.data.ciphertext)
      }
      assert.equal(status, failures === 0 ? 200 : 400)
    },
  )
  await fc.assert(equal, { seed: testSeed(t), numRuns: Number(process.env.BATCH_RUNS ?? 60) })
})
