import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import { realWorld } from '../lib/world.ts'
import { Barrier, sealRecord } from '../storage/barrier.ts'
import { encodeKeyring, firstKeyring } from '../storage/keyring.ts'
import type { Seal } from '../system/seal/seal.ts'
import type { SealBundle } from '../system/seal/seal-bundle.ts'
import { KEYRING } from '../system/seal/seal-records.ts'
import { newKeys } from './activation.ts'

test('a leaf key that a refused handover leaves behind is wiped', (t) => {
  const world = realWorld()
  const { random } = world
  const rootKey = Buffer.alloc(32, 1)
  const keyring = firstKeyring(random, Buffer.alloc(32, 2), 0)
  const barrier = new Barrier(random, keyring)
  const records = {
    keyring: sealRecord(importSecret(rootKey), 0, KEYRING, random.bytes(12), encodeKeyring(keyring)),
    leafKey: barrier.seal('root/core/leaf-key', Buffer.alloc(32, 3)),
  }
  const opening = t.mock.method(Barrier.prototype, 'open')
  const handover = () => {
    assert.deepEqual(opening.mock.calls[0]?.result, Buffer.alloc(32, 3))
    throw new RangeError('no')
  }
  const seal = { handover } as unknown as Seal
  const bundle = { rootKey: { reveal: () => Buffer.from(rootKey) } } as unknown as SealBundle
  assert.throws(() => newKeys({ seal, barrier, world }, { bundle, ...records }), RangeError)
  assert.deepEqual(opening.mock.calls[0]?.result, Buffer.alloc(32))
})
