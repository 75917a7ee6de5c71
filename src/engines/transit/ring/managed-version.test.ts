import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import type { ManagedKey } from '../../../api/managed-keys.ts'
import { realWorld } from '../../../lib/world.ts'
import { HMAC_SECRET_BYTES } from './key-ring.ts'
import { newManagedVersion } from './managed-version.ts'

const slow = { run: () => assert.fail(), split: () => assert.fail(), forget: () => assert.fail() }
/** An AES key in a device that never seals anything. */
const device: ManagedKey = {
  id: '00000000-0000-4000-8000-000000000000',
  name: 'k',
  scheme: 'aes-gcm',
  oaepHash: 'sha256',
  can: () => false,
  facts: async () => ({ bits: 256, publicKey: undefined }),
  seal: () => assert.fail(),
  open: () => assert.fail(),
  openOaep: () => assert.fail(),
  signBlock: () => assert.fail(),
  signPss: () => assert.fail(),
}

test('N-10 what the HMAC secret of a managed version was drawn in is wiped, and the version has it', async () => {
  const real = realWorld()
  const drawn: Buffer[] = []
  const random = {
    ...real.random,
    bytes: (count: number) => {
      const bytes = real.random.bytes(count)
      drawn.push(bytes)
      return bytes
    },
  }
  const { hmac } = await newManagedVersion(device, { world: { ...real, random }, slow })
  assert.deepEqual(
    drawn.map((bytes) => [...bytes]),
    [[...Buffer.alloc(HMAC_SECRET_BYTES)]],
  )
  assert.notDeepEqual(hmac.reveal(), Buffer.alloc(HMAC_SECRET_BYTES))
})
