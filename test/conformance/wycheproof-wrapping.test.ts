// Vectors of Project Wycheproof (Apache 2.0) for the two parts of an import blob, through our own code. They are not
// part of the repository; where the folder is not there, this says so.
import assert from 'node:assert/strict'
import { createPrivateKey, createSecretKey } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { unwrapKey, wrapKey } from '../../src/crypto/key-wrap.ts'
import { openHead } from '../../src/crypto/wrapped-key.ts'

const FOLDER = new URL('../../../shared/vectors/wycheproof/', import.meta.url)
/** The vectors are not part of the repository. */
const skip = !existsSync(FOLDER) && 'the folder of published vectors is not beside the project'
const fromHex = (hex: string): Buffer => Buffer.from(hex, 'hex')

type Case = {
  readonly tcId: number
  readonly key: string
  readonly msg: string
  readonly ct: string
  readonly label: string
  readonly result: 'valid' | 'invalid' | 'acceptable'
}
type Group = { readonly privateKeyPkcs8: string; readonly tests: readonly Case[] }

const groupsOf = (file: string): readonly Group[] => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')).testGroups

test('Wycheproof aes_kwp', { skip }, () => {
  const cases = groupsOf('aes_kwp_test.json').flatMap(({ tests }) => tests)
  for (const { tcId, key, msg, ct, result } of cases) {
    const wrappingKey = createSecretKey(fromHex(key))
    const opened = unwrapKey(wrappingKey, fromHex(ct))
    if (result === 'invalid') assert.equal(opened, undefined, `${tcId}`)
    else {
      assert.deepEqual(opened, fromHex(msg), `${tcId}`)
      assert.equal(wrapKey(wrappingKey, fromHex(msg)).toString('hex'), ct, `${tcId}`)
    }
  }
  assert.equal(cases.length, 254)
})

for (const { file, hash, count } of [
  { file: 'rsa_oaep_2048_sha1_mgf1sha1', hash: 'SHA1', count: 36 },
  { file: 'rsa_oaep_2048_sha256_mgf1sha256', hash: 'SHA256', count: 37 },
  { file: 'rsa_oaep_2048_sha512_mgf1sha512', hash: 'SHA512', count: 33 },
  { file: 'rsa_oaep_3072_sha256_mgf1sha256', hash: 'SHA256', count: 37 },
  { file: 'rsa_oaep_4096_sha256_mgf1sha256', hash: 'SHA256', count: 37 },
  { file: 'rsa_oaep_4096_sha512_mgf1sha512', hash: 'SHA512', count: 36 },
] as const) {
  // With a label, which we never have, nothing opens.
  test(`Wycheproof ${file}`, { skip }, () => {
    let played = 0
    for (const { privateKeyPkcs8, tests } of groupsOf(`${file}_test.json`)) {
      const key = createPrivateKey({ key: fromHex(privateKeyPkcs8), format: 'der', type: 'pkcs8' })
      for (const { tcId, msg, ct, label, result } of tests) {
        const wanted = result !== 'invalid' && label === '' ? fromHex(msg) : undefined
        assert.deepEqual(openHead(key, hash, fromHex(ct)), wanted, `${tcId}`)
        played++
      }
    }
    assert.equal(played, count)
  })
}
