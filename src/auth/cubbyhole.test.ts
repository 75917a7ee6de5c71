import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { ROOT } from '../api/namespace.ts'
import type { Entry, Store } from '../storage/contract.ts'
import { systemScope } from '../storage/contract.ts'
import { Cubbyhole, ownCubbyhole } from './cubbyhole.ts'
import type { KeptLimits } from './kept-values.ts'
import type { TokenStore } from './token-store.ts'

const KEPT: KeptLimits = { entryBytes: 1_000, entries: 3, bytes: 2_000 }
const FULL_BY_NUMBER =
  'The cubbyhole of this token is full: it holds 3 entries at most (max_cubbyhole_entries). Delete entries first'
const FULL_BY_SIZE =
  'The cubbyhole of this token is full: it holds 2000 bytes at most, paths included (max_cubbyhole_size). ' +
  'Delete entries first'

async function newToken(server: MemoryServer): Promise<string> {
  const { body } = await server.call('POST', 'auth/token/create', { policies: ['default'] })
  return String((body.auth as { readonly client_token: string }).client_token)
}

const write = (server: MemoryServer, token: string, path: string, characters = 1): Promise<Called> =>
  server.call('POST', `cubbyhole/${path}`, { a: 'x'.repeat(characters) }, token)
const remove = (server: MemoryServer, token: string, path: string): Promise<Called> =>
  server.call('DELETE', `cubbyhole/${path}`, undefined, token)
const outcome = ({ status, body }: Called): unknown => (status === 204 ? 204 : [status, String(body.errors)])

async function sizes(store: Store): Promise<readonly Entry[]> {
  return store.scan('root/sys/cubbyhole-size/', '', 100)
}

test('A9: a token keeps so many entries and no more; one is overwritten, and deleted to make room', async () => {
  const server = await startMemoryServer({ kept: KEPT })
  const [token, other] = [await newToken(server), await newToken(server)]
  for (const path of ['a', 'b', 'folder/c']) assert.equal(outcome(await write(server, token, path)), 204)
  assert.deepEqual(outcome(await write(server, token, 'd')), [400, FULL_BY_NUMBER])
  assert.equal((await server.call('GET', 'cubbyhole/d', undefined, token)).status, 404)
  assert.equal(outcome(await write(server, token, 'a', 2)), 204)
  assert.equal(outcome(await write(server, other, 'd')), 204)
  assert.equal(outcome(await remove(server, token, 'none')), 204)
  assert.deepEqual(outcome(await write(server, token, 'd')), [400, FULL_BY_NUMBER])
  assert.equal(outcome(await remove(server, token, 'b')), 204)
  assert.equal(outcome(await remove(server, token, 'b')), 204)
  assert.equal(outcome(await write(server, token, 'd')), 204)
  assert.deepEqual(outcome(await write(server, token, 'e')), [400, FULL_BY_NUMBER])
})

test('A9: a token keeps so many bytes and no more, paths included, of each entry as it is now', async () => {
  const server = await startMemoryServer({ kept: KEPT })
  const token = await newToken(server)
  // {"a":"…"} has 8 characters more, and a path of one letter is one.
  assert.equal(outcome(await write(server, token, 'a', 991)), 204)
  assert.equal(outcome(await write(server, token, 'b', 991)), 204)
  assert.deepEqual(outcome(await write(server, token, 'c')), [400, FULL_BY_SIZE])
  assert.deepEqual(outcome(await write(server, token, 'b', 992)), [400, FULL_BY_SIZE])
  assert.equal(outcome(await write(server, token, 'b', 990)), 204)
  assert.equal(outcome(await write(server, token, 'b', 991)), 204)
  assert.equal(outcome(await write(server, token, 'a', 982)), 204)
  // Now 1,991 bytes are there: nine are left, and {"a":""} with its path has as many.
  assert.deepEqual(outcome(await write(server, token, 'c', 1)), [400, FULL_BY_SIZE])
  assert.equal(outcome(await write(server, token, 'c', 0)), 204)
  assert.equal(outcome(await remove(server, token, 'a')), 204)
  assert.equal(outcome(await write(server, token, 'a', 982)), 204)
  assert.deepEqual(outcome(await write(server, token, 'a', 983)), [400, FULL_BY_SIZE])
})

test('who may only create keeps an entry once, who may only update replaces one', async () => {
  const server = await startMemoryServer()
  const tokens = await Promise.all(
    ['create', 'update'].map(async (capability) => {
      const policy = `path "cubbyhole/*" { capabilities = ["${capability}"] }`
      await server.call('PUT', `sys/policies/acl/${capability}`, { policy })
      const { body } = await server.call('POST', 'auth/token/create', {
        policies: [capability],
        no_default_policy: true,
      })
      return String((body.auth as { readonly client_token: string }).client_token)
    }),
  )
  const [creates = '', updates = ''] = tokens
  assert.equal((await write(server, creates, 'a')).status, 204)
  assert.equal((await write(server, creates, 'a')).status, 403)
  assert.equal((await write(server, creates, 'b')).status, 204)
  assert.equal((await write(server, updates, 'a')).status, 403)
})

test('A9: of writes at the same time as many are done as there is room for', async () => {
  const server = await startMemoryServer({ kept: KEPT })
  const token = await newToken(server)
  for (let round = 0; round < 5; round++) {
    const paths = Array.from({ length: 20 }, (_, index) => `p${round}-${index}`)
    const answers = await Promise.all(paths.map((path) => write(server, token, path)))
    assert.deepEqual(answers.filter(({ status }) => status === 204).length, KEPT.entries)
    assert.ok(answers.every(({ status }) => status === 204 || status === 400))
    await Promise.all(paths.map((path) => remove(server, token, path)))
  }
})

test('A9: what a token keeps counts after a restart, and is gone with the token', async () => {
  const server = await startMemoryServer({ kept: KEPT })
  const token = await newToken(server)
  for (const path of ['a', 'b', 'c']) await write(server, token, path)
  const { store, shares } = server
  const again = await startMemoryServer({ kept: KEPT, store, key: shares[0] as Buffer })
  assert.deepEqual(outcome(await write(again, token, 'd')), [400, FULL_BY_NUMBER])
  assert.equal((await sizes(store)).length, 1)
  await again.call('POST', 'auth/token/revoke', { token })
  assert.deepEqual(await sizes(store), [])
  assert.deepEqual(await store.scan('root/sys/cubbyhole/', '', 100), [])
})

test('A9: a bound that was lowered lets what is there be read, made less and deleted', async () => {
  const server = await startMemoryServer({ kept: KEPT })
  const token = await newToken(server)
  for (const path of ['a', 'b', 'c']) await write(server, token, path, 500)
  const { store, shares } = server
  const kept = { entryBytes: 1_000, entries: 1, bytes: 100 }
  const lower = await startMemoryServer({ kept, store, key: shares[0] as Buffer })
  assert.deepEqual((await write(lower, token, 'a', 501)).status, 400)
  assert.equal(outcome(await write(lower, token, 'a', 499)), 204)
  assert.equal((await lower.call('GET', 'cubbyhole/b', undefined, token)).status, 200)
  for (const path of ['a', 'b', 'c']) assert.equal(outcome(await remove(lower, token, path)), 204)
  assert.equal(outcome(await write(lower, token, 'd', 50)), 204)
})

test('A9: a cubbyhole of an older version is counted once, also where the write is refused', async () => {
  const server = await startMemoryServer({ kept: { ...KEPT, entries: 40 } })
  const token = await newToken(server)
  for (let at = 0; at < 40; at++) await write(server, token, `folder/${at}`)
  const [size] = await sizes(server.store)
  assert.ok(size !== undefined)
  const forget = (): Promise<void> => server.store.transaction(async (tx) => tx.delete(systemScope, size.key))
  await forget()
  assert.equal((await write(server, token, 'more')).status, 400)
  assert.equal((await sizes(server.store)).length, 1)
  assert.equal(outcome(await remove(server, token, 'folder/7')), 204)
  assert.equal(outcome(await write(server, token, 'more')), 204)
  assert.equal((await write(server, token, 'yet-more')).status, 400)
  // Entries that are deleted before the first count are not counted.
  await forget()
  assert.equal(outcome(await remove(server, token, 'more')), 204)
  assert.equal(outcome(await write(server, token, 'more')), 204)
  assert.equal((await write(server, token, 'yet-more')).status, 400)
})

test('A9: a write looks at the entry that it replaces and at no other', async () => {
  const server = await startMemoryServer()
  const token = await newToken(server)
  for (let at = 0; at < 30; at++) await write(server, token, `folder/${at}`)
  const { tokens } = server.node
  const read: string[] = []
  const watched = new Cubbyhole({
    view: { ...tokens.view, transaction: (work) => watching(ROOT.id, work) },
    transactionIn: (id, work) => watching(id, work),
  })
  const watching: TokenStore['transactionIn'] = (namespaceId, work) =>
    tokens.transactionIn(namespaceId, (tx) =>
      work({
        ...tx,
        get: (path) => {
          read.push(path)
          return tx.get(path)
        },
        list: async () => assert.fail('lists'),
        scan: async () => assert.fail('scans'),
        keys: async () => assert.fail('scans'),
      }),
    )
  const id = tokens.idOf(token)
  await watched.write(ownCubbyhole(id), 'folder/3', { a: 1 })
  await watched.delete(ownCubbyhole(id), 'folder/4')
  const [entry, size] = [`cubbyhole/${id}/folder`, `cubbyhole-size/${id}`]
  assert.deepEqual(
    read.filter((path) => path.startsWith('cubbyhole')).toSorted(),
    [`${entry}/3`, `${entry}/4`, size, size].toSorted(),
  )
})
