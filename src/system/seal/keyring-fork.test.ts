// Two clusters of a set rotate on both sides of a cut: what a third one keeps when it changes sides.
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { cloneOf } from '../../../test/fixtures/cloned-server.ts'
import { type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { turns } from '../../../test/fixtures/turns.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole } from '../../api/node-role.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { realWorld } from '../../lib/world.ts'
import { Barrier, openRecord, sealRecord } from '../../storage/barrier.ts'
import {
  type AdoptOptions,
  type ChangeOperation,
  SYSTEM_SCOPE,
  systemScope,
  type Transaction,
} from '../../storage/contract.ts'
import { encodeKeyring, firstKeyring, type Keyring } from '../../storage/keyring.ts'
import { MAX_ENCRYPTIONS, MOST_MAX_OPERATIONS } from '../../storage/keyring-limits.ts'
import { leafOf, NO_LEAF } from '../../storage/log/leaf.ts'
import { decodeKeyUse, encodeKeyUse, firstUses, KEY_USE, type KeyUses } from './key-use.ts'
import { type AdoptedOperations, keyringAdoption } from './keyring-adoption.ts'
import { KeyringRotation } from './keyring-rotation.ts'
import { FORMER_KEYS, KEYRING, storedKeyring } from './seal-records.ts'

const LEAF_KEY = 'root/core/leaf-key'
const termOf = (record: Buffer | undefined): number | undefined => record?.readUInt32BE(1)
const barrierOf = ({ node }: MemoryServer): Barrier => node.storage.barrier
const keyringOf = (server: MemoryServer): Keyring => barrierOf(server).keyring as Keyring
const roleOf = (role: Partial<NodeRole>) => ({ ...FOLLOWS_NONE, role: { ...ACTIVE_PRIMARY, ...role } })
const put = (key: string, value: Buffer): AdoptedOperations => ({ operations: [{ kind: 'put', key, value }] })

/** The stored use of the active data key. */
async function useOf({ node, store }: MemoryServer): Promise<KeyUses> {
  const record = (await store.get(KEY_USE)) as Buffer
  return decodeKeyUse(openRecord(node.seal.rootKey, 0, KEY_USE, record), node.storage.barrier.keyring as Keyring)
}

async function sealAndOpen(server: MemoryServer, { shares }: MemoryServer): Promise<void> {
  await server.call('PUT', 'sys/seal')
  await server.call('PUT', 'sys/unseal', { key: (shares[0] as Buffer).toString('hex') })
  assert.equal(barrierOf(server).sealed, false)
}

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
    onNewTerm: async () => {},
  })

/** The one log that all these clusters would have of their primaries: a failover goes on in it. */
const SET = Buffer.alloc(16, 7)
const applied = new WeakMap<MemoryServer, number>()
/** Secondaries for disaster recovery: entries of class local come to them too. */
const overDr = new WeakSet<MemoryServer>()

async function followForRecovery(secondary: MemoryServer): Promise<void> {
  overDr.add(secondary)
  await secondary.node.changeRole(roleOf({ dr: 'secondary' }))
}

/** The changes as a primary sends them to `secondary`, each with the place behind the one before. */
function sent(secondary: MemoryServer, ...operations: ChangeOperation[]) {
  const index = applied.get(secondary) ?? 0
  const family = overDr.has(secondary) ? ('dr' as const) : ('performance' as const)
  const changes = operations.map((operation, at) => ({
    origins: [{ family, historyId: SET, index: index + 1 + at, chain: Buffer.alloc(16, 1) }],
    committedAtMs: 0,
    operations: [operation],
  }))
  return { changes, options: { mode: 'redo', after: { family, historyId: SET, index } } satisfies AdoptOptions }
}

/** An operation as a peer sends it, with a sound leaf. */
function ofPeer(leafKey: KeyObject, { kind, key, value }: AdoptedOperations['operations'][number]) {
  const storageClass = key === FORMER_KEYS ? 'local' : 'replicated'
  const newLeaf = kind === 'put' ? leafOf(leafKey, storageClass, SYSTEM_SCOPE, key, value) : NO_LEAF
  return { kind, key, value, class: storageClass, scope: systemScope, oldLeaf: NO_LEAF, newLeaf } as const
}

/** The last change of an entry in the log of a cluster. */
async function lastOf({ store }: MemoryServer, key: string): Promise<ChangeOperation> {
  const changes = await store.changesSince(0, Number.POSITIVE_INFINITY)
  const found = changes.flatMap(({ operations }) => operations).findLast((operation) => operation.key === key)
  return found ?? assert.fail(`${key} was never written`)
}

async function adopt(secondary: MemoryServer, ...operations: ChangeOperation[]): Promise<void> {
  const { changes, options } = sent(secondary, ...operations)
  assert.equal((await secondary.node.operations.rotation.adopt(changes, options)).kind, 'adopted')
  applied.set(secondary, options.after.index + changes.length)
}

/** Takes over the keyring of `from`, and entries that it changed, as a secondary does: in one step. */
async function follow(secondary: MemoryServer, from: MemoryServer, paths: readonly string[] = []): Promise<void> {
  await adopt(secondary, ...(await Promise.all([KEYRING, ...paths].map((key) => lastOf(from, key)))))
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
  assert.equal((await useOf(third)).term, keyringOf(standby).activeTerm)
  // Nothing of it is in memory alone.
  await sealAndOpen(third, primary)
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
  told.length = 0
  const record = barrierOf(primary).seal('root/a', Buffer.from('x'))
  const { changes, options } = sent(third, await lastOf(primary, KEYRING))
  const prepare = async () => {
    assert.equal(told.length, 1)
    for (const keyring of [...told, keyringOf(third)]) {
      assert.equal(keyring.activeTerm, before)
      assert.equal(keyring.terms.has(before), true)
    }
    assert.equal(barrierOf(third).open('root/a', record).toString(), 'x')
    throw new RangeError('the device is gone')
  }
  const { rotation } = third.node.operations
  await assert.rejects(rotation.adopt(changes, { ...options, prepare }), /the device is gone/)
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
  // Some of these entries come over no other replication.
  overDr.add(server)
  const foreign = firstKeyring(random, random.bytes(32), 0)
  const sealedBy = (key: Buffer, path: string, plaintext: Buffer) =>
    sealRecord(importSecret(key), 0, path, random.bytes(12), plaintext)
  const rootKey = server.node.seal.rootKey.export()
  const { options } = sent(server, await lastOf(server, KEYRING))
  const leafKey = importSecret(barrierOf(server).open(LEAF_KEY, (await server.store.get(LEAF_KEY)) as Buffer))
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
  const last = await server.store.lastIndex()
  for (const { changes, says } of cases) {
    const operations = changes.flatMap((change) => change.operations)
    const outcome = await rotation.adopt(
      sent(server, ...operations.map((operation) => ofPeer(leafKey, operation))).changes,
      options,
    )
    assert.equal(outcome.kind, 'diverged')
    assert.match('sentence' in outcome ? outcome.sentence : '', says)
    assert.equal(keyringOf(server), before)
  }
  assert.equal(await server.store.lastIndex(), last)
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

test('a secondary for disaster recovery opens what terms have sealed that its restored primary lacks', async () => {
  const primary = await startMemoryServer()
  const secondary = await cloneOf(primary)
  const restored = await cloneOf(primary)
  await followForRecovery(secondary)
  await primary.call('POST', 'sys/rotate')
  await follow(secondary, primary)
  const sealed = barrierOf(primary).seal('root/a', Buffer.from('x'))
  await follow(secondary, restored)
  assert.equal(keyringOf(secondary).activeTerm, keyringOf(restored).activeTerm)
  assert.equal(await secondary.store.get(FORMER_KEYS), undefined)
  // It dies before all that the term has sealed was replaced.
  await sealAndOpen(secondary, restored)
  assert.equal(barrierOf(secondary).open('root/a', sealed).toString(), 'x')
})

/** The third cluster followed one primary, and then another one that has no term of the first. */
async function keptFormerKeys() {
  const primary = await startMemoryServer()
  const other = await cloneOf(primary)
  const third = await cloneOf(primary)
  await primary.call('POST', 'sys/rotate')
  await other.call('POST', 'sys/rotate')
  await follow(third, primary)
  await follow(third, other)
  return { primary, other, third }
}

test('a secondary for disaster recovery takes former keys from its primary, and stores none of its own', async () => {
  const { primary, other, third } = await keptFormerKeys()
  // The third cluster stored them; its own secondary gets that entry like any other of class local.
  const below = await cloneOf(primary)
  await followForRecovery(below)
  await follow(below, primary)
  await adopt(below, await lastOf(other, KEYRING))
  assert.equal(await below.store.get(FORMER_KEYS), undefined)
  await adopt(below, await lastOf(third, FORMER_KEYS))
  const sealed = barrierOf(primary).seal('root/a', Buffer.from('x'))
  assert.equal(barrierOf(below).open('root/a', sealed).toString(), 'x')
  assert.deepEqual(await below.store.get(FORMER_KEYS), await third.store.get(FORMER_KEYS))
  const stored = await storedKeyring(below.store, below.node.seal.rootKey)
  assert.equal(stored.former?.has(keyringOf(primary).activeTerm), true)
})

// PERFORMANCE=1 SEED=810013407: a former primary in a performance set had kept keys that its successor never had, and
// could not follow it.
test('a secondary for disaster recovery keeps former keys that its primary does not have', async () => {
  const { primary, third } = await keptFormerKeys()
  const sealed = barrierOf(primary).seal('root/a', Buffer.from('x'))
  assert.notEqual(await third.store.get(FORMER_KEYS), undefined)
  await followForRecovery(third)
  const leafKey = importSecret(barrierOf(third).open(LEAF_KEY, (await third.store.get(LEAF_KEY)) as Buffer))
  const gone = { kind: 'delete', key: FORMER_KEYS, value: Buffer.alloc(0) } as const
  await adopt(third, ofPeer(leafKey, gone))
  assert.equal(await third.store.get(FORMER_KEYS), undefined)
  assert.equal(barrierOf(third).open('root/a', sealed).toString(), 'x')
  await sealAndOpen(third, primary)
  assert.equal(barrierOf(third).open('root/a', sealed).toString(), 'x')
})

for (const [name, role] of [
  ['a performance secondary', { performance: 'secondary' }],
  ['one whose copy is not whole', { performance: 'bootstrapping' }],
  ['a fenced former primary', { performance: 'primary', isFenced: true }],
] as const) {
  test(`${name} keeps its own entries and opens again when a keyring without its term comes`, async () => {
    const primary = await startMemoryServer()
    const third = await cloneOf(primary)
    await third.call('POST', 'sys/rotate')
    assert.equal((await third.call('POST', 'sys/mounts/own', { type: 'transit', local: true })).status, 204)
    assert.equal((await third.call('POST', 'own/keys/k')).status, 200)
    const encrypted = await third.call('POST', 'own/encrypt/k', { plaintext: 'aGVsbG8=' })
    await primary.call('POST', 'sys/rotate')
    await third.node.changeRole(roleOf(role))
    await follow(third, primary)
    assert.equal(termOf(await third.store.get('root/core/cluster')), keyringOf(primary).activeTerm)
    assert.equal((await useOf(third)).term, keyringOf(primary).activeTerm)
    await third.node.changeRole(FOLLOWS_NONE)
    await sealAndOpen(third, primary)
    assert.equal(keyringOf(third).activeTerm, keyringOf(primary).activeTerm)
    const { ciphertext } = encrypted.body.data ?? {}
    const decrypted = await third.call('POST', 'own/decrypt/k', { ciphertext })
    assert.equal(decrypted.body.data?.plaintext, 'aGVsbG8=')
  })
}

test('a secondary for disaster recovery seals its own entries anew, and opens again', async () => {
  const primary = await startMemoryServer()
  const third = await cloneOf(primary)
  await third.call('POST', 'sys/rotate')
  await primary.call('POST', 'sys/rotate')
  const leafKey = await lastOf(primary, LEAF_KEY)
  await followForRecovery(third)
  await adopt(third, await lastOf(primary, KEYRING), leafKey)
  assert.equal(await third.store.get(FORMER_KEYS), undefined)
  assert.equal(termOf(await third.store.get('root/core/cluster')), keyringOf(primary).activeTerm)
  assert.equal((await useOf(third)).term, keyringOf(primary).activeTerm)
  await third.node.changeRole(FOLLOWS_NONE)
  await sealAndOpen(third, primary)
  assert.equal(keyringOf(third).activeTerm, keyringOf(primary).activeTerm)
})

for (const role of [{ dr: 'secondary' }, { performance: 'secondary' }] as const) {
  const [name] = Object.keys(role)
  test(`A2: what a ${name} secondary sealed before its keyring was replaced runs again, and opens`, async () => {
    const primary = await startMemoryServer()
    const third = await cloneOf(primary)
    await third.call('POST', 'sys/rotate')
    await primary.call('POST', 'sys/rotate')
    if ('dr' in role) await followForRecovery(third)
    else await third.node.changeRole(roleOf(role))
    const [sealed, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const own = third.node.storage.view(systemScope, 'root/core/version/')
    let runs = 0
    const ended = own.transaction(async (tx) => {
      runs++
      tx.put('x', Buffer.from('own'))
      sealed.resolve()
      await go.promise
    })
    await sealed.promise
    await follow(third, primary)
    go.resolve()
    await ended
    assert.equal(runs, 2)
    assert.equal(termOf(await third.store.get('root/core/version/x')), keyringOf(primary).activeTerm)
    await third.node.changeRole(FOLLOWS_NONE)
    await sealAndOpen(third, primary)
    assert.deepEqual(await own.get('x'), Buffer.from('own'))
  })
}

test('a keyring that was not committed is settled by no later change of the same bytes', async () => {
  const primary = await startMemoryServer()
  const third = await cloneOf(primary)
  await primary.call('POST', 'sys/rotate')
  const before = keyringOf(third).activeTerm
  const keyring = await lastOf(primary, KEYRING)
  const { changes, options } = sent(third, keyring)
  const fails = async () => Promise.reject(new RangeError('no'))
  await assert.rejects(third.node.operations.rotation.adopt(changes, { ...options, also: fails }), /no/)
  assert.equal((await useOf(third)).term, before)
  // Not by way of the rotation, so nothing of it is prepared.
  assert.equal((await third.store.adopt(changes, options)).kind, 'adopted')
  assert.equal(keyringOf(third).activeTerm, before)
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

const WINDOW = 2 ** 20
const MUCH = 3_000_000_000
const usedBy = async ({ call }: MemoryServer) => Number((await call('GET', 'sys/key-status')).body.encryptions)
const isAbout = (count: number, expected: number): void =>
  assert.ok(count >= expected && count < expected + 4 * WINDOW, `${count} for ${expected}`)

test('P-11: a key that comes back after a failover goes on from its count, also after seal and unseal', async () => {
  const primary = await startMemoryServer()
  const [standby, third] = [await cloneOf(primary), await cloneOf(primary)]
  const first = keyringOf(third).activeTerm
  barrierOf(third).countFrom(MUCH)
  await primary.call('POST', 'sys/rotate')
  await follow(third, primary)
  assert.ok((await usedBy(third)) < WINDOW)
  barrierOf(third).countFrom(1_000_000_000)
  // The standby has not heard of the second term when it is promoted, and says its keyring again.
  await follow(third, standby)
  assert.equal(keyringOf(third).activeTerm, first)
  isAbout((await useOf(third)).encryptions, MUCH)
  isAbout(await usedBy(third), MUCH)
  await sealAndOpen(third, primary)
  isAbout(await usedBy(third), MUCH)
  // And back: the second term is a former key by now.
  await follow(third, primary)
  isAbout((await useOf(third)).encryptions, 1_000_000_000)
  isAbout(await usedBy(third), 1_000_000_000)
})

test('P-11: a server that seals while a key comes back stores the count of that key', async () => {
  const primary = await startMemoryServer()
  const [standby, third] = [await cloneOf(primary), await cloneOf(primary)]
  barrierOf(third).countFrom(MUCH)
  await primary.call('POST', 'sys/rotate')
  await follow(third, primary)
  const back = await lastOf(standby, KEYRING)
  await Promise.all([adopt(third, back), third.node.operations.rotation.rest()])
  isAbout(await usedBy(third), MUCH)
  isAbout((await useOf(third)).encryptions, MUCH)
})

test('P-11: a key that comes back counts as used up where its use is not known, until a term is added', async () => {
  for (const isOfFirstReleases of [true, false]) {
    const primary = await startMemoryServer()
    const [standby, third] = [await cloneOf(primary), await cloneOf(primary)]
    await primary.call('POST', 'sys/rotate')
    await follow(third, primary)
    await third.call('PUT', 'sys/seal')
    const { rootKey } = primary.node.seal
    const old = sealRecord(rootKey, 0, KEY_USE, Buffer.alloc(12, 1), Buffer.from('010000000000000010', 'hex'))
    await third.store.transaction(async (tx) =>
      isOfFirstReleases ? tx.put(systemScope, KEY_USE, old) : tx.delete(systemScope, KEY_USE),
    )
    await third.call('PUT', 'sys/unseal', { key: (primary.shares[0] as Buffer).toString('hex') })
    await follow(third, standby)
    assert.ok((await usedBy(third)) >= MAX_ENCRYPTIONS)
    assert.throws(() => barrierOf(third).seal('root/a', Buffer.alloc(0)), /used as often as is safe/)
    await standby.call('POST', 'sys/rotate')
    await follow(third, standby)
    assert.equal((await third.call('POST', 'sys/policies/acl/p', POLICY)).status, 204)
  }
})

test('P-11: another key of the same number has a count of its own, and our entries follow it', async () => {
  const primary = await startMemoryServer()
  const third = await cloneOf(primary)
  const { random } = realWorld()
  const ours = keyringOf(third)
  const { rootKey } = third.node.seal
  const leafKey = importSecret(barrierOf(third).open(LEAF_KEY, (await third.store.get(LEAF_KEY)) as Buffer))
  const key = { key: importSecret(random.bytes(32)), installedAtMs: 0 }
  const theirs = { activeTerm: ours.activeTerm, terms: new Map([[ours.activeTerm, key]]) }
  const sealed = (keyring: Keyring) => sealRecord(rootKey, 0, KEYRING, random.bytes(12), encodeKeyring(keyring))
  barrierOf(third).countFrom(MUCH)
  await adopt(third, ofPeer(leafKey, put(KEYRING, sealed(theirs)).operations[0] as never))
  assert.ok((await useOf(third)).encryptions < 2 * WINDOW)
  assert.ok((await usedBy(third)) < WINDOW)
  const record = (await third.store.get('root/core/cluster')) as Buffer
  assert.ok(new Barrier(random, theirs).open('root/core/cluster', record).length > 0)
  await adopt(third, ofPeer(leafKey, put(KEYRING, sealed(ours)).operations[0] as never))
  isAbout(await usedBy(third), MUCH)
  await sealAndOpen(third, primary)
  isAbout(await usedBy(third), MUCH)
})

test('P-11: beyond the limit a secondary stores its bound before it counts up to it', async () => {
  const primary = await startMemoryServer()
  const third = await cloneOf(primary)
  const from = MOST_MAX_OPERATIONS + 5
  await third.call('PUT', 'sys/seal')
  await third.node.changeRole(roleOf({ performance: 'secondary' }))
  const uses = encodeKeyUse(firstUses(keyringOf(primary), from))
  const record = sealRecord(primary.node.seal.rootKey, 0, KEY_USE, Buffer.alloc(12, 2), uses)
  await third.store.transaction(async (tx) => tx.put(systemScope, KEY_USE, record))
  await third.call('PUT', 'sys/unseal', { key: (primary.shares[0] as Buffer).toString('hex') })
  const stored = (await useOf(third)).encryptions
  const barrier = barrierOf(third)
  // What rings at the limit rings first, and must not be all.
  barrier.seal('root/a', Buffer.alloc(0))
  await turns(20)
  for (let left = WINDOW / 2; left > 0; left--) barrier.seal('root/a', Buffer.alloc(0))
  await turns(20)
  assert.equal(keyringOf(third).terms.size, 1)
  assert.ok((await useOf(third)).encryptions > stored)
})

test('S5: promotion adds a term in the step that begins the history', async () => {
  const primary = await startMemoryServer()
  const { store, node } = await cloneOf(primary)
  const { rotation } = node.operations
  const before = rotation.keyring as Keyring
  const work = async (tx: Transaction): Promise<string> => {
    tx.put(systemScope, 'root/core/replication/performance/set', Buffer.from('x'))
    return 'done'
  }
  const fails = async () => Promise.reject(new RangeError('no'))
  const next = { id: Buffer.alloc(16, 9), knownIndex: 0, knownEpoch: 0 }
  await assert.rejects(rotation.beginHistory(fails, next), /no/)
  assert.equal(rotation.keyring, before)
  assert.equal(await rotation.beginHistory(work, next), 'done')
  const present = rotation.keyring as Keyring
  assert.equal(present.terms.size, before.terms.size + 1)
  assert.notEqual(present.activeTerm, before.activeTerm)
  const first = (await store.changesSince(0, Number.POSITIVE_INFINITY)).find((change) =>
    change.operations.some(({ key }) => key === 'root/core/replication/performance/set'),
  )
  assert.deepEqual(first?.beginsHistory, next.id)
  assert.ok(first?.operations.some(({ key }) => key === KEYRING))
  assert.equal((await storedKeyring(store, node.seal.rootKey)).activeTerm, present.activeTerm)
})

test('what is noted in the step that takes over a keyring opens under it', async () => {
  const primary = await startMemoryServer()
  const [restored, secondary] = [await cloneOf(primary), await cloneOf(primary)]
  await followForRecovery(secondary)
  await primary.call('POST', 'sys/rotate')
  await follow(secondary, primary)
  // The primary was put back to a state before that term, and added another one.
  await restored.node.operations.rotation.rotate()
  assert.equal(keyringOf(restored).terms.has(keyringOf(secondary).activeTerm), false)
  const note = 'root/core/replication/transfer/dr'
  const also = async (tx: Transaction): Promise<void> =>
    tx.put(systemScope, note, barrierOf(secondary).seal(note, Buffer.from('difference')))
  const { changes, options } = sent(secondary, await lastOf(restored, KEYRING))
  const outcome = await secondary.node.operations.rotation.adopt(changes, { ...options, also })
  assert.equal(outcome.kind, 'adopted')
  await secondary.node.changeRole(FOLLOWS_NONE)
  await sealAndOpen(secondary, primary)
  assert.equal(keyringOf(secondary).activeTerm, keyringOf(restored).activeTerm)
  const record = (await secondary.store.get(note)) ?? assert.fail('it was stored')
  assert.equal(barrierOf(secondary).open(note, record).toString(), 'difference')
})
