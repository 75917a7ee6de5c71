import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { realWorld } from '../../lib/world.ts'
import { Barrier } from '../../storage/barrier.ts'
import { type Store, systemScope } from '../../storage/contract.ts'
import type { DataKey, Keyring } from '../../storage/keyring.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import { sealAnew } from './sealed-anew.ts'

const seeded = new SeededRandom(7)
const random = { bytes: (count: number) => seeded.bytes(count), uuid: () => seeded.uuid() }
const dataKey = (fill: number): DataKey => ({ key: importSecret(Buffer.alloc(32, fill)), installedAtMs: fill })
const [MOUNT, LOCAL_MOUNT] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']

/** Both count from 1, as the first releases did: one number, two keys. */
const OURS: Keyring = { activeTerm: 1, terms: new Map([[1, dataKey(11)]]) }
const THEIRS: Keyring = { activeTerm: 1, terms: new Map([[1, dataKey(22)]]) }

/** Keys behind the barrier of class ignored, and some of the other classes. */
const IGNORED = [
  'root/core/cluster',
  'root/core/version/1.0.0',
  'root/core/replication/position',
  'root/core/unseal-shares-backup',
  `root/core/reload/${MOUNT}`,
  `root/logical/${MOUNT}/node/count`,
  `root/auth/${LOCAL_MOUNT}/node/count`,
]
const OTHERS = [
  'root/core/leaf-key',
  'root/core/replication/performance/set',
  `root/core/local-mounts/${LOCAL_MOUNT}`,
  'root/sys/policy/a',
  `root/logical/${MOUNT}/cluster/count`,
]
const DAMAGED = 'root/core/version/damaged'
const scopeOf = (key: string) => {
  if (key.startsWith('root/logical/')) return { ...systemScope, mount: MOUNT }
  return key.startsWith('root/auth/') ? { ...systemScope, mount: LOCAL_MOUNT, local: true } : systemScope
}

async function filled(): Promise<Store> {
  const store = createMemoryStore(realWorld())
  store.setLeafKey(Buffer.alloc(32, 9))
  const barrier = new Barrier(random, OURS)
  await store.transaction(async (tx) => {
    for (const key of [...IGNORED, ...OTHERS]) tx.put(scopeOf(key), key, barrier.seal(key, Buffer.from(key)))
    tx.put(systemScope, DAMAGED, Buffer.alloc(60, 1))
  })
  return store
}

test('every entry of class ignored opens with the new keys, and nothing else changes', async () => {
  const store = await filled()
  const others = await Promise.all([...OTHERS, DAMAGED].map((key) => store.get(key)))
  const sealed = await store.transaction((tx) => sealAnew(tx, random, OURS, THEIRS))
  assert.equal(sealed, IGNORED.length)
  const barrier = new Barrier(random, THEIRS)
  for (const key of IGNORED) assert.equal(barrier.open(key, (await store.get(key)) as Buffer).toString(), key)
  assert.deepEqual(await Promise.all([...OTHERS, DAMAGED].map((key) => store.get(key))), others)
})

test('a step that is cut off leaves the entries as they were', async () => {
  const store = await filled()
  const before = await store.scan('', '', Number.POSITIVE_INFINITY)
  const cutOff = store.transaction(async (tx) => {
    await sealAnew(tx, random, OURS, THEIRS)
    throw new Error('the power went')
  })
  await assert.rejects(cutOff, /the power went/)
  assert.deepEqual(await store.scan('', '', Number.POSITIVE_INFINITY), before)
})
