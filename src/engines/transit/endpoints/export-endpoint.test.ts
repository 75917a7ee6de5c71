import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { base64, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'

test('versions are addressed by number, v and number, or latest; without one all that can be used', async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { exportable: true })
  for (const _ of [2, 3]) await client.write('keys/k/rotate')
  await client.write('keys/k/config', { min_decryption_version: 2 })
  const versions = async (tail: string) => {
    const { data, errors } = await client.read(`export/encryption-key/k${tail}`)
    return data === undefined ? errors.join() : Object.keys(data.keys).join()
  }
  assert.equal(await versions(''), '2,3')
  assert.equal(await versions('/2'), '2')
  assert.equal(await versions('/v3'), '3')
  assert.equal(await versions('/latest'), '3')
  assert.match(await versions('/1'), /below minimum decryption version/)
  assert.match(await versions('/0'), /below minimum decryption version/)
  assert.match(await versions('/4'), /version does not exist or cannot be found/)
  for (const tail of ['/x', '/-1', '/1.5', '/1/2', `/${'9'.repeat(30)}`])
    assert.match(await versions(tail), /invalid key/)
})

for (const type of ['aes256-gcm96', 'ecdsa-p256']) {
  test(`every version of a rotated ${type} key has an HMAC secret of its own`, async () => {
    const { client, view } = mountTransit()
    await client.write('keys/k', { type, exportable: true })
    for (const _ of [2, 3]) await client.write('keys/k/rotate')
    for (const { client: each } of [mountTransit(view), { client }]) {
      const secrets: string[] = Object.values((await each.read('export/hmac-key/k')).data.keys)
      assert.equal(new Set(secrets).size, 3)
      assert.ok(secrets.every((secret) => Buffer.from(secret, 'base64').some((byte) => byte !== 0)))
    }
  })
}

const FORMATS = [
  { type: 'aes256-gcm96', kind: 'encryption-key', written: ['', 'raw'] },
  { type: 'hmac', kind: 'hmac-key', written: ['', 'raw'] },
  { type: 'aes128-cmac', kind: 'cmac-key', written: ['', 'raw'] },
  { type: 'ed25519', kind: 'signing-key', written: ['', 'raw', 'der', 'pem'] },
  { type: 'ed25519', kind: 'public-key', written: ['', 'raw', 'der', 'pem'] },
  { type: 'ecdsa-p256', kind: 'signing-key', written: ['', 'der', 'pem'] },
  { type: 'ecdsa-p256', kind: 'public-key', written: ['', 'der', 'pem'] },
  { type: 'ecdsa-p256', kind: 'hmac-key', written: ['', 'raw'] },
]
for (const { type, kind, written } of FORMATS) {
  test(`the ${kind} of ${type} is written in the formats that there are for it`, async () => {
    const { client } = mountTransit()
    await client.write('keys/k', { type, exportable: true })
    for (const format of ['', 'raw', 'der', 'pem']) {
      const { status, data } = await client.read(`export/${kind}/k`, { format })
      assert.equal(status, written.includes(format) ? 200 : 400, format)
      if (status === 200) assert.equal(String(data.keys[1]).startsWith('-----'), isPem(type, kind, format), format)
    }
    assert.equal((await client.read(`export/${kind}/k`, { format: 'jwk' })).status, 400)
  })
}

const isPem = (type: string, kind: string, format: string): boolean =>
  format === 'pem' || (format === '' && type.startsWith('ecdsa') && kind !== 'hmac-key')

test('texts of exports end as clients know them: RSA with a newline, others without', async () => {
  const { client } = mountTransit()
  await client.write('keys/ec', { type: 'ecdsa-p256', exportable: true })
  await client.write('keys/rsa', { type: 'rsa-2048', exportable: true })
  const text = async (path: string, format = ''): Promise<string> => (await client.read(path, { format })).data.keys[1]
  assert.match(await text('export/signing-key/ec'), /^-----BEGIN EC PRIVATE KEY-----\n[\s\S]*KEY-----$/)
  assert.match(await text('export/public-key/ec'), /KEY-----$/)
  assert.match(await text('export/signing-key/rsa'), /^-----BEGIN RSA PRIVATE KEY-----\n[\s\S]*KEY-----\n$/)
  assert.match(await text('export/encryption-key/rsa', 'pem'), /^-----BEGIN PRIVATE KEY-----\n[\s\S]*KEY-----\n$/)
  assert.match(await text('export/public-key/rsa'), /^-----BEGIN PUBLIC KEY-----\n[\s\S]*KEY-----\n$/)
  assert.equal(createPublicKey(await text('export/public-key/rsa')).asymmetricKeyType, 'rsa')
})

const REFUSED = [
  { name: 'an unknown kind', path: 'export/nope/yes', says: /invalid export type/ },
  { name: 'a kind that is a member of every object', path: 'export/constructor/yes', says: /invalid export type/ },
  { name: 'a key that is not exportable', path: 'export/encryption-key/no', says: /not exportable/ },
  { name: 'the HMAC key of one', path: 'export/hmac-key/no', says: /not exportable/ },
  { name: 'the signing key of what does not sign', path: 'export/signing-key/yes', says: /do not sign/ },
  { name: 'the public key of what has none', path: 'export/public-key/yes', says: /no public half/ },
  { name: 'the encryption key of what does not encrypt', path: 'export/encryption-key/signs', says: /do not encrypt/ },
  { name: 'certificates where there are none', path: 'export/certificate-chain/signs', says: /no certificate chain/ },
]
for (const { name, path, says } of REFUSED) {
  test(`export refuses ${name}`, async () => {
    const { client } = mountTransit()
    await client.write('keys/yes', { exportable: true })
    await client.write('keys/no')
    await client.write('keys/signs', { type: 'ed25519', exportable: true })
    const { status, errors } = await client.read(path)
    assert.equal(status, 400)
    assert.match(errors.join(), says)
  })
}

test('a missing key is 404; a public half needs no exportable; a softly deleted key gives nothing', async () => {
  const { client } = mountTransit()
  assert.equal((await client.read('export/hmac-key/none')).status, 404)
  await client.write('keys/k', { type: 'ed25519', exportable: true })
  await client.write('keys/n', { type: 'ed25519' })
  assert.equal((await client.read('export/public-key/n')).status, 200)
  await client.delete('keys/k/soft-delete')
  for (const path of ['export/signing-key/k', 'export/public-key/k', 'backup/k', 'byok-export/k/k'])
    assert.match((await client.read(path)).errors.join(), /soft-deleted/, path)
})

test('byok-export wants an RSA key, one that may leave, and its private half', async () => {
  const { client } = mountTransit()
  await client.write('keys/rsa', { type: 'rsa-2048' })
  await client.write('keys/k', { exportable: true })
  await client.write('keys/no')
  const refusal = async (path: string, query = {}) => (await client.read(`byok-export/${path}`, query)).errors.join()
  assert.match(await refusal('none/k'), /"destination": key not found/)
  assert.match(await refusal('rsa/none'), /"source": key not found/)
  assert.match(await refusal('k/k'), /only an RSA key wraps/)
  assert.match(await refusal('rsa/no'), /key is not exportable/)
  assert.match(await refusal('rsa/k/7'), /version does not exist/)
  assert.match(await refusal('rsa/k', { hash: 'MD5' }), /unknown hash function/)
  const { data } = await client.read('byok-export/rsa/k')
  assert.equal(Buffer.from(data.keys[1], 'base64').length, 256 + 40)
  const { public_key } = (await client.read('keys/rsa')).data.keys[1]
  await client.write('keys/half/import', { type: 'rsa-2048', public_key, exportable: true })
  assert.match(await refusal('rsa/half'), /does not contain a private part/)
  assert.equal((await client.read('export/signing-key/half')).data.keys[1], '')
})

test('what is exported is the key: known material comes out', async () => {
  const { client, view } = mountTransit()
  const material = Buffer.alloc(32, 5)
  plantKey(view, 'k', 'aes256-gcm96', material, 'plain')
  await client.write('keys/k/config', { exportable: true })
  assert.equal((await client.read('export/encryption-key/k')).data.keys[1], base64(material))
  assert.equal((await client.read('export/hmac-key/k')).data.keys[1], base64(Buffer.alloc(32, 7)))
})

test('C-10 of all that goes out of an exportable key only an export and a backup hold it', async () => {
  const { client, view } = mountTransit()
  const material = Buffer.alloc(32, 5)
  plantKey(view, 'k', 'aes256-gcm96', material, 'plain')
  await client.write('keys/k/config', { exportable: true, allow_plaintext_backup: true })
  await client.write('keys/rsa', { type: 'rsa-2048' })
  const inClear = async (path: string) => JSON.stringify((await client.read(path)).data).includes(base64(material))
  assert.equal(await inClear('export/encryption-key/k'), true)
  for (const path of ['export/hmac-key/k', 'byok-export/rsa/k', 'keys/k', 'wrapping_key'])
    assert.equal(await inClear(path), false, path)
  const { backup } = (await client.read('backup/k')).data
  assert.ok(Buffer.from(backup, 'base64').includes(base64(material)))
  const refusal = await client.write('restore', { backup })
  assert.ok(!JSON.stringify(refusal).includes(base64(material)))
})
