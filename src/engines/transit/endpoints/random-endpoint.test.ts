import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { NO_SEAL_ENTROPY } from '../../../api/tool-fields.ts'

for (const { path, body = {}, bytes } of [
  { path: 'random', bytes: 32 },
  { path: 'random', body: { bytes: '12' }, bytes: 12 },
  { path: 'random', body: { bytes: 131_072, source: 'all' }, bytes: 131_072 },
  { path: 'random/16', bytes: 16 },
  { path: 'random/16', body: { bytes: 4 }, bytes: 16 },
  { path: 'random/platform', bytes: 32 },
  { path: 'random/platform/4', bytes: 4 },
  { path: 'random/all/8', bytes: 8 },
]) {
  test(`${path} with ${JSON.stringify(body)} gives ${bytes} bytes, others each time`, async () => {
    const { client } = mountTransit()
    const [one, other] = [await client.write(path, body), await client.write(path, body)]
    assert.deepEqual([one.status, one.warnings], [200, []])
    assert.equal(Buffer.from(one.data.random_bytes, 'base64').length, bytes)
    assert.notEqual(one.data.random_bytes, other.data.random_bytes)
    const { data } = await client.write(path, { ...body, format: 'hex' })
    assert.match(data.random_bytes, new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
  })
}

for (const source of ['', null]) {
  test(`C4: the source ${JSON.stringify(source)} is the usual one`, async () => {
    const { client } = mountTransit()
    for (const [path, body, bytes] of [
      ['random', {}, 32],
      ['random', { bytes: 5 }, 5],
      ['random/7', {}, 7],
      ['random/platform/9', {}, 9],
    ] as const) {
      const { status, data, warnings } = await client.write(path, { ...body, source })
      assert.deepEqual([status, warnings], [200, []])
      assert.equal(Buffer.from(data.random_bytes, 'base64').length, bytes)
    }
  })
}

test('the source "seal" says that the bytes come from the platform', async () => {
  const { client } = mountTransit()
  for (const [path, body] of [
    ['random/seal/8', {}],
    ['random', { source: 'seal' }],
  ] as const) {
    assert.deepEqual((await client.write(path, body)).warnings, [NO_SEAL_ENTROPY])
  }
})

for (const [path, body] of [
  ['random', { bytes: 0 }],
  ['random', { bytes: -1 }],
  ['random', { bytes: 131_073 }],
  ['random', { format: 'base32' }],
  ['random', { source: 'nowhere' }],
  ['random/x', {}],
  ['random/0', {}],
  ['random/131073', {}],
  ['random/nowhere/4', {}],
  ['random/platform/x', {}],
] as const) {
  test(`${path} with ${JSON.stringify(body)} is refused`, async () => {
    assert.equal((await mountTransit().client.write(path, body)).status, 400)
  })
}

for (const path of ['random/-1', 'random/4.', 'random/seal/-1', 'random/platform/4/x', 'random/8/9/10']) {
  test(`${path} is refused by the name of what is wrong with it`, async () => {
    const { status, errors } = await mountTransit().client.write(path)
    assert.equal(status, 400)
    assert.match(String(errors), /"bytes"/)
  })
}

test('C-03 without randomness there are no random bytes', async () => {
  const { client, random } = mountTransit()
  random.bytes = (count) => Buffer.alloc(count)
  await assert.rejects(client.write('random'), /only zeros/)
})

for (const path of ['random/010', 'random/+10', 'random/+010', 'random/platform/010', 'random/all/+10']) {
  test(`${path} is ten bytes: numbers in paths are decimal`, async () => {
    const { data } = await mountTransit().client.write(path)
    assert.equal(Buffer.from(data.random_bytes, 'base64').length, 10)
  })
}
