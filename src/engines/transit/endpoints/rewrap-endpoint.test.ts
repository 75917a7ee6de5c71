import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, flagsOf, KEY_KINDS, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'

const plaintext = base64('the quick brown fox')
const options = { context: base64('my-cool-context'), associated_data: base64('associated') }

for (const kind of KEY_KINDS) {
  test(`rewrap ${kind}: the latest version, or the one asked for, with context and associated data`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', flagsOf(kind))
    const { ciphertext } = (await client.write('encrypt/k', { plaintext, ...options })).data
    await client.write('keys/k/rotate')
    const { data } = await client.write('rewrap/k', { ciphertext, ...options })
    assert.deepEqual([data.key_version, data.ciphertext.slice(0, 9)], [2, 'vault:v2:'])
    assert.equal(
      (await client.write('decrypt/k', { ciphertext: data.ciphertext, ...options })).data.plaintext,
      plaintext,
    )
    const back = await client.write('rewrap/k', { ciphertext: data.ciphertext, key_version: 1, ...options })
    assert.equal(back.data.key_version, 1)
    assert.equal(back.data.ciphertext === ciphertext, kind === 'convergent')
    assert.equal((await client.write('rewrap/k', { ciphertext, context: options.context })).status, 400)
    assert.equal((await client.write('rewrap/k', { ciphertext, key_version: 3, ...options })).status, 400)
  })
}

test('rewrap of a ciphertext that has the latest version already is not the same ciphertext', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  const { data } = await client.write('rewrap/k', { ciphertext })
  assert.notEqual(data.ciphertext, ciphertext)
  assert.ok(!JSON.stringify(data).includes(plaintext))
})

test('C-14 a rewrap batch has the statuses of encrypt, and items that are wrong fail alone', async () => {
  const { client } = mountTransit()
  await client.write('keys/k')
  const { ciphertext } = (await client.write('encrypt/k', { plaintext })).data
  const items = [
    { ciphertext, reference: 'good' },
    { ciphertext: 12 },
    {},
    { ciphertext, key_version: 9, reference: 'v' },
  ]
  const partial = await client.write('rewrap/k', { batch_input: items, partial_failure_response_code: 207 })
  assert.equal(partial.status, 207)
  const [good, ...wrong] = partial.data.batch_results
  assert.deepEqual([good.key_version, good.reference], [1, 'good'])
  assert.deepEqual(
    wrong.map(({ error, reference }: Record<string, string>) => [error?.slice(0, 30), reference]),
    [
      ['invalid ciphertext: no prefix,', ''],
      ['missing ciphertext to decrypt', ''],
      ['requested version for encrypti', 'v'],
    ],
  )
  assert.equal((await client.write('rewrap/k', { batch_input: items })).status, 400)
  assert.equal((await client.write('rewrap/k', { batch_input: items.slice(0, 1) })).status, 200)
  const none = { batch_input: items.slice(1), partial_failure_response_code: 207 }
  assert.equal((await client.write('rewrap/k', none)).status, 400)
  assert.equal((await client.write('rewrap/k', { batch_input: [true] })).status, 400)
})
