import assert from 'node:assert/strict'
import { constants, createPublicKey, publicEncrypt } from 'node:crypto'
import { before, test } from 'node:test'
import { base64, type MountedTransit, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import type { JsonObject } from '../../../lib/json.ts'

const plaintext = base64('the quick brown fox')
const padding_scheme = 'pkcs1v15'
let mounted: MountedTransit
let spki: string

before(async () => {
  mounted = mountTransit()
  await mounted.client.write('keys/rsa', { type: 'rsa-2048' })
  await mounted.client.write('keys/aes')
  spki = (await mounted.client.read('keys/rsa')).data.keys[1].public_key
})

const write = (path: string, body: JsonObject) => mounted.client.write(path, body)

test('what is encrypted with a padding is decrypted with the same, single and in a batch', async () => {
  const { ciphertext } = (await write('encrypt/rsa', { plaintext, padding_scheme })).data
  assert.equal((await write('decrypt/rsa', { ciphertext, padding_scheme })).data.plaintext, plaintext)
  assert.equal((await write('decrypt/rsa', { ciphertext })).status, 400)
  const items = [{ plaintext, padding_scheme }, { plaintext }, { plaintext, padding_scheme: 'oaep' }]
  const { data } = await write('encrypt/rsa', { batch_input: items })
  const back = data.batch_results.map(({ ciphertext }: JsonObject, index: number) => ({ ...items[index], ciphertext }))
  const { status, data: opened } = await write('decrypt/rsa', { batch_input: back })
  assert.equal(status, 200)
  for (const result of opened.batch_results) assert.equal(result.plaintext, plaintext)
})

test('a ciphertext of another program opens', async () => {
  const sealed = publicEncrypt({ key: createPublicKey(spki), padding: constants.RSA_PKCS1_PADDING }, Buffer.from('fox'))
  const ciphertext = `vault:v1:${base64(sealed)}`
  assert.equal((await write('decrypt/rsa', { ciphertext, padding_scheme })).data.plaintext, base64('fox'))
})

test('rewrap changes the padding, and a data key has the one that it is asked for', async () => {
  const { ciphertext } = (await write('encrypt/rsa', { plaintext, padding_scheme })).data
  const schemes = { decrypt_padding_scheme: padding_scheme, encrypt_padding_scheme: 'oaep' }
  const single = (await write('rewrap/rsa', { ciphertext, ...schemes })).data
  assert.equal((await write('decrypt/rsa', { ciphertext: single.ciphertext })).data.plaintext, plaintext)
  const { data } = await write('rewrap/rsa', { batch_input: [{ ciphertext, ...schemes }] })
  const [item] = data.batch_results
  assert.equal((await write('decrypt/rsa', { ciphertext: item.ciphertext })).data.plaintext, plaintext)
  const made = (await write('datakey/plaintext/rsa', { padding_scheme })).data
  const opened = await write('decrypt/rsa', { ciphertext: made.ciphertext, padding_scheme })
  assert.equal(opened.data.plaintext, made.plaintext)
})

test('a padding that there is not, or that the key cannot have, is refused by name', async () => {
  for (const scheme of ['PKCS1V15', 'pss', 'none']) {
    assert.match(
      (await write('encrypt/rsa', { plaintext, padding_scheme: scheme })).errors[0] ?? '',
      /^"padding_scheme"/,
    )
  }
  for (const scheme of ['oaep', 'pkcs1v15']) {
    const { status, errors } = await write('encrypt/aes', { plaintext, padding_scheme: scheme })
    assert.deepEqual([status, /only for RSA keys/.test(errors[0] ?? '')], [400, true])
  }
  assert.equal((await write('encrypt/rsa', { plaintext, padding_scheme: '' })).status, 200)
  const tooLong = await write('encrypt/rsa', { plaintext: base64(Buffer.alloc(246)), padding_scheme })
  assert.match(tooLong.errors[0] ?? '', /at most 245/)
  assert.equal((await write('encrypt/rsa', { plaintext: base64(Buffer.alloc(245)), padding_scheme })).status, 200)
  assert.equal((await write('encrypt/rsa', { plaintext: base64(Buffer.alloc(191)) })).status, 400)
})

test('C-11 wrong padding of PKCS #1 v1.5 is not told from right: it opens, the same way each time', async () => {
  const answers = new Set<string>()
  for (let first = 1; first <= 40; first += 1) {
    const sealed = Buffer.alloc(256, first)
    sealed[0] = 0
    const body = { ciphertext: `vault:v1:${base64(sealed)}`, padding_scheme }
    const { status, data } = await write('decrypt/rsa', body)
    assert.equal(status, 200)
    assert.deepEqual((await write('decrypt/rsa', body)).data, data)
    answers.add(data.plaintext)
  }
  assert.ok(answers.size > 30, 'what it opens to follows from the ciphertext')
})

test('C-11 what cannot be a ciphertext of the key is refused with the one sentence for all', async () => {
  const messages = new Set<string>()
  for (const sealed of [Buffer.alloc(255, 1), Buffer.alloc(257, 1), Buffer.alloc(0), Buffer.alloc(256, 0xff)]) {
    const { status, errors } = await write('decrypt/rsa', { ciphertext: `vault:v1:${base64(sealed)}`, padding_scheme })
    assert.equal(status, 400)
    messages.add(errors[0] ?? '')
  }
  assert.equal(messages.size, 1)
})

test('datakeys gives as many as were asked for, all different, of either type', async () => {
  for (const type of ['plaintext', 'wrapped']) {
    const { status, data } = await write(`datakeys/${type}/aes`, { count: 5, bits: 128 })
    assert.deepEqual([status, data.key_version, data.key_pairs.length], [200, 1, 5])
    const seen = new Set<string>()
    for (const pair of data.key_pairs) {
      const opened = (await write('decrypt/aes', { ciphertext: pair.ciphertext })).data.plaintext
      assert.equal(Buffer.from(opened, 'base64').length, 16)
      assert.equal(pair.plaintext, type === 'plaintext' ? opened : undefined)
      seen.add(opened)
    }
    assert.equal(seen.size, 5)
  }
  assert.equal((await write('datakeys/wrapped/rsa', { count: 2, padding_scheme })).data.key_pairs.length, 2)
  const REFUSED: readonly [string, JsonObject][] = [
    ['datakeys/plaintext/aes', {}],
    ['datakeys/plaintext/aes', { count: 0 }],
    ['datakeys/plaintext/aes', { count: 1001 }],
    ['datakeys/plaintext/aes', { count: 1, bits: 100 }],
    ['datakeys/other/aes', { count: 1 }],
    ['datakeys/plaintext/missing', { count: 1 }],
  ]
  for (const [path, body] of REFUSED) assert.equal((await write(path, body)).status, 400, JSON.stringify(body))
})
