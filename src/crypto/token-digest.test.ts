import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { fastDigest, keyedDigest } from './token-digest.ts'

test('RFC 4231 section 4.3: keyedDigest is HMAC-SHA-256 in hex', () => {
  assert.equal(
    keyedDigest(createSecretKey(Buffer.from('Jefe')), 'what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test('FIPS 180-4: fastDigest is SHA-256 of prefix and text in base64', () => {
  const abc = Buffer.from('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', 'hex')
  assert.equal(fastDigest('a', 'bc'), abc.toString('base64'))
  assert.notEqual(fastDigest('b', 'bc'), abc.toString('base64'))
})
