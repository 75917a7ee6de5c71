// The recipe of a key type, carried out: a type is its file, one line of the list, and its vectors. Both types are of
// test/fixtures/new-key-types.ts; the line is written while the list is loaded, so that whatever else of the program
// named its types would show here.
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { test } from 'node:test'
import type { Cipher, ListedKeyType, Signing } from '../../src/crypto/key-types/key-type.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { MountedTransit } from '../fixtures/mounted-transit.ts'

const LIST = new URL('../../src/crypto/key-types/key-types.ts', import.meta.url)
const NEW_TYPES = '../../../test/fixtures/new-key-types.ts'

registerHooks({
  load(url, context, next) {
    if (url !== LIST.href) return next(url, context)
    const source = `import * as added from '${NEW_TYPES}'\n${readFileSync(LIST, 'utf8')}`
    const end = source.lastIndexOf('\n])')
    assert.notEqual(end, -1, 'the list ends so')
    const longer = `${source.slice(0, end)}\n  ...Object.values(added),${source.slice(end)}`
    return { format: 'module-typescript', source: longer, shortCircuit: true }
  },
})

// Only now, so that whatever they load has the longer list.
const { KEY_TYPES } = await import('../../src/crypto/key-types/key-types.ts')
const { PROOF_OPTIONS } = await import('../../src/crypto/key-types/key-type.ts')
const { wrapForRsa, transferBytes } = await import('../../src/crypto/forms/wrapped-key.ts')
const { spkiPem } = await import('../../src/crypto/forms/public-keys.ts')
const { keyTypeConformance } = await import('../conformance/key-type.ts')
const { isSelfSigned, takeApart } = await import('../fixtures/certificate-requests.ts')
const { materialOf, publishedRsa, vectorsOf } = await import('../fixtures/known-material.ts')
const { base64, mountTransit, plantKey } = await import('../fixtures/mounted-transit.ts')
const added = await import('../fixtures/new-key-types.ts')

const input = base64('the quick brown fox')
const WRAPPING_KEY = publishedRsa('rsa-4096')
const wrappingKey = createPrivateKey({ key: WRAPPING_KEY, format: 'der', type: 'pkcs8' })

function mounted(): MountedTransit {
  const mount = mountTransit()
  mount.view.plant('wrapping-key', Buffer.concat([Buffer.from([1]), WRAPPING_KEY]))
  return mount
}

async function written({ client }: MountedTransit, path: string, body: JsonObject = {}) {
  const { status, errors, data } = await client.write(path, body)
  assert.deepEqual([Math.floor(status / 100), errors], [2, []], path)
  return data
}

for (const type of Object.values(added)) {
  const { name } = type
  assert.equal(KEY_TYPES.get(name), type)
  keyTypeConformance(type, vectorsOf(name))

  test(`${name}: is imported, backed up, restored and exported`, async () => {
    const from = mounted()
    const key = type.load(await materialOf(type))
    const ciphertext = base64(wrapForRsa(wrappingKey, 'SHA256', transferBytes(key), randomBytes))
    await written(from, 'keys/k/import', { type: name, ciphertext, exportable: true, allow_plaintext_backup: true })
    assert.equal((await from.client.read('keys/k')).data.type, name)
    const { backup } = (await from.client.read('backup/k')).data
    assert.equal(JSON.parse(Buffer.from(backup, 'base64').toString()).policy.type, type.backupId)
    const to = mounted()
    await written(to, 'restore', { backup })
    const exported = `export/${type.signing === undefined ? 'encryption-key' : 'signing-key'}/k`
    const { keys } = (await to.client.read(exported)).data
    assert.deepEqual(keys, { 1: type.form.secretText(key, 'usual') })
    assert.deepEqual((await from.client.read(exported)).data.keys, keys)
    await written(to, 'keys/wrap/import', { type: 'rsa-4096', public_key: spkiPem(wrappingKey) })
    const wrapped = (await to.client.read('byok-export/wrap/k/latest')).data.keys[1]
    await written(to, 'keys/back/import', { type: name, ciphertext: wrapped })
  })
}

test('ed448: signs, verifies and requests a certificate, and its public half alone verifies', async () => {
  const mount = mounted()
  await written(mount, 'keys/k', { type: 'ed448' })
  await written(mount, 'keys/k/rotate')
  const { signature } = await written(mount, 'sign/k', { input })
  assert.equal((await written(mount, 'verify/k', { input, signature })).valid, true)
  const made = takeApart((await written(mount, 'keys/k/csr')).csr)
  assert.equal(made.algorithm.toString('hex'), vectorsOf('ed448')?.x509?.algorithm)
  assert.equal(isSelfSigned(made), true)
  const key = added.ed448.load(await materialOf(added.ed448))
  const flags = { exportable: true, allow_plaintext_backup: true }
  await written(mount, 'keys/half/import', { type: 'ed448', public_key: spkiPem(key), ...flags })
  const signed = added.ed448.signing?.sign(key, Buffer.from(input, 'base64'), PROOF_OPTIONS) ?? assert.fail()
  const theirs = { input, signature: `vault:v1:${base64(signed)}` }
  assert.equal((await written(mount, 'verify/half', theirs)).valid, true)
  const { backup } = (await mount.client.read('backup/half')).data
  await written(mount, 'restore/again', { backup })
  assert.equal((await written(mount, 'verify/again', theirs)).valid, true)
})

test('aes192-gcm96: encrypts, also where encrypt makes the key, and is derived, convergent and agreed on', async () => {
  const mount = mounted()
  const { client } = mount
  const { ciphertext } = await written(mount, 'encrypt/k', { plaintext: input, type: 'aes192-gcm96' })
  assert.equal((await written(mount, 'decrypt/k', { ciphertext })).plaintext, input)
  assert.equal((await client.read('keys/k')).data.type, 'aes192-gcm96')
  const context = base64('my-cool-context')
  plantKey(mount.view, 'c', 'aes192-gcm96', Buffer.from(Array.from({ length: 24 }, (_, at) => at)), 'convergent')
  const item = { plaintext: input, context, associated_data: base64('associated') }
  assert.equal((await written(mount, 'encrypt/c', item)).ciphertext, vectorsOf('aes192-gcm96')?.convergent)
  await written(mount, 'keys/base', { type: 'ecdsa-p256' })
  const peer_public_key = spkiPem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)
  await written(mount, 'derive-key/agreed', {
    base_key_name: 'base',
    peer_public_key,
    derived_key_type: 'aes192-gcm96',
  })
  assert.equal((await client.read('keys/agreed')).data.type, 'aes192-gcm96')
})

test('a type that leaves out what must be said does not compile, as the comments here say to the compiler', () => {
  const formless: Omit<ListedKeyType, 'form'> = added.ed448
  const unnumbered: Omit<ListedKeyType, 'backupId'> = added.ed448
  const unnamed: Omit<Signing, 'x509'> = added.ed448.signing ?? assert.fail()
  const { cipher } = added.aes192Gcm96
  assert.ok(cipher?.takesAssociatedData === true)
  const unmeasured: Omit<Extract<Cipher, { takesAssociatedData: true }>, 'keyBytes'> = cipher
  const types: ListedKeyType[] = [
    // @ts-expect-error how its keys are written elsewhere
    formless,
    // @ts-expect-error its number in backups
    unnumbered,
    // @ts-expect-error how certificates are signed
    { ...added.ed448, signing: unnamed },
    // @ts-expect-error the bytes of a key
    { ...added.aes192Gcm96, cipher: unmeasured },
  ]
  assert.equal(types.length, 4)
})
