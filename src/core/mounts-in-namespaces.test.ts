import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type NamespacedServer, startNamespacedServer } from '../../test/fixtures/namespaced-server.ts'
import { ROOT } from '../api/namespace.ts'

async function mountWithKey({ ask }: NamespacedServer, path: string): Promise<void> {
  assert.equal((await ask('POST', `sys/mounts/${path}`, { type: 'transit' }, { in: 'a' })).status, 204)
  assert.equal((await ask('POST', `${path}/keys/k`, {}, { in: 'a' })).status, 200)
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('T12: of a mount that is moved out of a namespace while that is deleted, all is left or nothing', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  for (let turns = 0; turns < 24; turns += 3) {
    const server = await startNamespacedServer(['a'])
    const { ask } = server
    for (const name of names) await mountWithKey(server, name)
    const deleted = ask('DELETE', 'sys/namespaces/a')
    for (let at = 0; at < turns; at++) await turn()
    const moved = await Promise.all(names.map((name) => ask('POST', 'sys/remount', { from: `a/${name}`, to: name })))
    assert.equal((await deleted).status, 200)
    for (const [at, name] of names.entries()) {
      const isMoved = moved[at]?.status === 200
      assert.ok(isMoved || [400, 404].includes(moved[at]?.status ?? 0), JSON.stringify(moved[at]))
      assert.equal(server.node.mounts.find(ROOT, `${name}/`) !== undefined, isMoved)
      assert.equal((await ask('GET', `${name}/keys/k`)).status, isMoved ? 200 : 404, `${name} after ${turns} turns`)
    }
  }
})

test('a mount that moved before its removal was stored keeps its data', async () => {
  const server = await startNamespacedServer(['a', 'b'])
  const { ask, node } = server
  await mountWithKey(server, 't')
  const a = node.namespaces.byPath('a/') ?? assert.fail()
  const b = node.namespaces.byPath('b/') ?? assert.fail()
  const entry = node.mounts.find(a, 't/') ?? assert.fail()
  // The table of a thread that has not learnt of the move yet still finds the mount where it was.
  const { find } = node.mounts
  await node.mounts.move({ namespace: a, path: 't/' }, { namespace: b, path: 't/' })
  node.mounts.find = () => entry
  await node.mounts.unmount(a, 't/')
  node.mounts.find = find
  assert.equal((await ask('GET', 't/keys/k', undefined, { in: 'b' })).status, 200)
  await node.mounts.unmount(b, 't/')
  const left = (await server.store.scan('', '', 100_000)).filter(({ key }) => key.includes(entry.uuid))
  assert.deepEqual(left, [])
})

test('a mount of a namespace that is gone goes with its new one, and leaves nothing', async () => {
  const server = await startNamespacedServer(['a', 'b'])
  const { ask, node } = server
  await mountWithKey(server, 't')
  const { uuid } = node.mounts.find(node.namespaces.byPath('a/') ?? assert.fail(), 't/') ?? assert.fail()
  assert.equal((await ask('POST', 'sys/remount', { from: 'a/t', to: 'b/t' })).status, 200)
  assert.equal((await ask('DELETE', 'sys/namespaces/a')).status, 200)
  await node.mounts.wipeLeftovers()
  assert.equal((await ask('GET', 't/keys/k', undefined, { in: 'b' })).status, 200)
  assert.equal((await ask('DELETE', 'sys/namespaces/b')).status, 200)
  assert.deepEqual(
    (await server.store.scan('', '', 100_000)).filter(({ key }) => key.includes(uuid)),
    [],
  )
})
