// Vectors of Project Wycheproof for the two parts of an import blob, through our own code.
import assert from 'node:assert/strict'
import { createPrivateKey, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { openHead } from '../../src/crypto/forms/wrapped-key.ts'
import { unwrapKey, wrapKey } from '../../src/crypto/primitives/key-wrap.ts'
import { fromHex, type OaepGroup, readGroups, withVectors } from '../fixtures/wycheproof.ts'

type WrapCase = {
  readonly tcId: number
  readonly key: string
  readonly msg: string
  readonly ct: string
  readonly result: 'valid' | 'invalid' | 'acceptable'
}

withVectors('Wycheproof vectors of key wrapping', () => {
  test('Wycheproof aes_kwp', () => {
    const cases = readGroups<{ readonly tests: readonly WrapCase[] }>('aes_kwp').flatMap(({ tests }) => tests)
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
    test(`Wycheproof ${file}`, () => {
      let played = 0
      for (const { privateKeyPkcs8, tests } of readGroups<OaepGroup>(file)) {
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
})
