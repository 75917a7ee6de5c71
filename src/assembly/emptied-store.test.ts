// the data of a cluster go when it begins to follow a primary, and what is its own stays, under the
// primary's keys.
import { strict as assert } from 'node:assert'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { withFileSteps } from '../../test/fixtures/file-steps.ts'
import { filesWith } from '../../test/fixtures/found-bytes.ts'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { ACTIVE_PRIMARY, type RoleState } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import { leavingStore } from '../process/restorable-store.ts'
import { type Store, systemScope, type Transaction } from '../storage/contract.ts'
import type { LeftStore } from '../storage/driver.ts'
import { locationIn, storageIn, storeLocation } from '../storage/drivers.ts'
import { INDEX_GAP } from '../storage/log/histories.ts'
import { ReplaceableStore } from '../storage/replaceable-store.ts'
import { sealedTransaction } from '../storage/sealed-storage.ts'
import { verifyKeysOf } from '../storage/verify-keys.ts'
import { wipeBundle } from '../system/seal/seal-bundle.ts'
import { VERSION } from '../version.ts'
import type { Activation, AlsoWritten } from './activation.ts'
import { emptied, type LeaveOnly } from './emptied-store.ts'

const world = realWorld()
const DR_SECONDARY: RoleState = { role: { ...ACTIVE_PRIMARY, dr: 'secondary' }, primaryAddress: '' }
const CANARY = 'canary-of-the-data-before'
const RECORD = 'root/core/replication/dr/part'
const MOUNT = '11111111-1111-4111-8111-111111111111'
const ENTRIES = 2_000

type Cluster = { readonly server: MemoryServer; readonly leaveOnly: LeaveOnly }
type OnDisk = Cluster & { readonly directory: string; readonly store: Store }

async function inMemory(): Promise<Cluster> {
  const server = await startMemoryServer()
  return { server, leaveOnly: server.leaveOnly }
}

async function opened(directory: string) {
  const location = storeLocation(storageIn(directory))
  const open = () => location.open({ random: world.random, clock: world.clock })
  const store = new ReplaceableStore(await open())
  return { store, leaveOnly: leavingStore(location, store, open) }
}

async function onDisk(t: TestContext): Promise<OnDisk> {
  const { path: directory, cleanUp } = temporaryDirectory()
  const { store, leaveOnly } = await opened(directory)
  t.after(async () => {
    await store.close()
    cleanUp()
  })
  return { server: await startMemoryServer({ store, leaveOnly, isNew: true }), leaveOnly, directory, store }
}

/** Entries of every class, in clear, so that their bytes can be found. */
async function fill({ store }: MemoryServer, count = ENTRIES): Promise<void> {
  const mount = { ...systemScope, mount: MOUNT }
  for (let from = 0; from < count; from += 500) {
    await store.commit(async (tx) => {
      for (let at = from; at < Math.min(from + 500, count); at++) {
        tx.put(systemScope, `root/sys/policy/${CANARY}-${at}`, Buffer.from(`${CANARY} ${at}`))
      }
    })
  }
  await store.commit(async (tx) => {
    tx.put(systemScope, `root/sys/token/${CANARY}`, Buffer.from(CANARY))
    tx.put(systemScope, `root/core/reload/${MOUNT}`, Buffer.from(CANARY))
    tx.put(systemScope, `root/core/undone/${CANARY}/head`, Buffer.from(CANARY))
    tx.put(mount, `root/logical/${MOUNT}/data/${CANARY}`, Buffer.from(CANARY))
    tx.put(mount, `root/logical/${MOUNT}/node/${CANARY}`, Buffer.from(CANARY))
  })
  for (let at = 0; at < count; at += 2) {
    await store.commit(async (tx) => tx.delete(systemScope, `root/sys/policy/${CANARY}-${at}`))
    if (at > 20) return
  }
}

async function handed({ node, store }: MemoryServer): Promise<Activation> {
  const [keyring, leafKey] = [await store.get('root/core/keyring'), await store.get('root/core/leaf-key')]
  assert.ok(keyring !== undefined && leafKey !== undefined)
  return { bundle: await node.bundle(), keyring, leafKey }
}

type Wrap = (left: LeftStore, leave: () => Promise<void>) => Promise<void>

/** Makes the cluster one that follows the primary, whose data are still to come. */
async function activate(primary: MemoryServer, { server, leaveOnly }: Cluster, wrap?: Wrap): Promise<void> {
  const { node, store } = server
  const activation = await handed(primary)
  await node.changeRole(DR_SECONDARY)
  const also: AlsoWritten = async (tx, barrier) => {
    const own = sealedTransaction(barrier, systemScope, 'root/core/', tx)
    // What stays opens under the new keys by now.
    assert.ok((await own.get('cluster')) !== undefined)
    own.put('replication/dr/part', Buffer.from('our part'))
  }
  const replace = emptied({
    store,
    leaveOnly: wrap === undefined ? leaveOnly : (left) => wrap(left, () => leaveOnly(left)),
    world,
    keep: activation,
    also,
  })
  await node.activate(activation, replace).finally(() => wipeBundle(activation.bundle))
}

const entriesOf = async (store: Store) => {
  const snapshot = await store.snapshot()
  const entries = await snapshot.stored('', Number.POSITIVE_INFINITY)
  await snapshot.close()
  return entries
}

/** All of a cluster that shares open, right behind its activation. */
const REST = [
  'root/core/audit-history',
  'root/core/cluster',
  'root/core/key-use',
  'root/core/keyring',
  'root/core/leaf-key',
  RECORD,
  'root/core/root-key',
  'root/core/seal-config',
  `root/core/version/${VERSION}`,
]

/** What a check of the whole store finds, with the keys of a server that is open. */
async function findings({ node, store }: MemoryServer, directory: string): Promise<readonly string[]> {
  const { barrier } = node.storage
  const leafKey = (await store.get('root/core/leaf-key')) ?? assert.fail('a leaf key')
  const keys = verifyKeysOf(barrier, barrier.open('root/core/leaf-key', leafKey))
  const sentences: string[] = []
  await locationIn(directory).verify({ keys, onFinding: (sentence) => sentences.push(sentence) })
  return sentences
}

const sealed = async ({ call }: MemoryServer) => (await call('GET', 'sys/seal-status', undefined, '')).body.sealed
const unseal = async ({ call }: MemoryServer, { shares }: MemoryServer) =>
  (await call('PUT', 'sys/unseal', { key: shares[0]?.toString('hex') }, '')).body.sealed === false

for (const kind of ['in memory', 'on disk'] as const) {
  test(`S9: ${kind}, only what is a cluster's own is left, and it is open under its primary's keys`, async (t) => {
    const primary = await startMemoryServer()
    const cluster = kind === 'in memory' ? await inMemory() : await onDisk(t)
    const { node, store } = cluster.server
    await fill(cluster.server)
    await store.hold({ name: 'a follower', kind: 'secondary', from: await store.lastIndex() })
    const before = await store.position()
    const [own, id] = [await store.get('root/core/cluster'), node.seal.status().cluster?.id]
    let written: readonly string[] = []
    await activate(primary, cluster, async (left, leave) => {
      written = left.entries.map(({ key, class: of }) => `${of} ${key}`)
      await leave()
    })
    assert.equal(node.seal.status().sealed, false)
    assert.deepEqual(node.seal.status().cluster?.id, id)
    assert.notDeepEqual(await store.get('root/core/cluster'), own)
    const classOf = (key: string) => (/(keyring|leaf-key)$/.test(key) ? 'replicated' : 'ignored')
    assert.deepEqual(
      written,
      REST.filter((key) => !key.endsWith('audit-history')).map((key) => `${classOf(key)} ${key}`),
    )
    const entries = await entriesOf(store)
    assert.deepEqual(
      entries.map(({ key }) => key),
      REST,
    )
    for (const key of ['root/core/keyring', 'root/core/leaf-key']) {
      const find = (all: typeof entries) => all.find((entry) => entry.key === key)
      assert.deepEqual(find(entries), find(await entriesOf(primary.store)), `${key}, and its leaf`)
    }
    const roots = await store.roots()
    const position = await store.position()
    assert.equal(roots.index, position.index)
    assert.deepEqual([position.epoch, position.origins], [before.epoch + 1, []])
    const [history, ...others] = await store.histories()
    assert.deepEqual([history?.startIndex, history?.parent, others], [2 * INDEX_GAP + 1, undefined, []])
    assert.notDeepEqual(history?.id, before.historyId)
    // The data that are gone were not restored.
    const noted = (await store.get('root/core/audit-history')) ?? assert.fail('the history that audit knows')
    assert.deepEqual(JSON.parse(node.storage.barrier.open('root/core/audit-history', noted).toString()), {
      format: 1,
      history: history?.id.toString('hex'),
    })
    assert.deepEqual((await store.retained()).holds, [])
  })

  test(`S9: ${kind}, what is activated a second time keeps what it noted of itself`, async (t) => {
    const [primary, other] = [await startMemoryServer(), await startMemoryServer()]
    const cluster = kind === 'in memory' ? await inMemory() : await onDisk(t)
    const { node, store } = cluster.server
    const id = node.seal.status().cluster?.id
    for (const [round, one] of [primary, other, primary].entries()) {
      await activate(one, cluster)
      assert.equal(node.seal.status().cluster?.id, id)
      assert.deepEqual(
        (await entriesOf(store)).map(({ key }) => key),
        REST,
      )
      assert.equal((await store.histories())[0]?.startIndex, 2 * (round + 1) * INDEX_GAP + 1)
    }
  })
}

test('S9: a restart opens it with the shares of the primary, and no longer with its own', async (t) => {
  const [primary, cluster] = [await startMemoryServer(), await onDisk(t)]
  await fill(cluster.server)
  await activate(primary, cluster)
  await cluster.store.close()
  const { store } = await opened(cluster.directory)
  const again = await startMemoryServer({ store, firstRole: DR_SECONDARY })
  assert.equal(await sealed(again), true)
  assert.equal(await unseal(again, cluster.server), false)
  assert.equal(await unseal(again, primary), true)
  const { barrier } = again.node.storage
  const part = (await store.get(RECORD)) ?? assert.fail('a record of our own')
  assert.equal(barrier.open(RECORD, part).toString(), 'our part')
  assert.deepEqual(await findings(again, cluster.directory), [])
  await store.close()
})

test('S9: no file of the directory holds a byte of what was there before', async (t) => {
  const [primary, cluster] = [await startMemoryServer(), await onDisk(t)]
  await fill(cluster.server)
  assert.ok(filesWith(cluster.directory, CANARY).length > 0)
  await activate(primary, cluster)
  assert.deepEqual(filesWith(cluster.directory, CANARY), [])
})

test('S9: killed at any step, it opens with its own shares and data, or with the shares of the primary', async (t) => {
  const [primary, cluster] = [await startMemoryServer(), await onDisk(t)]
  const { path: images, cleanUp } = temporaryDirectory()
  t.after(cleanUp)
  await fill(cluster.server, 20)
  let steps = 0
  await activate(primary, cluster, async (_left, leave) => {
    await withFileSteps(() => cpSync(cluster.directory, join(images, String(++steps)), { recursive: true }), leave)
  })
  const found: string[] = []
  for (let step = 1; step <= steps; step++) {
    const { store } = await opened(join(images, String(step)))
    const again = await startMemoryServer({ store, firstRole: DR_SECONDARY })
    const isNew = await unseal(again, primary)
    assert.notEqual(isNew, await unseal(again, cluster.server), `step ${step}`)
    assert.equal(await sealed(again), false)
    const data = await store.get(`root/sys/policy/${CANARY}-1`)
    assert.equal(data === undefined, isNew)
    found.push(isNew ? 'new' : 'old')
    await store.close()
  }
  assert.deepEqual([...new Set(found)], ['old', 'new'])
  assert.deepEqual(found.toSorted().reverse(), found)
})

const FAILING = [
  { name: 'before all', left: false, isIt: () => true },
  { name: 'at the renaming', left: false, isIt: (_step: string, renamings: number) => renamings === 2 },
  {
    name: 'behind it',
    left: true,
    isIt: (step: string, renamings: number) => renamings === 2 && step !== 'renameSync',
  },
]
for (const { name, left, isIt } of FAILING) {
  const outcome = left ? 'without its data' : 'with its data'
  test(`S9: where a step fails ${name}, the cluster goes on open, ${outcome}`, async (t) => {
    const [primary, cluster] = [await startMemoryServer(), await onDisk(t)]
    const { node, store } = cluster.server
    await fill(cluster.server, 20)
    let [renamings, hasFailed] = [0, false]
    const fail = (step: string): void => {
      if (step === 'renameSync') renamings++
      if (hasFailed || !isIt(step, renamings)) return
      hasFailed = true
      throw new Error('EIO: told to fail')
    }
    const failing = activate(primary, cluster, (_left, leave) => withFileSteps(fail, leave))
    await assert.rejects(failing, /EIO: told to fail/)
    assert.equal(node.seal.status().sealed, false)
    const canary = await store.get(`root/sys/policy/${CANARY}-1`)
    assert.equal(canary?.toString(), left ? undefined : `${CANARY} 1`)
    assert.equal(filesWith(cluster.directory, CANARY).length === 0, left)
    await node.operations.seal()
    assert.equal(await unseal(cluster.server, left ? cluster.server : primary), false)
    assert.equal(await unseal(cluster.server, left ? primary : cluster.server), true)
    // What the test stored lies in clear. Nothing else is amiss: the tree is that of the entries.
    const amiss = (await findings(cluster.server, cluster.directory)).filter(
      (sentence) => !sentence.includes('does not open'),
    )
    assert.deepEqual(amiss, [])
  })
}

test('S9: what `also` may not write, and what it throws, leaves the cluster as it was', async () => {
  const [primary, { server, leaveOnly }] = [await startMemoryServer(), await inMemory()]
  await fill(server, 20)
  const before = await server.store.position()
  for (const also of [
    async (tx: Transaction) => tx.put(systemScope, 'root/nowhere', Buffer.from('x')),
    async () => Promise.reject(new Error('told to fail')),
  ]) {
    const activation = await handed(primary)
    const replace = emptied({ store: server.store, leaveOnly, world, keep: activation, also })
    await assert.rejects(server.node.activate(activation, replace), /told to fail|in no class/)
    assert.equal(server.node.seal.status().sealed, false)
    assert.equal((await server.store.position()).historyId, before.historyId)
    assert.ok((await server.store.get(`root/sys/policy/${CANARY}-1`)) !== undefined)
  }
})

test('A1: a transaction that began before an activation is not committed behind it', async () => {
  const [primary, cluster] = [await startMemoryServer(), await inMemory()]
  const { store } = cluster.server
  const go = Promise.withResolvers<void>()
  const late = store.transaction(async (tx) => {
    tx.put(systemScope, 'root/sys/policy/late', Buffer.from('late'))
    await go.promise
  })
  late.catch(() => {})
  await activate(primary, cluster)
  go.resolve()
  await assert.rejects(late, { name: 'StorageClosed' })
  assert.equal(await store.get('root/sys/policy/late'), undefined)
})
