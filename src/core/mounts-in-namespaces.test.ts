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

test('a change of one namespace places the mounts of no other anew', async () => {
  const { ask, node } = await startNamespacedServer(['a', 'a/in', 'b'])
  for (const where of ['', 'a', 'a/in', 'b'])
    assert.equal((await ask('POST', 'sys/mounts/t', { type: 'transit' }, { in: where })).status, 204)
  const placed = () => new Map([...node.mounts.mounted()].map((mounted) => [mounted.path, mounted]))
  const before = placed()
  assert.equal((await ask('POST', 'sys/namespaces/a', { custom_metadata: { k: 'v' } })).status, 200)
  assert.equal((await ask('POST', 'sys/namespaces/c', {})).status, 200)
  const after = placed()
  // What lies in the one that changed, or below, knows it as it is now, and keeps its engine.
  for (const [path, mounted] of before) {
    assert.equal(after.get(path) === mounted, !path.startsWith('a/'), path)
    assert.equal(after.get(path)?.engine, mounted.engine)
  }
  assert.deepEqual(after.get('a/in/t/')?.namespace.parent?.customMetadata, { k: 'v' })
  assert.equal((await ask('GET', 'sys/mounts', undefined, { in: 'c' })).status, 200)
  assert.equal((await ask('DELETE', 'sys/namespaces/c')).status, 200)
  await node.mounts.refresh()
  assert.deepEqual([...placed().keys()].toSorted(), [...before.keys()].toSorted())
})

test('mounts that change places between namespaces are found where they are, on each thread', async () => {
  const { ask, node } = await startNamespacedServer(['a', 'b', 'c'])
  const namespaces = ['a', 'b', 'c']
  const where = new Map<string, string>()
  for (const [at, name] of namespaces.entries()) {
    assert.equal((await ask('POST', `sys/mounts/m${at}`, { type: 'transit' }, { in: name })).status, 204)
    where.set(`m${at}`, name)
  }
  for (let step = 0; step < 30; step++) {
    const name = `m${step % 3}`
    const [from, to] = [where.get(name), namespaces[(step * 2 + 1) % 3]]
    if (from === undefined || to === undefined || from === to) continue
    const { status } = await ask('POST', 'sys/remount', { from: `${from}/${name}`, to: `${to}/${name}` })
    assert.equal(status, 200)
    where.set(name, to)
    if (step % 4 === 0) await ask('POST', `sys/namespaces/${to}`, { custom_metadata: { step: String(step) } })
    for (const [mount, home] of where)
      for (const other of namespaces)
        assert.equal(
          node.mounts.route(`${other}/${mount}/keys`)?.entry.namespace === node.namespaces.byPath(`${other}/`)?.id,
          other === home,
        )
  }
})

test('T-09: a mount of a namespace below is shown and moved where no rule about its own path denies it', async () => {
  const { ask, status, token, policy } = await startNamespacedServer(['p', 'p/c'])
  await ask('POST', 'sys/mounts/t', { type: 'transit' }, { in: 'p/c' })
  await policy('sys', ['sys/*'], { in: 'p' })
  await policy('not-below', ['c/*'], { in: 'p' }, ['deny'])
  const both = { in: 'p', as: (await token({ in: 'p' }, { policies: ['sys', 'not-below'] })).text }
  assert.equal(await status('GET', 'sys/mounts/c/t', undefined, both), 403)
  assert.equal(await status('POST', 'sys/remount', { from: 'c/t', to: 'mine' }, both), 403)
  assert.equal(await status('POST', 'sys/mounts/own', { type: 'transit' }, both), 204)
  assert.equal(await status('POST', 'sys/remount', { from: 'own', to: 'c/own' }, both), 403)
  assert.equal(await status('POST', 'sys/remount', { from: 'own', to: 'moved' }, both), 200)
  const free = { in: 'p', as: (await token({ in: 'p' }, { policies: ['sys'] })).text }
  assert.equal(await status('GET', 'sys/mounts/c/t', undefined, free), 200)
  assert.equal(await status('POST', 'sys/remount', { from: 'c/t', to: 'mine' }, free), 200)
})

test('a token of a login is none once its mount moved to another namespace, also before it is revoked', async () => {
  const { ask, node, status, idOf } = await startNamespacedServer(['a', 'b'])
  for (const type of ['service', 'batch']) {
    await ask('POST', `sys/auth/${type}`, { type: 'userpass' }, { in: 'a' })
    await ask('POST', `auth/${type}/users/u`, { password: 'x', token_type: type }, { in: 'a' })
    const { auth } = (await ask('POST', `auth/${type}/login/u`, { password: 'x' }, { in: 'a', as: '' })).body
    const self = { in: 'a', as: (auth as { readonly client_token: string }).client_token }
    assert.equal(await status('GET', 'auth/token/lookup-self', undefined, self), 200)
    // As a kill between the move and the revocation leaves it.
    const [from, to] = [node.namespaces.byId(idOf('a')), node.namespaces.byId(idOf('b'))]
    assert.ok(from !== undefined && to !== undefined)
    await node.mounts.move({ namespace: from, path: `auth/${type}/` }, { namespace: to, path: `auth/${type}/` })
    assert.equal(await status('GET', 'auth/token/lookup-self', undefined, self), 403)
  }
})
