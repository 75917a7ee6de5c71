// Public keys in the forms that other programs write, and public keys that no program can use.
import assert from 'node:assert/strict'
import { createPrivateKey, ECDH, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { publishedRsa } from '../../../../test/fixtures/known-material.ts'
import { base64, type MountedTransit, mountTransit, plantKey } from '../../../../test/fixtures/mounted-transit.ts'
import { DER, der, derNatural, derOid } from '../../../crypto/encoding/der.ts'
import { canonicalSpki } from '../../../crypto/forms/canonical-spki.ts'
import { type Curve, P256, P384, P521, SECP256K1 } from '../../../crypto/forms/ec-curves.ts'
import { loadSpki, spkiDer, spkiPem } from '../../../crypto/forms/public-keys.ts'
import { rsaPublicParts } from '../../../crypto/forms/rsa-parts.ts'
import { transferBytes, wrapForRsa } from '../../../crypto/forms/wrapped-key.ts'
import { realWorld } from '../../../lib/world.ts'

const WRAPPING_KEY = publishedRsa('rsa-4096')
const wrappingKey = createPrivateKey({ key: WRAPPING_KEY, format: 'der', type: 'pkcs8' })
const wrapped = (key: KeyObject): string =>
  base64(wrapForRsa(wrappingKey, 'SHA256', transferBytes(key), realWorld().random.bytes))

function mounted(): MountedTransit {
  const mount = mountTransit()
  mount.view.plant('wrapping-key', Buffer.concat([Buffer.from([1]), WRAPPING_KEY]))
  return mount
}

const pem = (spki: Buffer): string =>
  `-----BEGIN PUBLIC KEY-----\n${spki.toString('base64')}\n-----END PUBLIC KEY-----\n`
const ecSpkiOf = ({ algorithmIdentifier }: Curve, point: Buffer): Buffer =>
  der(DER.sequence, algorithmIdentifier, der(DER.bitString, Buffer.from([0]), point))

/** Returns one public key with its point in full and compressed. */
function formsOf(curve: Curve): { readonly privateKey: KeyObject; readonly forms: Readonly<Record<string, Buffer>> } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: curve.opensslName })
  const point = publicKey.export({ format: 'raw-public' })
  const compressed = ECDH.convertKey(point, curve.opensslName, undefined, undefined, 'compressed')
  return {
    privateKey,
    forms: {
      'as it is written here': spkiDer(publicKey),
      'with a compressed point': ecSpkiOf(curve, Buffer.from(compressed as unknown as Uint8Array)),
    },
  }
}

const TYPES = [
  ['ecdsa-p256', P256],
  ['ecdsa-p384', P384],
  ['ecdsa-p521', P521],
  ['ecdsa-secp256k1', SECP256K1],
] as const
for (const [type, curve] of TYPES) {
  const { privateKey, forms } = formsOf(curve)
  for (const [name, spki] of Object.entries(forms)) {
    test(`a public key of ${type} ${name} is completed by its private key, and shown in one form`, async () => {
      const { client } = mounted()
      for (const version of [undefined, 1]) {
        const key = `k${version}`
        assert.equal((await client.write(`keys/${key}/import`, { type, public_key: pem(spki) })).status, 204)
        const completing = { ciphertext: wrapped(privateKey), ...(version === undefined ? {} : { version }) }
        const completed = await client.write(`keys/${key}/import_version`, completing)
        assert.deepEqual([completed.status, completed.errors], [204, []])
        const { data } = await client.read(`keys/${key}`)
        assert.equal(data.latest_version, 1)
        assert.equal(data.keys[1].public_key, spkiPem(privateKey))
      }
    })
  }
}

test('a curve by its numbers is the curve of that name', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' })
  const [explicit, canonical] = [spkiDer(publicKey), canonicalSpki(publicKey)]
  assert.ok(explicit.length > 2 * canonical.length, `${explicit.length} bytes`)
  const point = publicKey.export({ format: 'raw-public' })
  assert.deepEqual(canonical, ecSpkiOf(P256, point))
  assert.deepEqual(canonicalSpki(loadSpki('ecdsa-p256', canonical)), canonical)
})

const INFINITY = ecSpkiOf(P256, Buffer.from([0]))

function rsaWith(change: (parts: { n: bigint; e: bigint }) => { n: bigint; e: bigint }): Buffer {
  const { n, e } = change(
    rsaPublicParts(createPrivateKey({ key: publishedRsa('rsa-2048'), format: 'der', type: 'pkcs8' })),
  )
  const key = der(DER.sequence, derNatural(n), derNatural(e))
  const algorithm = der(DER.sequence, derOid('1.2.840.113549.1.1.1'), der(DER.null))
  return der(DER.sequence, algorithm, der(DER.bitString, Buffer.from([0]), key))
}

const UNUSABLE: readonly {
  readonly name: string
  readonly type: string
  readonly spki: Buffer
  readonly says: RegExp
}[] = [
  { name: 'the point at infinity', type: 'ecdsa-p256', spki: INFINITY, says: /infinity/ },
  { name: 'an even modulus', type: 'rsa-2048', spki: rsaWith(({ n, e }) => ({ n: n - 1n, e })), says: /modulus.*even/ },
  { name: 'an even exponent', type: 'rsa-2048', spki: rsaWith(({ n }) => ({ n, e: 65_538n })), says: /exponent.*odd/ },
  { name: 'a long exponent', type: 'rsa-2048', spki: rsaWith(({ n }) => ({ n, e: 2n ** 33n + 1n })), says: /exponent/ },
]
for (const { name, type, spki, says } of UNUSABLE) {
  test(`P-43 a public key with ${name} is refused by import, and the next one is taken`, async () => {
    const { client } = mounted()
    const { status, errors } = await client.write('keys/k/import', { type, public_key: pem(spki) })
    assert.equal(status, 400)
    assert.match(errors.join(), says)
    assert.match(errors.join(), /"public_key"/)
    const ciphertext = wrapped(createPrivateKey({ key: publishedRsa('rsa-2048'), format: 'der', type: 'pkcs8' }))
    assert.equal((await client.write('keys/k/import', { type: 'rsa-2048', ciphertext })).status, 204)
  })
}

test('a public key that was stored before such keys were refused is completed by no private key', async () => {
  const { client, view } = mounted()
  plantKey(
    view,
    'k',
    'rsa-2048',
    rsaWith(({ n }) => ({ n, e: 2n ** 33n + 1n })),
    'plain',
    {
      imported: true,
      versions: [{ createdAtMs: 0, convergentVersion: 0, isPublic: true }],
    },
  )
  const ciphertext = wrapped(createPrivateKey({ key: publishedRsa('rsa-2048'), format: 'der', type: 'pkcs8' }))
  const named = await client.write('keys/k/import_version', { ciphertext, version: 1 })
  assert.match(named.errors.join(), /key pair does not match/)
  assert.equal((await client.write('keys/k/import_version', { ciphertext })).status, 204)
  assert.equal((await client.read('keys/k')).data.latest_version, 2)
})

test('P-43 no key is agreed on with the point at infinity', async () => {
  const { client } = mounted()
  await client.write('keys/base', { type: 'ecdsa-p256' })
  const asked = { base_key_name: 'base', peer_public_key: pem(INFINITY) }
  const { status, errors } = await client.write('derive-key/k', asked)
  assert.equal(status, 400)
  assert.match(errors.join(), /"peer_public_key".*infinity/)
})

/** The refusal of a backup of a key known by its public half, in which a member was changed. */
async function restoreChanged(type: string, spki: Buffer, change: (backup: string) => string): Promise<string> {
  const { client } = mounted()
  await client.write('keys/k/import', { type, public_key: pem(spki) })
  await client.write('keys/k/config', { exportable: true, allow_plaintext_backup: true })
  const backup = Buffer.from((await client.read('backup/k')).data.backup, 'base64').toString()
  const changed = change(backup)
  assert.notEqual(changed, backup)
  const { status, errors } = await client.write('restore/other', { backup: base64(changed) })
  assert.equal(status, 400)
  return errors.join()
}

test('P-43 a backup with the point at infinity is refused', async () => {
  const spki = spkiDer(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)
  const says = await restoreChanged('ecdsa-p256', spki, (backup) =>
    backup
      .replace(/"public_key":"[^"]*"/, `"public_key":${JSON.stringify(pem(INFINITY))}`)
      .replace(/"ec_x":\d+,"ec_y":\d+/, '"ec_x":null,"ec_y":null'),
  )
  assert.match(says, /infinity/)
})

test('P-43 a backup with an even modulus of RSA is refused', async () => {
  const says = await restoreChanged(
    'rsa-2048',
    rsaWith((parts) => parts),
    (backup) => backup.replace(/("N":\d*)\d/, (_, digits) => `${digits}2`),
  )
  assert.match(says, /modulus.*even/)
})
