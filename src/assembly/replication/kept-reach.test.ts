// What of the rest is still to be removed from a cluster, noted in the store of a whole server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NamespacedServer, startNamespacedServer } from '../../../test/fixtures/namespaced-server.ts'
import { dataFolder } from '../../core/mount-entries.ts'
import type { SetReach } from '../../replication/reach.ts'
import { wipeFamily } from '../../replication/set/primary-operations.ts'
import { EVERYTHING, SETS_FOLDER } from '../../replication/set/records.ts'
import { namespaceOfKey } from '../../storage/classes.ts'
import { systemScope } from '../../storage/contract.ts'
import { treeScopeOf } from '../../storage/log/tree.ts'
import { KeptReach } from './kept-reach.ts'

const NOTHING: SetReach = { mounts: new Set(), namespaces: new Map(), lacksNothing: false }
const PURGED_AT = 7
const AGAIN = { leftPaths: [], purgedAt: 0, mustPurge: true }

const viewOf = ({ node }: NamespacedServer) => node.storage.view(systemScope, SETS_FOLDER)

const keptOf = (server: NamespacedServer): KeptReach =>
  new KeptReach({ view: viewOf(server), store: server.store, barrier: server.node.storage.barrier })

async function withMount(): Promise<{ server: NamespacedServer; kept: KeptReach; scope: string }> {
  const server = await startNamespacedServer([])
  assert.equal((await server.ask('POST', 'sys/mounts/denied', { type: 'transit' })).status, 204)
  assert.equal((await server.ask('POST', 'denied/keys/k', {})).status, 200)
  const mount = server.node.mounts.serving('denied/') ?? assert.fail('it is not mounted')
  return { server, kept: keptOf(server), scope: treeScopeOf(dataFolder(mount)) }
}

async function take(server: NamespacedServer, kept: KeptReach, reach: SetReach | undefined, isNew = false) {
  const { shown, ...rest } = await kept.restOf(reach, isNew)
  await server.store.transaction((tx) => kept.store(tx, { reach, ...rest }))
  return shown
}

/** All that is here of a mount: what came, then what this cluster keeps of it for itself. */
async function remove({ store }: NamespacedServer, kept: KeptReach, scope: string): Promise<void> {
  const [namespace = '', mount = ''] = scope.split('/')
  for (let keys = await kept.keysOf(scope); keys.length > 0; keys = await kept.keysOf(scope)) {
    for (const key of keys) {
      const inMount = { ...systemScope, namespace, mount }
      const of = key.includes(`/${mount}/`) ? inMount : { ...systemScope, namespace: namespaceOfKey(key) }
      await store.transaction(async (tx) => tx.delete(of, key))
    }
  }
}

test('the rest is noted until nothing of it is here', async () => {
  const { server, kept, scope } = await withMount()
  const shown = await take(server, kept, NOTHING)
  assert.ok(shown.length > 0, 'the entry of the mount')
  assert.ok((await kept.noted()).leaving.includes(scope))

  await kept.left({ leaving: [scope], mustPurge: true }, PURGED_AT, kept.news)
  assert.ok((await kept.noted()).leaving.includes(scope), 'keys of it are still here')

  await remove(server, kept, scope)
  await kept.left({ leaving: [scope], mustPurge: true }, PURGED_AT, kept.news)
  const { leaving, purgedAt, mustPurge } = await kept.noted()
  assert.ok(!leaving.includes(scope))
  assert.deepEqual({ purgedAt, mustPurge }, { purgedAt: PURGED_AT, mustPurge: false })
})

test('what was allowed since a sweep began may be here again: it is noted still', async () => {
  const { server, kept, scope } = await withMount()
  await take(server, kept, NOTHING)
  const { news } = kept
  await remove(server, kept, scope)
  await server.store.transaction((tx) => kept.store(tx, { ...EVERYTHING, reach: NOTHING }))
  await server.store.transaction((tx) => kept.store(tx, { reach: NOTHING, leaving: [scope], ...AGAIN }))
  await kept.left({ leaving: [scope], mustPurge: true }, PURGED_AT, news)
  const noted = await kept.noted()
  assert.deepEqual([noted.leaving, noted.mustPurge], [[scope], true])
})

test('the log of a cluster that had no filter may have the rest, that of a new copy has not', async () => {
  const { server, kept } = await withMount()
  await take(server, kept, NOTHING, true)
  assert.equal((await kept.noted()).mustPurge, false)
  await take(server, kept, undefined)
  await take(server, kept, NOTHING)
  assert.equal((await kept.noted()).mustPurge, true)
})

test('identities of a namespace are of what it has, and those that this cluster keeps for itself stay', async () => {
  const server = await startNamespacedServer(['team', 'other'])
  const kept = keptOf(server)
  for (const path of ['team', 'other', '']) {
    for (const local of [false, true]) {
      const auth = { type: 'userpass', local }
      assert.equal(await server.status('POST', `sys/auth/up-${local}`, auth, { in: path }), 204)
      const { body } = await server.ask('GET', `sys/auth/up-${local}`, undefined, { in: path })
      const alias = { name: 'ann', mount_accessor: body.data?.accessor }
      assert.equal(await server.status('POST', 'identity/entity-alias', alias, { in: path }), 200)
    }
    assert.equal(await server.status('POST', 'identity/group', { name: 'g' }, { in: path }), 200)
  }
  const id = server.idOf('team')
  const scope = `${id}/system`
  await take(server, kept, NOTHING)
  assert.ok((await kept.noted()).leaving.includes(scope))
  const below = async (folder: string) => {
    const snapshot = await server.store.snapshot()
    const entries = await snapshot.scan(folder, '', 1_000)
    await snapshot.close()
    return entries.map(({ key }) => key).filter((key) => key.split('/').includes(id))
  }
  const shared = await below('root/sys/identity/')
  const keys = await kept.keysOf(scope)
  assert.deepEqual(
    keys.filter((key) => key.startsWith('root/')),
    shared,
  )
  assert.ok(shared.length >= 9, `${shared.length}`)
  const own = await below('root/sys/local-identity/')
  assert.equal(own.length, 3)
  await remove(server, kept, scope)
  assert.deepEqual([await below('root/sys/identity/'), await below('root/sys/local-identity/')], [[], own])
})

test('a look notes what is here and must not be, once, and nothing where there is no filter', async () => {
  const { server, kept, scope } = await withMount()
  await kept.look()
  assert.deepEqual(await kept.noted(), EVERYTHING)
  await server.store.transaction((tx) => kept.store(tx, { ...EVERYTHING, reach: NOTHING }))
  await kept.readyToLook()
  await kept.look()
  const noted = await kept.noted()
  assert.ok(noted.leaving.includes(scope))
  assert.deepEqual([noted.reach, noted.leftPaths.includes('root/denied/')], [NOTHING, true])
  await remove(server, kept, scope)
  for (const left of noted.leaving) await remove(server, kept, left)
  await kept.left(noted, PURGED_AT, kept.news)
  const done = await kept.noted()
  await kept.look()
  assert.deepEqual([await kept.noted(), done.leaving], [done, []])
})

test('other news changes nothing of what was removed', async () => {
  const { server, kept, scope } = await withMount()
  await take(server, kept, NOTHING)
  const { news } = kept
  await remove(server, kept, scope)
  await take(server, kept, {
    mounts: new Set(['6a1f0c58-6f0e-4c5c-9d0c-0a5a3f1d7b11']),
    namespaces: new Map(),
    lacksNothing: false,
  })
  await kept.left({ leaving: [scope], mustPurge: true }, PURGED_AT, news)
  assert.ok(!(await kept.noted()).leaving.includes(scope))
})

test('the last purge stays known when all is allowed again, and when the cluster leaves its set', async () => {
  const { server, kept } = await withMount()
  await take(server, kept, NOTHING)
  const noted = await kept.noted()
  for (const scope of noted.leaving) await remove(server, kept, scope)
  await kept.left(noted, PURGED_AT, kept.news)
  await take(server, kept, undefined)
  assert.deepEqual(await kept.noted(), { ...EVERYTHING, purgedAt: PURGED_AT })
  await viewOf(server).transaction((tx) => wipeFamily(tx, 'performance'))
  assert.deepEqual(await kept.noted(), { ...EVERYTHING, purgedAt: PURGED_AT })
})

test('a purge that became due since a sweep began stays due', async () => {
  const { server, kept, scope } = await withMount()
  await take(server, kept, NOTHING, true)
  const noted = await kept.noted()
  await remove(server, kept, scope)
  // The cluster leaves its set and comes back, which is no news of a primary.
  await viewOf(server).transaction((tx) => wipeFamily(tx, 'performance'))
  const { news } = kept
  await take(server, kept, NOTHING)
  await kept.left(noted, PURGED_AT, news)
  assert.equal((await kept.noted()).mustPurge, true)
})
