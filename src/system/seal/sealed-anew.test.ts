import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { realWorld } from '../../lib/world.ts'
import { Barrier, openRecord, sealRecord } from '../../storage/barrier.ts'
import { StorageCorrupt, type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import { type DataKey, encodeKeyring, type Keyring } from '../../storage/keyring.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import {
  FORMER_KEYS,
  KEYRING,
  putFormerKeys,
  putRecord,
  RECOVERY_KEY,
  ROOT_KEY,
  storedKeyring,
  unsealStore,
} from './seal-records.ts'
import { replaceKeyring } from './sealed-anew.ts'

const seeded = new SeededRandom(7)
const random = { bytes: (count: number) => seeded.bytes(count), uuid: () => seeded.uuid() }
const secret = (fill: number) => importSecret(Buffer.alloc(32, fill))
const dataKey = (fill: number): DataKey => ({ key: secret(fill), installedAtMs: fill })
const MOUNT = '11111111-1111-4111-8111-111111111111'

/** Both count from 1, as the first releases did: one number, two keys. */
const OURS = { rootKey: secret(1), keyring: { activeTerm: 1, terms: new Map([[1, dataKey(11)]]) } satisfies Keyring }
const THEIRS = { rootKey: secret(2), keyring: { activeTerm: 1, terms: new Map([[1, dataKey(22)]]) } satisfies Keyring }
const theirRecord = () => sealRecord(THEIRS.rootKey, 0, KEYRING, random.bytes(12), encodeKeyring(THEIRS.keyring))
const [unsealKey, nextUnsealKey] = [secret(3), secret(4)]

/** Keys behind the barrier of class ignored, and with which keyring each is to open afterwards. */
const IGNORED = [
  'root/core/cluster',
  'root/core/version/1.0.0',
  'root/core/replication/position',
  'root/core/unseal-shares-backup',
  `root/core/reload/${MOUNT}`,
  `root/logical/${MOUNT}/node/count`,
]
const OTHERS = ['root/core/leaf-key', 'root/core/replication/performance/set', 'root/sys/policy/a']
const scopeOf = (key: string) => (key.includes('/logical/') ? { ...systemScope, mount: MOUNT } : systemScope)
const plaintextOf = (key: string) =>
  Buffer.from(key === 'root/core/cluster' ? '{"format":1,"name":"n","id":"i"}' : `value of ${key}`)

async function filled(): Promise<Store> {
  const store = createMemoryStore(realWorld())
  store.setLeafKey(Buffer.alloc(32, 9))
  const barrier = new Barrier(random, OURS.keyring)
  await store.transaction(async (tx) => {
    putRecord(tx, random, ROOT_KEY, unsealKey, Buffer.alloc(32, 1))
    putRecord(tx, random, KEYRING, OURS.rootKey, encodeKeyring(OURS.keyring))
    putRecord(tx, random, RECOVERY_KEY, OURS.rootKey, Buffer.from('recovery'))
    for (const key of [...IGNORED, ...OTHERS]) tx.put(scopeOf(key), key, barrier.seal(key, plaintextOf(key)))
    tx.put(systemScope, 'root/core/version/damaged', Buffer.alloc(60, 1))
  })
  return store
}

/** The whole step of an activation: `replaceKeyring`, and the root key by what opens it from now on. */
const activate = (store: Store, also: (tx: Transaction) => void = () => {}) =>
  store.transaction(async (tx) => {
    const replaced = await replaceKeyring(tx, random, {
      present: OURS,
      next: { rootKey: THEIRS.rootKey, keyring: theirRecord() },
    })
    putRecord(tx, random, ROOT_KEY, nextUnsealKey, Buffer.alloc(32, 2))
    also(tx)
    return replaced
  })

test('a peer’s keys take the place of ours in one step, and all that is here still opens', async () => {
  const store = await filled()
  const others = await Promise.all(OTHERS.map((key) => store.get(key)))
  const damaged = await store.get('root/core/version/damaged')
  const { encryptions } = await activate(store)
  assert.equal(encryptions, IGNORED.length)
  const keyring = await storedKeyring(store, THEIRS.rootKey)
  const [both, theirsAlone] = [new Barrier(random, keyring), new Barrier(random, THEIRS.keyring)]
  for (const key of IGNORED) {
    assert.deepEqual(theirsAlone.open(key, (await store.get(key)) as Buffer), plaintextOf(key), key)
  }
  for (const [index, key] of OTHERS.entries()) {
    // These come with the copy of the peer; until then they are as they were.
    assert.deepEqual(await store.get(key), others[index])
    assert.deepEqual(both.open(key, others[index] as Buffer), plaintextOf(key), key)
  }
  assert.deepEqual(await store.get('root/core/version/damaged'), damaged)
  const recovery = openRecord(THEIRS.rootKey, 0, RECOVERY_KEY, (await store.get(RECOVERY_KEY)) as Buffer)
  assert.equal(recovery.toString(), 'recovery')
  const opened = await unsealStore(store, nextUnsealKey, random)
  assert.equal(opened.cluster.name, 'n')
  await assert.rejects(unsealStore(store, unsealKey, random), AuthenticationFailed)
})

test('the keyring of a peer is stored in the bytes of the peer, so that both have the same leaf', async () => {
  const store = await filled()
  const keyring = theirRecord()
  await store.transaction(async (tx) => {
    await replaceKeyring(tx, random, { present: OURS, next: { rootKey: THEIRS.rootKey, keyring } })
  })
  assert.deepEqual(await store.get(KEYRING), keyring)
})

test('former keys that the copied data of a primary bring along open beside ours', async () => {
  const store = await filled()
  const before = { key: importSecret(Buffer.alloc(32, 77)), installedAtMs: 1 }
  await store.transaction(async (tx) => putFormerKeys(tx, random, THEIRS.rootKey, new Map([[900, [before]]])))
  await activate(store)
  const { former } = await storedKeyring(store, THEIRS.rootKey)
  assert.ok(former?.get(900)?.some(({ key }) => key.equals(before.key)))
  for (const [term, { key }] of OURS.keyring.terms)
    assert.ok(
      former?.get(term)?.some((each) => each.key.equals(key)),
      `${term}`,
    )
})

test('a replacement that is cut off leaves the keys as they were', async () => {
  const store = await filled()
  const before = await store.scan('', '', Number.POSITIVE_INFINITY)
  const cutOff = activate(store, () => {
    throw new Error('the power went')
  })
  await assert.rejects(cutOff, /the power went/)
  assert.deepEqual(await store.scan('', '', Number.POSITIVE_INFINITY), before)
  assert.equal((await unsealStore(store, unsealKey, random)).cluster.name, 'n')
  assert.equal(await store.get(FORMER_KEYS), undefined)
})

test('a root key that does not open the keyring beside it replaces nothing', async () => {
  const store = await filled()
  const replace = (keyring: Buffer) =>
    store.transaction((tx) => replaceKeyring(tx, random, { present: OURS, next: { rootKey: secret(5), keyring } }))
  const before = await store.lastIndex()
  await assert.rejects(replace(theirRecord()), AuthenticationFailed)
  await assert.rejects(replace(Buffer.alloc(3)), StorageCorrupt)
  assert.equal(await store.lastIndex(), before)
})
