import assert from 'node:assert/strict'
import { createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import { base64, type MountedTransit, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { P256 } from '../../../crypto/forms/ec-curves.ts'
import { ecPkcs8 } from '../../../crypto/forms/ec-parts.ts'
import { spkiPem } from '../../../crypto/forms/public-keys.ts'
import type { JsonObject } from '../../../lib/json.ts'

// RFC 5903 section 8.1: the private number of the initiator, and the point of the responder.
const INITIATOR = Buffer.from('c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433', 'hex')
const RESPONDER = createPublicKey({
  key: {
    kty: 'EC',
    crv: 'P-256',
    x: Buffer.from('d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63', 'hex').toString('base64url'),
    y: Buffer.from('56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab', 'hex').toString('base64url'),
  },
  format: 'jwk',
})
const PEER = spkiPem(RESPONDER)

/** Computed apart from this program: HKDF-SHA-256 of the shared x coordinate of that section. */
const AGREED = Buffer.from('3bf511eebadf44c1f7b0282a1262fe4ddd9da23bb1555cfda591ac46b088c441', 'hex')

function mounted(): MountedTransit {
  const mount = mountTransit()
  plantKey(mount.view, 'base', 'ecdsa-p256', ecPkcs8(P256, INITIATOR), 'plain')
  return mount
}

async function materialOfKey({ client }: MountedTransit, name: string): Promise<string> {
  await client.write(`keys/${name}/config`, { exportable: true })
  return (await client.read(`export/encryption-key/${name}`)).data.keys[1]
}

for (const [type, bytes] of [
  ['aes128-gcm96', 16],
  ['AES256-GCM96', 32],
  ['chacha20-poly1305', 32],
  ['xchacha20-poly1305', 32],
] as const) {
  test(`derive-key makes a key of type ${type} of the shared secret of RFC 5903`, async () => {
    const mount = mounted()
    const asked = { base_key_name: 'base', peer_public_key: PEER, derived_key_type: type }
    const { status, errors } = await mount.client.write('derive-key/k', asked)
    assert.deepEqual([status, errors], [204, []])
    const { data } = await mount.client.read('keys/k')
    const { imported_key, imported_key_allow_rotation } = data
    assert.deepEqual([data.type, imported_key, imported_key_allow_rotation], [type.toLowerCase(), true, false])
    assert.equal((await mount.client.write('keys/k/rotate')).status, 400)
    assert.equal(await materialOfKey(mount, 'k'), base64(AGREED.subarray(0, bytes)))
  })
}

const CURVES = { 'ecdsa-p256': 'P-256', 'ecdsa-p384': 'P-384', 'ecdsa-p521': 'P-521', 'ecdsa-secp256k1': 'secp256k1' }
for (const [type, namedCurve] of Object.entries(CURVES)) {
  test(`both parties get the same key with keys of type ${type}`, async () => {
    const mount = mountTransit()
    await mount.client.write('keys/base', { type })
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve })
    const asked = { base_key_name: 'base', peer_public_key: spkiPem(publicKey), key_derivation_algorithm: 'ECDH' }
    assert.equal((await mount.client.write('derive-key/k', asked)).status, 204)
    const ours = createPublicKey((await mount.client.read('keys/base')).data.keys[1].public_key)
    const shared = diffieHellman({ privateKey, publicKey: ours })
    const expected = Buffer.from(hkdfSync('sha256', shared, '', '', 32))
    assert.equal(await materialOfKey(mount, 'k'), base64(expected))
  })
}

test('the version of the base key that is named is used', async () => {
  const mount = mounted()
  await mount.client.write('keys/base/rotate')
  const asked = { base_key_name: 'base', peer_public_key: PEER }
  assert.equal((await mount.client.write('derive-key/latest', asked)).status, 204)
  assert.equal((await mount.client.write('derive-key/first', { ...asked, base_key_version: 1 })).status, 204)
  assert.equal(await materialOfKey(mount, 'first'), base64(AGREED))
  assert.notEqual(await materialOfKey(mount, 'latest'), base64(AGREED))
})

const p384 = spkiPem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)
const offCurve = RESPONDER.export({ type: 'spki', format: 'der' })
offCurve.writeUInt8(offCurve.readUInt8(offCurve.length - 1) ^ 1, offCurve.length - 1)
const offCurvePem = `-----BEGIN PUBLIC KEY-----\n${base64(offCurve)}\n-----END PUBLIC KEY-----\n`

const REFUSED: readonly { readonly name: string; readonly body: JsonObject; readonly says: RegExp }[] = [
  { name: 'another algorithm', body: { key_derivation_algorithm: 'x25519' }, says: /key_derivation_algorithm/ },
  { name: 'another type of key', body: { derived_key_type: 'hmac' }, says: /derived_key_type/ },
  { name: 'no base key', body: { base_key_name: '' }, says: /base_key_name/ },
  { name: 'a base key that is not there', body: { base_key_name: 'nobody' }, says: /base_key_name.*not found/ },
  { name: 'a base key of AES', body: { base_key_name: 'aes' }, says: /ECDSA/ },
  { name: 'a base key of Ed25519', body: { base_key_name: 'ed' }, says: /ECDSA/ },
  { name: 'a base key without its private half', body: { base_key_name: 'half' }, says: /private part/ },
  { name: 'a base key out of use', body: { base_key_name: 'gone' }, says: /soft-deleted/ },
  { name: 'a version that is not there', body: { base_key_version: 2 }, says: /base_key_version/ },
  { name: 'a negative version', body: { base_key_version: -1 }, says: /base_key_version/ },
  { name: 'no public key', body: { peer_public_key: '' }, says: /peer_public_key/ },
  { name: 'no PEM', body: { peer_public_key: 'AAAA' }, says: /peer_public_key.*PEM/ },
  { name: 'a public key on another curve', body: { peer_public_key: p384 }, says: /peer_public_key.*curve/ },
  { name: 'a point that is not on the curve', body: { peer_public_key: offCurvePem }, says: /peer_public_key/ },
]
for (const { name, body, says } of REFUSED) {
  test(`derive-key refuses ${name}`, async () => {
    const { client } = mounted()
    await client.write('keys/aes')
    await client.write('keys/ed', { type: 'ed25519' })
    await client.write('keys/half/import', { type: 'ecdsa-p256', public_key: PEER })
    await client.write('keys/gone', { type: 'ecdsa-p256' })
    await client.call('delete', 'keys/gone/soft-delete', {})
    const asked = { base_key_name: 'base', peer_public_key: PEER, ...body }
    const { status, errors } = await client.write('derive-key/k', asked)
    assert.equal(status, 400)
    assert.match(errors.join(), says)
    assert.equal((await client.read('keys/k')).status, 404)
  })
}

test('derive-key refuses a name that is taken, and leaves that key as it was', async () => {
  const { client } = mounted()
  await client.write('keys/k')
  const before = (await client.read('keys/k')).data
  const { status, errors } = await client.write('derive-key/k', { base_key_name: 'base', peer_public_key: PEER })
  assert.equal(status, 400)
  assert.match(errors.join(), /already exists/)
  assert.deepEqual((await client.read('keys/k')).data, before)
})
