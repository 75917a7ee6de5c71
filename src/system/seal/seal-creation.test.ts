import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { realWorld } from '../../lib/world.ts'
import { openRecord } from '../../storage/barrier.ts'
import { StorageRefused } from '../../storage/errors.ts'
import { createMemoryStore } from '../../storage/memory-store.ts'
import { type AlsoWrites, createSeal } from './seal-creation.ts'
import { KEYRING, openKeyring, openRootKey, ROOT_KEY, readRecord, unsealStore } from './seal-records.ts'

const KEY_BYTES = 32

/** An initialisation for one holder, and the keys that it drew. */
function stage(also: AlsoWrites = async () => {}) {
  const source = new SeededRandom(1)
  const drawn: Buffer[] = []
  const bytes = (count: number): Buffer => {
    const made = source.bytes(count)
    if (count === KEY_BYTES) drawn.push(made)
    return made
  }
  const random = { bytes, uuid: () => source.uuid() }
  const world = { ...realWorld(), random }
  const store = createMemoryStore({ random: source, clock: world.clock })
  const create = () =>
    createSeal(store, world, { shareConfig: { shares: 1, threshold: 1 }, clusterName: '', auto: undefined, also })
  return { store, random, drawn, create }
}

const ZEROS = Buffer.alloc(KEY_BYTES)

test('unseal, root, leaf and data key are wiped when they are stored, the share is not', async () => {
  const { drawn, create } = stage()
  const { shares } = await create()
  assert.deepEqual(drawn, [ZEROS, ZEROS, ZEROS, ZEROS])
  assert.notDeepEqual(shares[0], ZEROS)
})

test('an initialisation that fails stores nothing, wipes its keys and takes the leaf key away', async () => {
  const { store, drawn, create } = stage(() => Promise.reject(new Error('no token')))
  await assert.rejects(create(), /no token/)
  assert.deepEqual(drawn, [ZEROS, ZEROS, ZEROS, ZEROS])
  assert.deepEqual(await store.list(''), [])
  await assert.rejects(store.roots(), StorageRefused)
})

test('the name that is made up for a cluster is short, and has an id beside it', async () => {
  const { store, random, create } = stage()
  const { shares } = await create()
  const { cluster } = await unsealStore(store, importSecret(shares[0] ?? ZEROS), random)
  assert.match(cluster.name, /^keywright-[0-9a-f]{8}$/)
  assert.match(cluster.id, /^[0-9a-f-]{36}$/)
})

test('what opening yields of the root key and the keyring is wiped once both are loaded', async (context) => {
  const { store, create } = stage()
  const { shares } = await create()
  const { fill } = Buffer.prototype
  const wiped: string[] = []
  context.mock.method(Buffer.prototype, 'fill', function (this: Buffer, ...given: Parameters<typeof fill>) {
    if (given[0] === 0) wiped.push(this.toString('hex'))
    return fill.apply(this, given)
  })
  const timesWiped = (secret: Buffer, work: () => unknown): number => {
    wiped.length = 0
    work()
    return wiped.filter((one) => one === secret.toString('hex')).length
  }
  const unsealKey = importSecret(shares[0] ?? ZEROS)
  const [rootRecord, ringRecord] = [await readRecord(store, ROOT_KEY), await readRecord(store, KEYRING)]
  const rootKey = openRootKey(unsealKey, rootRecord)
  // Callers of `openRecord` own the plaintext and wipe it, so it is wiped once more than without them.
  const root = openRecord(unsealKey, 0, ROOT_KEY, rootRecord)
  const rootOpened = timesWiped(root, () => openRecord(unsealKey, 0, ROOT_KEY, rootRecord))
  assert.equal(
    timesWiped(root, () => openRootKey(unsealKey, rootRecord)),
    rootOpened + 1,
  )
  const ring = openRecord(rootKey, 0, KEYRING, ringRecord)
  const ringOpened = timesWiped(ring, () => openRecord(rootKey, 0, KEYRING, ringRecord))
  assert.equal(
    timesWiped(ring, () => openKeyring(rootKey, ringRecord)),
    ringOpened + 1,
  )
})
