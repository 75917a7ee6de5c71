import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { ROOT } from '../api/namespace.ts'
import { ACTIVE_PRIMARY } from '../api/node-role.ts'
import { Router } from '../api/router.ts'
import { inlineWork } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { NamespaceTable } from '../namespaces/namespace-table.ts'
import { systemScope } from '../storage/contract.ts'
import { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { CORE_FOLDER, dataFolder, encodeMountEntry, mountKey, newMountEntry, scopeOf } from './mount-entries.ts'
import { MountTable } from './mount-table.ts'
import { StoredMounts } from './stored-mounts.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
})

const mount = (path: string, fields: object = {}) =>
  server.call('POST', `sys/mounts/${path}`, { type: 'transit', ...fields })
const unmount = (path: string) => server.call('DELETE', `sys/mounts/${path}`)
const keysBelow = async (uuid: string): Promise<string[]> =>
  (await server.store.scan('', '', 100_000)).map(({ key }) => key).filter((key) => key.includes(uuid))

const REFUSED = [
  'sys',
  'sys/x',
  'auth',
  'auth/x',
  'cubbyhole',
  'identity/x',
  'audit',
  'taken',
  'taken/below',
  'deep',
  'a*',
  'a+b',
  'ü',
  'a b',
]

test('paths that cannot be mounted are refused, and nothing is made', async () => {
  await mount('taken')
  await mount('deep/er')
  const before = (await server.call('GET', 'sys/mounts')).body.data
  for (const path of REFUSED)
    assert.equal((await mount(encodeURIComponent(path).replaceAll('%2F', '/'))).status, 400, path)
  assert.deepEqual((await server.call('GET', 'sys/mounts')).body.data, before)
  await unmount('taken')
  await unmount('deep/er')
})

test('an engine that is not there, and what is not offered, is refused by name', async () => {
  const rows: readonly [object, RegExp][] = [
    [{ type: 'nope' }, /nope/],
    [{ type: 'system' }, /system/],
    [{ type: '' }, /type/],
    [{ seal_wrap: true }, /seal_wrap/],
    [{ external_entropy_access: true }, /external_entropy_access/],
    [{ config: { default_lease_ttl: '2h', max_lease_ttl: '1h' } }, /default_lease_ttl/],
    [{ config: { listing_visibility: 'all' } }, /listing_visibility/],
    [{ config: { passthrough_request_headers: ['Authorization'] } }, /config.passthrough_request_headers/],
  ]
  for (const [fields, named] of rows) {
    const { status, body } = await mount('m', fields)
    assert.equal(status, 400, JSON.stringify(fields))
    assert.match(JSON.stringify(body), named)
  }
})

test('the longest mount path serves, a path without its slash finds it, and a sibling does not', async () => {
  await mount('team')
  await mount('team-two')
  await server.call('POST', 'team/keys/k')
  assert.equal((await server.call('GET', 'team/keys/k')).status, 200)
  assert.equal((await server.call('GET', 'team-two/keys/k')).status, 404)
  assert.equal((await server.call('GET', 'teamwork/keys/k')).status, 404)
  await unmount('team')
  await unmount('team-two')
})

test('T-18: unmounting leaves no key of the mount behind', async () => {
  await mount('gone')
  const { uuid } = (await server.call('GET', 'sys/mounts/gone')).body.data as { uuid: string }
  for (let i = 0; i < 1100; i++) await server.call('POST', `gone/keys/k${i}`)
  assert.ok((await keysBelow(uuid)).length > 1100)
  assert.equal((await unmount('gone')).status, 204)
  assert.deepEqual(await keysBelow(uuid), [])
})

test('T-18: an unmount that was interrupted is finished after the next unseal', async () => {
  await mount('cut')
  const { uuid } = (await server.call('GET', 'sys/mounts/cut')).body.data as { uuid: string }
  await server.call('POST', 'cut/keys/k')
  const core = server.node.storage.view(systemScope, 'root/core/')
  await core.transaction(async (tx) => {
    tx.put(`unmounting/${uuid}`, (await tx.get(`mounts/${uuid}`)) as Buffer)
    tx.delete(`mounts/${uuid}`)
  })
  assert.equal((await server.call('GET', 'cut/keys/k')).status, 404)
  assert.notDeepEqual(await keysBelow(uuid), [])
  await server.call('PUT', 'sys/seal')
  await server.call('PUT', 'sys/unseal', { key: (server.shares[0] as Buffer).toString('base64') })
  assert.deepEqual(await keysBelow(uuid), [])
})

test('a write that was under way when its mount went does not commit', async () => {
  await mount('racing')
  const answers = await Promise.all([
    ...Array.from({ length: 50 }, (_, i) => server.call('POST', `racing/keys/k${i}`)),
    unmount('racing'),
    ...Array.from({ length: 50 }, (_, i) => server.call('POST', `racing/keys/l${i}`)),
  ])
  for (const { status } of answers) assert.ok([200, 204, 404].includes(status), String(status))
  const left = (await server.store.scan('', '', 100_000)).filter(
    ({ key }) => key.includes('/logical/') && key.includes('/key/'),
  )
  assert.deepEqual(left, [])
})

test('a local mount is stored in the class that does not replicate', async () => {
  await mount('here', { local: true })
  const { uuid } = (await server.call('GET', 'sys/mounts/here')).body.data as { uuid: string }
  await server.call('POST', 'here/keys/k')
  const classes = new Set<string>()
  for (const change of await server.store.changesSince(0, 100_000)) {
    for (const operation of change.operations) if (operation.key.includes(uuid)) classes.add(operation.class)
  }
  assert.deepEqual([...classes], ['local'])
  await unmount('here')
  assert.deepEqual(await keysBelow(uuid), [])
})

/** The table of another thread, which takes over what was committed when it is asked to. */
function otherThread() {
  const world = realWorld()
  const invalidation = new Invalidation()
  const router = new Router([])
  const create = () => ({ changed: () => {}, reset: () => {} })
  const type = { type: 'transit', kind: 'secret' as const, summary: '', router, create }
  const entry = newMountEntry(world, { path: 'sys/', type: 'system', kind: 'secret', description: '' })
  const always = { entry, namespace: ROOT, path: entry.path, router, engine: create() }
  const table = new MountTable({
    types: [type],
    always,
    namespaces: new NamespaceTable(server.node.storage, invalidation),
    storage: server.node.storage,
    given: { world, slow: inlineWork(world), edition: 'enterprise', role: () => ACTIVE_PRIMARY, log: () => {} },
    invalidation,
    removals: [],
  })
  const takeOver = async () => {
    invalidation.reset()
    await table.refresh()
  }
  return { table, takeOver }
}

test('a path that went from one mount to another between two looks is served by the second', async () => {
  const { table, takeOver } = otherThread()
  for (let i = 0; i < 16; i++) {
    const path = `swap${i}`
    await mount(path)
    await takeOver()
    await server.call('POST', 'sys/remount', { from: path, to: `${path}-old` })
    await mount(path)
    await takeOver()
    const served = [table.serving(`${path}/keys/k`)?.uuid, table.serving(`${path}-old/keys/k`)?.uuid]
    const stored = []
    for (const at of [path, `${path}-old`]) stored.push((await server.call('GET', `sys/mounts/${at}`)).body.data?.uuid)
    assert.deepEqual(served, stored)
  }
  for (let i = 0; i < 16; i++) for (const path of [`swap${i}`, `swap${i}-old`]) await unmount(path)
})

test('a mount is not moved to a path that no request reaches', async () => {
  await mount('reachable')
  for (const to of ['a/../b', 'a//b', '/a', './a', 'a/.', 'a/..', '//'])
    assert.equal((await server.call('POST', 'sys/remount', { from: 'reachable', to })).status, 400, to)
  assert.equal((await server.call('GET', 'sys/mounts/reachable')).status, 200)
  await unmount('reachable')
})

test('P-41: of a path of two thousand segments no beginning is looked for that is longer than a mount', async (t) => {
  await mount('deep/down/here')
  const { mounts } = server.node
  const { get } = Map.prototype
  let looks = 0
  t.mock.method(Map.prototype, 'get', function (this: Map<unknown, unknown>, key: unknown) {
    looks++
    return get.call(this, key)
  })
  const served = (path: string) => mounts.serving(path)?.path
  const found = [served('a/'.repeat(2_000)), served(`deep/down/here/${'a/'.repeat(2_000)}`)]
  const looked = looks
  t.mock.restoreAll()
  assert.deepEqual(found, [undefined, 'deep/down/here/'])
  assert.ok(looked < 200, `${looked}`)
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['deep/down/here', 'deep/down/here/'],
    ['deep/down/here/', 'deep/down/here/'],
    ['deep/down/herex', undefined],
    ['deep/down/her', undefined],
    ['deep/down/here//x', 'deep/down/here/'],
    ['sys', 'sys/'],
    ['sys/x', 'sys/'],
    ['auth/token', 'auth/token/'],
    ['auth', undefined],
    ['', undefined],
    ['/', undefined],
    ['/sys/x', undefined],
    ['//', undefined],
  ]
  for (const [path, wanted] of rows) assert.equal(served(path), wanted, path)
  await unmount('deep/down/here')
})

/** Stores a mount as replication brings it: no rule about paths is asked. */
async function broughtByReplication(path: string): Promise<string> {
  const entry = newMountEntry(realWorld(), { path, type: 'transit', kind: 'secret', description: 'shared' })
  const core = server.node.storage.view(systemScope, CORE_FOLDER)
  await core.transaction(async (tx) => tx.put(mountKey(entry), encodeMountEntry(entry)))
  return entry.accessor
}

const accessorAt = async (path: string): Promise<unknown> =>
  ((await server.call('GET', 'sys/mounts')).body.data?.[path] as { accessor?: string } | undefined)?.accessor

test('a shared mount at the path of a local one is hidden, and appears when the local one goes', async () => {
  assert.equal((await mount('here', { local: true })).status, 204)
  const local = await accessorAt('here/')
  const shared = await broughtByReplication('here/')
  assert.equal(await accessorAt('here/'), local)
  assert.equal((await server.call('POST', 'sys/mounts/here/tune', { description: 'tuned' })).status, 204)
  assert.equal((await server.call('POST', 'here/keys/k', {})).status < 300, true)
  assert.equal((await server.call('GET', 'here/keys/k')).status, 200)
  assert.equal((await unmount('here')).status, 204)
  assert.equal(await accessorAt('here/'), shared)
  assert.equal((await server.call('GET', 'here/keys/k')).status, 404)
  const { data } = (await server.call('GET', 'sys/mounts/here')).body
  assert.equal(data?.description, 'shared')
  await unmount('here')
})

test('a shared mount below a local one is served at its longer path', async () => {
  await mount('above', { local: true })
  await broughtByReplication('above/below/')
  await server.call('POST', 'above/below/keys/k', {})
  assert.equal((await server.call('GET', 'above/below/keys/k')).status, 200)
  assert.deepEqual((await server.call('LIST', 'above/keys')).status, 404)
  await unmount('above/below')
  await unmount('above')
})

test('F8: an unmount removes the folders that have a class of their own too', async () => {
  await mount('counted')
  const entry = server.node.mounts.find(ROOT, 'counted/') ?? assert.fail('no mount')
  const data = server.node.storage.view(scopeOf(entry), dataFolder(entry))
  for (const path of ['cluster/use/a', 'node/a', 'key-like/a'])
    await data.transaction(async (tx) => tx.put(path, Buffer.from('x')))
  assert.equal((await keysBelow(entry.uuid)).length, 4)
  await unmount('counted')
  assert.deepEqual(await keysBelow(entry.uuid), [])
})

test('F8: a mount that is made while leftovers are looked for keeps what the cluster counted in it', async () => {
  const { storage } = server.node
  let uuid = ''
  const between: Pick<SealedStorage, 'view' | 'transaction'> = {
    transaction: (work) => storage.transaction(work),
    view: (...given) => {
      const view = storage.view(...given)
      const list: typeof view.list = async (folder, options) => {
        if (folder === 'logical/' && uuid === '') {
          await mount('meanwhile')
          const entry = server.node.mounts.find(ROOT, 'meanwhile/') ?? assert.fail('no mount')
          uuid = entry.uuid
          const data = storage.view(scopeOf(entry), dataFolder(entry))
          await data.transaction(async (tx) => tx.put('cluster/use/a', Buffer.from('x')))
        }
        return view.list(folder, options)
      }
      return { ...view, list }
    },
  }
  await new StoredMounts(between, []).wipeLeftovers(async () => ['root'])
  assert.ok((await keysBelow(uuid)).includes(`root/logical/${uuid}/cluster/use/a`))
  await unmount('meanwhile')
})

test('F8: a mount that comes back while leftovers are removed keeps what the cluster counts in it', async () => {
  const { storage } = server.node
  await mount('back')
  const entry = server.node.mounts.find(ROOT, 'back/') ?? assert.fail('no mount')
  const core = storage.view({ namespace: 'root', mount: 'system', local: false }, 'root/core/')
  const data = storage.view(scopeOf(entry), dataFolder(entry))
  await data.transaction(async (tx) => tx.put('cluster/use/a', Buffer.from('x')))
  const stored = (await core.get(`mounts/${entry.uuid}`)) ?? assert.fail('no entry')
  await core.transaction(async (tx) => tx.delete(`mounts/${entry.uuid}`))
  const between: Pick<SealedStorage, 'view' | 'transaction'> = {
    transaction: (work) => storage.transaction(work),
    view: (...given) => {
      const view = storage.view(...given)
      const transaction: typeof view.transaction = async (work) => {
        // It was not there when leftovers were looked for.
        await data.transaction(async (tx) => tx.put('policy/a', Buffer.from('x')))
        await core.transaction(async (tx) => tx.put(`mounts/${entry.uuid}`, stored))
        return view.transaction(work)
      }
      return { ...view, transaction }
    },
  }
  await new StoredMounts(between, []).wipeLeftovers(async () => ['root'])
  assert.ok((await keysBelow(entry.uuid)).includes(`root/logical/${entry.uuid}/cluster/use/a`))
  await unmount('back')
})

test('F8: a cluster removes its own part of a mount that is gone, once nothing else of it is here', async () => {
  const uuid = realWorld().random.uuid()
  const folder = `root/logical/${uuid}/`
  const data = server.node.storage.view({ namespace: 'root', mount: uuid, local: false }, folder)
  for (const path of ['cluster/use/a', 'node/a', 'key/a'])
    await data.transaction(async (tx) => tx.put(path, Buffer.from('x')))
  await mount('kept')
  const entry = server.node.mounts.find(ROOT, 'kept/') ?? assert.fail('no mount')
  const kept = server.node.storage.view(scopeOf(entry), dataFolder(entry))
  await kept.transaction(async (tx) => tx.put('cluster/a', Buffer.from('x')))
  assert.equal(await server.node.mounts.wipeLeftovers(), false)
  assert.equal((await keysBelow(uuid)).length, 3)
  await data.transaction(async (tx) => tx.delete('key/a'))
  assert.equal(await server.node.mounts.wipeLeftovers(), true)
  assert.deepEqual(await keysBelow(uuid), [])
  assert.equal((await keysBelow(entry.uuid)).length, 2)
  await unmount('kept')
})
