import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  importPublicKey,
  importSigningKey,
  isSignatureOf,
  newSigningKey,
  publicKeyText,
  signText,
} from './text-signature.ts'

test('RFC 8032 section 7.1 vector 1: key and signature of the empty text', () => {
  const seed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
  const key = importSigningKey(Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex'))
  const publicKey = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex')
  assert.equal(publicKeyText(key), publicKey.toString('base64'))
  assert.equal(
    Buffer.from(signText(key, ''), 'base64').toString('hex'),
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
      '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  )
})

test('a signature holds for its text and its key alone', () => {
  const [one, other] = [importSigningKey(newSigningKey(randomBytes)), importSigningKey(newSigningKey(randomBytes))]
  const read = (text: string) => importPublicKey(text) ?? assert.fail('not a key')
  const signature = signText(one, 'text')
  assert.equal(isSignatureOf(read(publicKeyText(one)), 'text', signature), true)
  assert.equal(isSignatureOf(read(publicKeyText(one)), 'texT', signature), false)
  assert.equal(isSignatureOf(read(publicKeyText(other)), 'text', signature), false)
  assert.equal(isSignatureOf(read(publicKeyText(one)), 'text', ''), false)
  assert.equal(isSignatureOf(read(publicKeyText(one)), 'text', signature.replace('==', '')), false)
})

test('what is not a public key is not taken for one', () => {
  for (const text of ['', 'x', 'AAAA', `${Buffer.alloc(32).toString('base64')} `, Buffer.alloc(33).toString('base64')])
    assert.equal(importPublicKey(text), undefined)
})
