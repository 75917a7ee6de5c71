// Slow signatures by the threads that do them in a server: keys travel as handles, and the library for digests is
// loaded there.
import assert from 'node:assert/strict'
import { hash, type KeyObject } from 'node:crypto'
import { after, test } from 'node:test'
import { publicHalf } from '../../src/crypto/forms/public-keys.ts'
import { type KeyType, type SignatureOptions, UnusableInput } from '../../src/crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { NoncePool } from '../../src/crypto/primitives/nonce-pool.ts'
import { signWith, verifyWith } from '../../src/crypto/signing-jobs.ts'
import { proveMaterial } from '../../src/engines/transit/ring/new-key.ts'
import type { Log } from '../../src/lib/log.ts'
import { realWorld } from '../../src/lib/world.ts'
import { startSlowPool } from '../../src/process/slow-pool.ts'
import { PooledWork } from '../../src/threads/pooled-work.ts'

const world = realWorld()
const quiet: Log = () => {}
const pool = startSlowPool({ world, log: quiet, onFatal: assert.fail })
const slow = new PooledWork(pool.newHandle())
after(() => pool.stop())

const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  padding: 'pss',
  saltLength: 'hash',
  marshaling: 'jws',
}
const MESSAGE = Buffer.from('the quick brown fox')
const DIGEST = hash('sha256', MESSAGE, 'buffer')

async function newKey(type: KeyType): Promise<KeyObject> {
  const material = await type.generate(world.random.bytes, slow)
  await proveMaterial(type, material, { slow, nonces: new NoncePool(world.random.bytes) })
  return type.load(material)
}

for (const type of KEY_TYPES.values()) {
  if (type.signing === undefined) continue
  test(`P-15 P-46 ${type.name}: made, proven, signed and verified with the threads of the pool`, async () => {
    const key = await newKey(type)
    const isPure = type.name === 'ed25519' || type.name.startsWith('ml-dsa-')
    for (const prehashed of [false, true]) {
      const options = { ...OPTIONS, prehashed }
      const input = prehashed && !isPure ? DIGEST : MESSAGE
      const signature = await signWith(type, slow, key, input, options)
      assert.equal(await verifyWith(type, slow, publicHalf(key), input, signature, options), true)
      assert.equal(await verifyWith(type, slow, key, MESSAGE.subarray(1), signature, options), false)
    }
    // What was handed over is still the caller's.
    assert.equal(MESSAGE.toString(), 'the quick brown fox')
  })
}

test('what a caller got wrong comes back from the pool as what it is', async () => {
  const type = KEY_TYPES.get('rsa-2048') ?? assert.fail()
  const key = await newKey(type)
  const wrong = { ...OPTIONS, saltLength: 9_999 }
  await assert.rejects(
    async () => signWith(type, slow, key, MESSAGE, wrong),
    (cause) => cause instanceof UnusableInput && /"salt_length": requested salt length 9999/.test(cause.message),
  )
})
