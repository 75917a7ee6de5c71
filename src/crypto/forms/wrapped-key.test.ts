import assert from 'node:assert/strict'
import { constants, createSecretKey, generateKeyPairSync, publicEncrypt } from 'node:crypto'
import { test } from 'node:test'
import { realWorld } from '../../lib/world.ts'
import { wrapKey } from '../primitives/key-wrap.ts'
import { headBytes, OAEP_HASHES, oaepHash, unwrapFromRsa, WRAP_FOR_RSA, wrapForRsa } from './wrapped-key.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const world = realWorld()
const random = world.random.bytes
const secret = Buffer.from('0123456789abcdef0123456789abcdef')

test('a key that is wrapped for an RSA key unwraps with each hash, and with no other', () => {
  for (const hash of OAEP_HASHES) {
    const blob = wrapForRsa(publicKey, hash, secret, random)
    assert.equal(blob.length, headBytes(privateKey) + 40)
    for (const other of OAEP_HASHES) {
      const unwrapped = unwrapFromRsa(privateKey, other, blob, random)
      assert.deepEqual(unwrapped, other === hash ? secret : undefined, `${hash} ${other}`)
    }
  }
})

test('hashes are named without a dash, in whatever case', () => {
  assert.equal(oaepHash('sha256'), 'SHA256')
  for (const name of ['SHA-256', 'MD5', '', 'SHA3-256', '__proto__']) assert.equal(oaepHash(name), undefined, name)
})

const CHANGES: { readonly name: string; readonly blob: (whole: Buffer) => Buffer }[] = [
  { name: 'a bit of the first part', blob: (whole) => flipped(whole, 5) },
  { name: 'a bit of the second part', blob: (whole) => flipped(whole, whole.length - 1) },
  { name: 'no second part', blob: (whole) => whole.subarray(0, 256) },
  { name: 'half of the first part', blob: (whole) => whole.subarray(0, 128) },
  { name: 'nothing', blob: () => Buffer.alloc(0) },
  { name: 'an AES key of 16 bytes', blob: () => withAesKey(16) },
  { name: 'an AES key of 33 bytes', blob: () => withAesKey(33) },
]

function flipped(whole: Buffer, at: number): Buffer {
  const changed = Buffer.from(whole)
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
  return changed
}

function withAesKey(bytes: number): Buffer {
  const aesKey = Buffer.alloc(bytes, 1)
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const head = publicEncrypt({ key: publicKey, padding, oaepHash: 'sha256' }, aesKey)
  return Buffer.concat([head, wrapKey(createSecretKey(Buffer.alloc(32, 1)), secret)])
}

for (const { name, blob } of CHANGES) {
  test(`a blob with ${name} gives nothing, and does not say why`, () => {
    assert.equal(
      unwrapFromRsa(privateKey, 'SHA256', blob(wrapForRsa(publicKey, 'SHA256', secret, random)), random),
      undefined,
    )
  })
}

test('the job wraps secret keys raw and private keys in PKCS #8, each under an AES key of its own', async () => {
  const pair = generateKeyPairSync('ed25519').privateKey
  const keys = [createSecretKey(secret), pair, pair]
  const blobs = await WRAP_FOR_RSA.run({ wrappingKey: publicKey, hash: 'SHA256', keys }, world)
  const opened = blobs.map((blob) => unwrapFromRsa(privateKey, 'SHA256', Buffer.from(blob), random))
  const pkcs8 = pair.export({ type: 'pkcs8', format: 'der' })
  assert.deepEqual(opened, [secret, pkcs8, pkcs8])
  assert.notDeepEqual(blobs[1], blobs[2])
})
