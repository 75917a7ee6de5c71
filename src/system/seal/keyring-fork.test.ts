// Two clusters of a set rotate on both sides of a cut: what a third one keeps when it changes sides.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { cloneOf } from '../../../test/fixtures/cloned-server.ts'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { ACTIVE_PRIMARY, type NodeRole } from '../../api/node-role.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { realWorld } from '../../lib/world.ts'
import { type Barrier, sealRecord } from '../../storage/barrier.ts'
import { StorageCorrupt, systemScope } from '../../storage/contract.ts'
import { encodeKeyring, firstKeyring, type Keyring } from '../../storage/keyring.ts'
import { KEY_USE } from './key-use.ts'
import { type AdoptedOperations, keyringAdoption } from './keyring-adoption.ts'
import { KeyringRotation } from './keyring-rotation.ts'
import { FORMER_KEYS, KEYRING, storedKeyring } from './seal-records.ts'

const termOf = (record: Buffer | undefined): number | undefined => record?.readUInt32BE(1)
const barrierOf = ({ node }: MemoryServer): Barrier => node.storage.barrier
const keyringOf = (server: MemoryServer): Keyring => barrierOf(server).keyring as Keyring
const put = (key: string, value: Buffer): AdoptedOperations => ({ operations: [{ kind: 'put', key, value }] })

/** The upkeep of the keyring in another role than the server has. */
const rotationOf = ({ node, store }: MemoryServer, role: NodeRole): KeyringRotation =>
  new KeyringRotation({
    store,
    storage: node.storage,
    world: realWorld(),
    log: () => {},
    rootKey: () => node.seal.rootKey,
    nodeRole: () => role,
    announce: async () => {},
  })

/** Takes over the keyring of `from`, and entries that it changed, as a secondary does: in one step. */
async function follow(secondary: MemoryServer, from: MemoryServer, paths: readonly string[] = []): Promise<void> {
  const { rotation } = secondary.node.operations
  const entries = await Promise.all(
    [KEYRING, ...paths].map(async (key) => ({ key, value: (await from.store.get(key)) as Buffer })),
  )
  const changes = entries.map(({ key, value }) => put(key, value))
  assert.equal(await rotation.keepFormer(changes), undefined)
  await rotation.prepareAdopted(changes)
  await secondary.store.transaction(async (tx) => {
    for (const { key, value } of entries) tx.put(systemScope, key, value)
    await rotation.alsoAdopted(tx)
  })
}

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }

test('after a failover a third cluster keeps what it sealed under a term that the new primary never had', async () => {
  const primary = await startMemoryServer()
  const [standby, third] = [await cloneOf(primary), await cloneOf(primary)]
  // The cut: the standby does not hear of the term that the third cluster gets.
  await primary.call('POST', 'sys/rotate')
  await follow(third, primary)
  assert.equal(keyringOf(third).activeTerm, keyringOf(primary).activeTerm)
  assert.equal((await third.call('POST', 'sys/mounts/own', { type: 'transit', local: true })).status, 204)
  assert.equal((await third.call('POST', 'own/keys/k')).status, 200)
  const encrypted = await third.call('POST', 'own/encrypt/k', { plaintext: 'aGVsbG8=' })
  const token = String(
    ((await third.call('POST', 'auth/token/create', {})).body.auth as Record<string, unknown>).client_token,
  )
  const lost = keyringOf(third).activeTerm
  // The failover: the standby is promoted, and adds a term of its own.
  await standby.node.operations.rotation.rotate()
  assert.notEqual(keyringOf(standby).activeTerm, lost)
  assert.equal(keyringOf(standby).terms.has(lost), false)
  await standby.call('POST', 'sys/policies/acl/new', POLICY)
  await follow(third, standby, ['root/sys/policy/new'])
  const keeps = async () => {
    assert.equal(keyringOf(third).activeTerm, keyringOf(standby).activeTerm)
    assert.equal((await third.call('GET', 'sys/policies/acl/new')).status, 200)
    assert.equal((await third.call('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
    const { ciphertext } = encrypted.body.data ?? {}
    const decrypted = await third.call('POST', 'own/decrypt/k', { ciphertext })
    assert.equal(decrypted.body.data?.plaintext, 'aGVsbG8=')
    assert.equal(
      (await third.call('GET', 'sys/key-status')).body.term,
      (await standby.call('GET', 'sys/key-status')).body.term,
    )
  }
  await keeps()
  assert.equal(termOf(await third.store.get('root/core/cluster')), keyringOf(standby).activeTerm)
  // Nothing of it is in memory alone.
  await third.call('PUT', 'sys/seal')
  await third.call('PUT', 'sys/unseal', { key: (primary.shares[0] as Buffer).toString('hex') })
  await keeps()
  // The next term of the new primary, and what is sealed under it here.
  await standby.call('POST', 'sys/rotate')
  await follow(third, standby)
  await keeps()
  await third.call('POST', 'sys/policies/acl/later', POLICY)
  assert.equal(termOf(await third.store.get('root/sys/policy/later')), keyringOf(standby).activeTerm)
})

test('every thread opens what an adopted keyring opens before its commit, and seals under it after', async () => {
  const told: Keyring[] = []
  const primary = await startMemoryServer()
  const third = await cloneOf(primary, {
    announce: async ({ keyring }) => {
      if (keyring !== undefined) told.push(keyring)
    },
  })
  const before = keyringOf(third).activeTerm
  await primary.call('POST', 'sys/rotate')
  const changes = [put(KEYRING, (await primary.store.get(KEYRING)) as Buffer)]
  told.length = 0
  await third.node.operations.rotation.prepareAdopted(changes)
  assert.equal(told.length, 1)
  const record = barrierOf(primary).seal('root/a', Buffer.from('x'))
  for (const keyring of [...told, keyringOf(third)]) {
    assert.equal(keyring.activeTerm, before)
    assert.equal(keyring.terms.has(before), true)
  }
  assert.equal(barrierOf(third).open('root/a', record).toString(), 'x')
  // Never committed: what is sealed from now on still opens after a restart.
  await third.call('POST', 'sys/policies/acl/p', POLICY)
  assert.equal(termOf(await third.store.get('root/sys/policy/p')), before)
  await follow(third, primary)
  assert.deepEqual(
    told.map(({ activeTerm }) => activeTerm),
    [before, before, keyringOf(primary).activeTerm],
  )
  assert.equal(keyringOf(third).activeTerm, keyringOf(primary).activeTerm)
})

test('a keyring that the root key does not open is an answer with a sentence, and changes nothing', async () => {
  const server = await startMemoryServer()
  const { random } = realWorld()
  const { rotation } = server.node.operations
  const before = keyringOf(server)
  const foreign = firstKeyring(random, random.bytes(32), 0)
  const sealedBy = (key: Buffer, path: string, plaintext: Buffer) =>
    sealRecord(importSecret(key), 0, path, random.bytes(12), plaintext)
  const rootKey = server.node.seal.rootKey.export()
  const cases = [
    {
      changes: [put(KEYRING, sealedBy(random.bytes(32), KEYRING, encodeKeyring(foreign)))],
      says: /does not open them/,
    },
    {
      changes: [put(FORMER_KEYS, sealedBy(random.bytes(32), FORMER_KEYS, Buffer.alloc(5)))],
      says: /does not open them/,
    },
    { changes: [put(KEYRING, Buffer.alloc(10))], says: /too short/ },
    { changes: [put(KEYRING, sealedBy(rootKey, KEYRING, Buffer.alloc(9, 9)))], says: /unknown format/ },
    {
      changes: [{ operations: [{ kind: 'delete' as const, key: KEYRING, value: Buffer.alloc(0) }] }],
      says: /was deleted/,
    },
  ]
  for (const { changes, says } of cases) {
    const outcome = await rotation.keepFormer(changes)
    assert.equal(outcome?.kind, 'diverged')
    assert.match(outcome?.sentence ?? '', says)
    await assert.rejects(rotation.prepareAdopted(changes), StorageCorrupt)
    assert.equal(keyringOf(server), before)
  }
  assert.deepEqual(keyringAdoption(server.node.seal.rootKey, before, [put('root/sys/policy/a', Buffer.alloc(0))]), {
    kind: 'none',
  })
  assert.equal((await server.call('POST', 'sys/policies/acl/p', POLICY)).status, 204)
})

test('of several keyrings at once the last one seals, and the terms of all of them open', async () => {
  const primary = await startMemoryServer()
  const other = await cloneOf(primary)
  const third = await cloneOf(primary)
  await primary.call('POST', 'sys/rotate')
  await other.call('POST', 'sys/rotate')
  const changes = [
    put(KEYRING, (await primary.store.get(KEYRING)) as Buffer),
    put(KEYRING, (await other.store.get(KEYRING)) as Buffer),
  ]
  const adoption = keyringAdoption(third.node.seal.rootKey, keyringOf(third), changes)
  assert.ok(adoption.kind === 'keyring')
  assert.equal(adoption.keyring.activeTerm, keyringOf(other).activeTerm)
  assert.deepEqual([...(adoption.keyring.former?.keys() ?? [])], [keyringOf(primary).activeTerm])
})

test('a secondary for disaster recovery takes former keys from its primary, and stores none of its own', async () => {
  const primary = await startMemoryServer()
  const other = await cloneOf(primary)
  const third = await cloneOf(primary)
  await primary.call('POST', 'sys/rotate')
  await other.call('POST', 'sys/rotate')
  await follow(third, primary)
  await follow(third, other)
  // The third cluster stored them; its own secondary gets that entry like any other of class local.
  const below = await cloneOf(primary)
  const rotation = rotationOf(below, { ...ACTIVE_PRIMARY, dr: 'secondary' })
  const record = (await third.store.get(FORMER_KEYS)) as Buffer
  const theirs = put(KEYRING, (await other.store.get(KEYRING)) as Buffer)
  await follow(below, primary)
  assert.equal(await rotation.keepFormer([theirs]), undefined)
  assert.equal(await below.store.get(FORMER_KEYS), undefined)
  await rotation.prepareAdopted([put(FORMER_KEYS, record), theirs])
  await below.store.transaction(async (tx) => tx.put(systemScope, FORMER_KEYS, record))
  const sealed = barrierOf(primary).seal('root/a', Buffer.from('x'))
  assert.equal(barrierOf(below).open('root/a', sealed).toString(), 'x')
  const stored = await storedKeyring(below.store, below.node.seal.rootKey)
  assert.equal(stored.former?.has(keyringOf(primary).activeTerm), true)
})

test('a secondary whose count is missing adds no term when it opens', async () => {
  const server = await startMemoryServer()
  const stored = await server.store.get(KEYRING)
  await server.store.transaction(async (tx) => tx.delete(systemScope, KEY_USE))
  const rotation = rotationOf(server, { ...ACTIVE_PRIMARY, performance: 'secondary' })
  const keyring = keyringOf(server)
  assert.equal(await rotation.open(keyring), keyring)
  assert.deepEqual(await server.store.get(KEYRING), stored)
  assert.ok((await server.store.get(KEY_USE)) !== undefined)
  // The same on a primary adds one.
  await server.store.transaction(async (tx) => tx.delete(systemScope, KEY_USE))
  assert.equal((await rotationOf(server, ACTIVE_PRIMARY).open(keyring)).terms.size, keyring.terms.size + 1)
})
