import assert from 'node:assert/strict'
import { getHashes, hash } from 'node:crypto'
import { test } from 'node:test'
import { UnusableInput } from '../key-types/key-type.ts'
import { SIGNATURE_HASHES, signatureHash } from './signature-hashes.ts'

/** RFC 8017 section 9.2, note 1, and the object identifiers of NIST for SHA-3. */
const DIGEST_INFOS = {
  sha1: '3021300906052b0e03021a05000414',
  'sha2-224': '302d300d06096086480165030402040500041c',
  'sha2-256': '3031300d060960864801650304020105000420',
  'sha2-384': '3041300d060960864801650304020205000430',
  'sha2-512': '3051300d060960864801650304020305000440',
  'sha3-224': '302d300d06096086480165030402070500041c',
  'sha3-256': '3031300d060960864801650304020805000420',
  'sha3-384': '3041300d060960864801650304020905000430',
  'sha3-512': '3051300d060960864801650304020a05000440',
}

test('every hash has its length and what stands before it in PKCS #1 v1.5', () => {
  assert.deepEqual(SIGNATURE_HASHES, Object.keys(DIGEST_INFOS))
  for (const [name, digestInfo] of Object.entries(DIGEST_INFOS)) {
    const row = signatureHash(name)
    assert.equal(row.digestInfo.toString('hex'), digestInfo)
    assert.equal(hash(row.algorithm, 'abc', 'buffer').length, row.bytes)
  }
})

test('N-05 no other name is a hash: none of the many that the runtime knows', () => {
  for (const name of [
    ...getHashes(),
    'none',
    '',
    'SHA2-256',
    'sha2-256 ',
    'sha256',
    'md5',
    'constructor',
    '__proto__',
  ]) {
    if (SIGNATURE_HASHES.includes(name)) continue
    assert.throws(() => signatureHash(name), UnusableInput, name)
  }
})
