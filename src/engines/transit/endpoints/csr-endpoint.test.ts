import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import {
  attributesOf,
  derInPem,
  FULL_REQUEST,
  isSelfSigned,
  PLAIN_REQUEST,
  pemOf,
  takeApart,
} from '../../../../test/fixtures/certificate-requests.ts'
import { vectorsOf } from '../../../../test/fixtures/known-material.ts'
import { base64, type MountedTransit, mountTransit } from '../../../../test/fixtures/mounted-transit.ts'
import { plantEd25519, signers } from '../../../../test/fixtures/transit-signers.ts'
import { spkiDer } from '../../../crypto/forms/public-keys.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import type { JsonValue } from '../../../lib/json.ts'
import { inlineWork, type SlowWork } from '../../../lib/slow-work.ts'
import { realWorld } from '../../../lib/world.ts'

const PATH = 'keys/k/csr'
const inline = inlineWork(realWorld())

/** Notes which jobs went to the pool. */
function watchedWork(): { readonly slow: SlowWork; readonly jobs: string[] } {
  const jobs: string[] = []
  const run: SlowWork['run'] = (job, input, moved) => {
    jobs.push(job.name)
    return inline.run(job, input, moved)
  }
  return { slow: { ...inline, run }, jobs }
}

/** Returns the public key of a version as a read of the key shows it. */
async function publicKeyOf({ client, transit }: MountedTransit, version = 1): Promise<Buffer> {
  const shown = (await client.read('keys/k')).data.keys[version].public_key
  if (shown.startsWith('-----BEGIN')) return spkiDer(createPublicKey(shown))
  const ring = (await transit.keys.find('k')) ?? assert.fail()
  const spki = spkiDer(ring.version(version).key)
  assert.ok(spki.toString('hex').endsWith(Buffer.from(shown, 'base64').toString('hex')))
  return spki
}

for (const { type, plant } of signers()) {
  test(`P-46 ${type}: what the template asks for, with the key and the signature of the version`, async () => {
    const { slow, jobs } = watchedWork()
    const mount = mountTransit(undefined, undefined, slow)
    await plant(mount.view, 'k')
    const algorithm = vectorsOf(type)?.x509?.algorithm
    const pooled = KEY_TYPES.get(type)?.signing?.signsSlowly === true
    for (const csr of [FULL_REQUEST, PLAIN_REQUEST, undefined]) {
      jobs.length = 0
      const { status, data } = await mount.client.write(PATH, csr === undefined ? {} : { csr })
      assert.equal(status, 200)
      assert.deepEqual([data.name, data.type, jobs], ['k', type, pooled ? ['sign'] : []])
      const made = takeApart(data.csr)
      assert.deepEqual(made.spki, await publicKeyOf(mount))
      assert.equal(made.algorithm.toString('hex'), algorithm)
      assert.equal(isSelfSigned(made), true)
      const template = csr === undefined ? undefined : takeApart(csr)
      assert.equal(made.subject.toString('hex'), template?.subject.toString('hex') ?? '3000')
      assert.deepEqual(attributesOf(made), template === undefined ? [] : attributesOf(template))
    }
  })
}

test('a request is for the version that is named, from the lowest that decrypts on, whatever encrypts', async () => {
  const mount = mountTransit()
  const { client } = mount
  await client.write('keys/k', { type: 'ecdsa-p256' })
  for (let version = 2; version <= 4; version += 1) await client.write('keys/k/rotate')
  await client.write('keys/k/config', { min_encryption_version: 4 })
  await client.write('keys/k/config', { min_decryption_version: 2 })
  const asked: readonly (readonly [JsonValue | undefined, number])[] = [
    [undefined, 4],
    [null, 4],
    ['', 4],
    [0, 4],
    ['latest', 4],
    [4, 4],
    ['3', 3],
    [2, 2],
  ]
  for (const [version, expected] of asked) {
    const { data } = await client.write(PATH, version === undefined ? {} : { version })
    const made = takeApart(data.csr)
    assert.deepEqual(made.spki, await publicKeyOf(mount, expected), String(version))
    assert.equal(isSelfSigned(made), true)
  }
  for (const version of [1, 5, -1, 'newest', 'v2', 2.5]) {
    const { status, errors } = await client.write(PATH, { version })
    assert.equal(status, 400)
    assert.match(errors.join(), /"version": (no such key version, .* 2 to 4|expected an integer or latest)/)
  }
})

test('keys without a private half to sign with are refused, and so are those out of use', async () => {
  const { client, view } = mountTransit()
  const refusal = async (): Promise<string> => {
    const { status, errors } = await client.write(PATH, { csr: FULL_REQUEST })
    assert.equal(status, 400)
    return errors.join()
  }
  assert.match(await refusal(), /signing key not found/)
  for (const type of ['aes256-gcm96', 'hmac', 'aes256-cmac']) {
    await client.write('keys/k', { type })
    assert.match(await refusal(), /does not support signing/)
    await client.write('keys/k/config', { deletion_allowed: true })
    await client.delete('keys/k')
  }
  plantEd25519(view, 'k', 'derived')
  assert.match(await refusal(), /with derivation/)
  plantEd25519(view, 'other', 'plain')
  const { public_key } = (await client.read('keys/other')).data.keys[1]
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(public_key, 'base64')])
  await client.write('keys/half/import', { type: 'ed25519', public_key: pemOf(spki, 'PUBLIC KEY') })
  const half = await client.write('keys/half/csr')
  assert.equal(half.status, 400)
  assert.match(half.errors.join(), /version 1 of the key does not contain a private part/)
  await client.delete('keys/other/soft-delete')
  const deleted = await client.write('keys/other/csr')
  assert.equal(deleted.status, 400)
  assert.match(deleted.errors.join(), /soft-deleted/)
  await client.write('keys/other/soft-delete-restore')
  assert.equal((await client.write('keys/other/csr')).status, 200)
})

const TAKEN = [
  { name: 'the older label', csr: FULL_REQUEST.replaceAll(' CERT', ' NEW CERT') },
  { name: 'words around it', csr: `Certificate Request:\n    Data:\n${FULL_REQUEST}and more` },
  { name: 'other line ends', csr: FULL_REQUEST.replaceAll('\n', '\r\n') },
  { name: 'one long line', csr: pemOf(derInPem(FULL_REQUEST)) },
  { name: 'a signature of nobody', csr: pemOf(withLastByte(derInPem(FULL_REQUEST), 0x55)) },
]
for (const { name, csr } of TAKEN) {
  test(`a template is taken with ${name}`, async () => {
    const { client, view } = mountTransit()
    plantEd25519(view, 'k', 'plain')
    const { data, errors } = await client.write(PATH, { csr })
    assert.deepEqual(errors, [])
    const [made, template] = [takeApart(data.csr), takeApart(FULL_REQUEST)]
    assert.deepEqual([made.subject, attributesOf(made)], [template.subject, attributesOf(template)])
    assert.equal(isSelfSigned(made), true)
  })
}

function withLastByte(bytes: Buffer, byte: number): Buffer {
  const changed = Buffer.from(bytes)
  changed[changed.length - 1] = byte
  return changed
}

const der = derInPem(FULL_REQUEST)
const REFUSED: readonly { readonly name: string; readonly csr: string; readonly says: RegExp }[] = [
  { name: 'no PEM', csr: 'nonsense', says: /no line -----BEGIN/ },
  { name: 'base64 alone', csr: base64(der), says: /no line -----BEGIN/ },
  { name: 'another label', csr: pemOf(der, 'CERTIFICATE'), says: /label is not CERTIFICATE REQUEST or/ },
  { name: 'no end', csr: FULL_REQUEST.slice(0, -40), says: /no line -----END/ },
  { name: 'two blocks', csr: FULL_REQUEST + PLAIN_REQUEST, says: /more than one block/ },
  { name: 'a private key behind it', csr: `${FULL_REQUEST}-----BEGIN PRIVATE KEY-----\n`, says: /more than one block/ },
  { name: 'no content', csr: pemOf(Buffer.alloc(0)), says: /PKCS #10/ },
  { name: 'a byte behind the request', csr: pemOf(Buffer.concat([der, Buffer.of(0)])), says: /PKCS #10/ },
  { name: 'a null behind the request', csr: pemOf(Buffer.concat([der, Buffer.of(5, 0)])), says: /more than there/ },
  { name: 'half a request', csr: pemOf(der.subarray(0, 300)), says: /ends too early/ },
  { name: 'the inner part alone', csr: pemOf(takeApart(FULL_REQUEST).info), says: /PKCS #10/ },
  { name: 'a public key', csr: pemOf(takeApart(FULL_REQUEST).spki), says: /PKCS #10/ },
  { name: 'a long text', csr: FULL_REQUEST + ' '.repeat(65_536), says: /at most 65536 characters/ },
  { name: 'megabytes', csr: pemOf(Buffer.alloc(4_000_000, 0x30)), says: /at most 65536 characters/ },
]
for (const { name, csr, says } of REFUSED) {
  test(`C-08 a template is refused that is ${name}, and the next request is answered`, async () => {
    const { client, view } = mountTransit()
    plantEd25519(view, 'k', 'plain')
    const { status, errors } = await client.write(PATH, { csr })
    assert.equal(status, 400)
    assert.match(errors.join(), /"csr"/)
    assert.match(errors.join(), says)
    assert.equal((await client.write(PATH, { csr: FULL_REQUEST })).status, 200)
  })
}
