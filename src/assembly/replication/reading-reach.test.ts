// What a secondary gets, read from the store of a whole server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NamespacedServer, startNamespacedServer } from '../../../test/fixtures/namespaced-server.ts'
import type { MountEntry } from '../../api/mount.ts'
import { encodeMountEntry, mountKey, newMountEntry } from '../../core/mount-entries.ts'
import { StoredMounts } from '../../core/stored-mounts.ts'
import { eventLoop, realWorld } from '../../lib/world.ts'
import { PATHS_FILTER, type PathsFilter } from '../../replication/set/paths-filter.ts'
import { filterPath, putSecondary, SETS_FOLDER, type SecondaryEntry } from '../../replication/set/records.ts'
import { systemScope } from '../../storage/contract.ts'
import { StorageRefused } from '../../storage/errors.ts'
import { ReadingReach } from './reading-reach.ts'

const ENTRY: SecondaryEntry = {
  id: 'two',
  state: 'active',
  issuedAtMs: 1,
  activatedAtMs: 2,
  leaf: { serial: '', fingerprint: '', notAfterMs: 3, authority: '' },
  renewed: null,
  bootstrap: null,
  acknowledged: null,
  mayHaveTakenOver: false,
  clusterAddresses: [],
  apiAddress: '',
  clusterId: '',
  trusts: [],
  instance: 0,
}

const viewOf = ({ node }: NamespacedServer) => node.storage.view(systemScope, SETS_FOLDER)

async function filter(server: NamespacedServer, id: string, given: Pick<PathsFilter, 'mode' | 'paths'>): Promise<void> {
  await viewOf(server).transaction(async (tx) => {
    putSecondary(tx, 'performance', { ...ENTRY, id })
    tx.put(filterPath(id), PATHS_FILTER.encode({ id, ...given }))
  })
}

function readingOf({ store, node }: NamespacedServer, next = eventLoop.next) {
  let snapshots = 0
  const counted = {
    snapshot: () => {
      snapshots++
      return store.snapshot()
    },
  }
  const reading = new ReadingReach({ store: counted, barrier: node.storage.barrier, ticks: { next } })
  return { reading, snapshots: () => snapshots }
}

async function mounted(server: NamespacedServer, namespace: string, path: string, settings = {}): Promise<string> {
  const where = path.startsWith('auth/') ? `sys/${path.slice(0, -1)}` : `sys/mounts/${path.slice(0, -1)}`
  const type = path.startsWith('auth/') ? 'userpass' : 'transit'
  const { status, body } = await server.ask('POST', where, { type, ...settings }, { in: namespace })
  assert.equal(status, 204, JSON.stringify(body))
  const found = server.node.mounts.serving(namespace + path)
  return found?.uuid ?? assert.fail(`${path} is not mounted`)
}

test('what a secondary gets is read with the index that it is of', async () => {
  const server = await startNamespacedServer(['a', 'a/in', 'b'])
  const [kept, denied, login, inner, moved] = [
    await mounted(server, '', 'kept/'),
    await mounted(server, '', 'denied/'),
    await mounted(server, '', 'auth/app/'),
    await mounted(server, 'a/in/', 'inner/'),
    await mounted(server, 'b/', 'moved/'),
  ]
  const local = await mounted(server, '', 'own/', { local: true })
  const moving = await server.ask('POST', 'sys/remount', { from: 'b/moved', to: 'a/moved' })
  assert.equal(moving.status, 200, JSON.stringify(moving.body))
  await filter(server, 'two', { mode: 'deny', paths: ['denied/', 'a/in/'] })
  const { reading } = readingOf(server)
  const found = await reading.reachAsOfNow('two')
  assert.equal(found.index, (await server.store.position()).index)
  assert.deepEqual(found.filteredMounts, ['a/in/inner/', 'denied/'])
  assert.deepEqual(found.filteredNamespaces, ['a/in/'])
  const reach = found.reach ?? assert.fail('a filter is there')
  const [a, b] = [server.idOf('a'), server.idOf('b')]
  assert.deepEqual(
    [...reach.namespaces].sort(),
    [
      ['root', ''],
      [a, 'root/a'],
      [b, 'root/b'],
    ].sort(),
  )
  const uuids = [kept, denied, login, inner, moved, local].map((uuid) => reach.mounts.has(uuid))
  assert.deepEqual(uuids, [true, false, true, false, true, false])
  for (const path of ['sys/', 'identity/', 'auth/token/'])
    assert.ok(reach.mounts.has(server.node.mounts.serving(path)?.uuid ?? ''), path)

  const { now, instead } = await reading.filteredNow('two', { mode: 'allow', paths: ['a/moved/'] })
  assert.deepEqual(now, { reach, filteredMounts: found.filteredMounts, filteredNamespaces: ['a/in/'] })
  assert.deepEqual(instead.filteredMounts, ['a/in/inner/', 'auth/app/', 'denied/', 'kept/'])
  assert.deepEqual(instead.filteredNamespaces, ['a/in/', 'b/'])
})

test('a mount that is being removed, and a namespace that is being deleted', async () => {
  const server = await startNamespacedServer(['a'])
  const going = await mounted(server, '', 'going/')
  await filter(server, 'two', { mode: 'deny', paths: ['other/'] })
  const { reading } = readingOf(server)
  assert.ok((await reading.reachAsOfNow('two')).reach?.mounts.has(going))
  const entry = server.node.mounts.serving('going/') ?? assert.fail('it is mounted')
  await new StoredMounts(server.node.storage, []).remove(entry)
  assert.equal((await reading.reachAsOfNow('two')).reach?.mounts.has(going), false)

  // Its entry is in the other folder: it goes as long as it is not gone.
  const id = server.idOf('a')
  const core = server.node.storage.view(systemScope, 'root/core/')
  await core.transaction(async (tx) => {
    const bytes = (await tx.get('namespace/root/a')) ?? assert.fail('it has an entry')
    tx.delete('namespace/root/a')
    tx.put('leaving-namespace/root/a', bytes)
  })
  assert.equal((await reading.reachAsOfNow('two')).reach?.namespaces.get(id), 'root/a')
  await core.transaction(async (tx) => tx.delete('leaving-namespace/root/a'))
  assert.equal((await reading.reachAsOfNow('two')).reach?.namespaces.has(id), false)
})

test('a secondary that is not let in gets nothing, with a filter or without', async () => {
  const server = await startNamespacedServer([])
  const { reading } = readingOf(server)
  await assert.rejects(reading.reachAsOfNow('two'), StorageRefused)
  for (const state of ['issued', 'revoked'] as const) {
    await viewOf(server).transaction(async (tx) => putSecondary(tx, 'performance', { ...ENTRY, state }))
    await assert.rejects(reading.reachAsOfNow('two'), StorageRefused, state)
  }
  await viewOf(server).transaction(async (tx) => putSecondary(tx, 'performance', ENTRY))
  assert.equal((await reading.reachAsOfNow('two')).reach, undefined)
  await assert.rejects(reading.reachAsOfNow('three'), StorageRefused)
})

test('a mount that cannot be read leaves it unknown what a secondary gets', async () => {
  const server = await startNamespacedServer([])
  await filter(server, 'two', { mode: 'deny', paths: ['a/'] })
  const mounts = server.node.storage.view(systemScope, 'root/core/mounts/')
  await mounts.transaction(async (tx) => tx.put('11111111-1111-4111-8111-111111111111', Buffer.from('{}')))
  await assert.rejects(readingOf(server).reading.reachAsOfNow('two'))
})

test('an entry that did not change is not opened again, and nothing is kept of one that was forgotten', async () => {
  const server = await startNamespacedServer(['a'])
  const uuid = await mounted(server, 'a/', 'one/')
  await mounted(server, '', 'two/')
  await filter(server, 'two', { mode: 'allow', paths: ['a/'] })
  const { store, node } = server
  let opened: string[] = []
  const barrier = {
    open: (key: string, value: Buffer) => {
      if (key.includes('/core/mounts/')) opened.push(key)
      return node.storage.barrier.open(key, value)
    },
  }
  const reading = new ReadingReach({ store, barrier, ticks: eventLoop })
  const openedBy = async (work: () => Promise<unknown> = async () => {}) => {
    await work()
    opened = []
    const { reach } = await reading.reachAsOfNow('two')
    assert.equal(reach?.mounts.has(uuid), true)
    return opened.length
  }
  const all = await openedBy()
  // Those of the root, and both.
  assert.equal(all, 5)
  assert.equal(await openedBy(), 0)
  assert.equal(await openedBy(() => server.ask('POST', 'sys/mounts/two/tune', { description: 'x' })), 1)
  assert.equal(await openedBy(() => mounted(server, '', 'three/')), 1)
  assert.equal(await openedBy(() => server.ask('DELETE', 'sys/mounts/three')), 0)
  const gone = await reading.filteredNow('two')
  assert.deepEqual(gone.now.filteredMounts, ['two/'])
  assert.equal(await openedBy(async () => reading.forget()), all)
})

test('a read of many mounts goes in steps, and those who ask before it begins share it', async () => {
  const server = await startNamespacedServer([])
  const made = (path: string): MountEntry =>
    newMountEntry(realWorld(), { path, type: 'transit', kind: 'secret', description: '' })
  const add = (entries: readonly MountEntry[]): Promise<void> =>
    server.node.storage.view(systemScope, 'root/core/').transaction(async (tx) => {
      for (const entry of entries) tx.put(mountKey(entry), encodeMountEntry(entry))
    })
  await add(Array.from({ length: 300 }, (_, at) => made(`m${at}/`)))
  for (const id of ['two', 'three']) await filter(server, id, { mode: 'allow', paths: ['m1/'] })
  const held = Promise.withResolvers<void>()
  let steps = 0
  const { reading, snapshots } = readingOf(server, () => {
    steps++
    return held.promise
  })
  const first = reading.reachAsOfNow('two')
  while (steps === 0) await eventLoop.next()
  const last = (await server.store.position()).index
  // They come behind the snapshot of the first one.
  const entry = made('late/')
  await add([entry])
  await filter(server, 'three', { mode: 'deny', paths: ['m1/'] })
  const others = [reading.reachAsOfNow('two'), reading.reachAsOfNow('three')]
  held.resolve()
  const found = [await first, ...(await Promise.all(others))]
  assert.equal(snapshots(), 2)
  assert.ok(steps >= 4, String(steps))
  assert.deepEqual(
    found.map(({ index }) => index),
    [last, last + 2, last + 2],
  )
  assert.deepEqual(
    found.map(({ filteredMounts }) => filteredMounts.length),
    [299, 300, 1],
  )
  assert.deepEqual(
    found.map(({ reach }) => reach?.mounts.has(entry.uuid)),
    [false, false, true],
  )
})
