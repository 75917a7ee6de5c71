import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { spkiDer } from '../forms/public-keys.ts'
import { AuthenticationFailed } from '../primitives/aead.ts'
import { InvalidKeyMaterial } from './key-type.ts'
import { rsa2048, rsa3072 } from './rsa-key-types.ts'

const pkcs8 = (publicExponent: number, type: 'rsa' | 'rsa-pss' = 'rsa') => {
  const options = { modulusLength: 2048, publicExponent }
  // Two calls: the types of each know only their own name.
  const { privateKey } = type === 'rsa' ? generateKeyPairSync('rsa', options) : generateKeyPairSync('rsa-pss', options)
  return { material: privateKey.export({ format: 'der', type: 'pkcs8' }), spki: spkiDer(privateKey) }
}

test('P-15 an RSA key with a small exponent is refused, in either half', () => {
  for (const exponent of [3, 17, 257]) {
    const { material, spki } = pkcs8(exponent)
    assert.throws(() => rsa2048.load(material), { name: 'InvalidKeyMaterial', message: /exponent of 65537 or more/ })
    assert.throws(() => rsa2048.publicPart?.load(spki), { name: 'InvalidKeyMaterial', message: /exponent/ })
  }
})

test('P-15 an RSA key of another size or algorithm is refused, in either half', () => {
  const { material, spki } = pkcs8(65_537)
  assert.equal(rsa2048.load(material).type, 'private')
  assert.equal(rsa2048.publicPart?.load(spki).type, 'public')
  assert.throws(() => rsa3072.load(material), InvalidKeyMaterial)
  assert.throws(() => rsa3072.publicPart?.load(spki), InvalidKeyMaterial)
  const pss = pkcs8(65_537, 'rsa-pss')
  assert.throws(() => rsa2048.load(pss.material), InvalidKeyMaterial)
  assert.throws(() => rsa2048.publicPart?.load(pss.spki), InvalidKeyMaterial)
})

const paddings = Object.entries(rsa2048.paddings ?? {})
for (const [name, cipher] of paddings) {
  test(`N-01 ${name}: a ciphertext that lost a zero at its beginning does not open`, () => {
    const key = rsa2048.load(pkcs8(65_537).material)
    const seal = () => cipher.sealWithNonce(key, Buffer.alloc(0), Buffer.from('x'))
    let sealed = seal()
    // One in 256 ciphertexts begins so.
    while (sealed[0] !== 0) sealed = seal()
    assert.deepEqual(cipher.openWithNonce(key, sealed), Buffer.from('x'))
    assert.throws(() => cipher.openWithNonce(key, sealed.subarray(1)), AuthenticationFailed)
    assert.throws(() => cipher.openWithNonce(key, Buffer.concat([Buffer.alloc(1), sealed])), AuthenticationFailed)
  })
}

test('both paddings were tried', () => {
  assert.deepEqual(paddings.map(([name]) => name).toSorted(), ['oaep', 'pkcs1v15'])
})
