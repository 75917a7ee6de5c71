// Convergent keys and associated data: no nonce serves two messages. The constants, here and in `test/vectors`, were
// computed once, outside this program. Their key has the bytes 00 to 1f, as many as the type takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vectorsOf } from '../../../../test/fixtures/known-material.ts'
import { base64, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { inlineWork } from '../../../lib/slow-work.ts'
import { realWorld } from '../../../lib/world.ts'

const MATERIAL = Buffer.from(Array.from({ length: 32 }, (_, at) => at))
const plaintext = base64('the quick brown fox')
const context = base64('my-cool-context')
const associated_data = base64('associated')
const nonce = base64(Buffer.from('101112131415161718191a1b', 'hex'))

/** Ciphertexts by convergent version from before the nonce depended on associated data, here 'associated'. */
const BEFORE: Readonly<Record<string, { readonly 2: string; readonly 3: string }>> = {
  'aes128-gcm96': {
    2: 'vault:v1:5mE5nEYTz3Kyd/el/InyuXhf6rplXNqZ/y27wh3EkblwaDXYvkrLa4DmFXNn+n0=',
    3: 'vault:v1:kRUYEctQ87IM1Leu+qwbBnCqdimflCtb8EUr4wp5knobn4xURd3W6rS0lRReIZQ=',
  },
  'aes256-gcm96': {
    2: 'vault:v1:5mE5nEYTz3Kyd/elyoySLJho25MvyWOX4+KHirAV0Pac9ZzBwXfMrv2y5GUqFV0=',
    3: 'vault:v1:UNoewImeSHIwnuqfMkfoehkDX0/zACwaaqEodO3gxxU8oGG4yI+80aSMITN0SgI=',
  },
  'chacha20-poly1305': {
    2: 'vault:v1:5mE5nEYTz3Kyd/el/Liby2DywrJR0DK9EvE4DRFcW2Oj7LNnuoupo6VJAvTNsUo=',
    3: 'vault:v1:UNoewImeSHIwnuqf9xzYi1CeSUCXPYIbkER3FJ8QMPQpeILMLglktJit/v5iKb0=',
  },
  'xchacha20-poly1305': {
    2: 'vault:v1:5mE5nEYTz3Kyd/elTh93LQWibWOnjWoebNV3GHK3CpQ0KnxUhFRdXVn6R2gMLQptGUvsErHtOcsmIjM=',
    3: 'vault:v1:UNoewImeSHIwnuqf3SbLMDUGH535u4LjqzaFg7u61Q3jtB3RhviDRL5n8N7fC+Dtt/j1nDXD6cEUR0M=',
  },
}
test('each type whose bytes of before are known is still there', () => {
  assert.deepEqual(
    Object.keys(BEFORE).filter((name) => !KEY_TYPES.has(name)),
    [],
  )
  assert.equal(Object.keys(BEFORE).length, 4)
})

const BEFORE_VERSION_1 = 'vault:v1:PRaFJ/ogFEMZ4r2XvXOHlgqmqQyAoxMaJwM6nF/Fd3XCoaQ='

/** A key of the known material, whose batches are split in three. */
function planted(type: string, convergentVersion: number) {
  const slow = { ...inlineWork(realWorld()), split: () => ({ parts: () => 3, end: () => {} }) }
  const mounted = mountTransit(undefined, undefined, slow)
  const cipher = KEY_TYPES.get(type)?.cipher
  const material = MATERIAL.subarray(0, cipher?.takesAssociatedData === true ? cipher.keyBytes : 0)
  plantKey(mounted.view, 'k', type, material, 'convergent', { versions: [{ createdAtMs: 0, convergentVersion }] })
  return mounted
}

for (const { name: type, cipher, derivation } of KEY_TYPES.values()) {
  if (derivation?.convergent === undefined) continue
  const made = vectorsOf(type)?.convergent ?? assert.fail(`test/vectors/${type}.json has no "convergent"`)
  const before = BEFORE[type]
  const nonceOf = (ciphertext: string) =>
    Buffer.from(ciphertext.slice('vault:v1:'.length), 'base64').subarray(0, cipher?.nonceBytes)

  for (const version of [2, 3] as const) {
    const what = `${type}, convergent version ${version}`

    test(`A1: ${what}: the nonce follows from the associated data, too, and what is equal stays equal`, async () => {
      const { client } = planted(type, version)
      const { data } = await client.write('encrypt/k', { plaintext, context, associated_data })
      assert.equal(data.ciphertext, made)
      const opened = await client.write('decrypt/k', { ciphertext: made, context, associated_data })
      assert.equal(opened.data.plaintext, plaintext)
    })

    if (before !== undefined) {
      test(`A1: ${what}: what was encrypted before opens, and is rewrapped to what encrypt gives now`, async () => {
        const { client } = planted(type, version)
        const options = { ciphertext: before[version], context, associated_data }
        assert.equal((await client.write('decrypt/k', options)).data.plaintext, plaintext)
        assert.equal((await client.write('rewrap/k', options)).data.ciphertext, made)
        const { data } = await client.write('rewrap/k', { batch_input: Array(600).fill(options) })
        for (const { ciphertext } of data.batch_results) assert.equal(ciphertext, made)
      })
    }

    test(`A1: ${what}: messages that differ have nonces that differ, singly and in split batches`, async () => {
      const { client } = planted(type, version)
      const messages = [
        ['', ''],
        ['ab', ''],
        ['ab', 'c'],
        ['a', 'bc'],
        ['', 'abc'],
        ['', 'ab'],
        ['\0', ''],
        ['', '\0'],
        // Texts of 8 bytes, as the lengths that enter the nonce have.
        ['', '\0\0\0\0\0\0\0\x02abc'],
        ['\0\0\0\0\0\0\0\x02', 'abc'],
        ['abc', '\0\0\0\0\0\0\0\x02'],
      ] as const
      const many = Array.from({ length: 600 }, (_, n) => ['same', `data ${n}`] as const)
      const batch_input = [...messages, ...many].map(([text, data]) => ({
        plaintext: base64(text),
        context,
        associated_data: base64(data),
      }))
      const { data } = await client.write('encrypt/k', { batch_input })
      const ciphertexts: string[] = data.batch_results.map(({ ciphertext }: { ciphertext: string }) => ciphertext)
      assert.equal(new Set(ciphertexts.map((text) => nonceOf(text).toString('hex'))).size, batch_input.length)
      for (const [n, item] of batch_input.entries()) {
        assert.equal((await client.write('encrypt/k', item)).data.ciphertext, ciphertexts[n], `item ${n}`)
      }
    })

    test(`A1: ${what}: empty associated data are none`, async () => {
      const { client } = planted(type, version)
      const none = await client.write('encrypt/k', { plaintext, context })
      const empty = await client.write('encrypt/k', { plaintext, context, associated_data: '' })
      assert.equal(empty.data.ciphertext, none.data.ciphertext)
      if (before !== undefined) assert.deepEqual(nonceOf(none.data.ciphertext), nonceOf(before[version]), 'as before')
    })
  }
}

for (const type of ['aes128-gcm96', 'aes256-gcm96']) {
  test(`A1: two tags of one plaintext make no third one, ${type}`, async () => {
    const { client } = planted(type, 3)
    const tagOf = async (data: Buffer) => {
      const answer = await client.write('encrypt/k', { plaintext: '', context, associated_data: base64(data) })
      const sealed = Buffer.from(answer.data.ciphertext.slice('vault:v1:'.length), 'base64')
      return { nonce: sealed.subarray(0, 12), tag: numberOf(sealed.subarray(12)) }
    }
    const [one, other, third] = [1, 2, 3].map((byte) => Buffer.alloc(16, byte)) as [Buffer, Buffer, Buffer]
    const [first, second] = [await tagOf(one), await tagOf(other)]
    // With one nonce the tags differ by the difference of the data times the square of the key that authenticates.
    const square = times(first.tag ^ second.tag, inverse(numberOf(one) ^ numberOf(other)))
    const forged = first.tag ^ times(numberOf(one) ^ numberOf(third), square)
    const ciphertext = `vault:v1:${base64(Buffer.concat([first.nonce, bytesOf(forged)]))}`
    const { status } = await client.write('decrypt/k', { ciphertext, context, associated_data: base64(third) })
    assert.equal(status, 400, 'a forged message opens')
  })
}

test('A1: the caller’s nonce of convergent version 1 goes with no associated data', async () => {
  const { client } = planted('aes256-gcm96', 1)
  const options = { context, nonce, associated_data }
  const item = { plaintext, ciphertext: BEFORE_VERSION_1, ...options }
  for (const path of ['encrypt/k', 'rewrap/k', 'datakey/plaintext/k', 'datakeys/wrapped/k']) {
    const single = await client.write(path, { ...item, count: 1 })
    assert.equal(single.status, 400, path)
    assert.match(single.errors[0] ?? '', /^"associated_data": .*nonce.*newer version/)
    if (path.startsWith('datakey')) continue
    for (const length of [1, 600]) {
      const { status, data } = await client.write(path, { batch_input: Array(length).fill(item) })
      assert.equal(status, 400)
      for (const { error } of data.batch_results) assert.equal(error, single.errors[0])
    }
  }
  // Line ends are no base64 either.
  for (const empty of ['', '\n']) {
    const { status, data } = await client.write('encrypt/k', { ...item, associated_data: empty })
    assert.equal(status, 200)
    const opened = await client.write('decrypt/k', { ciphertext: data.ciphertext, context, nonce })
    assert.equal(opened.data.plaintext, plaintext)
  }
})

test('A1: what convergent version 1 encrypted with associated data opens, and leaves it by a rotation', async () => {
  const { client } = planted('aes256-gcm96', 1)
  const options = { ciphertext: BEFORE_VERSION_1, context, nonce, associated_data }
  assert.equal((await client.write('decrypt/k', options)).data.plaintext, plaintext)
  await client.write('keys/k/rotate')
  const { data } = await client.write('rewrap/k', options)
  assert.equal(data.key_version, 2)
  const opened = await client.write('decrypt/k', { ciphertext: data.ciphertext, context, associated_data })
  assert.equal(opened.data.plaintext, plaintext)
})

test('A1: data keys with associated data open with them alone', async () => {
  const { client } = planted('aes256-gcm96', 3)
  const { data } = await client.write('datakeys/plaintext/k', { context, associated_data, count: 3 })
  for (const { ciphertext, plaintext: made } of data.key_pairs) {
    const opened = await client.write('decrypt/k', { ciphertext, context, associated_data })
    assert.equal(opened.data.plaintext, made)
    assert.equal((await client.write('decrypt/k', { ciphertext, context })).status, 400)
  }
})

// The field of GCM (NIST SP 800-38D section 6.3): the first bit of a block is the coefficient of 1.

const numberOf = (block: Buffer): bigint => BigInt(`0x${block.toString('hex')}`)
const bytesOf = (element: bigint): Buffer => Buffer.from(element.toString(16).padStart(32, '0'), 'hex')

function times(one: bigint, other: bigint): bigint {
  let product = 0n
  let power = other
  for (let bit = 127n; bit >= 0n; bit -= 1n) {
    if ((one >> bit) & 1n) product ^= power
    power = power & 1n ? (power >> 1n) ^ (0xe1n << 120n) : power >> 1n
  }
  return product
}

/** By Fermat: the power with the exponent 2^128 - 2. */
function inverse(element: bigint): bigint {
  let result = 1n << 127n
  let power = element
  for (let step = 1; step < 128; step += 1) {
    power = times(power, power)
    result = times(result, power)
  }
  return result
}
