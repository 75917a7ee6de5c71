import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import type { Called } from '../../test/fixtures/memory-server.ts'
import { type Asked, type NamespacedServer, startNamespacedServer } from '../../test/fixtures/namespaced-server.ts'

const EVERYWHERE = ['', 'w1', 'w1/in', 'w2']

let server: NamespacedServer

before(async () => {
  server = await startNamespacedServer(['w1', 'w1/in', 'w2'])
  for (const where of ['w1', 'w2']) await server.policy('all', ['*'], { in: where })
})

type Wrapped = { readonly token: string; readonly accessor: string; readonly creation_path: string }

const wrapInfo = ({ status, body }: Called): Wrapped => {
  assert.equal(status, 200, JSON.stringify(body))
  return body.wrap_info as Wrapped
}
const WRAPPED = 'sys/policies/acl/default'
const wrap = async (where: string, form?: string): Promise<Wrapped> =>
  wrapInfo(await server.ask('GET', WRAPPED, undefined, { in: where, wrap: '5m', ...formed(form) }))
const formed = (wrapForm?: string): Asked => (wrapForm === undefined ? {} : { wrapForm })

const endingOf = (where: string): string => (where === '' ? '' : `.${server.idOf(where)}`)
const tokenIn = (jwt: string): string =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()).jti as string

test('a wrapping token is of the namespace of the wrapped request, and names the path in it', async () => {
  for (const where of EVERYWHERE) {
    for (const form of [undefined, 'jwt']) {
      const { token, accessor, creation_path } = await wrap(where, form)
      const text = form === undefined ? token : tokenIn(token)
      assert.match(text, new RegExp(`^hvs\\.[0-9A-Za-z]{24}${endingOf(where)}$`))
      assert.match(accessor, new RegExp(`^[0-9A-Za-z]{24}${endingOf(where)}$`))
      assert.equal(creation_path, WRAPPED)
    }
  }
  const byPath = wrapInfo(await server.ask('POST', 'w1/sys/wrapping/wrap', { a: 'b' }, { wrap: '5m' }))
  assert.ok(byPath.token.endsWith(endingOf('w1')))
  assert.equal(byPath.creation_path, 'sys/wrapping/wrap')
})

test('what is wrapped in one namespace is looked up and unwrapped in each, once', async () => {
  const { text: ofOther } = await server.token({ in: 'w2' }, { policies: ['all'] })
  for (const made of EVERYWHERE) {
    for (const where of EVERYWHERE) {
      for (const form of [undefined, 'jwt']) {
        for (const isCaller of [true, false]) {
          const { token } = await wrap(made, form)
          const body = isCaller ? {} : { token }
          const asked = { in: where, as: isCaller ? token : where === 'w2' ? ofOther : 'root' }
          // Whoever has it may look it up, without a token too.
          const looked = await server.ask('POST', 'sys/wrapping/lookup', { token }, { in: where, as: '' })
          assert.deepEqual([looked.status, looked.body.data?.creation_path], [200, WRAPPED])
          const first = await server.ask('POST', 'sys/wrapping/unwrap', body, asked)
          assert.deepEqual([first.status, first.body.data?.name], [200, 'default'], `${made} in ${where}, ${form}`)
          const second = await server.ask('POST', 'sys/wrapping/unwrap', body, asked)
          assert.equal(second.status, 400)
          assert.deepEqual(second.body.errors, ['wrapping token is not valid or does not exist'])
        }
      }
    }
  }
})

test('the cubbyhole of a wrapping token holds the answer in its own namespace, as older clients read it', async () => {
  const { token: as } = await wrap('w1')
  assert.equal(await server.status('GET', 'cubbyhole/response', undefined, { in: 'w2', as }), 403)
  const { token } = await wrap('w1')
  const { status, body } = await server.ask('GET', 'cubbyhole/response', undefined, { in: 'w1', as: token })
  assert.equal(status, 200)
  assert.equal(JSON.parse(String(body.data?.response)).data.name, 'default')
})

test('rewrapping keeps namespace, path and form of the old token, wherever it is asked', async () => {
  for (const made of EVERYWHERE) {
    for (const where of EVERYWHERE) {
      for (const form of [undefined, 'jwt']) {
        const { token } = await wrap(made, form)
        const again = wrapInfo(await server.ask('POST', 'sys/wrapping/rewrap', { token }, { in: where }))
        const text = form === undefined ? again.token : tokenIn(again.token)
        assert.match(text, new RegExp(`^hvs\\.[0-9A-Za-z]{24}${endingOf(made)}$`))
        assert.equal(again.creation_path, WRAPPED)
        assert.equal(await server.status('POST', 'sys/wrapping/unwrap', { token }), 400, 'the old one is spent')
        // Unwrapping under another lifetime is rewrapping too, also by the token itself.
        const third = wrapInfo(
          await server.ask('POST', 'sys/wrapping/unwrap', {}, { in: where, as: again.token, wrap: '1m' }),
        )
        const last = form === undefined ? third.token : tokenIn(third.token)
        assert.ok(last.endsWith(endingOf(made)))
        const { body } = await server.ask('POST', 'sys/wrapping/unwrap', { token: third.token }, { in: where })
        assert.equal(body.data?.name, 'default')
      }
    }
  }
})

test('a wrapping token of a namespace is none with another ending', async () => {
  const { token } = await wrap('w1')
  const cut = token.slice(0, token.lastIndexOf('.'))
  for (const wrong of [cut, `${cut}.${server.idOf('w2')}`, `${token}.${server.idOf('w1')}`])
    for (const where of EVERYWHERE)
      assert.equal(await server.status('POST', 'sys/wrapping/unwrap', { token: wrong }, { in: where }), 400)
  assert.equal(await server.status('POST', 'sys/wrapping/unwrap', { token }), 200)
})

test('a caller without the right to unwrap in its namespace does not get it by asking in another one', async () => {
  const { text: as } = await server.token({ in: 'w2' }, { policies: ['none'], no_default_policy: true })
  const { token } = await wrap('w1')
  for (const where of EVERYWHERE)
    assert.equal(await server.status('POST', 'sys/wrapping/unwrap', { token }, { in: where, as }), 403)
  assert.equal(await server.status('POST', 'sys/wrapping/unwrap', { token }), 200)
})

test('a token that is made for a wrapped answer is of the namespace, and so is its wrapping token', async () => {
  const made = wrapInfo(await server.ask('POST', 'auth/token/create', {}, { in: 'w1', wrap: '5m' }))
  const { wrapped_accessor: accessor } = made as unknown as { wrapped_accessor: string }
  assert.ok(accessor.endsWith(endingOf('w1')))
  const { body } = await server.ask('POST', 'sys/wrapping/unwrap', {}, { as: made.token })
  const auth = body.auth as { client_token: string; accessor: string }
  assert.ok(auth.client_token.endsWith(endingOf('w1')))
  assert.equal(auth.accessor, accessor)
})

test('a token has a cubbyhole in each namespace, and they are apart', async () => {
  const paths = ['x', 'folder/y']
  for (const where of EVERYWHERE)
    for (const path of paths)
      assert.equal(await server.status('POST', `cubbyhole/${path}`, { of: where }, { in: where }), 204)
  for (const where of EVERYWHERE) {
    for (const path of paths)
      assert.deepEqual((await server.ask('GET', `cubbyhole/${path}`, undefined, { in: where })).body.data, {
        of: where,
      })
    const { body } = await server.ask('LIST', 'cubbyhole', undefined, { in: where })
    assert.deepEqual(body.data?.keys, ['folder/', 'x'])
  }
  assert.equal(await server.status('DELETE', 'cubbyhole/x', undefined, { in: 'w1' }), 204)
  assert.equal(await server.status('GET', 'cubbyhole/x', undefined, { in: 'w1' }), 404)
  for (const where of ['', 'w1/in', 'w2'])
    assert.equal(await server.status('GET', 'cubbyhole/x', undefined, { in: where }), 200)
})

test('a token of a namespace reaches no cubbyhole above or beside, not even its own', async () => {
  const { text: as } = await server.token({ in: 'w1' }, { policies: ['all'] })
  for (const [where, status] of [
    ['', 403],
    ['w1', 204],
    ['w1/in', 204],
    ['w2', 403],
  ] as const) {
    assert.equal(await server.status('POST', 'cubbyhole/mine', { a: where }, { in: where, as }), status)
    assert.equal(await server.status('GET', 'cubbyhole/mine', undefined, { in: where, as }), status === 204 ? 200 : 403)
  }
})

test('create and update of a cubbyhole are told apart in each namespace', async () => {
  await server.policy('new', ['cubbyhole/*'], { in: 'w1' }, ['create'])
  await server.policy('above', ['cubbyhole/*', 'w1/cubbyhole/*'], {}, ['create'])
  for (const [where, asked] of [
    ['w1', { as: (await server.token({ in: 'w1' }, { policies: ['new'], no_default_policy: true })).text }],
    ['w1', { as: (await server.token({}, { policies: ['above'], no_default_policy: true })).text }],
  ] as const) {
    assert.equal(await server.status('POST', 'cubbyhole/x', { a: 1 }, { in: where, ...asked }), 204)
    assert.equal(await server.status('POST', 'cubbyhole/x', { a: 2 }, { in: where, ...asked }), 403)
  }
})

test('the limits of a cubbyhole are those of the token, over all namespaces', async () => {
  const small = await startNamespacedServer(['a', 'b'], { kept: { entryBytes: 1_000, entries: 3, bytes: 10_000 } })
  const { text: as } = await small.token({}, { policies: ['root'], ttl: '1h' })
  const write = (path: string, where: string) => small.status('POST', `cubbyhole/${path}`, { a: 1 }, { in: where, as })
  assert.deepEqual([await write('x', ''), await write('x', 'a'), await write('x', 'b')], [204, 204, 204])
  assert.deepEqual([await write('y', ''), await write('y', 'a'), await write('y', 'b')], [400, 400, 400])
  assert.equal(await write('x', 'b'), 204, 'what is there may be replaced')
  assert.equal(await small.status('DELETE', 'sys/namespaces/b'), 200)
  while (small.node.namespaces.byPath('b/') !== undefined) await small.node.namespaceDeletion.begun()
  assert.deepEqual([await write('y', ''), await write('y', 'a')], [204, 400], 'what went with the namespace is free')
})

test('the end of a token takes what it keeps in all namespaces, that of a namespace what is kept there', async () => {
  const own = await startNamespacedServer(['a', 'a/b', 'c'])
  const { tokens, namespaceDeletion, namespaces } = own.node
  const { text: as } = await own.token({}, { policies: ['root'], ttl: '1h' })
  const keysOf = async () =>
    (await own.store.scan('root/sys/', '', 100_000)).map(({ key }) => key).filter((key) => /cubbyhole/.test(key))
  for (const where of ['', 'a', 'a/b', 'c'])
    for (let i = 0; i < 3; i++) await own.ask('POST', `cubbyhole/f/${i}`, { a: 1 }, { in: where, as })
  const id = own.idOf('c')
  assert.equal((await keysOf()).filter((key) => key.includes(id)).length, 3)
  assert.equal(await own.status('DELETE', 'sys/namespaces/c'), 200)
  while (namespaces.byId(id) !== undefined) await namespaceDeletion.begun()
  assert.deepEqual(
    (await keysOf()).filter((key) => key.includes(id)),
    [],
  )
  assert.equal((await keysOf()).length, 9)
  for (const where of ['', 'a', 'a/b'])
    assert.equal(await own.status('GET', 'cubbyhole/f/1', undefined, { in: where, as }), 200)
  await tokens.revoke(tokens.idOf(as))
  assert.deepEqual(await keysOf(), [])
})
