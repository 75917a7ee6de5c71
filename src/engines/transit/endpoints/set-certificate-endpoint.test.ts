import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import {
  LEAF_CERTIFICATE,
  LEAF_PUBLIC_KEY,
  MIDDLE_CERTIFICATE,
  ROOT_CERTIFICATE,
} from '../../../../test/fixtures/certificate-chain.ts'
import { mountTransit } from '../../../../test/fixtures/mounted-transit.ts'

const CHAIN = LEAF_CERTIFICATE + MIDDLE_CERTIFICATE + ROOT_CERTIFICATE
const PATH = 'keys/k/set-certificate'

async function mounted() {
  const mount = mountTransit()
  await mount.client.write('keys/k/import', { type: 'ed25519', public_key: LEAF_PUBLIC_KEY })
  return mount
}

const derOf = (pem: string): string[] =>
  (pem.match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g) ?? []).map((one) =>
    new X509Certificate(one).raw.toString('hex'),
  )

test('reads, exports and another thread show the chain of a version, and another takes its place', async () => {
  const { client, view } = await mounted()
  const { status, data } = await client.write(PATH, { certificate_chain: CHAIN })
  assert.equal(status, 200)
  assert.deepEqual(data, { name: 'k', type: 'ed25519', certificate_chain: CHAIN })
  for (const one of [client, mountTransit(view).client]) {
    const read = (await one.read('keys/k')).data.keys[1].certificate_chain
    assert.deepEqual(derOf(read), derOf(CHAIN))
    assert.equal(derOf(read).length, 3)
    assert.equal((await one.read('export/certificate-chain/k')).data.keys[1], read)
  }
  await client.write(PATH, { version: 1, certificate_chain: LEAF_CERTIFICATE })
  assert.equal(derOf((await client.read('keys/k')).data.keys[1].certificate_chain).length, 1)
})

test('a chain is for the version that is named, whatever comes after it', async () => {
  const { client } = await mounted()
  await client.write('keys/other', { type: 'ed25519' })
  const other = (await client.read('keys/other')).data.keys[1].public_key
  const pem = `-----BEGIN PUBLIC KEY-----\n${Buffer.concat([
    Buffer.from('302a300506032b6570032100', 'hex'),
    Buffer.from(other, 'base64'),
  ]).toString('base64')}\n-----END PUBLIC KEY-----\n`
  assert.equal((await client.write('keys/k/import_version', { public_key: pem })).status, 204)
  assert.match((await client.write(PATH, { certificate_chain: CHAIN })).errors.join(), /another public key/)
  const latest = await client.write(PATH, { certificate_chain: CHAIN, version: 'latest' })
  assert.match(latest.errors.join(), /another public key/)
  assert.equal((await client.write(PATH, { certificate_chain: CHAIN, version: 1 })).status, 200)
  const { keys } = (await client.read('keys/k')).data
  assert.notEqual(keys[1].certificate_chain, '')
  assert.equal(keys[2].certificate_chain, '')
})

test('blocks that are no certificates are passed over, and both labels of certificates are known', async () => {
  const { client } = await mounted()
  const certificate_chain = `some words\n${LEAF_PUBLIC_KEY}${LEAF_CERTIFICATE.replaceAll('CERT', 'X509 CERT')}`
  assert.equal((await client.write(PATH, { certificate_chain })).status, 200)
})

const damaged = LEAF_CERTIFICATE.replace('MIIBMTCB', 'MIIBMTCC')
const longer = `-----BEGIN CERTIFICATE-----\n${Buffer.concat([
  new X509Certificate(LEAF_CERTIFICATE).raw,
  Buffer.from([0]),
]).toString('base64')}\n-----END CERTIFICATE-----\n`
const REFUSED = [
  { name: 'no text', chain: '', says: /certificate_chain/ },
  { name: 'no certificate', chain: LEAF_PUBLIC_KEY, says: /no certificate/ },
  { name: 'an authority first', chain: ROOT_CERTIFICATE, says: /of an authority/ },
  { name: 'a leaf behind the first', chain: LEAF_CERTIFICATE.repeat(2), says: /behind the first/ },
  { name: 'a damaged certificate', chain: damaged, says: /no certificate/ },
  { name: 'bytes behind a certificate', chain: longer, says: /more in a block/ },
  { name: 'a block that does not end', chain: LEAF_CERTIFICATE.slice(0, -40), says: /no PEM/ },
  { name: 'more certificates than are kept', chain: CHAIN + ROOT_CERTIFICATE.repeat(8), says: /more than 10/ },
  { name: 'a text without end', chain: CHAIN + ' '.repeat(65_536), says: /characters/ },
  { name: 'a version that is not there', chain: CHAIN, version: 2, says: /no such key version/ },
  { name: 'a negative version', chain: CHAIN, version: -1, says: /no such key version/ },
]
for (const { name, chain, version = 0, says } of REFUSED) {
  test(`set-certificate refuses ${name}`, async () => {
    const { client } = await mounted()
    const { status, errors } = await client.write(PATH, { certificate_chain: chain, version })
    assert.equal(status, 400)
    assert.match(errors.join(), says)
    assert.equal((await client.read('keys/k')).data.keys[1].certificate_chain, '')
    // A refusal leaves no error behind in the runtime, for which the next key would be refused.
    assert.equal((await client.write('keys/next', { type: 'ecdsa-p256' })).status, 200)
  })
}

test('set-certificate refuses keys that no certificate is for, and those out of use', async () => {
  const { client } = mountTransit()
  const refusal = async (): Promise<string> => {
    const { status, errors } = await client.write(PATH, { certificate_chain: CHAIN })
    assert.equal(status, 400)
    return errors.join()
  }
  assert.match(await refusal(), /signing key not found/)
  const made = [
    { key: { type: 'aes256-gcm96' }, says: /does not support signing/ },
    { key: { type: 'ed25519', derived: true }, says: /with derivation/ },
    { key: { type: 'ecdsa-p256' }, says: /another public key/ },
  ]
  for (const { key, says } of made) {
    await client.write('keys/k', key)
    assert.match(await refusal(), says)
    await client.write('keys/k/config', { deletion_allowed: true })
    await client.delete('keys/k')
  }
  await client.write('keys/k/import', { type: 'ed25519', public_key: LEAF_PUBLIC_KEY })
  await client.delete('keys/k/soft-delete')
  assert.match(await refusal(), /soft-deleted/)
})
