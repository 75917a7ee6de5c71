import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'

const input = base64('the quick brown fox')

/** Computed once, outside this program. */
const KNOWN = [
  { algorithm: 'sha2-224', sum: 'ea074a96cabc5a61f8298a2c470f019074642631a49e1c5e2f560865' },
  { algorithm: 'sha2-256', sum: '9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f' },
  {
    algorithm: 'sha2-384',
    sum: '15af9ec8be783f25c583626e9491dbf129dd6dd620466fdf05b3a1d0bb8381d30f4d3ec29f923ff1e09a0f6b337365a6',
  },
  {
    algorithm: 'sha2-512',
    format: 'base64',
    sum: '2dOA8puXrWodkumH2D+loCZTMB4QBt0rzVGvpZqRR+nK7a+JUhq8DwtoKtzUf7USuDQ8g0oy8yb+m+8AVCzohw==',
  },
  { algorithm: 'sha3-256', sum: 'e4bd866ec3fa52df3b7842aa97b448bc859a7606cefcdad1715847f4b82a6c93' },
]
for (const { algorithm, format = 'hex', sum } of KNOWN) {
  test(`a known hash with ${algorithm} in ${format}, named in the path or in the body`, async () => {
    const { client } = mountTransit()
    assert.equal((await client.write(`hash/${algorithm}`, { input, format })).data.sum, sum)
    assert.equal((await client.write('hash', { input, format, algorithm })).data.sum, sum)
    assert.equal((await client.write(`hash/${algorithm}`, { input, format, algorithm: 'md5' })).data.sum, sum)
  })
}

for (const { name, path = 'hash', body } of [
  { name: 'no input', body: {} },
  { name: 'input that is no base64', body: { input: '!' } },
  { name: 'SHA-1', path: 'hash/sha1', body: { input } },
  { name: 'no hash', body: { input, algorithm: 'none' } },
  { name: 'an empty algorithm', body: { input, algorithm: '' } },
  { name: 'a name of every object', body: { input, algorithm: 'constructor' } },
  { name: 'an unknown format', body: { input, format: 'x' } },
]) {
  test(`hash refuses ${name}`, async () => {
    assert.equal((await mountTransit().client.write(path, body)).status, 400)
  })
}
